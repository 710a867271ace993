
#include "base/file.h"
#include "base/folders.h"
#include "cli/commands.h"
#include "cli/options/format_option.h"
#include "cli/options/request_options.h"
#include "document/bundled_models.h"
#include "document/model_sources.h"
#include "read/tokenizer/tokenizer_file.h"
#include "write/json.h"

namespace headlight {
namespace {

struct TokenizeArguments {
  explicit TokenizeArguments(Parser& app) : command(app), request(app) {}
  Parser command;
  RequestOptions request;
  std::string format = "text";
};

struct NamedSide {
  const char* name;
  const Tokens* tokens;
};

/// The inputs: one side, or the encoder's and the decoder's.
std::vector<NamedSide> sides_of(const Request& request) {
  if (!has_stack(request, Stack::encoder)) return {{"tokens", &query_tokens(request, Stack::self)}};
  return {{"tokens", &query_tokens(request, Stack::encoder)}, {"target_tokens", &query_tokens(request, Stack::self)}};
}

/// `id  begin  end  token`, a line each, and a fifth word where the token is not in the vocabulary.
std::string table(const Tokens& tokens) {
  std::string text;
  for (const Token& token : tokens.tokens)
    text += std::to_string(token.id) + '\t' + std::to_string(token.begin) + '\t' + std::to_string(token.end) + '\t' +
            word_in_table(token.text) + (token.known ? "\n" : "\tunknown\n");
  return text;
}

/// The same of every text, a blank line between them.
std::string table(const std::vector<Request>& requests) {
  std::string text;
  for (const Request& request : requests)
    for (const NamedSide& side : sides_of(request)) text.append(text.empty() ? "" : "\n").append(table(*side.tokens));
  return text;
}

std::string json_lines(const std::vector<Request>& requests) {
  std::string text;
  for (const Request& request : requests) {
    const char* before = "{";
    for (const NamedSide& side : sides_of(request)) {
      text.append(before).append("\"").append(side.name).append("\":").append(json_tokens(*side.tokens));
      before = ",";
    }
    text += "}\n";
  }
  return text;
}

/// The text cut by a checkpoint's own tokenizer, its special tokens around it.
Result<int> run_tokenizer(const std::string& folder, const Parser& command, bool json) {
  const auto file = read_tokenizer(folder);
  if (!file) return file.error();
  print_warnings(file->warnings);
  Result<Tokens> tokens = Tokens{};
  if (command.given("--tokens")) {
    const auto marked = parse_marked_tokens("--tokens", command.value("--tokens"));
    if (!marked) return marked.error();
    tokens = encode_pieces(*file->tokenizer, marked->text, marked->cuts, true);
  } else {
    const auto asked = command.value("--text");
    const auto text = asked == "-" ? read_standard_input() : asked;
    if (!text) return text.error();
    const bool pair = command.given("--text-pair");
    if (pair && !takes_pairs(*file->tokenizer))
      return bad_input("--text-pair", "", "a tokenizer with a template for pairs", file->file.string());
    if (pair) tokens = encode_pair(*file->tokenizer, *text, command.value("--text-pair"));
    else tokens = encode(*file->tokenizer, *text, true);
  }
  if (!tokens) return tokens.error();
  return print(json ? "{\"tokens\":" + json_tokens(*tokens) + "}\n" : table(*tokens));
}

Result<int> run_tokenize(const TokenizeArguments& options) {
  const auto source = options.command.value("SOURCE");
  const bool text = options.command.given("--text") || options.command.given("--tokens");
  const bool two_sides = options.command.given("--target") || options.command.given("--target-tokens");
  const auto folder = path_of_source(source);
  if (!folder) return folder.error();
  if (text && !two_sides && !source.starts_with(kShipped) && is_folder(*folder))
    return run_tokenizer(folder->string(), options.command, options.format == "json");
  const auto asked = options.request.ask();
  if (!asked) return asked.error();
  return print(options.format == "json" ? json_lines(asked->requests) : table(asked->requests));
}

}  // namespace

ParsedCommand add_tokenize(Parser& program) {
  Parser command = program.command("tokenize", "The tokens of a text: id, byte range, token");
  command.footer(
      "headlight tokenize --text 我请李雷帮我订了去北京的机票 --format json\n"
      "headlight tokenize CHECKPOINT --text 'Hello, world'    its own tokenizer, special tokens included");
  auto options = std::make_shared<TokenizeArguments>(command);
  add_format(command, options->format);
  return [options] { return run_tokenize(*options); };
}

}  // namespace headlight
