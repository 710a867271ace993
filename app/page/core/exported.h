// What the functions of core.wasm share (exports/): the answers of the open page, and the text that a call answers
// with.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/thrown.h"
#include "page/core/page_answers.h"

#define HEADLIGHT_EXPORT(name) extern "C" __attribute__((export_name(#name)))

namespace headlight {

/// The answer of the page, and A of its comparison.
inline std::unique_ptr<PageAnswer> page_sides[2];
inline std::string page_reply;

/// Calls `answer`, which gives a Status or a JSON; what it throws is a reply too.
template <class Answer>
void answer_with(const Answer& answer) {
  nlohmann::json object;
  try {
    const Result<nlohmann::json> found = answer();
    object = found ? *found : nlohmann::json{{"error", found.error().message()}};
    if (!found && found.error().code == ErrorCode::too_large) object["too_many"] = found.error().found;
  } catch (...) { object = {{"error", thrown_error().message()}}; }
  page_reply = object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

inline nlohmann::json parsed(const char* text, int size) {
  return nlohmann::json::parse(std::string_view(text, static_cast<std::size_t>(size)), nullptr, false);
}

}  // namespace headlight
