#include "read/json/json_fields.h"

#include <algorithm>
#include <cmath>

#include "base/utf8.h"

namespace headlight {
namespace {

using nlohmann::json;

const json kNull;

/// The words of a range, for messages.
template <class Most>
std::string whole_numbers(std::int64_t least, Most most) {
  return "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
}

}  // namespace

std::string found_text(const json& value) {
  constexpr std::size_t kShown = 60;
  if (value.is_null()) return "nothing";
  const std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() <= kShown) return printable(text);
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  return printable(beginning(text, kShown)) + "…";
}

bool is_whole(const json& value, std::int64_t least, std::uint64_t most) {
  // A number beyond the signed range would wrap.
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    return number <= most && (least <= 0 || number >= static_cast<std::uint64_t>(least));
  }
  if (!value.is_number_integer()) return false;
  const auto number = value.get<std::int64_t>();
  return number >= least && (number < 0 || static_cast<std::uint64_t>(number) <= most);
}

const json& value_or_null(const json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() ? *found : kNull;
}

void JsonProblems::note(std::string_view path, std::string_view expected, std::string_view found) {
  if (!first) first = bad_input(where, path, expected, found);
}

void JsonField::problem(std::string_view expected, const json& found) const {
  if (is_good()) problems_->note(path_, expected, found_text(found));
}

bool JsonField::is_missing() const { return value_ == &kNull; }

JsonField JsonField::at(const char* name) const {
  std::string path = path_.empty() ? name : path_ + "." + name;
  if (!value_->is_object() && !value_->is_null()) problem("an object");
  return {value_or_null(*value_, name), std::move(path), *problems_};
}

std::vector<JsonField> JsonField::items() const {
  std::vector<JsonField> result;
  if (!value_->is_array()) {
    problem("a list");
    return result;
  }
  result.reserve(value_->size());
  for (const json& item : *value_) result.push_back({item, path_ + "." + std::to_string(result.size()), *problems_});
  return result;
}

std::vector<std::pair<std::string, JsonField>> JsonField::fields() const {
  std::vector<std::pair<std::string, JsonField>> result;
  if (!value_->is_object()) {
    problem("an object");
    return result;
  }
  for (const auto& [name, value] : value_->items())
    result.emplace_back(name, JsonField{value, (path_.empty() ? "" : path_ + ".") + printable(name), *problems_});
  return result;
}

std::string JsonField::text() const {
  if (value_->is_string()) return value_->get<std::string>();
  problem("a string");
  return {};
}

bool JsonField::flag() const {
  if (value_->is_boolean()) return value_->get<bool>();
  problem("true or false");
  return false;
}

float JsonField::number() const {
  if (value_->is_number() && std::isfinite(value_->get<float>())) return value_->get<float>();
  problem("a number");
  return 0;
}

std::int64_t JsonField::integer(std::int64_t least, std::int64_t most) const {
  if (most >= 0 && is_whole(*value_, least, static_cast<std::uint64_t>(most))) return value_->get<std::int64_t>();
  problem(whole_numbers(least, most));
  return least;
}

std::string JsonField::text(const char* name, std::string_view fallback) const {
  return has(name) ? text(name) : std::string(fallback);
}

bool JsonField::flag(const char* name, bool fallback) const { return has(name) ? at(name).flag() : fallback; }

void JsonField::read(const char* name, std::string& value) const {
  if (const JsonField field = at(name); field.value().is_string()) value = field.value().get<std::string>();
  else if (!field.is_missing()) field.problem("a string");
}

void JsonField::read(const char* name, bool& value) const {
  if (const JsonField field = at(name); field.value().is_boolean()) value = field.value().get<bool>();
  else if (!field.is_missing()) field.problem("true or false");
}

void JsonField::read(const char* name, float& value) const {
  std::optional<float> number;
  read(name, number);
  value = number.value_or(value);
}

void JsonField::read(const char* name, std::optional<float>& value) const {
  const JsonField field = at(name);
  if (field.is_missing()) return;
  if (field.value().is_number() && std::isfinite(field.value().get<float>())) value = field.value().get<float>();
  else field.problem("a number");
}

void JsonField::read_within(const char* name, float& value, float least, float most) const {
  if (const JsonField field = at(name); field.value().is_number())
    value = std::clamp(field.value().get<float>(), least, most);
  else if (!field.is_missing()) field.problem("a number");
}

std::size_t JsonField::size(const char* name, std::size_t most) const {
  const JsonField field = at(name);
  const json& value = field.value();
  return value.is_number_unsigned() ? std::min<std::uint64_t>(value.get<std::uint64_t>(), most) : 0;
}

bool JsonField::is_whole_number(std::int64_t least, std::uint64_t most) const {
  if (is_missing()) return false;
  if (is_whole(*value_, least, most)) return true;
  problem(whole_numbers(least, most));
  return false;
}

bool JsonField::is_list_of_whole_numbers(std::int64_t least, std::uint64_t most) const {
  if (is_missing()) return false;
  if (value_->is_array() &&
      std::all_of(value_->begin(), value_->end(), [&](const json& item) { return is_whole(item, least, most); }))
    return true;
  problem("a list of whole numbers up to " + std::to_string(most));
  return false;
}

}  // namespace headlight
