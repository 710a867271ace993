#include "models/asking.h"

#include <algorithm>
#include <cstdint>

#include "base/formatted.h"
#include "base/utf8.h"
#include "models/model_choice.h"
#include "question/tokenizers.h"

namespace headlight {
namespace {

/// What is wrong with a word where a number is expected; empty: nothing.
template <class Number>
std::string number_fault(const std::string& word) {
  return parse_number<Number>(word) ? std::string() : "expected a number, found '" + word + "'";
}

/// The row of an option, among those of an open model; null: there is none.
const FieldOption* find_option(const QuestionFields& fields, std::string_view name) {
  for (const QuestionField& field : fields) {
    if (field.part == FieldPart::model) continue;
    for (const FieldOption& option : field.options)
      if (name == option.name) return &option;
  }
  return nullptr;
}

/// Whether each option goes with the others.
Status check_together(const GivenOptions& given, const QuestionFields& fields) {
  for (const auto& [name, words] : given.words) {
    const FieldOption& option = *find_option(fields, name);
    if (option.needs && !given.has(option.needs)) return bad_input(name, "", option.needs, "none");
    for (const char* other : option.excludes)
      if (given.has(other)) return bad_input(name, "", std::string("no ") + other + " beside it", other);
  }
  return Done{};
}

Status check_weights(const Document& document, const std::vector<Request>& requests) {
  for (const WeightEdit& edit : document.edits.weights) {
    const Request& request = requests.front();
    if (!has_stack(request, edit.head.stack)) continue;
    const auto queries = static_cast<Index>(query_tokens(request, edit.head.stack).size());
    const auto keys = static_cast<Index>(key_tokens(request, edit.head.stack).size());
    const auto found = [](Index at, Index count) { return std::to_string(at) + " of " + std::to_string(count); };
    if (edit.cell.query >= queries)
      return bad_input("--weight", "query", "0 to " + std::to_string(queries - 1), found(edit.cell.query, queries));
    if (edit.cell.key >= keys)
      return bad_input("--weight", "key", "0 to " + std::to_string(keys - 1), found(edit.cell.key, keys));
  }
  return Done{};
}

}  // namespace

std::string option_fault(OptionKind kind, const std::string& word) {
  switch (kind) {
    case OptionKind::number: return number_fault<float>(word);
    case OptionKind::integer: return number_fault<Index>(word);
    case OptionKind::count:
      if (word.starts_with('-')) return "expected a whole number, 0 or more, found " + word;
      return number_fault<std::uint64_t>(word);
    default: return {};
  }
}

Result<GivenOptions> given_options(const std::vector<std::string>& words, const QuestionFields& fields) {
  GivenOptions given{.has_standard_input = false};
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string& name = words[at];
    const FieldOption* option = find_option(fields, name);
    if (!option) return bad_input("question", "", "an option of the text, the masks or the edits", "'" + name + "'");
    std::vector<std::string>& values = given.words[name];
    if (option->kind == OptionKind::flag) continue;
    if (++at == words.size()) return bad_input(name, "", "a value", "none");
    if (const std::string fault = option_fault(option->kind, words[at]); !fault.empty())
      return Error(ErrorCode::bad_value, name, fault);
    if (option->kind == OptionKind::list)
      for (const std::string_view part : split_at(',', words[at])) values.emplace_back(part);
    else if (option->kind == OptionKind::repeated) values.push_back(words[at]);
    else values.assign(1, words[at]);
  }
  TRY(check_together(given, fields));
  return given;
}

Status take_question(Document& document, const GivenOptions& given, const TakingOptions& how,
                     const QuestionFields& fields) {
  const bool new_text = given.has("--text") || given.has("--tokens");
  // The target that a document begins with belongs to the text that it begins with.
  const bool begins = document.tokenizers && document.tokenizers->start && document.target == Document{}.target;
  if (begins && (new_text || how.empties_target)) document.target = {};
  if (const Status texts = take_fields(document, given, FieldPart::text, fields); !texts) {
    if (given.notes) given.notes->clear();  // of lines of which none is left
    return texts;
  }
  if (how.chooses_model && new_text) TRY(choose_model(document, nullptr, how.seen));
  TRY(take_fields(document, given, FieldPart::mask, fields));
  return take_fields(document, given, FieldPart::edits, fields);
}

Result<std::vector<Request>> requests_asked(const Document& document, const Lexicon& lexicon) {
  auto requests = TRY(requests_of(document, lexicon));
  TRY(check_weights(document, requests));
  return requests;
}

}  // namespace headlight
