#include "read/hub/config_keys.h"

#include <cmath>

#include "read/array/array.h"

namespace headlight {

using nlohmann::json;

const json* Keyed::find(const Keys& keys) const {
  read_.insert(keys.begin(), keys.end());
  for (const std::string& key : keys)
    if (const auto at = object_.find(key); at != object_.end() && !at->is_null()) return &*at;
  return nullptr;
}

bool Keyed::is_null(const char* key) const {
  const auto at = object_.find(key);
  return at != object_.end() && at->is_null();
}

Index Keyed::size(const Keys& keys, Index most, std::optional<Index> fallback, Index least) {
  const json* value = find(keys);
  if (value == nullptr && fallback) return *fallback;
  const std::string expected = "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
  if (value == nullptr) return fail(keys, expected, "none"), least;
  // A number beyond 64 bits was parsed as a float.
  if (is_whole(*value, least, static_cast<std::uint64_t>(most))) return value->get<Index>();
  return fail(keys, expected, found_text(*value)), least;
}

double Keyed::number(const Keys& keys, double least, double most, std::optional<double> fallback) {
  const json* value = find(keys);
  if (value == nullptr && fallback) return *fallback;
  const double got = value != nullptr && value->is_number() ? value->get<double>() : NAN;
  if (got >= least && got <= most) return got;
  fail(keys, "a number from " + json(least).dump() + " to " + json(most).dump(), value ? found_text(*value) : "none");
  return fallback.value_or(least);
}

bool Keyed::flag(const Keys& keys, bool fallback) {
  const json* value = find(keys);
  if (value == nullptr) return fallback;
  if (value->is_boolean()) return value->get<bool>();
  return fail(keys, "true or false", found_text(*value)), fallback;
}

std::string Keyed::word(const Keys& keys, std::string_view fallback) {
  const json* value = find(keys);
  if (value == nullptr) return std::string(fallback);
  if (value->is_string()) return value->get<std::string>();
  return fail(keys, "a name", found_text(*value)), std::string(fallback);
}

Activation Keyed::activation(const Keys& keys, std::string_view fallback) {
  const std::string word_found = word(keys, fallback);
  if (word_found == "relu") return Activation::relu;
  if (word_found == "gelu" || word_found == "gelu_python") return Activation::gelu;
  for (const char* tanh : {"gelu_new", "gelu_fast", "gelu_pytorch_tanh"})
    if (word_found == tanh) return Activation::gelu_tanh;
  if (word_found == "silu" || word_found == "swish") return Activation::silu;
  fail(keys, "relu, gelu, gelu_new, gelu_fast, gelu_pytorch_tanh, silu or swish", "'" + printable(word_found) + "'");
  return Activation::relu;
}

void Keyed::only(const Keys& keys, bool supported) {
  if (flag(keys, supported) != supported)
    fail(keys, supported ? "true" : "false", supported ? "false, unsupported" : "true, unsupported");
}

void Keyed::only(const Keys& keys, std::string_view supported) {
  const std::string found = word(keys, supported);
  if (found != supported) fail(keys, supported, "'" + printable(found) + "'");
}

void Keyed::fail(const Keys& keys, std::string_view expected, std::string_view found) {
  if (!error_) error_ = bad_input(where_, keys.front(), expected, found, ErrorCode::bad_config);
}

}  // namespace headlight
