#include "train/measure/treebank_scores.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/utf8.h"
#include "text/characters.h"
#include "train/measure/head_scores.h"

namespace headlight {
namespace {

constexpr std::size_t kMostTokens = 400;  // of a sentence that is measured

/// How much of each token every word of a sentence has.
struct WordShares {
  Matrix from, to;  // (words, tokens): shares of a word's row, and of a token's column
};

/// Its number in the list; −1: none.
int relation_index(std::string_view name) {
  const UniversalRelation* found = counting_relation(name);
  return found ? static_cast<int>(found - universal_relations().data()) : -1;
}

/// Bytes that a token and a word share; white space before a token does not count.
float shared_bytes(const Tokens& tokens, const Token& token, const TreebankSentence::Word& word) {
  std::size_t begin = token.begin;
  while (begin < token.end && tokens.text[begin] == ' ') ++begin;
  const std::size_t first = std::max(begin, word.begin), last = std::min(token.end, word.end);
  return first < last && !token.special ? static_cast<float>(last - first) : 0;
}

WordShares shares_of(const TreebankSentence& sentence, const Tokens& tokens) {
  const auto words = static_cast<Index>(sentence.words.size()), count = static_cast<Index>(tokens.size());
  Matrix shares(words, count);
  for (Index word = 0; word < words; ++word)
    for (Index token = 0; token < count; ++token)
      shares(word, token) = shared_bytes(tokens, tokens.tokens[static_cast<std::size_t>(token)],
                                         sentence.words[static_cast<std::size_t>(word)]);
  WordShares result{shares, shares};
  for (Index word = 0; word < words; ++word) result.from.row(word) /= std::max(1.0f, shares.row(word).sum());
  for (Index token = 0; token < count; ++token) result.to.col(token) /= std::max(1.0f, shares.col(token).sum());
  return result;
}

/// The words' weights on each other; −1 where two words share a token, the word itself among them.
Matrix word_weights(const WordShares& shares, const Matrix& weights) {
  Matrix words = shares.from * weights * shares.to.transpose();
  const Matrix together = shares.from * shares.to.transpose();
  return (together.array() > 0).select(Matrix::Constant(words.rows(), words.cols(), -1.0f), words);
}

HeadLook strongest(const Matrix& weights, Index from, Index to, const std::set<Index>& also_right) {
  Index position = 0;
  const float most = weights.row(from).maxCoeff(&position);
  return {most >= 0 && (position == to || also_right.contains(position)), std::max(0.0f, weights(from, to))};
}

/// A sentence with the arcs of the listed relations, read from the dependent to its head and back. The sentence must
/// stay.
std::optional<MeasuredCase> tree_case(const std::shared_ptr<const Model>& model, const TreebankSentence& sentence,
                                      const Tokenizer& tokenizer) {
  auto tokens = encode(tokenizer, sentence.text, true);
  if (!tokens || tokens->size() > kMostTokens) return std::nullopt;
  MeasuredCase one;
  std::vector<TreebankSentence::Arc> arcs;
  std::map<std::pair<int, Index>, std::set<Index>> dependents;  // of a head in a relation
  for (const TreebankSentence::Arc& arc : sentence.arcs) {
    const int relation = relation_index(arc.relation);
    if (relation < 0) continue;
    one.golds.push_back({relation, static_cast<int>(arc.head - arc.dependent), 0});
    dependents[{relation, arc.head}].insert(arc.dependent);
    arcs.push_back(arc);
  }
  if (arcs.empty()) return std::nullopt;
  WordShares shares = shares_of(sentence, *tokens);
  one.request = {.model = model, .config = model->config, .tokens = *std::move(tokens)};
  one.request.mask.causal = model->config.arch == Arch::decoder;
  one.weights = [shares = std::move(shares)](const Matrix& weights) { return word_weights(shares, weights); };
  one.look = [arcs = std::move(arcs), dependents = std::move(dependents)](const Matrix& weights,
                                                                          std::size_t gold) -> std::array<HeadLook, 2> {
    const TreebankSentence::Arc& arc = arcs[gold];
    return {strongest(weights, arc.dependent, arc.head, {}),
            strongest(weights, arc.head, arc.dependent, dependents.at({relation_index(arc.relation), arc.head}))};
  };
  return one;
}

bool is_in_chinese(const HeldOutTreebank& treebank) {
  std::size_t chinese = 0;
  for (const TreebankSentence& one : treebank.sentences) {
    const std::vector<char32_t> characters = code_points(one.text);
    chinese += std::any_of(characters.begin(), characters.end(), is_chinese_character);
  }
  return 2 * chinese > treebank.sentences.size();
}

/// On the head that was taught it, from the dependent to its head; else on the best of all heads and both directions.
RelationScore score_of_relation(const UniversalRelation& relation, std::string_view language,
                                const RelationMeasure& measure, const Measured& measured,
                                const std::vector<TaughtHead>& taught, Index heads) {
  const auto teaching = taught_head(taught, relation.name);
  const std::size_t column =
      teaching ? static_cast<std::size_t>(2 * (taught[*teaching].layer * heads + taught[*teaching].head))
               : best_column(measured.on_validation, measure.validation().rows);
  RelationScore score{.relation = std::string(language) + relation.name, .en = relation.en, .zh = relation.zh};
  const auto head = static_cast<Index>(column / 2);
  score.chosen = {head / heads, head % heads, column % 2 == 1};
  score.score = measure.tested(column);
  measure.add_baselines(score);
  score.kind_offset = score.offset;
  return score;
}

}  // namespace

Result<std::optional<RelationReport>> measure_treebanks(const std::shared_ptr<const Model>& model,
                                                        const Tokenizer& tokenizer,
                                                        const std::vector<HeldOutTreebank>& treebanks,
                                                        const std::vector<TaughtHead>& taught, int threads,
                                                        Progress& progress) {
  if (model->config.arch == Arch::encoder_decoder)
    return bad_input("treebank", "model", "one stack of attention", "an encoder-decoder");
  if (!model->vocabulary || !model->embeddings.tokens)
    return bad_input("treebank", "model", "a trained model with a vocabulary", "none");
  std::optional<RelationReport> result;
  RelationReport& report = result.emplace();
  for (const HeldOutTreebank& treebank : treebanks) {
    Measured measured;
    for (std::size_t i = 0; i < treebank.sentences.size(); ++i)
      if (auto one = tree_case(model, treebank.sentences[i], tokenizer))
        (i % 2 == 0 ? measured.validation : measured.test).push_back(*std::move(one));
    const auto looked =
        TRY(measured.look(model, Stack::self, threads, progress, 0.24f / static_cast<float>(treebanks.size())));
    if (!looked) return std::optional<RelationReport>();
    const std::string_view language = is_in_chinese(treebank) ? kChinesePrefix : "";
    const std::size_t before = report.relations.size();
    for (std::size_t r = 0; r < universal_relations().size(); ++r) {
      const RelationMeasure measure(measured, static_cast<int>(r));
      const std::size_t fewest = std::min(measure.validation().rows.size(), measure.test().rows.size());
      if (static_cast<Index>(fewest) < kFewestArcs) continue;
      report.relations.push_back(
          score_of_relation(universal_relations()[r], language, measure, measured, taught, model->config.num_heads));
    }
    if (report.relations.size() == before)
      return bad_input(treebank.name, "relations",
                       "one of at least " + std::to_string(kFewestArcs) + " arcs in each half of the sentences",
                       "none");
  }
  return result;
}

}  // namespace headlight
