#include "question/question_fields.h"

#include <nlohmann/json.hpp>

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
    TRY(field.take(document, given));
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

Status resolve_masks(const std::string& where, PageAttention& page) {
  for (auto& [stack, of_stack] : page.stacks) {
    std::map<Index, std::shared_ptr<const Mask>> of_window;  // of layers whose edit has no mask
    for (std::size_t layer = 0; layer < of_stack.layers.size(); ++layer) {
      const LayerEdit* edit = layer_edit(page.edits, stack, static_cast<Index>(layer));
      const bool has_own = edit && edit->mask;
      const Index window = of_stack.windows[layer];
      auto& known = of_window[window];
      if (has_own || !known) {
        auto mask =
            resolve(has_own ? *edit->mask : page.masks.at(stack), of_stack.query_tokens, of_stack.key_tokens, window);
        if (!mask) return inside(where, mask.error());
        TRY(check_heads(where, *mask, of_stack.layers[layer].num_heads()));
        of_stack.layers[layer].mask = std::make_shared<const Mask>(*std::move(mask));
        if (!has_own) known = of_stack.layers[layer].mask;
      } else {
        of_stack.layers[layer].mask = known;
      }
    }
  }
  return Done{};
}

Result<PageAttention> page_of_answer(const std::string& where, const nlohmann::json& answer,
                                     const PageNumbers& beside) {
  auto page = TRY(page_attention(where, answer, beside));
  JsonProblems problems{where};
  const JsonField fields(answer, "", problems);
  for (const JsonField& item : fields.at("stacks").items()) {
    if (!item.has("mask")) item.at("mask").problem("an object");
    page.masks[static_cast<Stack>(item.integer("number", 0, 2))] = mask_from_json(item.at("mask"));
  }
  read_edits(fields.at("edits"), page.edits);
  if (problems.first) return *problems.first;
  TRY(resolve_masks(where, page));
  return page;
}

}  // namespace headlight
