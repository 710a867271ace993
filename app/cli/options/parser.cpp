#include "cli/options/parser.h"

#include <algorithm>
#include <map>
#include <type_traits>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/formatted.h"
#include "base/utf8.h"

namespace headlight {
namespace {

constexpr const char* kOptions = "Options";  // the default group of CLI11

/// The first line of an error of CLI11, cut where it repeats many words; its messages for a word that is no number and
/// for an option that is given twice are replaced.
Error one_line(const CLI::ParseError& error) {
  std::string message = error.what();
  message = message.substr(0, message.find('\n'));
  constexpr std::string_view kNoNumber = "Could not convert: ";
  if (const std::size_t equals = message.find(" = "); message.starts_with(kNoNumber) && equals != message.npos)
    return bad_input(message.substr(kNoNumber.size(), equals - kNoNumber.size()), "", "a number",
                     "'" + message.substr(equals + 3) + "'");
  constexpr std::string_view kOnce = ": At Most 1 required but received ";
  if (const std::size_t at = message.find(kOnce); at != message.npos)
    return bad_input(message.substr(0, at), "", "it once", message.substr(at + kOnce.size()) + " times");
  constexpr std::size_t kLongest = 300;  // bytes
  if (message.size() > kLongest) message = std::string(beginning(message, kLongest)) + "…";
  return Error(ErrorCode::bad_value, message);
}

/// An option that was given without one that it needs, or beside one that it excludes; empty: there is none. CLI11 has
/// these in the order of their addresses, and would name now one, now another.
std::string conflict_of(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands())  // that were given
    if (const std::string found = conflict_of(*command); !found.empty()) return found;
  const auto options = app.get_options();
  for (const CLI::Option* option : options) {
    if (option->count() == 0) continue;
    for (CLI::Option* other : options) {
      if (other->count() == 0 && option->get_needs().contains(other))
        return option->get_name() + " requires " + other->get_name();
      if (other->count() > 0 && option->get_excludes().contains(other))
        return option->get_name() + " excludes " + other->get_name();
    }
  }
  return {};
}

/// The same of the words that an app was given.
Error one_line(const CLI::ParseError& error, CLI::App& app) {
  const bool conflict = error.get_name() == "RequiresError" || error.get_name() == "ExcludesError";
  const std::string found = conflict ? conflict_of(app) : std::string();
  return found.empty() ? one_line(error) : Error(ErrorCode::bad_value, found);
}

std::string digits_of(double number) {
  std::string digits = std::to_string(number);
  digits.erase(digits.find_last_not_of('0') + 1);
  if (digits.ends_with('.')) digits.pop_back();
  return digits;
}

/// Whether a word is a number in this range, as CLI11 reads numbers; "nan" is in none. Whole numbers are compared as
/// such: 2^53 + 1 is no double.
template <class Number>
bool is_within(const std::string& word, Number low, Number high) {
  Number number = 0;
  return CLI::detail::lexical_cast(word, number) && number >= low && number <= high;
}

/// Whether `words` ask for the list for machines: `--format json`.
bool wants_json(const std::vector<std::string>& words) {
  const auto format = std::ranges::find(words, "--format");
  return (format != words.end() && std::next(format) != words.end() && *std::next(format) == "json") ||
         std::ranges::find(words, "--format=json") != words.end();
}

/// Help without the second blank line that CLI11 puts between groups.
std::string help_of(std::string text) {
  for (std::size_t at = 0; (at = text.find("\n\n\n", at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

}  // namespace

struct Parser::State {
  std::shared_ptr<CLI::App> app;
  std::vector<std::shared_ptr<State>> commands = {};
  std::string title = kOptions, topic = {};               // of what is added next
  std::map<const CLI::Option*, std::string> topics = {};  // of each option that has one
  std::map<std::string, std::string> known_topics = {};   // what each is about

  const std::string& topic_of(const CLI::Option* option) const {
    static const std::string none;
    const auto at = topics.find(option);
    return at == topics.end() ? none : at->second;
  }
  /// Hides the options of other topics from the help, and which options exclude or need each other.
  void show(const std::string& shown) {
    for (CLI::Option* option : app->get_options()) {
      if (topic_of(option) != shown) option->group("");
      for (CLI::Option* other : option->get_excludes()) option->remove_excludes(other);
      for (CLI::Option* other : option->get_needs()) option->remove_needs(other);
    }
  }
  std::string json_of(const std::string& shown) const {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const CLI::Option* option : app->get_options()) {
      if (topic_of(option) != shown) continue;
      list.push_back({{"option", option->get_name()},
                      {"takes", option->get_type_size() == 0 ? "" : option->get_type_name()},
                      {"several", option->get_items_expected_max() > 1},
                      {"required", option->get_required()},
                      {"group", option->get_group()},
                      {"help", option->get_description()}});
    }
    return list.dump(1) + "\n";
  }
};

Option& Option::required() { return option_->required(), *this; }
Option& Option::check(const TakeWord& fault) { return option_->check(fault, ""), *this; }
Option& Option::list() { return option_->delimiter(',')->allow_extra_args(false), *this; }
Option& Option::repeated() { return option_->allow_extra_args(false), *this; }
Option& Option::may_stand_alone() { return option_->expected(0, 1), *this; }
Option& Option::needs(const char* other) { return option_->needs(std::string(other)), *this; }

Option& Option::excludes(std::initializer_list<const char*> others) {
  for (const char* other : others) option_->excludes(std::string(other));
  return *this;
}

Option& Option::within(double low, double high) {
  return check([low, high, whole = whole_](const std::string& word) {
    const bool inside =
        whole ? is_within(word, static_cast<long long>(low), static_cast<long long>(high)) : is_within(word, low, high);
    return inside ? std::string() : "expected " + digits_of(low) + " to " + digits_of(high) + ", found " + word;
  });
}

Option& Option::not_negative() {
  return check([](const std::string& word) {
    return word.starts_with('-') ? "expected a whole number, 0 or more, found " + word : std::string();
  });
}

Option& Option::one_of(const std::vector<std::string>& words) {
  return check([words](const std::string& word) {
    const bool known = std::ranges::find(words, word) != words.end();
    return known ? std::string() : "expected " + joined_texts(words, ", ") + ", found '" + word + "'";
  });
}

Parser::Parser(const std::string& name, const std::string& about)
    : state_(std::make_shared<State>(State{std::make_shared<CLI::App>(about, name)})) {
  state_->app->allow_windows_style_options(false);  // on Windows /file is a path too
}

Parser Parser::command(const std::string& name, const std::string& about) {
  if (state_->commands.empty()) state_->app->require_subcommand(1);
  CLI::App* added = state_->app->add_subcommand(name, about);
  return Parser(state_->commands.emplace_back(
      std::make_shared<State>(State{std::shared_ptr<CLI::App>(state_->app, added)})));  // the app keeps it alive
}

void Parser::version(const std::string& text) { state_->app->set_version_flag("--version", text); }
void Parser::footer(const std::string& text) { state_->app->footer(text); }
void Parser::show_defaults() { state_->app->option_defaults()->always_capture_default(); }

void Parser::section(const std::string& title, const std::string& topic) {
  state_->title = title.empty() ? kOptions : title;
  state_->topic = topic;
}

void Parser::topic(const std::string& topic, const std::string& about) {
  state_->known_topics[topic] = about;
  state_->app->add_flag("--help-" + topic, about);
}

Option Parser::option(const std::string& names, const OptionTarget& target, const std::string& help,
                      const std::string& takes) {
  bool whole = false;
  const auto add = [&](const auto& value) -> CLI::Option* {
    using Target = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<Target, TakeWord>) {
      const auto take = [value, names](const std::string& word) {
        if (const std::string fault = value(word); !fault.empty()) throw CLI::ValidationError(names, fault);
      };
      return state_->app->add_option_function<std::string>(names, take, help);
    } else if constexpr (std::is_same_v<Target, bool*>) {
      return state_->app->add_flag(names, *value, help);
    } else {
      whole = std::is_same_v<Target, int*> || std::is_same_v<Target, Index*> ||
              std::is_same_v<Target, std::uint64_t*> || std::is_same_v<Target, std::optional<int>*> ||
              std::is_same_v<Target, std::optional<Index>*> || std::is_same_v<Target, std::optional<std::uint64_t>*>;
      return state_->app->add_option(names, *value, help);
    }
  };
  CLI::Option* option = std::visit(add, target.value());
  option->group(state_->title);
  if (!takes.empty()) option->type_name(takes);
  if (!state_->topic.empty()) state_->topics[option] = state_->topic;
  return Option(*option, whole);
}

Result<ParsedLine> Parser::parse(std::vector<std::string> words) {
  for (const auto& command : state_->commands) {
    if (words.empty() || words.front() != command->app->get_name()) continue;
    const auto asks = [&](const std::string& option) { return std::ranges::find(words, option) != words.end(); };
    if (asks("--help") && wants_json(words)) return ParsedLine{{}, command->json_of("")};
    for (const auto& [topic, about] : command->known_topics) {
      if (!asks("--help-" + topic)) continue;
      if (wants_json(words)) return ParsedLine{{}, command->json_of(topic)};
      command->show(topic);
      return ParsedLine{{}, about + "\n" + help_of(CLI::Formatter().make_groups(command->app.get(), {}))};
    }
  }
  std::ranges::reverse(words);  // as CLI11 takes them
  try {
    state_->app->parse(words);
  } catch (const CLI::CallForVersion& version) {
    return ParsedLine{{}, std::string(version.what()) + "\n"};
  } catch (const CLI::Success&) {
    for (const auto& command : state_->commands) command->show("");
    return ParsedLine{{}, help_of(state_->app->help())};
  } catch (const CLI::ParseError& error) { return one_line(error, *state_->app); }
  for (const auto& command : state_->commands)
    if (command->app->parsed()) return ParsedLine{command->app->get_name(), {}};
  return ParsedLine{};
}

Status Parser::parse_line(const std::string& line) {
  state_->app->set_help_flag();  // there is no help within a string
  try {
    state_->app->parse(line);
  } catch (const CLI::ParseError& error) { return one_line(error, *state_->app); }
  return Done{};
}

void Parser::restrict(const std::string& option, const std::vector<const char*>& excludes, const char* needs) {
  CLI::Option* const restricted = state_->app->get_option(option);
  for (const char* other : excludes) restricted->excludes(std::string(other));
  if (needs) restricted->needs(std::string(needs));
}

bool Parser::has(const std::string& option) const { return state_->app->get_option_no_throw(option) != nullptr; }

bool Parser::given(const std::string& option) const { return state_->app->count(option) > 0; }

std::size_t Parser::count_given(const std::string& but) const {
  std::size_t count = 0;
  for (const CLI::Option* option : state_->app->get_options()) count += option->count() > 0 && !option->check_name(but);
  return count;
}

std::string Parser::value(const std::string& option) const {
  return state_->app->get_option(option)->as<std::string>();
}

std::string Parser::name() const { return state_->app->get_name(); }

std::string Parser::given_names() const {
  std::string names = name();
  for (const CLI::Option* option : state_->app->get_options())
    if (option->count() > 0 && option->get_name().starts_with('-')) names.append(" ").append(option->get_name());
  return names;
}

std::vector<std::string> Parser::given_words(const std::vector<std::string>& but) const {
  std::vector<std::string> words{name()};
  for (const CLI::Option* option : state_->app->get_options()) {
    const std::string called = option->get_name();
    if (option->count() == 0 || std::ranges::any_of(but, [&](const auto& one) { return option->check_name(one); }))
      continue;
    if (called.starts_with('-')) words.push_back(called);
    if (option->get_items_expected_max() == 0) continue;  // which takes no word
    const std::vector<std::string>& given = option->results();
    if (option->get_expected_min() == 0 && given == std::vector<std::string>{""}) continue;  // which stands alone
    if (option->get_delimiter() != '\0') words.push_back(joined_texts(given, ","));
    else words.insert(words.end(), given.begin(), given.end());
  }
  return words;
}

}  // namespace headlight
