// What a command takes, and what was given: options and the values that they fill. parser.cpp alone includes CLI11.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/matrix.h"
#include "base/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace headlight {

/// The topic of the options of a question: `COMMAND --help-request`.
inline constexpr const char* kRequestTopic = "request";

/// Takes the word behind an option; returns what is wrong with it, empty: nothing.
using TakeWord = std::function<std::string(const std::string&)>;

/// What an option fills; it must live as long as the parser. A bool is a flag. A list takes all words that follow, or
/// those between commas (Option::list).
class OptionTarget {
 public:
  template <class Value>
  OptionTarget(Value& value) : value_(&value) {}
  OptionTarget(TakeWord take) : value_(std::move(take)) {}

  const auto& value() const { return value_; }

 private:
  std::variant<TakeWord, bool*, int*, Index*, std::uint64_t*, float*, double*, std::string*, std::vector<std::string>*,
               std::vector<Index>*, std::optional<int>*, std::optional<Index>*, std::optional<std::uint64_t>*,
               std::optional<float>*, std::optional<double>*, std::optional<std::string>*>
      value_;
};

/// One option of a command, as it is described to the parser.
class Option {
 public:
  Option(CLI::Option& option, bool whole) : option_(&option), whole_(whole) {}

  Option& required();
  /// A check of the word as it was given; it returns what is wrong, empty: nothing.
  Option& check(const TakeWord& fault);
  /// A number from `low` to `high`; a whole one where the target is.
  Option& within(double low, double high);
  /// A whole number, 0 or more: without it -1 would be the largest one that there is.
  Option& not_negative();
  /// One of these words, which the help of the option lists.
  Option& one_of(const std::vector<std::string>& words);
  /// One word with commas between its parts, instead of all words that follow.
  Option& list();
  /// One word each time that the option is given, instead of all words that follow.
  Option& repeated();
  /// A word may stand behind it; without one the target gets an empty word.
  Option& may_stand_alone();
  Option& needs(const char* other);
  Option& excludes(std::initializer_list<const char*> others);

 private:
  CLI::Option* option_;
  bool whole_;  // the target is a whole number
};

/// What was parsed: a command to be run, or instead the text of a help or a version to be printed.
struct ParsedLine {
  std::string command, text;
};

/// The options of a command, or of a program and its commands. A copy is the same parser.
class Parser {
 public:
  explicit Parser(const std::string& name, const std::string& about = "");

  /// Adds a command to a program.
  Parser command(const std::string& name, const std::string& about);
  void version(const std::string& text);
  /// What stands below the options in the help: examples.
  void footer(const std::string& text);

  /// Options that are added from now on stand below `title` in the help; empty: below "Options". Those of a `topic` are
  /// left out of `COMMAND --help`, which has one line for them, and are printed by `COMMAND --help-TOPIC`; with
  /// `--format json` behind that, or behind --help, as a list of {"option", "takes", "several", "required", "group",
  /// "help"}.
  void section(const std::string& title = "", const std::string& topic = "");
  /// Adds a topic: `about` is the line that stands for its options.
  void topic(const std::string& topic, const std::string& about);
  /// The help of options that are added from now on names the value that their target has before.
  void show_defaults();

  /// `takes` is what the help calls the value; empty: what its type is called. A name without hyphens is a positional.
  Option option(const std::string& names, const OptionTarget& target, const std::string& help,
                const std::string& takes = "");

  /// Parses the words behind the program's name. Errors: the first line of what is wrong, which names the option.
  Result<ParsedLine> parse(std::vector<std::string> words);
  /// Parses options in one string, quoted as a shell would have them.
  Status parse_line(const std::string& line);

  /// Names the options that one does not go with, and the one that it goes with (null: none).
  void restrict(const std::string& option, const std::vector<const char*>& excludes, const char* needs);

  /// Whether this command has an option.
  bool has(const std::string& option) const;
  /// Whether an option was given; it must be one of this command.
  bool given(const std::string& option) const;
  /// How many options and positionals were given, but for this one.
  std::size_t count_given(const std::string& but) const;
  /// The word that was given to an option, or its default.
  std::string value(const std::string& option) const;
  std::string name() const;
  /// The command and the names of the options that were given: `export --text --mask`.
  std::string given_names() const;
  /// The command and all that was given to it, but for these options, in the order in which they were added.
  std::vector<std::string> given_words(const std::vector<std::string>& but) const;

 private:
  struct State;
  explicit Parser(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

}  // namespace headlight
