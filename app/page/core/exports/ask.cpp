// What core.wasm has besides: a model that is asked.
#include "page/core/answer_object.h"
#include "page/core/exported.h"

namespace headlight {

using nlohmann::json;

/// Answers a request with the model of the page; of a sentence of more than `most` tokens the reply has `too_many`.
HEADLIGHT_EXPORT(ask) void core_ask(const char* text, int size, int most) {
  answer_with([&]() -> Result<json> {
    auto* live = dynamic_cast<LiveAnswer*>(page_sides[0].get());
    auto opened = live ? nullptr : std::make_unique<LiveAnswer>();
    if (!live) live = opened.get();
    const Status status = live->ask(parsed(text, size), static_cast<std::size_t>(most));
    if (opened && live->is_answered()) page_sides[0] = std::move(opened);
    if (!status) return status.error();
    return answer_object(page_sides[0]->trace());
  });
}

}  // namespace headlight
