#include "train/grammar/speller.h"
#include "train/grammar/special_words.h"

#include <cmath>
#include <unordered_map>

namespace headlight {

Speller::Speller(const Model& model, const Grammar& grammar) {
  std::unordered_map<std::string_view, std::int64_t> rows;
  const auto& [words, ids] = *model.vocabulary;
  for (std::size_t row = 0; row < words.size(); ++row) {
    rows.emplace(words[row], ids.empty() ? static_cast<std::int64_t>(row) : ids[row]);
  }
  const auto start = rows.find(kSpecialWords[kStartRow]), unknown_row = rows.find(kSpecialWords[kUnknownRow]);
  if (start != rows.end() && model.config.arch != Arch::encoder) start_ = start->second;
  const std::size_t own = grammar.words.size();
  for (std::size_t i = 0; i < own + grammar.dictionary.words.size(); ++i) {
    const auto row = rows.find(target_word(grammar, static_cast<std::int32_t>(i)));
    if (row == rows.end() && i < own) ++unknown;
    ids_.push_back(row != rows.end() ? row->second : unknown_row != rows.end() ? unknown_row->second : 0);
  }
}

Request Speller::request(const std::shared_ptr<const Model>& model, const std::vector<std::int32_t>& words,
                         const std::vector<std::int32_t>& english) const {
  const bool two_texts = model->config.arch == Arch::encoder_decoder;
  Request request{.model = model, .config = model->config, .tokens = tokens(words, !two_texts)};
  if (two_texts) request.target = tokens(english, true);
  if (model->config.arch != Arch::encoder) request.mask.causal = true;
  return request;
}

Tokens Speller::tokens(const std::vector<std::int32_t>& words, bool start) const {
  Tokens tokens;
  if (start && start_) {
    Token& first = tokens.tokens.emplace_back();
    first.id = *start_;
    first.special = true;
  }
  for (const std::int32_t word : words) tokens.tokens.emplace_back().id = ids_[static_cast<std::size_t>(word)];
  return tokens;
}

std::shared_ptr<const Model> untrained_model(const Model& model) {
  Model fresh = *random_model(model.config);
  fresh.embeddings = model.embeddings;  // the words' own vectors, and none of what was learned about them …
  Random random(derive_seed(model.config.seed, "relations"));
  Matrix tokens(model.embeddings.tokens->outputs(), model.embeddings.tokens->inputs());
  const float limit = std::sqrt(3.0f / static_cast<float>(tokens.cols()));
  for (Index i = 0; i < tokens.size(); ++i) tokens.data()[i] = random.symmetric(limit);
  fresh.embeddings.tokens = table_of(std::move(tokens));  // … not even those
  if (fresh.encoder && model.encoder) {
    fresh.encoder->embeddings = model.encoder->embeddings;
    fresh.encoder->embeddings.tokens = fresh.embeddings.tokens;
  }
  return std::make_shared<const Model>(std::move(fresh));
}

}  // namespace headlight
