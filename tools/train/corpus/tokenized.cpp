#include "train/corpus/tokenized.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "base/utf8.h"
#include "text/words.h"

namespace headlight {
namespace {

std::int32_t row_of(const Token& token) {
  return static_cast<std::int32_t>(token.id) + (token.continues ? TokenLines::kContinues : 0);
}

/// Tokens of words, each word spelt once.
class WordSpeller {
 public:
  explicit WordSpeller(const Tokenizer& tokenizer)
      : tokenizer_(tokenizer), lexicon_(finds_words(tokenizer) ? lexicon_of(tokenizer) : nullptr) {}

  /// Appends the rows of a sentence, the start first.
  Status spell(std::string_view sentence, std::vector<std::int32_t>& rows) {
    if (!lexicon_) {
      const auto tokens = TRY(encode(tokenizer_, sentence, true));
      for (const Token& token : tokens.tokens) rows.push_back(row_of(token));
      return Done{};
    }
    rows.push_back(kStartRow);
    std::size_t begin = 0;
    const std::vector<std::size_t> cuts = cut_points(sentence, Split::words, *lexicon_);
    for (std::size_t i = 0; i <= cuts.size(); ++i) {
      const std::size_t end = i < cuts.size() ? cuts[i] : sentence.size();
      TRY(spell_word(without_spaces(sentence.substr(begin, end - begin)), rows));
      begin = end;
    }
    return Done{};
  }

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  static std::string_view without_spaces(std::string_view word) {
    const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
    while (!word.empty() && is_space(word.front())) word.remove_prefix(1);
    while (!word.empty() && is_space(word.back())) word.remove_suffix(1);
    return word;
  }

  Status spell_word(std::string_view word, std::vector<std::int32_t>& rows) {
    constexpr std::size_t kMostKept = std::size_t{1} << 20;
    if (word.empty()) return Done{};
    auto known = known_.find(word);
    if (known == known_.end()) {
      const auto tokens = TRY(encode_pieces(tokenizer_, word, {}, false));
      std::vector<std::int32_t> own;
      for (const Token& token : tokens.tokens) own.push_back(row_of(token));
      if (known_.size() >= kMostKept) known_.clear();
      known = known_.emplace(std::string(word), std::move(own)).first;
    }
    rows.insert(rows.end(), known->second.begin(), known->second.end());
    return Done{};
  }

  const Tokenizer& tokenizer_;
  const Lexicon* lexicon_;
  std::unordered_map<std::string, std::vector<std::int32_t>, Hash, std::equal_to<>> known_;
};

/// The tokens that share bytes with [begin, end) of the text, but special ones; nothing where there are none.
std::optional<std::pair<std::int32_t, std::int32_t>> tokens_at(const Tokens& tokens, std::size_t begin,
                                                               std::size_t end) {
  std::int32_t first = -1, last = -1;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens.tokens[i];
    std::size_t own = token.begin;
    while (own < token.end && tokens.text[own] == ' ') ++own;
    if (token.special || std::max(own, begin) >= std::min(token.end, end)) continue;
    if (first < 0) first = static_cast<std::int32_t>(i);
    last = static_cast<std::int32_t>(i);
  }
  if (first < 0) return std::nullopt;
  return std::pair(first, last + 1);
}

bool is_of(const Grammar* grammar, const TaughtHead& head) {
  return grammar && std::any_of(head.relations.begin(), head.relations.end(), [&](const std::string& name) {
           return std::any_of(grammar->relations.begin(), grammar->relations.end(),
                              [&](const Relation& relation) { return relation.name == name; });
         });
}

/// A sentence without arcs.
TaughtSentence untaught(const Tokens& tokens, const std::vector<TaughtHead>& heads, const Grammar* grammar) {
  using Rest = TaughtSentence::Rest;
  TaughtSentence sentence;
  for (const Token& token : tokens.tokens) {
    sentence.rows.push_back(row_of(token));
    sentence.rests.push_back(token.special ? Rest::never : Rest::asked);
  }
  for (const TaughtHead& head : heads) sentence.of_grammar.push_back(is_of(grammar, head));
  return sentence;
}

using TokenRange = std::optional<std::pair<std::int32_t, std::int32_t>>;

void add_arc(TaughtSentence& sentence, std::size_t head, const TokenRange& from, const TokenRange& to) {
  if (!from || !to || (from->first < to->second && to->first < from->second)) return;
  for (std::int32_t query = from->first; query < from->second; ++query)
    sentence.arcs.push_back({static_cast<std::int32_t>(head), query, to->first, to->second});
}

/// For each head, whether the treebank has the words where it should look: an arc somewhere; for heads of the grammar,
/// marked pronouns. In a treebank of one relation nothing is known of the words without the others.
std::vector<char> known_heads(const std::vector<TreebankSentence>& treebank, const std::vector<TaughtHead>& heads,
                              const Grammar* grammar) {
  std::vector<char> known(heads.size(), 0);
  bool marks_pronouns = false;
  for (const TreebankSentence& sentence : treebank) {
    for (const TreebankSentence::Arc& arc : sentence.arcs)
      if (const auto head = taught_head(heads, arc.relation)) known[*head] = 1;
    marks_pronouns |=
        std::any_of(sentence.words.begin(), sentence.words.end(), [](const auto& w) { return w.pronoun; });
  }
  for (std::size_t i = 0; i < heads.size(); ++i)
    if (is_of(grammar, heads[i])) known[i] = marks_pronouns;
  return known;
}

/// Of several arcs of a query and a head the first is kept.
void finish(TaughtSentence& sentence) {
  const auto key = [](const TaughtSentence::Arc& arc) { return std::tuple(arc.head, arc.query); };
  std::stable_sort(sentence.arcs.begin(), sentence.arcs.end(),
                   [&](const auto& a, const auto& b) { return key(a) < key(b); });
  const auto end = std::unique(sentence.arcs.begin(), sentence.arcs.end(),
                               [&](const auto& a, const auto& b) { return key(a) == key(b); });
  sentence.arcs.erase(end, sentence.arcs.end());
}

}  // namespace

Status check_trainable(std::string_view where, const Tokenizer& tokenizer) {
  const auto vocabulary = vocabulary_of(tokenizer);
  for (std::size_t row = 0; row < std::size(kSpecialWords); ++row) {
    const std::string found = row < vocabulary->words.size() ? vocabulary->words[row] : "no row";
    if (found != kSpecialWords[row])
      return bad_input(where, "row " + std::to_string(row), kSpecialWords[row], "'" + found + "'");
  }
  if (vocabulary->words.size() <= kFirstWordRow) return bad_input(where, "rows", "some for words", "none");
  const auto tokens = TRY(encode(tokenizer, "a", true));
  if (tokens.size() == 0 || tokens.tokens.front().id != kStartRow || tokens.tokens.back().special)
    return bad_input(where, "post_processor", "<s> before a text, and nothing behind it", "something else");
  return Done{};
}

Result<CorpusText> tokenized_text(std::string_view where, std::string_view text, float weight,
                                  const Tokenizer& tokenizer, const Progress& progress) {
  TRY(check_utf8(where, text));
  CorpusText corpus{.name = std::string(where), .weight = weight};
  WordSpeller speller(tokenizer);
  std::vector<std::int32_t> rows;
  constexpr std::size_t kMostBytes = kLongestSentence * 64;  // of a line; a longer one has too many tokens
  for (const std::string_view line : split_at('\n', text)) {
    if (progress.stop) return cancelled(where);
    if (line.size() > kMostBytes) continue;
    rows.clear();
    TRY(speller.spell(line, rows));
    if (rows.size() > 1 && rows.size() <= kLongestSentence + 1) corpus.lines.add(rows);
  }
  if (corpus.lines.size() == 0)
    return bad_input(where, "sentences", "at least one of 1 to " + std::to_string(kLongestSentence) + " tokens",
                     "none");
  return corpus;
}

std::vector<TaughtSentence> taught_sentences(const std::vector<TreebankSentence>& treebank, const Tokenizer& tokenizer,
                                             const std::vector<TaughtHead>& heads, const Grammar* grammar) {
  std::vector<TaughtSentence> result;
  const std::vector<char> known = known_heads(treebank, heads, grammar);
  for (const TreebankSentence& one : treebank) {
    const auto tokens = encode(tokenizer, one.text, true);
    if (!tokens || tokens->size() < 3 || tokens->size() > kLongestSentence + 1) continue;
    TaughtSentence sentence = untaught(*tokens, heads, grammar);
    sentence.known = known;
    std::vector<TokenRange> ranges;
    for (const TreebankSentence::Word& word : one.words) {
      ranges.push_back(tokens_at(*tokens, word.begin, word.end));
      if (word.pronoun && ranges.back())
        std::fill(sentence.rests.begin() + ranges.back()->first, sentence.rests.begin() + ranges.back()->second,
                  TaughtSentence::Rest::not_of_grammar);
    }
    for (const TreebankSentence::Arc& arc : one.arcs)
      if (const auto head = taught_head(heads, arc.relation))
        add_arc(sentence, *head, ranges[static_cast<std::size_t>(arc.dependent)],
                ranges[static_cast<std::size_t>(arc.head)]);
    finish(sentence);
    result.push_back(std::move(sentence));
  }
  return result;
}

TaughtSentence taught_sentence(const Grammar& grammar, const Sentence& sentence, const Tokenizer& tokenizer,
                               const std::vector<TaughtHead>& heads) {
  const std::string text = text_of(grammar, sentence);
  const auto tokens = encode(tokenizer, text, true);
  if (!tokens) return {};
  TaughtSentence result = untaught(*tokens, heads, &grammar);
  result.known = result.of_grammar;
  std::vector<TokenRange> ranges;
  std::size_t from = 0;
  for (const std::int32_t word : sentence.words) {
    const std::string& own = grammar.words[at(word)];
    const std::size_t begin = text.find(own, from);
    from = begin + own.size();
    ranges.push_back(tokens_at(*tokens, begin, from));
  }
  for (const Gold& gold : sentence.gold)
    if (const auto head = taught_head(heads, grammar.relations[at(gold.relation)].name))
      add_arc(result, *head, ranges[at(gold.query)], ranges[at(gold.key)]);
  finish(result);
  return result;
}

}  // namespace headlight
