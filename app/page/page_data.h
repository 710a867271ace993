// The parts of a page's data (headlight.page/1), written piece by piece: a long sentence is never held as text.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "page/page.h"

namespace headlight {

/// Takes the characters of the data, in order; JSON in which no `<` stands, so that no text ends the script element.
/// Takes a piece of the page; false: the page is no longer wanted, and the rest need not be made.
using PageSink = std::function<bool(std::string_view)>;

/// JSON with every `<` as \u003c.
std::string without_markup(std::string json);

/// The bytes that q and k, and with `values` v, take in base64, or the weights of attention computed elsewhere.
std::size_t number_bytes(const Trace& trace, const std::vector<HeadRef>& heads, bool values);

/// The same of the thumbnails that go along with sentences of more tokens.
std::size_t thumbnail_bytes(const Trace& trace, const std::vector<HeadRef>& heads);

/// An Error naming the first number that float16 does not hold.
Status check_numbers(const Trace& trace, const std::vector<HeadRef>& heads);

/// `"tokens":…,"stacks":[…],…`: the fields of an answer, without braces. `document` is how it was asked.
void write_answer(const Trace& trace, const Document& document, const PagePlan& plan, float error,
                  const PageSink& sink);

/// The weights and the words of the model as the page's forward pass reads them, as a JSON object.
/// Errors: a part of the model that it does not compute, naming it.
Status check_live(const Document& document);
void write_live(const Trace& trace, const Document& document, const PageSink& sink);
std::size_t live_bytes(const Trace& trace, const Document& document);

/// JSON that can stand in a page: no character of it is markup.
std::string page_json(const nlohmann::json& value);

}  // namespace headlight
