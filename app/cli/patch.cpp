#include "explain/patching.h"

#include "base/formatted.h"
#include "cli/options/against_option.h"
#include "cli/options/view_options.h"
#include "cli/question_command.h"
#include "heads/token_alignment.h"

namespace headlight {
namespace {

constexpr Index kMostCells = 20;  // for people

struct PatchOptions {
  std::string from, stack = "self";
  PatchAt at = PatchAt::heads;
  std::vector<std::string> layers, heads, tokens;
};

Result<PatchWanted> wanted_of(const PatchOptions& options) {
  PatchWanted wanted{.at = options.at, .stack = *parse_stack(options.stack)};
  for (const std::string& text : options.layers) {
    const auto layer = parse_index(text);
    if (!layer) return bad_input("--at-layers", "", "numbers of layers", text);
    wanted.layers.push_back(*layer);
  }
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

/// Tokens of two sentences of one length by their indices, of others those that are the same words.
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
    std::string label = cell.head ? head_label({cell.layer, *cell.head}) : "L" + std::to_string(cell.layer);
    if (cell.token)
      label += "  token " + std::to_string(*cell.token) + ", " +
               word_in_table(tokens.tokens[static_cast<std::size_t>(*cell.token)].text);
    cells.push_back({std::move(label), cell.restored});
  }
  return text + largest_terms(std::move(cells), kMostCells, false);
}

Table patch_table(const PatchAnswer& answer) {
  Table table{{"layer", "head", "token", "restored"}};
  for (const PatchCell& cell : answer.cells) table.rows.push_back({cell.layer, cell.head, cell.token, cell.restored});
  return table;
}

Arrays patch_arrays(const PatchAnswer& answer) {
  std::vector<float> cells, restored;
  for (const PatchCell& cell : answer.cells) {
    for (const Index number : {cell.layer, cell.head.value_or(-1), cell.token.value_or(-1)})
      cells.push_back(static_cast<float>(number));
    restored.push_back(static_cast<float>(cell.restored));
  }
  Arrays arrays{array_of("clean", {1}, {static_cast<float>(answer.clean)}),
                array_of("corrupt", {1}, {static_cast<float>(answer.corrupt)})};
  if (restored.empty()) return arrays;
  const auto count = static_cast<Index>(restored.size());
  arrays.push_back(array_of("places", {count, 3}, std::move(cells)));
  arrays.push_back(array_of("restored", {count}, std::move(restored)));
  return arrays;
}

Result<Answer> answer(const Question& question, const PatchOptions& options, const std::string& source) {
  auto wanted = wanted_of(options);
  if (!wanted) return wanted.error();
  const auto corrupt = answer_of(options.from, question.asked.lexicon, "--from", source);
  if (!corrupt) return corrupt.error();
  for (const bool keys : {false, true}) {
    if (!question.trace->has(wanted->stack) || !corrupt->trace->has(wanted->stack)) break;  // an Error of patch_answers
    const auto side = [&](const Trace& trace) -> const Tokens& {
      return keys ? trace.key_tokens(wanted->stack) : trace.query_tokens(wanted->stack);
    };
    auto pairs = pairs_of(side(*question.trace), side(*corrupt->trace));
    if (!pairs) return pairs.error();
    (keys ? wanted->keys : wanted->queries) = std::move(*pairs);
  }
  const auto patched = patch_answers(*question.trace, *corrupt->trace, *wanted, question.threads);
  if (!patched) return patched.error();
  if (question.wants("npz")) return Answer(patch_arrays(*patched));
  if (question.wants("csv")) return Answer(patch_table(*patched));
  if (question.wants("json"))
    return Answer(json_object({{"metric", patched->metric},
                               {"clean", patched->clean},
                               {"corrupt", patched->corrupt},
                               {"cells", json_rows(patch_table(*patched))}}));
  return Answer(patch_text(*patched, *corrupt->trace, *wanted));
}

void add_options(Parser& parser, PatchOptions& options) {
  parser.section("The patch");
  parser
      .option("--from", options.from,
              "The corrupt question, in one string; without a SOURCE in it the clean question's",
              "'[SOURCE] [REQUEST]'")
      .required();
  add_choice<PatchAt>(parser, "--at", options.at, kPatchNames,
                      "What is put in: heads (z of a head), residual (the stream after a layer), ffn, pattern (a "
                      "head's weights), q, k or v",
                      "PART")
      .required();
  parser.option("--stack", options.stack, "Of an encoder-decoder: self (default), encoder or cross")
      .one_of({"self", "encoder", "cross"});
  parser.option("--at-layers", options.layers, "These layers alone", "LAYERS").list();
  parser.option("--at-heads", options.heads, "These heads alone, 0.3,1.*; of k and v the keys' heads", "HEADS").list();
  parser
      .option("--at-tokens", options.tokens,
              "One token at a time, these or all, of the corrupt sentence; residual and ffn always do so", "TOKENS")
      .list();
  parser.section();
}

ParsedCommand add_patch(Parser& parser, const Frontend&) {
  const QuestionCommand command(parser);
  const auto options = std::make_shared<PatchOptions>();
  add_options(parser, *options);
  command.take_format({"text", "csv", "json", "npz"}, "text (default), csv, json or npz");
  return command.one(
      [options, command](const Question& question) { return answer(question, *options, command.request().source()); },
      [options] {
        const auto wanted = wanted_of(*options);
        return wanted ? Status(Done{}) : wanted.error();
      });
}

}  // namespace

const NamedCommand kPatch{"patch", "Which part of one answer brings it back in another", R"(
headlight patch shipped:decoder --text 我请李雷帮我喝了最好的 --from '--text 我请李雷帮我看了最好的' --at heads
headlight patch CHECKPOINT --ids 5,9,3 --from '--ids 5,7,3' --at residual --at-tokens 1
[SOURCE] [REQUEST] is the clean question, --from the corrupt one. The corrupt one is computed again with one part of
the clean answer in its place: restored is (m - corrupt) / (clean - corrupt) of the metric m, the logit of the clean
answer's word minus that of the corrupt one's, or, where both are one word, its probability. Tokens are patched by
their positions, in sentences of different length where they are the same words.
With --format json: {"metric", "clean", "corrupt", "cells": [{"layer", "head", "token", "restored"}]}.)",
                          add_patch};

}  // namespace headlight
