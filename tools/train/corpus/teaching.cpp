#include "train/corpus/teaching.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "base/formatted.h"
#include "base/utf8.h"
#include "model/head_text.h"

namespace headlight {
namespace {

struct Usual {
  int layer_from_end;  // 1: the last
  std::string_view relations;
};

/// Short relations below long ones, which may build on them. nmod:poss stands with the determiners: both precede the
/// noun that they belong to.
constexpr std::array kUsual{
    Usual{2, "det,nummod,clf,nmod:poss"},
    Usual{2, "amod"},
    Usual{2, "case"},
    Usual{2, "aux,cop"},
    Usual{2, "mark"},
    Usual{2, "compound,flat"},
    Usual{1, "nsubj"},
    Usual{1, "obj,iobj"},
    Usual{1, "advmod"},
    Usual{1, "nmod,acl"},
    Usual{1, "obl,advcl"},
    Usual{1, "xcomp,ccomp,csubj,parataxis"},
    Usual{1, "conj,cc"},
    Usual{1, "CO,IT"},
    Usual{2, "DP"},
};

std::vector<std::string> relations_in(std::string_view list) {
  const auto names = split_at(',', list);
  return {names.begin(), names.end()};
}

}  // namespace

Result<std::vector<TaughtHead>> usual_taught_heads(Index layers, Index heads) {
  std::vector<TaughtHead> taught;
  std::array<Index, 3> next{};  // of each layer from the end
  for (const Usual& usual : kUsual) {
    const auto from_end = static_cast<std::size_t>(usual.layer_from_end);
    taught.push_back({layers - usual.layer_from_end, next[from_end]++, relations_in(usual.relations)});
  }
  if (layers < 2 || *std::max_element(next.begin(), next.end()) > heads)
    return bad_input("--teach", "heads",
                     "two layers of " + std::to_string(*std::max_element(next.begin(), next.end())) +
                         " heads, or --teach-head for each",
                     std::to_string(layers) + " of " + std::to_string(heads));
  std::sort(taught.begin(), taught.end(), [](const TaughtHead& a, const TaughtHead& b) {
    return std::tuple(a.layer, a.head) < std::tuple(b.layer, b.head);
  });
  return taught;
}

Result<TaughtHead> parse_taught_head(std::string_view text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  const auto named = parse_head(text.substr(0, equals));
  if (named && named->stack == Stack::self && equals < text.size()) {
    TaughtHead head{named->layer, named->head, relations_in(text.substr(equals + 1))};
    if (std::find(head.relations.begin(), head.relations.end(), "") == head.relations.end()) return head;
  }
  return bad_input("--teach-head", "", "LAYER.HEAD=RELATION,RELATION", "'" + std::string(text) + "'");
}

std::string spelled(const TaughtHead& head) {
  return head_text({head.layer, head.head}) + "=" + joined_texts(head.relations, ",");
}

Status check_teaching(const Teaching& teaching, Index layers, Index heads) {
  for (std::size_t i = 0; i < teaching.heads.size(); ++i) {
    const TaughtHead& own = teaching.heads[i];
    if (own.layer >= layers || own.head >= heads)
      return bad_input("--teach-head", "",
                       "a head of " + std::to_string(layers) + " layers of " + std::to_string(heads),
                       head_text({own.layer, own.head}));
    if (i > 0 && std::tuple(own.layer, own.head) <= std::tuple(teaching.heads[i - 1].layer, teaching.heads[i - 1].head))
      return bad_input("--teach-head", "", "each head once", head_text({own.layer, own.head}) + " again");
  }
  return Done{};
}

namespace {

enum Column { kId, kForm, kLemma, kUpos, kXpos, kFeats, kHead, kRelation, kDeps, kMisc, kColumns };

constexpr std::int32_t kMostWords = 1000;  // of a sentence

using Fields = std::array<std::string_view, kColumns>;

std::optional<Fields> fields_of(std::string_view line) {
  const auto parts = split_at('\t', line);
  if (parts.size() != kColumns || std::find(parts.begin(), parts.end(), "") != parts.end()) return std::nullopt;
  Fields fields;
  std::copy(parts.begin(), parts.end(), fields.begin());
  return fields;
}

std::optional<std::int32_t> number(std::string_view text) {
  const auto value = parse_number<std::int32_t>(text);
  return value && *value >= 0 ? value : std::nullopt;
}

bool has_space_behind(std::string_view misc) {
  const auto parts = split_at('|', misc);
  return std::find(parts.begin(), parts.end(), "SpaceAfter=No") == parts.end();
}

/// The first `count` characters of a text, in bytes.
std::size_t bytes_of(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  for (; at < text.size() && count > 0; --count) at = character_end(text, at);
  return at;
}

/// One sentence, line by line.
class TeachingReader {
 public:
  explicit TeachingReader(std::string_view where) : where_(where) {}

  Status line(std::size_t number_of_line, std::string_view text) {
    if (text.starts_with('#')) return Done{};
    const auto fields = fields_of(text);
    if (!fields) return problem(number_of_line, "", "ten columns with tabs between them", "others");
    const std::string_view id = (*fields)[kId];
    if (id.find('.') != id.npos) return Done{};
    if (const std::size_t dash = id.find('-'); dash != id.npos) {
      const auto first = number(id.substr(0, dash)), last = number(id.substr(dash + 1));
      if (!first || !last || *first != next() || *last < *first || *first <= open_until_ || *last > kMostWords)
        return problem(number_of_line, "ID", "a range from " + std::to_string(next()) + " on", quoted(id));
      open_until_ = *last;
      rest_ = (*fields)[kForm];
      space_ = has_space_behind((*fields)[kMisc]);
      line_of_range_ = number_of_line;
      return Done{};
    }
    if (number(id) != next() || next() > kMostWords)
      return problem(number_of_line, "ID",
                     next() > kMostWords ? "at most " + std::to_string(kMostWords) + " words" : std::to_string(next()),
                     quoted(id));
    const auto head = number((*fields)[kHead]);
    if (!head) return problem(number_of_line, "HEAD", "the number of a word, or 0", quoted((*fields)[kHead]));
    add_word(*fields);
    heads_.push_back(*head);
    lines_.push_back(number_of_line);
    sentence_.words.back().pronoun = (*fields)[kUpos] == "PRON";
    if (*head > 0)
      sentence_.arcs.push_back(
          {static_cast<std::int32_t>(heads_.size()) - 1, *head - 1, std::string((*fields)[kRelation])});
    return Done{};
  }

  /// Behind the last line of a sentence.
  Status end(std::vector<TreebankSentence>& sentences) {
    if (heads_.empty()) return Done{};
    const auto count = static_cast<std::int32_t>(heads_.size());
    if (open_until_ > count)
      return problem(line_of_range_, "ID", "a range up to " + std::to_string(count), std::to_string(open_until_));
    for (std::size_t i = 0; i < heads_.size(); ++i)
      if (heads_[i] > count)
        return problem(lines_[i], "HEAD", "0 to " + std::to_string(count), std::to_string(heads_[i]));
    // Each word is gone through once: 1 while its path is being followed, 2 when it is known to reach the root.
    std::vector<char> state(heads_.size(), 0);
    for (std::size_t i = 0; i < heads_.size(); ++i) {
      std::vector<std::size_t> path;
      for (std::size_t at = i; state[at] != 2;) {
        if (state[at] == 1)
          return problem(lines_[at], "HEAD", "a tree", "a cycle through word " + std::to_string(at + 1));
        state[at] = 1;
        path.push_back(at);
        if (heads_[at] == 0) break;
        at = static_cast<std::size_t>(heads_[at]) - 1;
      }
      for (const std::size_t at : path) state[at] = 2;
    }
    sentence_.text.resize(sentence_.words.back().end);  // without the space behind the last word
    sentences.push_back(std::move(sentence_));
    *this = TeachingReader(where_);
    return Done{};
  }

 private:
  std::int32_t next() const { return static_cast<std::int32_t>(heads_.size()) + 1; }
  static std::string quoted(std::string_view text) {
    constexpr std::size_t kMost = 40;
    return "'" + std::string(text.substr(0, bytes_of(text, kMost))) + "'";
  }
  Status problem(std::size_t line, std::string_view column, std::string_view expected, std::string_view found) const {
    const std::string what = "line " + std::to_string(line) + (column.empty() ? "" : ", " + std::string(column));
    return bad_input(where_, what, expected, found);
  }

  void add_word(const Fields& fields) {
    const bool in_range = next() <= open_until_;
    std::string_view form = fields[kForm];
    if (in_range) {  // its own letters where they come next; else an equal share of the rest of the range
      const auto left = static_cast<std::size_t>(open_until_ - next());
      const std::size_t characters = count_characters(rest_);
      if (left == 0) form = rest_;
      else if (!std::string_view(rest_).starts_with(form) || count_characters(form) + left > characters)
        form = std::string_view(rest_).substr(
            0, bytes_of(rest_, characters > left ? (characters - left + left) / (left + 1) : 1));
    }
    const std::size_t begin = sentence_.text.size();
    sentence_.text += form;
    sentence_.words.push_back({begin, sentence_.text.size()});
    const std::size_t taken = form.size();
    if (in_range) rest_.erase(0, taken);
    const bool ends = !in_range || next() == open_until_;
    if (ends && (in_range ? space_ : has_space_behind(fields[kMisc]))) sentence_.text += ' ';
  }

  std::string_view where_;
  TreebankSentence sentence_;
  std::vector<std::int32_t> heads_;
  std::vector<std::size_t> lines_;
  std::int32_t open_until_ = 0;  // the last word of the multiword token that was read last
  std::string rest_;             // its letters that no word has yet
  bool space_ = true;
  std::size_t line_of_range_ = 0;
};

}  // namespace

Result<std::vector<TreebankSentence>> parse_conllu(std::string_view where, std::string_view text) {
  TRY(check_utf8(where, text));
  if (text.starts_with("\uFEFF")) text.remove_prefix(3);
  std::vector<TreebankSentence> sentences;
  TeachingReader reader(where);
  std::size_t number_of_line = 0;
  for (std::string_view line : split_at('\n', text)) {
    ++number_of_line;
    if (line.ends_with('\r')) line.remove_suffix(1);
    TRY(line.empty() ? reader.end(sentences) : reader.line(number_of_line, line));
  }
  TRY(reader.end(sentences));
  if (sentences.empty()) return bad_input(where, "sentences", "at least one", "none");
  return sentences;
}

}  // namespace headlight
