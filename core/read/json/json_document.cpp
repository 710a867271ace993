#include "read/json/json_document.h"

#include <algorithm>

#include "base/utf8.h"

namespace headlight {
namespace {

using nlohmann::json;

/// Objects and arrays in all: an empty one takes twenty times the memory of its text.
constexpr std::size_t kMostJsonContainers = std::size_t{1} << 22;

/// Builds the document from the parser's events, so that it can stop at the first thing that is not wanted.
class DocumentBuilder final : public nlohmann::json_sax<json> {
 public:
  DocumentBuilder(std::string_view where, std::string_view text, std::string_view left_out)
      : where_(where), text_(text), left_out_(left_out) {}
  DocumentBuilder(const DocumentBuilder&) = delete;
  ~DocumentBuilder() override { take_apart(document_); }

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t&) override { return put(value); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(json::object()); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& value) override {
    if (leaving_out_) return true;
    leaving_out_ = open_.size() == 1 && !left_out_.empty() && value == left_out_;
    if (open_.back()->contains(value)) {
      error_ = bad_input(where_, "key \"" + printable(value) + "\"", "each key once", "it twice in one object",
                         ErrorCode::file_damaged);
      return false;
    }
    key_ = std::move(value);
    return true;
  }

  bool parse_error(std::size_t position, const std::string& last_token, const json::exception&) override {
    const std::string_view before = text_.substr(0, position > 0 ? std::min(position - 1, text_.size()) : 0);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::string_view in_line = before.substr(before.rfind('\n') + 1);
    // Continuation bytes of UTF-8 are not counted as columns.
    const auto column = 1 + count_characters(in_line);
    const bool at_end = position > text_.size();
    error_ = bad_input(where_, "line " + std::to_string(line) + ", column " + std::to_string(column), "valid JSON",
                       at_end ? "the end" : "'" + printable(last_token) + "'", ErrorCode::file_damaged);
    return false;
  }

  Result<json> take(bool parsed) && {
    if (error_) return *error_;
    if (!parsed) return bad_input(where_, "", "valid JSON", "something else", ErrorCode::file_damaged);
    return std::move(document_);
  }

 private:
  json* append(json value) {
    if (open_.empty()) return &(document_ = std::move(value));
    json& parent = *open_.back();
    if (parent.is_object()) return &(parent[std::exchange(key_, {})] = std::move(value));
    parent.push_back(std::move(value));
    return &parent.back();
  }

  bool put(json value) {
    if (leaving_out_) {
      leaving_out_ = levels_left_out_ > 0;
      return true;
    }
    append(std::move(value));
    return true;
  }

  bool open(json container) {
    if (open_.size() + levels_left_out_ == kMostJsonDepth) {
      error_ = bad_input(where_, "nesting", "at most " + std::to_string(kMostJsonDepth) + " levels", "more",
                         ErrorCode::too_large);
      return false;
    }
    if (++containers_ > kMostJsonContainers) {
      error_ = bad_input(where_, "size", "at most " + std::to_string(kMostJsonContainers) + " objects and arrays",
                         "more", ErrorCode::too_large);
      return false;
    }
    if (leaving_out_) {
      ++levels_left_out_;
      return true;
    }
    // A parent is not touched while a child is open, so the pointers stay good.
    open_.push_back(append(std::move(container)));
    return true;
  }

  bool close() {
    if (leaving_out_) {
      leaving_out_ = --levels_left_out_ > 0;
      return true;
    }
    open_.pop_back();
    return true;
  }

  std::string_view where_, text_, left_out_;
  json document_;
  std::vector<json*> open_;
  std::string key_;
  std::size_t containers_ = 0, levels_left_out_ = 0;
  bool leaving_out_ = false;
  std::optional<Error> error_;
};

}  // namespace

void take_apart(json& document) noexcept {
  if (auto* const list = document.get_ptr<json::array_t*>()) {
    for (json& item : *list) take_apart(item);
    list->clear();
  } else if (auto* const fields = document.get_ptr<json::object_t*>()) {
    for (auto& [key, value] : *fields) take_apart(value);
    fields->clear();
  }
}

ParsedJson parse_json(std::string_view where, std::string_view text, std::string_view left_out) {
  DocumentBuilder builder(where, text, left_out);
  const bool parsed = json::sax_parse(text.begin(), text.end(), &builder);
  return ParsedJson(std::move(builder).take(parsed));
}

ParsedJson parse_python_json(std::string_view where, std::string_view text, bool gaps) {
  constexpr std::string_view kNumbers[] = {"-Infinity", "Infinity", "NaN"};  // the longest first
  std::string plain;
  bool quoted = false;
  for (std::size_t at = 0; at < text.size();) {
    const auto number = std::find_if(std::begin(kNumbers), std::end(kNumbers),
                                     [&](std::string_view one) { return !quoted && text.substr(at).starts_with(one); });
    if (number != std::end(kNumbers)) {
      plain += gaps ? "null" : '"' + std::string(*number) + '"';
      at += number->size();
      continue;
    }
    if (quoted && text[at] == '\\' && at + 1 < text.size()) plain += text[at++];
    else if (text[at] == '"') quoted = !quoted;
    plain += text[at++];
  }
  return parse_json(where, plain);
}

}  // namespace headlight
