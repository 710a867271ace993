#include "train/measure/treebank_scores.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/utf8.h"
#include "math/attention.h"
#include "text/characters.h"
#include "train/grammar/speller.h"
#include "train/measure/head_scores.h"

namespace headlight {
namespace {

constexpr std::size_t kMostTokens = 400;  // of a sentence that is measured
constexpr std::string_view kChinese = "zh:";

std::string_view plain_name(const RelationScore& score) {
  const std::string_view name = score.relation;
  return name.starts_with(kChinese) ? name.substr(kChinese.size()) : name;
}

/// A sentence with its tokens, and how much of each token every word has.
struct TreeCase {
  const TreebankSentence* sentence = nullptr;
  Tokens tokens;
  Matrix from, to;                // (words, tokens): shares of a word's row, and of a token's column
  std::vector<std::size_t> arcs;  // of the sentence, those whose relation is in the list
};

/// The relation of the list that counts this one; −1: none.
int relation_index(std::string_view name) {
  const auto& all = universal_relations();
  const auto find = [&](std::string_view wanted) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == wanted; });
    return found == all.end() ? -1 : static_cast<int>(found - all.begin());
  };
  const int exact = find(name);
  return exact >= 0 ? exact : find(name.substr(0, name.find(':')));
}

/// Bytes that a token and a word share; white space before a token is not its own.
float shared_bytes(const Tokens& tokens, const Token& token, const TreebankSentence::Word& word) {
  std::size_t begin = token.begin;
  while (begin < token.end && tokens.text[begin] == ' ') ++begin;
  const std::size_t first = std::max(begin, word.begin), last = std::min(token.end, word.end);
  return first < last && !token.special ? static_cast<float>(last - first) : 0;
}

std::optional<TreeCase> tree_case(const TreebankSentence& sentence, const Tokenizer& tokenizer) {
  auto tokens = encode(tokenizer, sentence.text, true);
  if (!tokens || tokens->size() > kMostTokens) return std::nullopt;
  TreeCase one{&sentence, *std::move(tokens), {}, {}, {}};
  for (std::size_t arc = 0; arc < sentence.arcs.size(); ++arc)
    if (relation_index(sentence.arcs[arc].relation) >= 0) one.arcs.push_back(arc);
  if (one.arcs.empty()) return std::nullopt;
  const auto words = static_cast<Index>(sentence.words.size()), count = static_cast<Index>(one.tokens.size());
  Matrix shares(words, count);
  for (Index word = 0; word < words; ++word)
    for (Index token = 0; token < count; ++token)
      shares(word, token) = shared_bytes(one.tokens, one.tokens.tokens[static_cast<std::size_t>(token)],
                                         sentence.words[static_cast<std::size_t>(word)]);
  one.from = one.to = shares;
  for (Index word = 0; word < words; ++word) one.from.row(word) /= std::max(1.0f, shares.row(word).sum());
  for (Index token = 0; token < count; ++token) one.to.col(token) /= std::max(1.0f, shares.col(token).sum());
  return one;
}

/// The words' weights on each other; −1 where two words share a token, the word itself among them.
Matrix word_weights(const TreeCase& one, const Matrix& weights) {
  Matrix words = one.from * weights * one.to.transpose();
  const Matrix together = one.from * one.to.transpose();
  return (together.array() > 0).select(Matrix::Constant(words.rows(), words.cols(), -1.0f), words);
}

HeadLook strongest(const Matrix& weights, Index from, Index to, const std::set<Index>& also_right) {
  Index place = 0;
  const float most = weights.row(from).maxCoeff(&place);
  return {most >= 0 && (place == to || also_right.contains(place)), std::max(0.0f, weights(from, to))};
}

Result<HeadLooks> tree_looks(const std::shared_ptr<const Model>& model, const std::vector<TreeCase>& cases, int threads,
                             Progress& progress, float share) {
  std::vector<Request> requests;
  std::vector<std::size_t> num_golds;
  for (const TreeCase& one : cases) {
    Request request{.model = model, .config = model->config, .tokens = one.tokens};
    request.mask.causal = model->config.arch == Arch::decoder;
    requests.push_back(std::move(request));
    num_golds.push_back(one.arcs.size());
  }
  const auto read = [&](const Trace& trace, std::size_t c, std::span<std::vector<HeadLook>> golds) {
    const TreeCase& one = cases[c];
    std::map<std::pair<int, Index>, std::set<Index>> dependents;  // of a head in a relation
    for (const std::size_t arc : one.arcs) {
      const TreebankSentence::Arc& now = one.sentence->arcs[arc];
      dependents[{relation_index(now.relation), now.head}].insert(now.dependent);
    }
    const Index columns = trace.num_layers() * trace.num_heads();
    for (Index column = 0; column < columns; ++column) {
      const HeadRef head{.layer = column / trace.num_heads(), .head = column % trace.num_heads()};
      const Matrix weights = word_weights(one, attention_rows(trace, head, 0, trace.queries()));
      for (std::size_t g = 0; g < golds.size(); ++g) {
        const TreebankSentence::Arc& arc = one.sentence->arcs[one.arcs[g]];
        golds[g].resize(static_cast<std::size_t>(2 * columns));
        golds[g][static_cast<std::size_t>(2 * column)] = strongest(weights, arc.dependent, arc.head, {});
        golds[g][static_cast<std::size_t>(2 * column + 1)] =
            strongest(weights, arc.head, arc.dependent, dependents[{relation_index(arc.relation), arc.head}]);
      }
    }
  };
  return look_at_all(requests, num_golds, read, threads, progress, share);
}

/// The arcs of one relation among all, by their rows of HeadLooks.
struct RelationArcs {
  std::vector<std::size_t> golds;
  std::vector<GoldPair> places;  // from the dependent to its head
};
RelationArcs arcs_of(const std::vector<TreeCase>& cases, int relation) {
  RelationArcs found;
  std::size_t row = 0;
  for (const TreeCase& one : cases)
    for (const std::size_t arc : one.arcs) {
      const TreebankSentence::Arc& now = one.sentence->arcs[arc];
      if (relation_index(now.relation) == relation) {
        found.golds.push_back(row);
        found.places.push_back({now.head - now.dependent, 0});
      }
      ++row;
    }
  return found;
}

/// The column that finds most of these arcs.
std::size_t best_column(const HeadLooks& looks, const RelationArcs& arcs, std::size_t columns) {
  std::size_t best = 0;
  double most = -1;
  for (std::size_t column = 0; column < columns; ++column)
    if (const double now = score_of(looks, arcs.golds, column, {}).accuracy; now > most) best = column, most = now;
  return best;
}

bool is_in_chinese(const HeldOutTreebank& treebank) {
  std::size_t chinese = 0;
  for (const TreebankSentence& one : treebank.sentences) {
    const std::vector<char32_t> characters = code_points(one.text);
    chinese += std::any_of(characters.begin(), characters.end(), is_chinese_character);
  }
  return 2 * chinese > treebank.sentences.size();
}

}  // namespace

const std::vector<UniversalRelation>& universal_relations() {
  static const std::vector<UniversalRelation> all = {
      {"nsubj", "subject → its predicate", "主语 → 谓语"},
      {"obj", "object → its verb", "宾语 → 动词"},
      {"iobj", "indirect object → its verb", "间接宾语 → 动词"},
      {"det", "determiner → its noun", "限定词 → 名词"},
      {"nmod:poss", "possessor → what is owned", "领有者 → 所属物"},
      {"nummod", "number → what is counted", "数词 → 所数之物"},
      {"clf", "measure word → its number", "量词 → 数词"},
      {"amod", "adjective → its noun", "形容词 → 名词"},
      {"case", "preposition → its noun", "介词、方位词、的 → 名词"},
      {"aux", "auxiliary → its verb", "助词、助动词 → 动词"},
      {"cop", "copula → its predicate", "系词 → 表语"},
      {"mark", "conjunction, to, 的 → its clause", "从句标记（的、如果） → 从句"},
      {"advmod", "adverb → what it modifies", "副词 → 所修饰的词"},
      {"compound", "part of a compound → its main word", "复合词的部分 → 中心词"},
      {"flat", "part of a name → its first word", "名称的部分 → 首词"},
      {"nmod", "noun → the noun it modifies", "名词定语 → 名词"},
      {"acl", "clause → the noun it modifies", "定语从句 → 名词"},
      {"obl", "noun beside a verb → that verb", "状语名词 → 动词"},
      {"advcl", "adverbial clause → main verb", "状语从句 → 主句动词"},
      {"xcomp", "open complement → its verb", "开放补语 → 动词"},
      {"ccomp", "complement clause → its verb", "补语从句 → 动词"},
      {"conj", "second part → first part", "并列后项 → 前项"},
      {"cc", "and, or → what it joins", "并列连词 → 后项"},
  };
  return all;
}

bool is_universal(const RelationScore& score) {
  const auto& all = universal_relations();
  return std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.name == plain_name(score); });
}

bool is_of_chinese(const RelationScore& score) { return score.relation.starts_with(kChinese); }

bool was_taught(const std::vector<TaughtHead>& taught, const RelationScore& score) {
  const auto told = taught_head(taught, plain_name(score));
  return told && !score.chosen.reversed && taught[*told].layer == score.chosen.layer &&
         taught[*told].head == score.chosen.head;
}

Result<std::optional<RelationReport>> measure_treebanks(const std::shared_ptr<const Model>& model,
                                                        const Tokenizer& tokenizer,
                                                        const std::vector<HeldOutTreebank>& treebanks,
                                                        const std::vector<TaughtHead>& taught, int threads,
                                                        Progress& progress) {
  if (model->config.arch == Arch::encoder_decoder)
    return bad_input("treebank", "model", "one stack of attention", "an encoder-decoder");
  if (!model->vocabulary || !model->embeddings.tokens)
    return bad_input("treebank", "model", "a trained model with a vocabulary", "none");
  const auto untrained = untrained_model(*model);
  const Index heads = model->config.num_heads;
  const auto columns = static_cast<std::size_t>(2 * heads * model->config.num_layers);
  std::optional<RelationReport> result;
  RelationReport& report = result.emplace();
  for (const HeldOutTreebank& treebank : treebanks) {
    std::vector<TreeCase> halves[2];
    for (std::size_t i = 0; i < treebank.sentences.size(); ++i)
      if (auto one = tree_case(treebank.sentences[i], tokenizer)) halves[i % 2].push_back(*std::move(one));
    HeadLooks looks[2], plain[2];
    const float share = 0.24f / static_cast<float>(treebanks.size());
    for (int half = 0; half < 2; ++half) {
      for (const bool fresh : {false, true}) {
        auto found = tree_looks(fresh ? untrained : model, halves[half], threads, progress, share);
        if (!found) return found.error();
        if (progress.stop) return std::optional<RelationReport>();
        (fresh ? plain : looks)[half] = *std::move(found);
      }
    }
    const bool chinese = is_in_chinese(treebank);
    const std::size_t before = report.relations.size();
    for (std::size_t r = 0; r < universal_relations().size(); ++r) {
      const UniversalRelation& relation = universal_relations()[r];
      const RelationArcs choose = arcs_of(halves[0], static_cast<int>(r)),
                         test = arcs_of(halves[1], static_cast<int>(r));
      if (static_cast<Index>(std::min(choose.golds.size(), test.golds.size())) < kFewestArcs) continue;
      const auto told = taught_head(taught, relation.name);
      const std::size_t column = told ? static_cast<std::size_t>(2 * (taught[*told].layer * heads + taught[*told].head))
                                      : best_column(looks[0], choose, columns);
      const PositionScores positions = position_scores(choose.places, test.places, [&](std::size_t arc, int distance) {
        return test.places[arc].distance == distance;
      });
      RelationScore score{.relation = (chinese ? std::string(kChinese) : std::string()) + relation.name,
                          .en = relation.en,
                          .zh = relation.zh};
      const auto head = static_cast<Index>(column / 2);
      score.chosen = {head / heads, head % heads, column % 2 == 1};
      score.score = score_of(looks[1], test.golds, column, positions.hard);
      score.random = score_of(plain[1], test.golds, best_column(plain[0], choose, columns), {}).accuracy;
      score.offset = score.kind_offset = positions.offset;
      score.sentences = static_cast<Index>(test.golds.size());
      report.relations.push_back(std::move(score));
    }
    if (report.relations.size() == before)
      return bad_input(treebank.name, "relations",
                       "one of at least " + std::to_string(kFewestArcs) + " arcs in each half of the sentences",
                       "none");
  }
  return result;
}

}  // namespace headlight
