#include "text/pattern.h"

namespace headlight {
namespace {

constexpr std::string_view kWordInSet = "[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}]";
constexpr std::string_view kNoWordInSet = "[^\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}]";
constexpr std::string_view kWord = "[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\u00B2\\u00B3\\u00B9\\u00BC-\\u00BE]";
constexpr std::string_view kNoWord = "[^\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\u00B2\\u00B3\\u00B9\\u00BC-\\u00BE]";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

class Translation {
 public:
  explicit Translation(std::string_view pattern) : in_(pattern) {}

  std::string take() && {
    while (at_ < in_.size()) {
      if (depth_ > 0) in_set();
      else outside();
    }
    return std::move(out_);
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < in_.size() ? in_[at_ + ahead] : '\0'; }
  bool looking_at(std::string_view text) const { return in_.substr(at_).starts_with(text); }
  void copy(std::size_t count) {
    out_ += in_.substr(at_, count);
    at_ += count;
  }
  void begin_atom() { atom_ = out_.size(); }

  /// `\` and what it escapes, the same inside and outside a set.
  void escape() {
    const char c = peek(1);
    const auto say = [this](std::string_view text) {
      out_ += text;
      at_ += 2;
    };
    switch (c) {
      case 's': return say("\\p{White_Space}");
      case 'S': return say("\\P{White_Space}");
      case 'w': return say(depth_ > 0 ? kWordInSet : kWord);
      case 'W': return say(depth_ > 0 ? kNoWordInSet : kNoWord);
      case 'b':
      case 'B': return depth_ > 0 ? copy(2) : boundary(c == 'b');
      case 'h': return say("[0-9a-fA-F]");
      case 'H': return say("[^0-9a-fA-F]");
      case 'v': return say("\\x0B");
      case 'Q':
      case 'E': return say(std::string_view(&c, 1));
      case 'p':
      case 'P': {
        if (peek(2) != '{') return say(std::string_view(&c, 1));
        const bool inverted = peek(3) == '^';
        out_ += (c == 'p') != inverted ? "\\p{" : "\\P{";
        at_ += inverted ? 4 : 3;
        return copy_through('}');
      }
      case 'x': return peek(2) == '{' ? copy_through('}') : copy(2);
      default: copy(2);
    }
  }

  /// Where a word begins or ends, or does not. ICU's \\b looks past marks.
  void boundary(bool wanted) {
    const std::string word(kWord);
    const std::string after = wanted ? "(?!" : "(?=", before = wanted ? "(?=" : "(?!";
    out_ += "(?:(?<=" + word + ")" + after + word + ")|(?<!" + word + ")" + before + word + "))";
    at_ += 2;
  }

  void copy_through(char last) {
    const std::size_t found = in_.find(last, at_);
    copy(found == std::string_view::npos ? in_.size() - at_ : found + 1 - at_);
  }

  void open_set() {
    ++depth_;
    copy(1);
    if (peek() == '^') copy(1);
    if (peek() == ']') {
      out_ += "\\]";
      ++at_;
    }
  }

  void in_set() {
    if (peek() == '\\') return escape();
    if (looking_at("[:punct:]")) {
      out_ += "\\p{P}\\p{S}";
      at_ += 9;
    } else if (looking_at("[:")) {
      const std::size_t end = in_.find(":]", at_);
      copy(end == std::string_view::npos ? in_.size() - at_ : end + 2 - at_);
    } else if (peek() == '[') {
      open_set();
    } else if (peek() == ']') {
      --depth_;
      copy(1);
    } else if (looking_at("--")) {
      out_ += "-\\-";
      at_ += 2;
    } else if (peek() == '{' || peek() == '}') {
      out_ += '\\';
      copy(1);
    } else {
      copy(1);
    }
  }

  void outside() {
    switch (peek()) {
      case '\\': begin_atom(); return escape();
      case '[': begin_atom(); return open_set();
      case '(': return open_group();
      case ')':
        if (!groups_.empty()) {
          atom_ = groups_.back();
          groups_.pop_back();
        }
        return copy(1);
      case '{': return count();
      case '}':
      case ']':
        begin_atom();
        out_ += '\\';
        return copy(1);
      case '*':
      case '+':
      case '?':
      case '|':
      case '^':
      case '$': return copy(1);
      default:
        begin_atom();
        copy(1);
        while ((peek() & 0xC0) == 0x80) copy(1);  // the rest of one character
    }
  }

  void open_group() {
    groups_.push_back(out_.size());
    copy(1);
    if (peek() != '?') return;
    copy(1);
    std::size_t end = at_;
    while (end < in_.size() && std::string_view("imx-").find(in_[end]) != std::string_view::npos) ++end;
    if (end == at_ || end == in_.size() || (in_[end] != ':' && in_[end] != ')')) return;
    for (; at_ < end; ++at_) out_ += in_[at_] == 'm' ? 's' : in_[at_];
    if (in_[end] == ')') groups_.pop_back();  // options, no group
    copy(1);
  }

  /// {n}, {n,}, {,m} and {n,m}; any other brace is a character.
  void count() {
    std::size_t end = at_ + 1;
    const std::size_t low = end;
    while (end < in_.size() && is_digit(in_[end])) ++end;
    const bool has_low = end > low;
    const bool exact = has_low && end < in_.size() && in_[end] == '}';
    bool has_high = false;
    if (end < in_.size() && in_[end] == ',') {
      const std::size_t high = ++end;
      while (end < in_.size() && is_digit(in_[end])) ++end;
      has_high = end > high;
    }
    if (end >= in_.size() || in_[end] != '}' || !(has_low || has_high)) {
      begin_atom();
      out_ += '\\';
      return copy(1);
    }
    out_ += has_low ? "{" : "{0";
    ++at_;
    copy(end + 1 - at_);
    // ICU would read these as possessive and as reluctant.
    if (peek() == '+' || (exact && peek() == '?')) {
      out_.insert(atom_, "(?:");
      out_ += ')';
    }
  }

  std::string_view in_;
  std::size_t at_ = 0;
  std::string out_;
  int depth_ = 0;                         // of sets in sets
  std::size_t atom_ = 0;                  // where in out_ begins what a quantifier repeats
  std::vector<std::size_t> groups_ = {};  // where the open groups begin
};

}  // namespace

std::string icu_expression(std::string_view pattern) { return Translation(pattern).take(); }

}  // namespace headlight
