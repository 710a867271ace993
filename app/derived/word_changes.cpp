#include "derived/word_changes.h"

#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "derived/guess.h"
#include "explain/moved_rows.h"
#include "math/attention.h"
#include "math/forward.h"
#include "text/characters.h"

namespace headlight {
namespace {

/// Words and their opposites, either of which is tried for the other.
constexpr std::pair<std::string_view, std::string_view> kOpposites[] = {
    {"big", "small"},      {"large", "small"},  {"huge", "tiny"},       {"long", "short"},     {"tall", "short"},
    {"wide", "narrow"},    {"tight", "loose"},  {"big", "tight"},       {"small", "wide"},     {"thick", "thin"},
    {"heavy", "light"},    {"strong", "weak"},  {"fast", "slow"},       {"quick", "slow"},     {"hot", "cold"},
    {"warm", "cool"},      {"old", "new"},      {"old", "young"},       {"good", "bad"},       {"happy", "sad"},
    {"hungry", "full"},    {"tired", "strong"}, {"easy", "hard"},       {"early", "late"},     {"first", "last"},
    {"rich", "poor"},      {"clean", "dirty"},  {"hard", "soft"},       {"high", "low"},       {"deep", "shallow"},
    {"near", "far"},       {"open", "closed"},  {"before", "after"},    {"always", "never"},   {"won", "lost"},
    {"love", "hate"},      {"loved", "hated"},  {"bought", "sold"},     {"gave", "took"},      {"came", "went"},
    {"asked", "told"},     {"right", "wrong"},  {"cheap", "expensive"}, {"safe", "dangerous"}, {"loud", "quiet"},
    {"he", "she"},         {"his", "her"},      {"man", "woman"},       {"boy", "girl"},       {"father", "mother"},
    {"brother", "sister"}, {"in", "on"},        {"with", "without"},    {"and", "or"},         {"because", "although"},
    {"大", "小"},          {"长", "短"},        {"高", "低"},           {"高", "矮"},          {"宽", "窄"},
    {"重", "轻"},          {"新", "旧"},        {"老", "年轻"},         {"好", "坏"},          {"快", "慢"},
    {"冷", "热"},          {"多", "少"},        {"贵", "便宜"},         {"饿", "饱"},          {"赢", "输"},
    {"早", "晚"},          {"远", "近"},        {"强", "弱"},           {"买", "卖"},          {"来", "去"},
    {"他", "她"},          {"男", "女"},        {"哥哥", "弟弟"},       {"姐姐", "妹妹"},      {"爸爸", "妈妈"}};

enum class Writing { mark, lower, upper, digits, chinese, other };

Writing writing_of(const std::string& word) {
  const std::vector<char32_t> characters = code_points(word);
  if (characters.empty()) return Writing::mark;
  for (const char32_t c : characters)
    if (!is_word_character(c) && c != '\'' && c != '-') return Writing::mark;
  const char32_t first = characters.front();
  if (first >= 'a' && first <= 'z') return Writing::lower;
  if (first >= 'A' && first <= 'Z') return Writing::upper;
  if (is_numeric(first)) return Writing::digits;
  return is_chinese_character(first) ? Writing::chinese : Writing::other;
}

/// The ending that tells the number of a noun, the form of a verb or an adverb; empty: none of these.
std::string_view ending_of(std::string_view word) {
  for (const std::string_view ending : {"ing", "ed", "ly", "ss", "s"})
    if (word.size() > ending.size() + 1 && word.ends_with(ending)) return ending == "ss" ? "" : ending;
  return {};
}

/// The multiplications of one answer, about.
double products_of(const Trace& trace) {
  const Config& config = trace.model->config;
  const double width = static_cast<double>(config.d_model), ffn = static_cast<double>(config.ffn);
  const double block = width * (4 * width + (config.gated ? 3 : 2) * ffn);
  return static_cast<double>(trace.queries()) * block * static_cast<double>(trace.num_layers()) +
         width * static_cast<double>(trace.logits.size());
}

using RelatedWord = std::pair<Index, Index>;  // of ArcLabels::relations, and the other word's number

/// In place of the id of a word that the model proposed.
constexpr std::int64_t kOfExample = -1, kOpposite = -2, kOwn = -3;

/// A word to be tried instead of a token.
struct Proposal {
  Index token = 0;
  std::string word;
  std::int64_t id = kOfExample;
};

Vector direction(const Linear& table, Index row) { return weight_rows(table, row, 1).row(0).normalized(); }

/// The cosine that kNearerThan of the pairs of a vocabulary's vectors stay below, of evenly spread ones.
float least_cosine(const Linear& table) {
  constexpr Index kSampled = 64;
  Matrix some(kSampled, table.inputs()), others(kSampled, table.inputs());
  for (Index i = 0; i < kSampled; ++i) {
    some.row(i) = direction(table, i * table.outputs() / (2 * kSampled));
    others.row(i) = direction(table, (kSampled + i) * table.outputs() / (2 * kSampled));
  }
  Matrix cosines = some * others.transpose();
  float* const least = cosines.data() + static_cast<Index>(kNearerThan * static_cast<float>(cosines.size()));
  std::nth_element(cosines.data(), least, cosines.data() + cosines.size());
  return *least;
}

/// The search for one question.
struct Search {
  const Trace& trace;
  const ChangesQuestion& question;
  const ChangeSource& source;
  Progress& progress;
  Index left = 0;  // answers that may still be computed
  std::vector<SpeltWord> words = spelt_words(trace.query_tokens());
  const Linear& table = *trace.model->embeddings.tokens;
  float least = least_cosine(table);
  std::vector<RelatedWord> relations = relations_of(trace);
  Vector row = row_of(trace);
  WordChanges found = {};
  std::vector<WordChange> moving = {}, shifting = {};

  const std::vector<Token>& tokens() const { return trace.query_tokens().tokens; }
  const Token& token(Index at) const { return tokens()[static_cast<std::size_t>(at)]; }

  /// The weights of the row's word, the mean of its pieces' rows; those on the pieces of a word are summed at its first
  /// piece.
  Vector row_of(const Trace& answer) const {
    SpeltWord looks{question.query, 1};
    for (const SpeltWord& word : words)
      if (word.has(question.query)) looks = word;
    Vector weights = attention_rows(answer, question.head, looks.first, looks.count).colwise().mean();
    for (const SpeltWord& word : words) {
      const float sum = weights.segment(word.first, word.count).sum();
      weights.segment(word.first, word.count).setZero();
      weights(word.first) = sum;
    }
    return weights;
  }

  /// The text of the word of this token.
  std::string word_at(Index key) const {
    const auto word = std::find_if(words.begin(), words.end(), [&](const SpeltWord& one) { return one.has(key); });
    if (word == words.end()) return token(key).text;
    return trace.query_tokens().text.substr(word->begin, word->end - word->begin);
  }

  /// Whether the token is a whole word that was typed, other than that of the row; after it a causal mask hides it.
  bool can_change(Index at) const {
    const bool goes_on = at + 1 < trace.queries() && token(at + 1).continues;
    const Token& word = token(at);
    if (word.special || word.pad || word.continues || goes_on || at == question.query || is_masked(word)) return false;
    if (trace.request.mask.causal && at > question.query) return false;
    return writing_of(word.text) != Writing::mark;
  }

  /// The model's probabilities for the words in one position; empty when stopped.
  Vector guessed(Index at) {
    if (trace.request.config.arch == Arch::encoder) {
      if (!can_hide(trace, at) || left-- <= 0) return {};
      const auto answer = forward(with_hidden(trace, at), progress, &trace);
      if (!answer || !*answer) return {};
      return probabilities(logit_rows(**answer, at, 1).row(0));
    }
    return at > 0 ? probabilities(logit_rows(trace, at - 1, 1).row(0)) : Vector{};
  }

  /// Of each token that begins a word the relation that the word has, by the labels of arcs, and to which word; −1, −1
  /// where none is known.
  std::vector<RelatedWord> relations_of(const Trace& answer) const {
    std::vector<RelatedWord> known(tokens().size(), {-1, -1});
    if (!source.labels || !fit(*source.labels, answer.request.config)) return known;
    const auto spelt = spelt_words(answer.query_tokens());  // the same tokens, other bytes
    const auto pairs = pointed_pairs(answer, source.labels->heads, spelt);
    const ArcLanguage language = is_in_chinese(trace.query_tokens()) ? ArcLanguage::chinese : ArcLanguage::english;
    for (const LabelledPair& label : labelled_pairs(*source.labels, language, pairs, true)) {
      const PointedPair& pair = pairs[label.pair];
      const Index token = spelt[static_cast<std::size_t>(pair.from)].first;
      known[static_cast<std::size_t>(token)] = {static_cast<Index>(label.relation), pair.to};
    }
    return known;
  }

  std::vector<Proposal> proposed(Index at) {
    std::vector<Proposal> proposals;
    const Vector shares = guessed(at);
    if (shares.size() == 0) return proposals;
    const Token& word = token(at);
    const std::int64_t pieces = trace.query_tokens().word_rows;
    const bool pieced = pieces > 0 && writing_of(word.text) != Writing::chinese;  // Chinese is cut into whole words
    const Vector own = direction(table, word.id);
    const std::vector<Candidate> likely = most_probable(*trace.model, shares, 8 * kMostWordsTried);
    float most = 0;  // of those that are written like the word: a full stop is often the likeliest at an open end
    for (const Candidate& one : likely) {
      if (one.probability < kLeastOfLikeliest * most) break;
      const std::string text(without_leading_space(one.text));
      if (most == 0 && written_alike(word.text, text)) most = one.probability;
      if (one.id == word.id || text == word.text || (pieced && one.id >= pieces)) continue;
      if (!written_alike(word.text, text) || ending_of(word.text) != ending_of(text) ||
          own.dot(direction(table, one.id)) < least)
        continue;
      proposals.push_back({at, text, one.id});
      if (proposals.size() == static_cast<std::size_t>(kMostWordsTried)) break;
    }
    return proposals;
  }

  bool is_word(Index key) const {
    const Token& one = token(key);
    return !one.special && !one.pad && writing_of(one.text) != Writing::mark;
  }

  /// Computes the answer to the sentence with the word, and what it does to the row.
  void attempt(const Proposal& proposal) {
    const auto done = [&](const WordChange& one) { return one.token == proposal.token && one.to == proposal.word; };
    const auto tried = [&](const std::vector<WordChange>& of) { return std::any_of(of.begin(), of.end(), done); };
    if (left <= 0 || (proposal.id != kOwn && (tried(found.best) || tried(moving) || tried(shifting)))) return;
    const auto retyped = source.retype(token(proposal.token), proposal.word);
    if (!retyped) return;
    const auto changed = changed_word(trace.request, retyped->request);
    if (!changed) return;
    const auto at = static_cast<std::size_t>(proposal.token);
    const Token& typed = retyped->request.tokens.tokens[at];
    if (!typed.known || typed.id == token(proposal.token).id || (proposal.id >= 0 && typed.id != proposal.id)) return;
    --left;
    const auto answer = forward(retyped->request, progress, &trace);
    if (!answer || !*answer) return;
    // A guess keeps the relations of all words, an opposite its own; in Chinese, where no word agrees with another by
    // its ending, so does a guess.
    const bool guessed = proposal.id >= 0;
    if (guessed || proposal.id == kOpposite) {
      const std::vector<RelatedWord> related = relations_of(**answer);
      const bool of_all = guessed && !is_in_chinese(trace.query_tokens());
      if (of_all ? related != relations : related[at] != relations[at]) return;
    }
    const Vector now = row_of(**answer);
    Index before = 0, after = 0;
    row.maxCoeff(&before);
    const float largest = now.maxCoeff(&after);
    WordChange change{proposal.token, changed->from, changed->to, retyped->text};
    change.moves = after != before && largest >= kMovedWeight && is_word(after);
    change.of_example = proposal.id == kOfExample;
    change.key = change.moves ? after : before;
    change.looked_at = change.key == change.token ? change.to : word_at(change.key);
    change.before = row(change.key);
    change.after = now(change.key);
    if (proposal.id == kOwn) {
      found.own = std::move(change);
      return;
    }
    ++found.tried;
    found.moving += change.moves;
    const bool shifts =
        change.key != change.token && is_word(before) && std::abs(change.after - change.before) >= kLeastShift;
    if (!change.moves && !shifts) return;
    (change.of_example ? found.best : change.moves ? moving : shifting).push_back(std::move(change));
  }

  /// The reader's word, in place of the word of the sentence whose vector is most like its own.
  void try_own() {
    std::optional<Index> place;
    float nearest = -1;
    for (Index at = 0; at < trace.queries(); ++at) {
      if (!can_change(at) || token(at).text == question.own) continue;
      const auto retyped = source.retype(token(at), question.own);
      if (!retyped || !changed_word(trace.request, retyped->request)) continue;
      const Token& typed = retyped->request.tokens.tokens[static_cast<std::size_t>(at)];
      if (!typed.known || typed.id == token(at).id) continue;
      const float like = direction(table, typed.id).dot(direction(table, token(at).id));
      if (like > nearest) nearest = like, place = at;
    }
    found.own.reset();
    left = std::max<Index>(left, 1);
    if (place) attempt({*place, question.own, kOwn});
  }

  /// The examples' changes, opposites; then the first proposals of every position, then the second ones …
  void try_all() {
    std::vector<Index> positions;
    for (Index at = 0; at < trace.queries(); ++at)
      if (can_change(at)) positions.push_back(at);
    for (const auto& [word, other] : source.examples)
      for (auto at = positions.rbegin(); at != positions.rend(); ++at)
        if (token(*at).text == word) {
          attempt({*at, other});
          break;
        }
    for (const Index at : positions)
      for (const auto& [word, other] : kOpposites) {
        if (token(at).text == word) attempt({at, std::string(other), kOpposite});
        if (token(at).text == other) attempt({at, std::string(word), kOpposite});
      }
    std::vector<std::vector<Proposal>> proposals;
    for (const Index at : positions) proposals.push_back(proposed(at));
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(kMostWordsTried); ++rank) {
      for (const auto& likely : proposals)
        if (rank < likely.size() && !progress.stop) attempt(likely[rank]);
      progress.done = static_cast<float>(rank + 1) / static_cast<float>(kMostWordsTried);
    }
  }

  void choose_best() {
    const auto by_size = [](const WordChange& a, const WordChange& b) {
      return std::abs(a.after - a.before) > std::abs(b.after - b.before);
    };
    for (auto* changes : {&moving, &shifting}) {
      std::stable_sort(changes->begin(), changes->end(), by_size);
      for (WordChange& change : *changes) {
        const auto like = [&](const WordChange& one) { return one.token == change.token && one.key == change.key; };
        if (found.best.size() < kMostOffered && std::none_of(found.best.begin(), found.best.end(), like))
          found.best.push_back(std::move(change));
      }
    }
  }
};

}  // namespace

bool written_alike(const std::string& word, const std::string& other) {
  const Writing writing = writing_of(word);
  return writing != Writing::mark && writing == writing_of(other);
}

std::shared_ptr<const WordChanges> find_changes(const ChangesQuestion& question, const ChangeSource& source,
                                                Progress& progress, const WordChanges* known) {
  const auto trace = question.trace.lock();
  if (!trace) return nullptr;
  progress.share = 0;  // counted here
  Search search{*trace, question, source, progress};
  search.left = static_cast<Index>(std::min<double>(kMostAnswers, kMostProducts / std::max(1.0, products_of(*trace))));
  if (known) {
    search.found = *known;
  } else {
    search.try_all();
    if (progress.stop) return nullptr;
    search.choose_best();
    search.found.word = search.word_at(question.query);
  }
  search.found.own.reset();
  if (!question.own.empty()) search.try_own();
  if (progress.stop) return nullptr;
  return std::make_shared<const WordChanges>(std::move(search.found));
}

}  // namespace headlight
