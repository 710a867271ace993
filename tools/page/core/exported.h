// What the functions of core.wasm share (exports/): the answers of the open page, and the text that a call answers
// with.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "page/core/page_answers.h"

#define HEADLIGHT_EXPORT(name) extern "C" __attribute__((export_name(#name)))

namespace headlight {

/// The answer of the page, and A of its comparison.
inline std::unique_ptr<PageAnswer> page_sides[2];
inline std::string page_reply;

/// Drops what was made of the answers (exports/scene.cpp).
void forget_scenes();

inline nlohmann::json error_object(const Error& error) {
  return {{"error", error.message()}, {"code", name(error.code)}};
}

/// Calls `answer`, which gives a Status or a JSON; what it throws is a reply too.
template <class Answer>
void answer_with(const Answer& answer) {
  nlohmann::json object;
  try {
    const Result<nlohmann::json> found = answer();
    object = found ? *found : error_object(found.error());
    if (!found && found.error().code == ErrorCode::too_large) object["too_many"] = found.error().found;
  } catch (...) { object = error_object(thrown_error()); }
  page_reply = object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

inline nlohmann::json parsed(const char* text, int size) {
  return nlohmann::json::parse(std::string_view(text, static_cast<std::size_t>(size)), nullptr, false);
}

}  // namespace headlight
