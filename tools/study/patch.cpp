#include <set>

#include "base/formatted.h"
#include "base/result.h"
#include "cli/frame/question_command.h"
#include "cli/options/against_option.h"
#include "cli/options/metric_options.h"
#include "cli/options/print.h"
#include "cli/options/view_options.h"
#include "derived/patch_map.h"
#include "explain/patching.h"
#include "math/output.h"
#include "study/study.h"

namespace headlight {
namespace {

constexpr Index kMostCells = 20;  // for people

/// Both: the corrupt question with parts of the clean one, and the other way.
enum class Directions { denoise, noise, both };
constexpr std::string_view kDirectionNames[] = {"denoise", "noise", "both"};

struct PatchOptions {
  std::string from, stack = "self", control, to;
  std::optional<PatchAt> at = {};
  Directions direction = Directions::denoise;
  std::vector<std::string> layers, heads, tokens, senders;
  MetricOptions metric;
  StudyOptions study;
};

Result<PatchWanted> wanted_of(const PatchOptions& options) {
  PatchWanted wanted{.at = options.at.value_or(PatchAt::heads), .stack = *parse_stack(options.stack)};
  wanted.control = TRY(draws_of(options.control));
  if (!options.at && options.senders.empty()) return bad_input("patch", "", "--at, or --from-head and --to", "neither");
  if (options.at && !options.senders.empty()) return bad_input("--at", "", "no --from-head beside it", "both");
  if (options.from.empty() == options.study.pairs.empty())
    return bad_input("patch", "", "--from or --pairs", options.from.empty() ? "neither" : "both");
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
  if (clean.size() == corrupt.size()) return aligned_pairs(clean.tokens, corrupt.tokens, Alignment::positions);
  for (const Tokens* tokens : {&clean, &corrupt})
    if (tokens->size() > kMostAligned)
      return bad_input(tokens == &clean ? "patch" : "--from", "tokens",
                       "at most " + std::to_string(kMostAligned) + " where the sentences are of different length",
                       std::to_string(tokens->size()));
  return aligned_pairs(clean.tokens, corrupt.tokens, Alignment::words);
}

/// 4.3,2.* and 6.9:k; `output` is the answer itself.
Result<PathWanted> path_of(const PatchOptions& options, const Trace& trace) {
  PathWanted path;
  const Stack stack = *parse_stack(options.stack);
  for (const std::string& text : options.senders) {
    const auto heads = parse_heads(text);
    if (!heads) return bad_input("--from-head", "", "LAYER.HEAD or LAYER.*", text);
    TRY(check_within("--from-head", "layer", heads->layer, trace.num_layers(stack)));
    const std::vector<HeadRef> senders =
        heads_in({stack, heads->layer, heads->head}, trace.attention(stack, heads->layer).num_heads());
    path.from.insert(path.from.end(), senders.begin(), senders.end());
  }
  if (options.to == "output") return path;
  const std::size_t colon = std::min(options.to.find(':'), options.to.size());
  const auto head = parse_heads(options.to.substr(0, colon));
  const std::string part = colon < options.to.size() ? options.to.substr(colon + 1) : "";
  if (!head || !head->head || (!part.empty() && part != "q" && part != "k" && part != "v"))
    return bad_input("--to", "", "LAYER.HEAD, with :q, :k or :v behind it, or output", options.to);
  path.to = HeadRef{head->layer, *head->head, stack};
  if (!part.empty()) path.part = part == "q" ? PatchAt::q : part == "k" ? PatchAt::k : PatchAt::v;
  return path;
}

/// What one pair of answers gives, in each direction that is asked for.
Result<std::vector<PatchAnswer>> patched(const Trace& clean, const Trace& corrupt, const PatchOptions& options,
                                         const MetricWanted& metric, int threads, Progress& progress) {
  auto wanted = TRY(wanted_of(options));
  wanted.metric = metric;
  for (const bool keys : {false, true}) {
    if (!clean.has(wanted.stack) || !corrupt.has(wanted.stack)) break;  // an Error of patch_answers
    const auto side = [&](const Trace& trace) -> const Tokens& {
      return keys ? trace.key_tokens(wanted.stack) : trace.query_tokens(wanted.stack);
    };
    (keys ? wanted.keys : wanted.queries) = TRY(pairs_of(side(clean), side(corrupt)));
  }
  std::vector<PatchAnswer> answers;
  for (const PatchDirection direction : {PatchDirection::denoise, PatchDirection::noise}) {
    const bool noise = direction == PatchDirection::noise;
    if (options.direction == (noise ? Directions::denoise : Directions::noise)) continue;
    wanted.direction = direction;
    if (options.direction == Directions::both) progress.share = 0.5f, progress.begin = noise ? 0.5f : 0;
    auto answer = [&]() -> Result<PatchAnswer> {
      if (options.senders.empty()) return patch_answers(clean, corrupt, wanted, threads, &progress);
      const auto path = TRY(path_of(options, clean));
      return patch_paths(clean, corrupt, wanted, path, threads, &progress);
    }();
    if (!answer) return answer.error();
    answers.push_back(*std::move(answer));
  }
  return answers;
}

/// Whether an answer of patched() is of noise.
bool is_noise(const PatchOptions& options, std::size_t answer) {
  return options.direction == Directions::noise || answer == 1;
}

/// Of a cell that the direction of the answer gives: restored or lost.
const char* column_of(const PatchOptions& options, std::size_t answer) {
  return is_noise(options, answer) ? "lost" : "restored";
}

std::string patch_text(const PatchAnswer& answer, const Tokens& tokens, const PatchOptions& options, bool noise) {
  std::string text =
      word_in_table(answer.metric) + formatted(": clean %.6f, corrupt %.6f", answer.clean, answer.corrupt);
  const std::string part = options.at ? std::string(name(*options.at)) : "the path to " + options.to;
  text += noise ? "\nlost by " + part + " of the corrupt answer, 0 nothing, 1 all:\n"
                : "\nrestored by " + part + " of the clean answer, 0 nothing, 1 all:\n";
  std::vector<NamedTerm> cells;
  for (const PatchCell& cell : answer.cells) {
    std::string label = cell.head ? head_label({cell.layer, *cell.head}) : "L" + std::to_string(cell.layer);
    if (cell.token)
      label += "  token " + std::to_string(*cell.token) + ", " +
               word_in_table(tokens.tokens[static_cast<std::size_t>(*cell.token)].text);
    cells.push_back({std::move(label), cell.restored});
  }
  text += largest_terms(std::move(cells), kMostCells, false);
  return answer.control ? text + control_text(*answer.control) : text;
}

/// With both directions `lost` is a column beside `restored`, where both sentences have the same cells.
Table patch_table(const std::vector<PatchAnswer>& answers, const PatchOptions& options) {
  Table table{{"layer", "head", "token"}};
  for (std::size_t i = 0; i < answers.size(); ++i) table.columns.emplace_back(column_of(options, i));
  const auto value = [](const PatchAnswer& answer, std::size_t at) {
    return at < answer.cells.size() ? std::optional(answer.cells[at].restored) : std::nullopt;
  };
  for (std::size_t at = 0; at < answers.front().cells.size(); ++at) {
    const PatchCell& cell = answers.front().cells[at];
    std::vector<Value>& row = table.rows.emplace_back();
    row = {cell.layer, cell.head, cell.token};
    for (const PatchAnswer& answer : answers) row.emplace_back(value(answer, at));
  }
  return table;
}

Value patch_json(const std::vector<PatchAnswer>& answers, const Tokens& tokens, const PatchOptions& options) {
  const PatchAnswer& first = answers.front();
  Members members{{"metric", first.metric}, {"clean", first.clean}, {"corrupt", first.corrupt}};
  members.emplace_back("tokens", json_list(tokens.tokens, [](const Token& token) { return Value(token.text); }));
  members.emplace_back("cells", json_rows(patch_table(answers, options)));
  if (first.control) members.emplace_back("control", control_json(*first.control));
  return json_object(members);
}

/// (layers, heads), (layers, tokens) or (layers, heads, tokens) of cells that fill such a map, in its order; else
/// nothing.
std::vector<Index> axes_of(const std::vector<PatchCell>& cells) {
  std::set<Index> layers, heads, tokens;
  for (const PatchCell& cell : cells) {
    layers.insert(cell.layer);
    if (cell.head) heads.insert(*cell.head);
    if (cell.token) tokens.insert(*cell.token);
  }
  std::vector<Index> axes;
  Index all = 1;
  for (const std::set<Index>* axis : {&layers, &heads, &tokens})
    if (!axis->empty()) axes.push_back(static_cast<Index>(axis->size())), all *= axes.back();
  return all == static_cast<Index>(cells.size()) ? axes : std::vector<Index>{};
}

Arrays patch_arrays(const std::vector<PatchAnswer>& answers, const Tokens& tokens, const PatchOptions& options) {
  const PatchAnswer& first = answers.front();
  const auto one = [](const char* of, double number) { return array_of(of, {1}, {static_cast<float>(number)}); };
  Arrays arrays{one("clean", first.clean), one("corrupt", first.corrupt), array_of_texts("metric", {first.metric}),
                array_of_tokens("tokens", tokens)};
  std::vector<float> cells;
  for (const PatchCell& cell : first.cells)
    for (const Index number : {cell.layer, cell.head.value_or(-1), cell.token.value_or(-1)})
      cells.push_back(static_cast<float>(number));
  if (cells.empty()) return arrays;
  arrays.push_back(array_of("places", {static_cast<Index>(first.cells.size()), 3}, std::move(cells)));
  const std::vector<Index> axes = axes_of(first.cells);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    std::vector<float> restored;
    for (const PatchCell& cell : answers[i].cells) restored.push_back(static_cast<float>(cell.restored));
    const std::string column = column_of(options, i);
    if (!axes.empty()) arrays.push_back(array_of(column + "_map", axes, restored));
    arrays.push_back(array_of(column, {static_cast<Index>(restored.size())}, restored));
  }
  if (first.control) add_control(*first.control, arrays);
  return arrays;
}

Result<Answer> answer(const Question& question, const PatchOptions& options) {
  const auto corrupt = TRY(answer_of(options.from, question.asked, "--from"));
  const Trace& clean = *question.trace;
  TRY(check_has_logits(clean, "patch"));
  const auto metric = TRY(options.metric.wanted(*clean.model));
  Progress progress;
  const ProgressReport report("patch", &progress);
  const auto answers = TRY(patched(clean, *corrupt.trace, options, metric, question.threads, progress));
  const Stack stack = *parse_stack(options.stack);
  const auto tokens_of = [&](std::size_t i) -> const Tokens& {
    const Trace& base = is_noise(options, i) ? clean : *corrupt.trace;
    return options.at && of_keys(*options.at) ? base.key_tokens(stack) : base.query_tokens(stack);
  };
  if (question.wants("npz")) return Answer(patch_arrays(answers, tokens_of(0), options));
  if (question.wants("csv")) return Answer(patch_table(answers, options));
  if (question.wants("json")) return Answer(patch_json(answers, tokens_of(0), options));
  std::string text;
  for (std::size_t i = 0; i < answers.size(); ++i)
    text += (i > 0 ? "\n" : "") + patch_text(answers[i], tokens_of(i), options, is_noise(options, i));
  return Answer(text);
}

/// The numbers of one pair: the metric of both answers, then what each patched part restores or loses.
Result<std::vector<StudyCell>> cells_of(const StudyTraces& traces, const PatchOptions& options) {
  TRY(check_has_logits(*traces.clean, "patch"));
  const auto metric = TRY(options.metric.wanted(*traces.clean->model, traces.right, traces.wrong));
  const auto answers = TRY(patched(*traces.clean, *traces.corrupt, options, metric, traces.threads, unwatched()));
  std::vector<StudyCell> cells{{{"clean", "", "", ""}, answers.front().clean},
                               {{"corrupt", "", "", ""}, answers.front().corrupt}};
  const auto field = [](const std::optional<Index>& number) { return number ? std::to_string(*number) : ""; };
  for (std::size_t i = 0; i < answers.size(); ++i) {
    for (const PatchCell& cell : answers[i].cells)
      cells.push_back(
          {{column_of(options, i), std::to_string(cell.layer), field(cell.head), field(cell.token)}, cell.restored});
    if (answers[i].control) add_control(*answers[i].control, cells);
  }
  return cells;
}

Result<int> study(const QuestionCommand& command, const PatchOptions& options) {
  const std::string part = options.at ? std::string(name(*options.at)) : joined_texts(options.senders, ",");
  std::string title = "patch " + part + (options.to.empty() ? "" : " → " + options.to);
  const std::string asked = title + "|" + options.metric.text() + "|" + options.stack + "|" + options.control + "|" +
                            std::string(name_in(kDirectionNames, options.direction)) + "|" +
                            joined_texts(options.layers, ",") + "|" + joined_texts(options.heads, ",") + "|" +
                            joined_texts(options.tokens, ",");
  title += ", " + std::string(options.metric.metric ? name(*options.metric.metric) : "logit-difference");
  return run_study(command, options.study,
                   {.columns = {"what", "layer", "head", "token"},
                    .title = title,
                    .options = asked,
                    .with_corrupt = true,
                    .answer = [&](const StudyTraces& traces) { return cells_of(traces, options); }});
}

void add_options(Parser& parser, PatchOptions& options) {
  parser.section("The patch");
  parser.option("--from", options.from,
                "The corrupt question, in one string; without a SOURCE in it the clean question's",
                "'[SOURCE] [REQUEST]'");
  add_choice<PatchAt>(parser, "--at", options.at, kPatchNames,
                      "What is put in: heads (z of a head), residual (the stream after a layer), ffn, pattern (a "
                      "head's weights), q, k or v",
                      "PART");
  parser.option("--stack", options.stack, "Of an encoder-decoder: self (default), encoder or cross")
      .one_of({"self", "encoder", "cross"});
  parser.option("--at-layers", options.layers, "These layers alone", "LAYERS").list();
  parser.option("--at-heads", options.heads, "These heads alone, 0.3,1.*; of k and v the keys' heads", "HEADS").list();
  parser
      .option("--at-tokens", options.tokens,
              "One token at a time, these or all, of the corrupt sentence; residual and ffn always do so", "TOKENS")
      .list();
  add_choice<Directions>(
      parser, "--direction", options.direction, kDirectionNames,
      "denoise (default): the clean answer's part in the corrupt question; noise: the other way, the "
      "share that is lost; both");
  add_control_option(
      parser, options.control,
      "Beside the map, N times as many places at random: of chosen places as many others, of a whole map one");
  parser
      .option("--from-head", options.senders,
              "In place of --at, path patching: what these heads write for --to alone, all other heads between as they "
              "are",
              "HEADS")
      .list();
  parser
      .option("--to", options.to, "The reader of --from-head: a head, its query, key or value (6.9:k), or output",
              "HEAD")
      .needs("--from-head");
  parser.section("What is compared");
  add_metric_options(parser, options.metric);
  add_study_options(parser, options.study);
}

ParsedCommand add_patch(Parser& parser, const Frontend&) {
  const QuestionCommand command(parser);
  const auto options = std::make_shared<PatchOptions>();
  add_options(parser, *options);
  command.take_format({"text", "csv", "json", "npz"}, "text (default), csv, json or npz");
  const auto check = [options] {
    const auto wanted = wanted_of(*options);
    if (!wanted) return Status(wanted.error());
    if (options->senders.empty() || !options->to.empty()) return Status(Done{});
    return Status(bad_input("--from-head", "", "--to beside it", "none"));
  };
  const ParsedCommand one = command.answers(
      SentencesAsked::one, [options](const Question& question) { return answer(question, *options); }, check);
  return [options, command, check, one]() -> Result<int> {
    if (!options->study.given()) return one();
    TRY(check());
    return study(command, *options);
  };
}

}  // namespace

extern const NamedCommand kPatch{"patch", "Which part of one answer brings it back in another", R"(
headlight patch shipped:decoder --text 我请李雷帮我喝了最好的 --from '--text 我请李雷帮我看了最好的' --at heads
headlight patch CHECKPOINT --pairs pairs.csv --at heads --control random:8 --resume rows.jsonl --format csv
headlight patch CHECKPOINT --pairs pairs.csv --from-head 4.3 --to 6.9:k
[SOURCE] [REQUEST] is the clean question, --from the corrupt one. The corrupt one is computed again with one part of
the clean answer in its place: restored is (m - corrupt) / (clean - corrupt) of the metric m, the logit of the clean
answer's word minus that of the corrupt one's, or, where both are one word, its probability. Tokens are patched by
their positions, in sentences of different length where they are the same words.)",
                                 add_patch};

}  // namespace headlight
