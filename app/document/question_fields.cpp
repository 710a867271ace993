#include "document/question_fields.h"

#include <utility>

namespace headlight {

std::span<const std::string> GivenOptions::all(std::string_view option) const {
  const auto found = words.find(option);
  return found == words.end() ? std::span<const std::string>() : found->second;
}

const QuestionFields& question_fields() {
  static const QuestionFields fields = [] {
    QuestionFields all = text_fields();
    for (auto part : {model_fields, attention_fields})
      for (QuestionField& field : part()) all.push_back(std::move(field));
    return all;
  }();
  return fields;
}

Status take_fields(Document& document, const GivenOptions& given, FieldPart part, const QuestionFields& fields) {
  for (const QuestionField& field : fields) {
    if (field.part != part || !field.take) continue;
    bool is_given = false;
    for (const FieldOption& option : field.options) is_given = is_given || given.has(option.name);
    if (!is_given) continue;
    if (const auto taken = field.take(document, given); !taken) return taken;
  }
  return Done{};
}

Result<std::vector<std::string>> request_words(const Document& document, const QuestionFields& fields) {
  OptionWords all;
  if (document.model) all.words.push_back(document.model_path);
  for (const QuestionField& field : fields)
    if (field.put) field.put(document, all);
  if (all.refused) return *all.refused;
  return std::move(all.words);
}

}  // namespace headlight
