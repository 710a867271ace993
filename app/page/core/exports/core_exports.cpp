// The functions of core.wasm.
#include "page/core/exports/exports.h"

namespace headlight {

/// Answers a request with the model of the page; of a sentence of more than `most` tokens the reply has `too_many`.
EXPORT(ask) void core_ask(const char* text, int size, int most) {
  answer_with([&]() -> Result<json> {
    auto* live = dynamic_cast<LiveAnswer*>(sides[0].get());
    auto opened = live ? nullptr : std::make_unique<LiveAnswer>();
    if (!live) live = opened.get();
    const Status status = live->ask(parsed(text, size), static_cast<std::size_t>(most));
    if (opened && live->is_answered()) sides[0] = std::move(opened);
    if (!status) return status.error();
    return answer_object(sides[0]->trace());
  });
}

}  // namespace headlight
