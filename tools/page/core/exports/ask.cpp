// What core.wasm has besides: a model that is asked.
#include "base/file.h"
#include "base/memory_files.h"
#include "figure/change_words.h"
#include "page/core/answer_object.h"
#include "page/core/exported.h"
#include "page/core/page_scenes.h"
#include "write/json.h"

namespace headlight {

using nlohmann::json;

constexpr const char* kExported = "export.json";

/// Answers a request with the model of the page; of a sentence of more than `most` tokens the reply has `too_many`.
HEADLIGHT_EXPORT(ask) void core_ask(const char* text, int size, int most) {
  answer_with([&]() -> Result<json> {
    forget_scenes();
    auto* live = dynamic_cast<LiveAnswer*>(page_sides[0].get());
    auto opened = live ? nullptr : std::make_unique<LiveAnswer>();
    if (!live) live = opened.get();
    const Status status = live->ask(parsed(text, size), static_cast<std::size_t>(most));
    if (opened && live->is_answered()) page_sides[0] = std::move(opened);
    if (!status) return status.error();
    json reply = answer_object(page_sides[0]->trace());
    reply["start"] = live->start();
    return reply;
  });
}

/// Whether the model of a request knows every word of its text; `typing`: the last may be the beginning of one. null:
/// the text has no word.
HEADLIGHT_EXPORT(knows) void core_knows(const char* text, int size, int typing) {
  answer_with([&]() -> Result<json> {
    const auto known = TRY(LiveAnswer::knows(parsed(text, size), typing != 0));
    return known ? json(*known) : json();
  });
}

/// What another word does to the row of `query`: `offers`, that of the word `own` alone where there is one, each with
/// its `label`, `tip`, `text` and `key`; `none`: the line in their place. null: nothing.
HEADLIGHT_EXPORT(changes) void core_changes(const char* text, int size, int searches) {
  answer_with([&]() -> Result<json> {
    const json asked = parsed(text, size);
    const PageLook look = look_of(asked);
    auto* live = dynamic_cast<LiveAnswer*>(page_sides[0].get());
    const std::string own = asked.value("own", "");
    const auto found = live ? live->changes(look.head, asked.value("query", Index{0}), own, searches != 0) : nullptr;
    if (!found) return json();
    const auto shown = [](const std::string& word) { return word; };
    json offers = json::array();
    const auto offer = [&](const WordChange& change) {
      offers.push_back({{"label", change_label(look.language, change, shown)},
                        {"tip", change_tip(look.language, *found, change, shown)},
                        {"text", change.text},
                        {"key", change.key}});
    };
    if (found->own) offer(*found->own);
    else if (own.empty())
      for (const WordChange& change : found->best) offer(change);
    return json{{"none", no_change_line(look.language, *found, own, shown)}, {"offers", std::move(offers)}};
  });
}

/// Keeps the answer to a request as A of a comparison.
HEADLIGHT_EXPORT(keep) void core_keep() {
  answer_with([]() -> Result<json> {
    forget_scenes();
    page_sides[1] = std::make_unique<LiveAnswer>(dynamic_cast<const LiveAnswer&>(*page_sides[0]));
    return answer_object(page_sides[1]->trace());
  });
}

/// The words of A beside those of the answer.
HEADLIGHT_EXPORT(axes) void core_axes() {
  answer_with([]() -> Result<json> { return axes_object(page_sides[1]->trace(), page_sides[0]->trace()); });
}

/// The answer as `headlight export` writes it, with the request that it is stored with: the file `export.json`.
HEADLIGHT_EXPORT(export_json) void core_export_json(const char* text, int size) {
  answer_with([&]() -> Result<json> {
    const auto& live = dynamic_cast<const LiveAnswer&>(*page_sides[0]);
    auto output = TRY(Output::to_file(kExported));
    const std::string request(text, static_cast<std::size_t>(size));
    TRY(write_json({live.shared_trace()}, {request}, {}, output, unwatched()));
    TRY(output.commit());
    return json::object();
  });
}

/// Where that file is, and its size.
HEADLIGHT_EXPORT(exported) const char* core_exported() { return memory_file(kExported).value_or("").data(); }
HEADLIGHT_EXPORT(exported_size) int core_exported_size() {
  return static_cast<int>(memory_file(kExported).value_or("").size());
}

/// Drops a file that no answer reads.
HEADLIGHT_EXPORT(forget) void core_forget(const char* name, int size) {
  drop_memory_file(std::string_view(name, static_cast<std::size_t>(size)));
}

}  // namespace headlight
