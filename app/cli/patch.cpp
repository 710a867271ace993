#include <memory>

#include "base/formatted.h"
#include "cli/commands.h"
#include "cli/options/against_option.h"
#include "cli/options/format_option.h"
#include "cli/options/request_options.h"
#include "cli/options/view_options.h"
#include "cli/split_text.h"
#include "explain/patching.h"
#include "heads/token_alignment.h"
#include "math/forward.h"
#include "write/json.h"

namespace headlight {
namespace {

constexpr Index kMostCells = 20;  // for people

struct PatchArguments {
  explicit PatchArguments(Parser& command) : request(command) {}
  RequestOptions request;
  std::string from, stack = "self", format = "text";
  PatchAt at = PatchAt::heads;
  std::vector<Index> layers;
  std::vector<std::string> heads, tokens;
};

Result<PatchWanted> wanted_of(const PatchArguments& options) {
  PatchWanted wanted{.at = options.at, .stack = *parse_stack(options.stack)};
  wanted.layers = options.layers;
  for (const std::string& text : options.heads) {
    const auto heads = parse_heads(text);
    if (!heads) return bad_input("--at-heads", "", "LAYER.HEAD or LAYER.*", text);
    wanted.heads.push_back(*heads);
    if (text.find(':') == text.npos) wanted.heads.back().stack = wanted.stack;
  }
  for (const std::string& text : options.tokens) {
    if (text == "all") wanted.by_token = true;
    else if (const auto token = parse_index(text)) wanted.tokens.push_back(*token);
    else return bad_input("--at-tokens", "", "numbers of tokens, or all", text);
  }
  return wanted;
}

/// Tokens of two sentences of one length by their places, of others those that are the same words.
Result<TokenPairs> pairs_of(const Tokens& clean, const Tokens& corrupt) {
  TokenPairs pairs;
  if (clean.size() == corrupt.size()) {
    for (std::size_t i = 0; i < clean.size(); ++i) pairs.emplace_back(static_cast<Index>(i), static_cast<Index>(i));
    return pairs;
  }
  for (const Tokens* tokens : {&clean, &corrupt})
    if (tokens->size() > kMostAligned)
      return bad_input(tokens == &clean ? "patch" : "--from", "tokens",
                       "at most " + std::to_string(kMostAligned) + " where the sentences are of different length",
                       std::to_string(tokens->size()));
  for (const JointToken& token : align_tokens(clean.tokens, corrupt.tokens))
    if (token.in_both()) pairs.emplace_back(*token.a, *token.b);
  return pairs;
}

std::string patch_text(const PatchAnswer& answer, const Trace& corrupt, const PatchWanted& wanted) {
  const Tokens& tokens = of_keys(wanted.at) ? corrupt.key_tokens(wanted.stack) : corrupt.query_tokens(wanted.stack);
  std::string text =
      word_in_table(answer.metric) + formatted(": clean %.6f, corrupt %.6f", answer.clean, answer.corrupt);
  text += "\nrestored by " + std::string(name(wanted.at)) + " of the clean answer, 0 nothing, 1 all:\n";
  std::vector<NamedTerm> cells;
  for (const PatchCell& cell : answer.cells) {
    std::string place = cell.head ? head_label({cell.layer, *cell.head}) : "L" + std::to_string(cell.layer);
    if (cell.token)
      place += "  token " + std::to_string(*cell.token) + ", " +
               word_in_table(tokens.tokens[static_cast<std::size_t>(*cell.token)].text);
    cells.push_back({std::move(place), cell.restored});
  }
  return text + largest_terms(std::move(cells), kMostCells, false);
}

std::string patch_json(const PatchAnswer& answer) {
  std::string json = "{\"metric\":" + json_string(answer.metric) + ",\"clean\":";
  append_value(json, answer.clean);
  append_value(json += ",\"corrupt\":", answer.corrupt);
  json += ",\"cells\":[";
  const auto number = [](const std::optional<Index>& one) { return one ? std::to_string(*one) : "null"; };
  for (const PatchCell& cell : answer.cells) {
    if (json.back() == '}') json += ',';
    json += "{\"layer\":" + std::to_string(cell.layer) + ",\"head\":" + number(cell.head) +
            ",\"token\":" + number(cell.token) + ",\"restored\":";
    append_value(json, cell.restored);
    json += '}';
  }
  return json + "]}\n";
}

std::string patch_csv(const PatchAnswer& answer) {
  std::string csv = "layer,head,token,restored\n";
  const auto number = [](const std::optional<Index>& one) { return one ? std::to_string(*one) : std::string(); };
  for (const PatchCell& cell : answer.cells) {
    csv += std::to_string(cell.layer) + "," + number(cell.head) + "," + number(cell.token) + ",";
    append_value(csv, cell.restored);
    csv += "\n";
  }
  return csv;
}

std::vector<ArrayStream> patch_arrays(const PatchAnswer& answer) {
  std::vector<float> places, restored;
  for (const PatchCell& cell : answer.cells) {
    for (const Index number : {cell.layer, cell.head.value_or(-1), cell.token.value_or(-1)})
      places.push_back(static_cast<float>(number));
    restored.push_back(static_cast<float>(cell.restored));
  }
  std::vector<ArrayStream> arrays{array_of("clean", {1}, {static_cast<float>(answer.clean)}),
                                  array_of("corrupt", {1}, {static_cast<float>(answer.corrupt)})};
  if (restored.empty()) return arrays;
  const auto count = static_cast<Index>(restored.size());
  arrays.push_back(array_of("places", {count, 3}, std::move(places)));
  arrays.push_back(array_of("restored", {count}, std::move(restored)));
  return arrays;
}

Result<int> run_patch(const PatchArguments& options) {
  auto wanted = wanted_of(options);
  if (!wanted) return wanted.error();
  const auto asked = options.request.ask();
  if (!asked) return asked.error();
  if (asked->requests.size() > 1)
    return bad_input("patch", "text", "one sentence", std::to_string(asked->requests.size()));
  Progress progress;
  const auto clean = forward(asked->requests.front(), progress, nullptr, options.request.threads());
  if (!clean) return clean.error();
  const auto corrupt = answer_of(options.from, asked->lexicon, "--from", options.request.source());
  if (!corrupt) return corrupt.error();
  for (const bool keys : {false, true}) {
    if (!(*clean)->has(wanted->stack) || !corrupt->trace->has(wanted->stack)) break;  // patch_answers says so
    const auto side = [&](const Trace& trace) -> const Tokens& {
      return keys ? trace.key_tokens(wanted->stack) : trace.query_tokens(wanted->stack);
    };
    auto pairs = pairs_of(side(**clean), side(*corrupt->trace));
    if (!pairs) return pairs.error();
    (keys ? wanted->keys : wanted->queries) = std::move(*pairs);
  }
  const auto answer = patch_answers(**clean, *corrupt->trace, *wanted, options.request.threads());
  if (!answer) return answer.error();
  const auto printed = options.format == "npz"    ? print_npz({patch_arrays(*answer)})
                       : options.format == "json" ? print(patch_json(*answer))
                       : options.format == "csv"  ? print(patch_csv(*answer))
                                                  : print(patch_text(*answer, *corrupt->trace, *wanted));
  std::vector<std::string> warnings = asked->start.warnings;
  warnings.insert(warnings.end(), (*clean)->warnings.begin(), (*clean)->warnings.end());
  if (printed) print_warnings(warnings);
  return printed;
}

}  // namespace

ParsedCommand add_patch(Parser& program) {
  Parser command = program.command("patch", "Which part of one answer brings it back in another");
  command.footer(
      "headlight patch shipped:decoder --text 我请李雷帮我喝了最好的 --from '--text 我请李雷帮我看了最好的' --at "
      "heads\n"
      "headlight patch CHECKPOINT --ids 5,9,3 --from '--ids 5,7,3' --at residual --at-tokens 1\n"
      "[SOURCE] [REQUEST] is the clean question, --from the corrupt one. The corrupt one is computed again with one "
      "part "
      "of\n"
      "the clean answer in its place: restored is (m - corrupt) / (clean - corrupt) of the metric m, the logit of the "
      "clean\n"
      "answer's word minus that of the corrupt one's, or, where both are one word, its probability. Tokens are patched "
      "by "
      "their\n"
      "places, in sentences of different length where they are the same words.\n"
      "With --format json: {\"metric\", \"clean\", \"corrupt\", \"cells\": [{\"layer\", \"head\", \"token\", "
      "\"restored\"}]}.");
  auto options = std::make_shared<PatchArguments>(command);
  command.section("The patch");
  command
      .option("--from", options->from,
              "The corrupt question, in one string; without a SOURCE in it the clean question's",
              "'[SOURCE] [REQUEST]'")
      .required();
  add_choice<PatchAt>(command, "--at", options->at, kPatchNames,
                      "What is put in: heads (z of a head), residual (the stream after a layer), ffn, pattern (a "
                      "head's weights), q, k or v",
                      "PART")
      .required();
  command.option("--stack", options->stack, "Of an encoder-decoder: self (default), encoder or cross")
      .one_of({"self", "encoder", "cross"});
  const auto add_list = [&](const char* name, auto& list, const char* type, const char* help) {
    command.option(name, list, help, type).list();
  };
  add_list("--at-layers", options->layers, "LAYERS", "These layers alone");
  add_list("--at-heads", options->heads, "HEADS", "These heads alone, 0.3,1.*; of k and v the keys' heads");
  add_list("--at-tokens", options->tokens, "TOKENS",
           "One token at a time, these or all, of the corrupt sentence; residual and ffn always do so");
  add_number_format(command, options->format);
  return [options] { return run_patch(*options); };
}

}  // namespace headlight
