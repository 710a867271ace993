#include "base/file.h"
#include "base/folders.h"
#include "cli/frame/question_command.h"
#include "models/bundled_models.h"
#include "models/model_sources.h"
#include "read/gguf/gguf_tokenizer.h"
#include "write/json.h"

namespace headlight {
namespace {

struct NamedSide {
  const char* name;
  const Tokens* tokens;
};

/// The inputs: one side, or the encoder's and the decoder's.
std::vector<NamedSide> sides_of(const Request& request) {
  if (!has_stack(request, Stack::encoder)) return {{"tokens", &query_tokens(request, Stack::self)}};
  return {{"tokens", &query_tokens(request, Stack::encoder)}, {"target_tokens", &query_tokens(request, Stack::self)}};
}

/// One object as JSON; for people a table for each side, `id  begin  end  token`, a line each, and a fifth word where
/// the token is not in the vocabulary.
std::string printed(const std::vector<NamedSide>& sides, bool json, const std::vector<std::string>& rules = {}) {
  std::string text;
  Members members;
  for (const NamedSide& side : sides) {
    members.emplace_back(side.name, Value::of_json(json_tokens(*side.tokens)));
    if (!text.empty()) text += "\n";
    for (const Token& token : side.tokens->tokens)
      text += std::to_string(token.id) + '\t' + std::to_string(token.begin) + '\t' + std::to_string(token.end) + '\t' +
              word_in_table(token.text) + (token.known ? "\n" : "\tunknown\n");
  }
  if (!rules.empty())
    members.emplace_back("rules", json_list(rules, [](const std::string& rule) { return Value(rule); }));
  return json ? json_object(members).json() + "\n" : text;
}

/// The text, cut by the tokenizer of a checkpoint, its special tokens around it.
Result<int> run_tokenizer(const std::string& folder, const Parser& parser, ClassRules rules) {
  const auto file = TRY(tokenizer_at(folder, rules));
  print_warnings(file.warnings);
  for (const std::string& rule : file.rules) print_message(rule);
  Result<Tokens> tokens = Tokens{};
  if (parser.given("--tokens")) {
    const auto marked = TRY(parse_marked_tokens("--tokens", parser.value("--tokens")));
    tokens = encode_pieces(*file.tokenizer, marked.text, marked.cuts, true);
  } else {
    const std::string asked = parser.value("--text");
    const auto text = TRY(asked == "-" ? read_standard_input(kMaxTextBytes) : asked);
    const bool pair = parser.given("--text-pair");
    if (pair && !takes_pairs(*file.tokenizer))
      return bad_input("--text-pair", "", "a tokenizer with a template for pairs", file.file.string());
    tokens =
        pair ? encode_pair(*file.tokenizer, text, parser.value("--text-pair")) : encode(*file.tokenizer, text, true);
  }
  if (!tokens) return tokens.error();
  return print(printed({{"tokens", &*tokens}}, parser.value("--format") == "json", file.rules));
}

Result<Answer> tokens_answer(const Question& question) {
  std::string text;
  for (const Request& request : question.asked.requests)
    text += (text.empty() || question.wants("json") ? "" : "\n") + printed(sides_of(request), question.wants("json"));
  question.warnings.clear();  // the table names unknown words
  return Answer(text);
}

ParsedCommand add_tokenize(Parser& parser, const Frontend&) {
  const QuestionCommand command(parser);
  command.take_format({"text", "json"}, "text (default) or json");
  return [command, ask = command.answers(SentencesAsked::all, tokens_answer)]() -> Result<int> {
    const Parser& given = command.parser();
    const std::string source = command.request().source();
    const bool text = given.given("--text") || given.given("--tokens");
    const bool two_sides = given.given("--target") || given.given("--target-tokens");
    std::vector<Error> remarks;
    const auto folder = TRY(path_of_source(source, &remarks));
    if (text && !two_sides && !source.starts_with(kShipped) && (is_folder(folder) || is_gguf(folder)))
      return print_warnings(remarks), run_tokenizer(folder.string(), given, parts_of_source(source).rules);
    return ask();
  };
}

}  // namespace

const NamedCommand kTokenize{"tokenize", "The tokens of a text: id, byte range, token", R"(
headlight tokenize --text 我请李雷帮我订了去北京的机票 --format json
headlight tokenize CHECKPOINT --text 'Hello, world'    its own tokenizer, special tokens included)",
                             add_tokenize};

}  // namespace headlight
