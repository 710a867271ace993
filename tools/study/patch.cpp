#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/formatted.h"
#include "base/result.h"
#include "cli/frame/question_command.h"
#include "cli/options/against_option.h"
#include "cli/options/print.h"
#include "derived/patch_map.h"
#include "explain/patch/patching.h"
#include "math/output.h"
#include "study/patch_question.h"

namespace headlight {
namespace {

constexpr Index kMostCells = 20;  // for people

/// Which tokens stood for each other.
std::string_view alignment_name(const Trace& clean, const Trace& corrupt, const PatchOptions& options) {
  const Stack stack = stack_of(options);
  return name(patch_alignment(clean.query_tokens(stack).size(), corrupt.query_tokens(stack).size(), options.align));
}

/// The heads that read the key or value that --to names.
std::string group_text(const PatchOptions& options, const Trace& trace) {
  const std::size_t end = options.to.find("@group");
  const auto head = end == options.to.npos ? std::nullopt : parse_head(options.to.substr(0, options.to.rfind(':')));
  if (!head || !trace.has(head->stack) || head->layer >= trace.num_layers(head->stack)) return "";
  const AttentionTrace& attention = trace.attention(head->stack, head->layer);
  const Index of_group = attention.num_heads() / attention.num_kv_heads;
  const Index first = attention.kv_head(head->head) * of_group;
  return " (" + head_label({head->layer, first}) + " … H" + std::to_string(first + of_group - 1) + ")";
}

/// `L1·H2  token 3, 去`; of a path's readers `L1·H2:k`, or `output`.
std::string label_of_cell(const PatchCell& cell, const Tokens& tokens, const PatchOptions& options) {
  if (options.of_readers() && !cell.part) return "output";
  std::string label = stack_prefix(cell.stack) + "L" + std::to_string(cell.layer);
  if (cell.head) label += (options.neurons ? "·N" : "·H") + std::to_string(*cell.head);
  if (cell.part) label += ":" + std::string(part_name(cell));
  if (cell.token)
    label += "  token " + std::to_string(*cell.token) + ", " +
             word_in_table(tokens.tokens[static_cast<std::size_t>(*cell.token)].text);
  return label;
}

std::string metric_line(const PatchAnswer& answer, const std::string& align) {
  std::string text =
      word_in_table(answer.metric) + formatted(": clean %.6f, corrupt %.6f", answer.clean, answer.corrupt);
  if (answer.measure == Metric::rank) text += ", shares of its logarithm";
  return text + "; tokens by " + align + "\n";
}

std::string patch_text(const PatchAnswer& answer, const Tokens& tokens, const PatchOptions& options,
                       const std::string& align, const std::string& group, bool noise) {
  std::string text = metric_line(answer, align);
  const std::string part = options.at             ? options.part_text()
                           : options.of_readers() ? "the path from " + options.senders.front() + " to each reader"
                                                  : "the path to " + options.to + group;
  if (!options.baseline.empty()) text += "lost with " + part + " by " + options.baseline + ", 0 nothing, 1 all:\n";
  else
    text += noise ? "lost by " + part + " of the corrupt answer, 0 nothing, 1 all:\n"
                  : "restored by " + part + " of the clean answer, 0 nothing, 1 all:\n";
  std::vector<NamedTerm> cells;
  for (const PatchCell& cell : answer.cells) cells.push_back({label_of_cell(cell, tokens, options), cell.restored});
  text += largest_terms(std::move(cells), kMostCells, false);
  return answer.control ? text + control_text(*answer.control) : text;
}

/// With both directions `lost` is a column beside `restored`, where both sentences have the same cells.
Table patch_table(const std::vector<PatchAnswer>& answers, const PatchOptions& options) {
  Table table{{"layer", options.head_column(), "token"}};
  const bool with_stack = options.names_stacks();
  for (std::size_t i = 0; i < answers.size(); ++i) table.columns.emplace_back(column_of(options, i));
  if (with_stack) table.columns.emplace_back("stack");
  if (options.of_readers()) table.columns.emplace_back("part");
  const auto value = [](const PatchAnswer& answer, std::size_t at) {
    return at < answer.cells.size() ? std::optional(answer.cells[at].restored) : std::nullopt;
  };
  for (std::size_t at = 0; at < answers.front().cells.size(); ++at) {
    const PatchCell& cell = answers.front().cells[at];
    std::vector<Value>& row = table.rows.emplace_back();
    row = {cell.layer, cell.head, cell.token};
    for (const PatchAnswer& answer : answers) row.emplace_back(value(answer, at));
    if (with_stack) row.emplace_back(stack_name(cell.stack));
    if (!options.of_readers()) continue;
    row.emplace_back(part_name(cell));
    if (!cell.part) row[0] = Value();
  }
  return table;
}

Value patch_json(const std::vector<PatchAnswer>& answers, const Tokens& tokens, const PatchOptions& options,
                 const std::string& align) {
  const PatchAnswer& first = answers.front();
  Members members{{"metric", first.metric}, {"clean", first.clean}, {"corrupt", first.corrupt}, {"align", align}};
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
  if (options.of_readers()) {
    std::vector<std::string> parts;
    for (const PatchCell& cell : first.cells) parts.emplace_back(part_name(cell));
    arrays.push_back(array_of_texts("parts", parts));
  }
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

/// What an estimate is worth, by the places that were patched.
struct EstimateCheck {
  std::optional<double> of_all = {}, of_random = {};  // correlation with what they restore
  std::vector<std::size_t> missed = {};               // of the random ones: restores more than the least of the largest
  std::optional<Index> recall = {};                   // where all places were patched: see recall_of
};

constexpr Index kRecalled = 10, kRecalledAmong = 20;

/// How many of the kRecalled places that restore most are among the kRecalledAmong of the largest estimates.
Index recall_of(const PatchEstimate& estimate) {
  const auto largest = [&](const std::vector<PatchCell>& cells, Index count) {
    std::vector<std::size_t> order(cells.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return std::abs(cells[i].restored); });
    return std::set(order.begin(), order.begin() + count);
  };
  const std::set<std::size_t> found = largest(estimate.all, kRecalledAmong);
  return std::ranges::count_if(largest(estimate.patched.cells, kRecalled),
                               [&](std::size_t i) { return found.contains(estimate.at[i]); });
}

std::optional<double> correlation(const std::vector<std::pair<double, double>>& pairs) {
  double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  const auto count = static_cast<double>(pairs.size());
  for (const auto& [a, b] : pairs) x += a / count, y += b / count;
  for (const auto& [a, b] : pairs) xx += (a - x) * (a - x), yy += (b - y) * (b - y), xy += (a - x) * (b - y);
  if (pairs.size() < 3 || xx == 0 || yy == 0) return std::nullopt;
  return xy / std::sqrt(xx * yy);
}

EstimateCheck checked(const PatchEstimate& estimate) {
  std::vector<std::pair<double, double>> all, random;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < estimate.at.size(); ++i) {
    const double restored = estimate.patched.cells[i].restored;
    all.emplace_back(estimate.all[estimate.at[i]].restored, restored);
    if (estimate.largest[i]) least = std::min(least, std::abs(restored));
    else random.push_back(all.back());
  }
  EstimateCheck check{correlation(all), correlation(random)};
  for (std::size_t i = 0; i < estimate.at.size(); ++i)
    if (!estimate.largest[i] && std::abs(estimate.patched.cells[i].restored) > least) check.missed.push_back(i);
  if (estimate.at.size() == estimate.all.size() && std::ssize(estimate.all) > kRecalledAmong)
    check.recall = recall_of(estimate);
  return check;
}

std::string estimate_text(const PatchEstimate& estimate, const Tokens& tokens, const PatchOptions& options,
                          const std::string& align, bool noise) {
  std::string text = metric_line(estimate.patched, align) + (noise ? "lost by " : "restored by ") +
                     options.part_text() + ", estimated by the gradient at " +
                     counted(std::ssize(estimate.all), "place") + " and patched at " +
                     std::to_string(estimate.at.size()) + ":\n";
  std::vector<std::size_t> order(estimate.at.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto size_of = [&](std::size_t i) { return std::abs(estimate.all[estimate.at[i]].restored); };
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return std::pair(!estimate.largest[a], -size_of(a)) < std::pair(!estimate.largest[b], -size_of(b));
  });
  const auto label = [&](std::size_t i) { return label_of_cell(estimate.patched.cells[i], tokens, options); };
  const auto number = [](double value) { return formatted("%+.6f", value); };
  std::vector<std::vector<std::string>> lines{{"", "estimate", noise ? "lost" : "restored", ""}};
  for (const std::size_t i : order)
    lines.push_back({label(i), number(estimate.all[estimate.at[i]].restored),
                     number(estimate.patched.cells[i].restored), estimate.largest[i] ? "" : "at random"});
  text += aligned_text(lines, {false, true, true, false});
  const EstimateCheck check = checked(estimate);
  const auto share = [](const std::optional<double>& one) { return one ? formatted("%.3f", *one) : std::string("—"); };
  text += "correlation of both: " + share(check.of_all) + ", of the random places " + share(check.of_random) + "\n";
  if (check.recall)
    text += formatted("%d of the %d places that do most are among the %d largest estimates\n",
                      static_cast<int>(*check.recall), static_cast<int>(kRecalled), static_cast<int>(kRecalledAmong));
  if (check.missed.empty()) return text + "missed: no random place does more than the least of the others\n";
  return text + "missed: " + joined_texts(check.missed, ", ", label) + ": more than the least of the others\n";
}

Table estimate_table(const PatchEstimate& estimate, const PatchOptions& options) {
  Table table{
      {"layer", options.head_column(), "token", "estimate", is_noise(options, 0) ? kLost : "restored", "patched"}};
  if (options.names_stacks()) table.columns.emplace_back("stack");
  std::size_t next = 0;
  for (std::size_t at = 0; at < estimate.all.size(); ++at) {
    const PatchCell& cell = estimate.all[at];
    const bool patched = next < estimate.at.size() && estimate.at[next] == at;
    std::vector<Value>& row = table.rows.emplace_back();
    row = {cell.layer, cell.head, cell.token, cell.restored};
    row.emplace_back(patched ? std::optional(estimate.patched.cells[next].restored) : std::nullopt);
    row.emplace_back(!patched ? Value() : estimate.largest[next] ? Value("largest") : Value("random"));
    if (options.names_stacks()) row.emplace_back(stack_name(cell.stack));
    next += patched ? 1 : 0;
  }
  return table;
}

Value estimate_json(const PatchEstimate& estimate, const Tokens& tokens, const PatchOptions& options,
                    const std::string& align) {
  const PatchAnswer& of = estimate.patched;
  const EstimateCheck check = checked(estimate);
  const auto missed = [&](std::size_t i) {
    const PatchCell& cell = of.cells[i];
    return json_object({{"layer", cell.layer},
                        {options.head_column(), cell.head},
                        {"token", cell.token},
                        {"restored", cell.restored}});
  };
  const Value summary = json_object({{"places", estimate.all.size()},
                                     {"patched", estimate.at.size()},
                                     {"correlation", check.of_all},
                                     {"correlation_random", check.of_random},
                                     {"missed", json_list(check.missed, missed)},
                                     {"recall", check.recall}});
  return json_object({{"metric", of.metric},
                      {"clean", of.clean},
                      {"corrupt", of.corrupt},
                      {"align", align},
                      {"tokens", json_list(tokens.tokens, [](const Token& token) { return Value(token.text); })},
                      {"cells", json_rows(estimate_table(estimate, options))},
                      {"estimate", summary}});
}

/// Those of the estimates, as patch_arrays() has what is restored; and which places were patched.
Arrays estimate_arrays(const PatchEstimate& estimate, const Tokens& tokens, const PatchOptions& options) {
  PatchAnswer all = estimate.patched;
  all.cells = estimate.all;
  Arrays arrays = patch_arrays({all}, tokens, options);
  std::vector<float> places, restored, largest;
  for (std::size_t i = 0; i < estimate.at.size(); ++i) {
    places.push_back(static_cast<float>(estimate.at[i]));
    restored.push_back(static_cast<float>(estimate.patched.cells[i].restored));
    largest.push_back(estimate.largest[i] ? 1.0f : 0.0f);
  }
  const auto count = static_cast<Index>(places.size());
  arrays.push_back(array_of("patched", {count}, places));
  arrays.push_back(array_of("patched_restored", {count}, restored));
  arrays.push_back(array_of("patched_largest", {count}, largest));
  return arrays;
}

/// A head of an encoder writes to nothing but cross-attention, whose heads are held.
void warn_of_encoder(const PatchOptions& options, const Trace& trace, std::vector<Error>& warnings) {
  if (!options.of_paths() || options.to != "output" || !trace.has(Stack::encoder)) return;
  for (const std::string& text : options.senders) {
    const auto heads = parse_heads(text);
    const bool is_named = text.find(':') != text.npos;
    if (!heads || (is_named ? heads->stack : stack_of(options)) != Stack::encoder) continue;
    warnings.push_back(bad_input("--to output", "", "heads of the decoder (else --to cross:LAYER.HEAD:k or :v)",
                                 text + ": an encoder's head reaches the answer through cross-attention alone"));
    return;
  }
}

Result<Answer> answer(const Question& question, const PatchOptions& options) {
  const auto corrupt = TRY(answer_of(options.from, question.asked, "--from"));
  const Trace& clean = *question.trace;
  TRY(check_has_logits(clean, "patch"));
  const auto metric = TRY(options.metric.wanted(*clean.model));
  const Baseline baseline =
      TRY(read_baseline(options.baseline, question.asked.document(), question.asked.lexicon, question.threads));
  Progress progress;
  const ProgressReport report("patch", &progress);
  std::optional<PatchEstimate> estimate;
  std::vector<PatchAnswer> answers;
  if (options.estimate)
    estimate =
        TRY(estimated(clean, *corrupt.trace, options, metric, baseline, *options.estimate, question.threads, progress));
  else answers = TRY(patched(clean, *corrupt.trace, options, metric, baseline, question.threads, progress));
  const Stack stack = stack_of(options);
  const std::string align(alignment_name(clean, *corrupt.trace, options));
  warn_of_encoder(options, clean, question.warnings);
  const auto tokens_of = [&](std::size_t i) -> const Tokens& {
    const Trace& base = is_noise(options, i) ? clean : *corrupt.trace;
    return options.at && of_keys(*options.at) ? base.key_tokens(stack) : base.query_tokens(stack);
  };
  if (estimate) {
    if (question.wants("npz")) return Answer(estimate_arrays(*estimate, tokens_of(0), options));
    if (question.wants("csv")) return Answer(estimate_table(*estimate, options));
    if (question.wants("json")) return Answer(estimate_json(*estimate, tokens_of(0), options, align));
    return Answer(estimate_text(*estimate, tokens_of(0), options, align, is_noise(options, 0)));
  }
  if (question.wants("npz")) return Answer(patch_arrays(answers, tokens_of(0), options));
  if (question.wants("csv")) return Answer(patch_table(answers, options));
  if (question.wants("json")) return Answer(patch_json(answers, tokens_of(0), options, align));
  std::string text;
  for (std::size_t i = 0; i < answers.size(); ++i)
    text += (i > 0 ? "\n" : "") +
            patch_text(answers[i], tokens_of(i), options, align, group_text(options, clean), is_noise(options, i));
  return Answer(text);
}

ParsedCommand add_patch(Parser& parser, const Frontend&) {
  const QuestionCommand command(parser);
  const auto options = std::make_shared<PatchOptions>();
  add_patch_options(parser, *options);
  command.take_format({"text", "csv", "json", "npz"}, "text (default), csv, json or npz");
  const ParsedCommand one = command.answers(
      SentencesAsked::one, [options](const Question& question) { return answer(question, *options); },
      [options] { return check_patch(*options); });
  return [options, command, one]() -> Result<int> {
    if (!options->study.given()) return one();
    TRY(check_patch(*options));
    return study_patches(command, *options);
  };
}

}  // namespace

extern const NamedCommand kPatch{"patch", "Which part of one answer brings it back in another", R"(
headlight patch shipped:decoder --text 我请李雷帮我喝了最好的 --from '--text 我请李雷帮我看了最好的' --at heads
headlight patch CHECKPOINT --pairs pairs.csv --at heads --control random:8 --resume rows.jsonl --format csv
headlight patch CHECKPOINT --pairs pairs.csv --from-head 4.3 --to 6.9:k
[SOURCE] [REQUEST] is the clean question, --from the corrupt one, which is computed again with one part of the
clean answer in its place: restored is (m - corrupt) / (clean - corrupt) of the metric m, the logit of the clean
answer's word minus that of the corrupt one's, or, where both are one word, its probability.)",
                                 add_patch};

}  // namespace headlight
