#include "study/patch_question.h"

#include <algorithm>

#include "base/formatted.h"
#include "base/result.h"
#include "cli/options/view_options.h"
#include "derived/patch_map.h"
#include "math/output.h"
#include "model/fingerprint.h"
#include "study/other_model.h"

namespace headlight {
namespace {

bool is_of_stack(const std::string& head) { return head.find(':') != head.npos; }

/// `4.3`, `cross:4.*`; without a stack of `stack`.
Result<LayerHeads> heads_named(const char* option, const std::string& text, Stack stack) {
  auto heads = parse_heads(text);
  if (!heads) return bad_input(option, "", "LAYER.HEAD or LAYER.*, with encoder: or cross: before it", text);
  if (!is_of_stack(text)) heads->stack = stack;
  return *heads;
}

constexpr Index kEstimated = 10;  // places that are patched beside an estimate

Stack given_stack(const PatchOptions& options) { return options.stack ? *parse_stack(*options.stack) : Stack::self; }

Result<PatchWanted> wanted_of(const PatchOptions& options) {
  PatchWanted wanted{.at = options.at.value_or(PatchAt::heads), .stack = stack_of(options)};
  wanted.control = TRY(draws_of(options.control));
  TRY(read_places(options.layers, options.neurons ? "--at-neurons" : "--at-heads", options.heads, given_stack(options),
                  wanted.layers, wanted.heads));
  for (const std::string& text : options.tokens) {
    if (text == "all") wanted.by_token = true;
    else if (const auto token = parse_index(text)) wanted.tokens.push_back(*token);
    else return bad_input("--at-tokens", "", "numbers of tokens, or all", text);
  }
  return wanted;
}

/// Tokens that stand for each other.
Result<TokenPairs> pairs_of(const Tokens& clean, const Tokens& corrupt, const PatchOptions& options) {
  const Alignment alignment = patch_alignment(clean.size(), corrupt.size(), options.align);
  for (const Tokens* tokens : {&clean, &corrupt})
    if (alignment == Alignment::words && tokens->size() > kMostAligned)
      return bad_input(tokens == &clean ? "patch" : "--from", "tokens",
                       "at most " + std::to_string(kMostAligned) + " where they are aligned by their words",
                       std::to_string(tokens->size()));
  return aligned_pairs(clean.tokens, corrupt.tokens, alignment);
}

/// 6.9, 6.9:k, cross:1.2:v@group; `output` is the answer itself, `all` each of these.
Status read_receiver(const PatchOptions& options, PathWanted& path) {
  path.all = options.of_readers();
  if (options.to == "output" || path.all) return Done{};
  constexpr std::pair<std::string_view, PatchAt> kParts[] = {
      {":q", PatchAt::q}, {":k", PatchAt::k}, {":v", PatchAt::v}};
  std::string_view text = options.to;
  path.group = text.ends_with("@group");
  if (path.group) text.remove_suffix(6);
  for (const auto& [name, part] : kParts)
    if (!path.part && text.ends_with(name)) path.part = part, text.remove_suffix(name.size());
  auto head = parse_heads(text);
  if (!head || !head->head || (path.group && path.part != PatchAt::k && path.part != PatchAt::v))
    return bad_input("--to", "",
                     "LAYER.HEAD, with :q, :k or :v behind it, or :k@group, :v@group for all heads that share them, "
                     "output or all",
                     options.to);
  if (!is_of_stack(std::string(text))) head->stack = given_stack(options);
  path.to = HeadRef{head->layer, *head->head, head->stack};
  return Done{};
}

/// The senders, those of one stack together in the order in which stacks come.
Result<std::vector<PathWanted>> paths_of(const PatchOptions& options, const Trace& trace) {
  PathWanted path;
  TRY(read_receiver(options, path));
  std::vector<PathWanted> paths;
  for (const std::string& text : options.senders) {
    const auto heads = TRY(heads_named("--from-head", text, given_stack(options)));
    if (!trace.has(heads.stack))
      return bad_input(is_of_stack(text) ? "--from-head" : "--stack", "", "a stack that this model has",
                       is_of_stack(text) ? text : *options.stack);
    TRY(check_within("--from-head", "layer", heads.layer, trace.num_layers(heads.stack)));
    const auto known =
        std::ranges::find_if(paths, [&](const PathWanted& one) { return one.from.front().stack == heads.stack; });
    PathWanted& of_stack = known == paths.end() ? paths.emplace_back(path) : *known;
    for (const HeadRef& head : heads_in(heads, trace.attention(heads.stack, heads.layer).num_heads()))
      of_stack.from.push_back(head);
  }
  return paths;
}

/// The neurons that are wanted, and which tokens of both sentences stand for each other.
Status align_tokens_of(PatchWanted& wanted, const Trace& clean, const Trace& corrupt, const PatchOptions& options) {
  if (!clean.has(wanted.stack) || !corrupt.has(wanted.stack)) return Done{};  // an Error of patch_answers
  for (Index layer = 0; options.neurons && options.heads.empty() && layer < clean.num_layers(wanted.stack); ++layer)
    wanted.heads.push_back({wanted.stack, layer, std::nullopt});
  const auto is_elsewhere = [&](const LayerHeads& one) {
    return one.layer != wanted.heads.front().layer &&
           (wanted.layers.empty() || std::ranges::count(wanted.layers, one.layer) > 0);
  };
  if (options.neurons && wanted.control > 0 && std::ranges::any_of(wanted.heads, is_elsewhere))
    return bad_input("--control", "", "neurons of one layer", "of several, of which one follows the other");
  wanted.queries = TRY(pairs_of(clean.query_tokens(wanted.stack), corrupt.query_tokens(wanted.stack), options));
  wanted.keys = TRY(pairs_of(clean.key_tokens(wanted.stack), corrupt.key_tokens(wanted.stack), options));
  if ((of_keys(wanted.at) ? wanted.keys : wanted.queries).empty())
    return bad_input("--from", "tokens", "some that both sentences have (--align)", "none");
  return Done{};
}

Result<PatchAnswer> one_direction(const Trace& clean, const Trace& corrupt, const PatchOptions& options,
                                  PatchWanted wanted, int threads, Progress& progress) {
  if (!options.of_paths()) {
    TRY(align_tokens_of(wanted, clean, corrupt, options));
    return patch_answers(clean, corrupt, wanted, threads, &progress);
  }
  std::optional<PatchAnswer> all;
  const auto paths = TRY(paths_of(options, clean));
  if (options.of_readers() && paths.size() != 1)
    return bad_input("--to all", "", "one head in --from-head", joined_texts(options.senders, ","));
  for (const PathWanted& path : paths) {
    wanted.stack = path.from.front().stack;
    TRY(align_tokens_of(wanted, clean, corrupt, options));
    auto answer = TRY(patch_paths(clean, corrupt, wanted, path, threads, &progress));
    if (!all) all = std::move(answer);
    else all->cells.insert(all->cells.end(), answer.cells.begin(), answer.cells.end());
  }
  return *std::move(all);
}

/// The numbers of one pair: the metric of both answers on its scale, then what each patched part restores or loses.
Result<std::vector<StudyCell>> cells_of(const StudyTraces& traces, const PatchOptions& options,
                                        const Baseline& baseline) {
  TRY(check_has_logits(*traces.clean, "patch"));
  const auto metric = TRY(options.metric.wanted(*traces.clean->model, traces.right, traces.wrong));
  std::vector<PatchAnswer> answers;
  if (options.estimate) {
    auto all =
        TRY(estimated(*traces.clean, *traces.corrupt, options, metric, baseline, 0, traces.threads, unwatched()));
    answers.push_back(std::move(all.patched));
    answers.front().cells = std::move(all.all);
  } else {
    answers = TRY(patched(*traces.clean, *traces.corrupt, options, metric, baseline, traces.threads, unwatched()));
  }
  const bool with_stack = options.names_stacks();
  const auto key_of = [&](const char* what, const PatchCell* cell) {
    const auto field = [](const std::optional<Index>& number) { return number ? std::to_string(*number) : ""; };
    std::vector<std::string> key{what};
    if (with_stack) key.emplace_back(cell ? stack_name(cell->stack) : "");
    key.push_back(cell && !(options.of_readers() && !cell->part) ? std::to_string(cell->layer) : "");
    key.push_back(cell ? field(cell->head) : "");
    key.push_back(cell ? field(cell->token) : "");
    if (options.of_readers()) key.emplace_back(cell ? part_name(*cell) : "");
    return key;
  };
  const PatchAnswer& first = answers.front();
  std::vector<StudyCell> cells{{key_of(kCleanCell, nullptr), on_scale(first.measure, first.clean)},
                               {key_of(kCorruptCell, nullptr), on_scale(first.measure, first.corrupt)}};
  for (std::size_t i = 0; i < answers.size(); ++i) {
    for (const PatchCell& cell : answers[i].cells)
      cells.push_back({key_of(column_of(options, i), &cell), cell.restored});
    if (answers[i].control) add_control(*answers[i].control, cells, is_noise(options, i));
  }
  return cells;
}

void add_places(Parser& parser, PatchOptions& options) {
  parser.option("--stack", options.stack, "Of an encoder-decoder: self (default), encoder or cross")
      .one_of({"self", "encoder", "cross"});
  parser.option("--at-layers", options.layers, "These layers alone", "LAYERS").list();
  parser
      .option("--at-heads,--at-neurons", options.heads,
              "These heads alone, 0.3,1.*, of another stack cross:0.3; of k and v the keys' heads; or these neurons, "
              "layer and number",
              "HEADS")
      .list();
  parser
      .option("--at-tokens", options.tokens,
              "One token at a time, these or all, of the sentence that is patched; residual and ffn always do so",
              "TOKENS")
      .list();
  add_choice<Alignment>(parser, "--align", options.align, kAlignments,
                        "Which tokens stand for each other: positions (default where both sentences have as many) or "
                        "words: the same words");
  add_choice<Directions>(
      parser, "--direction", options.direction, kDirectionNames,
      "denoise (default): the clean answer's part in the corrupt question; noise: the other way, the "
      "share that is lost; both");
}

}  // namespace

bool PatchOptions::names_stacks() const {
  return of_readers() || (stack && *stack != "self") || std::ranges::any_of(heads, is_of_stack) ||
         std::ranges::any_of(senders, is_of_stack);
}

void add_patch_options(Parser& parser, PatchOptions& options) {
  parser.section("The patch");
  parser.option("--from", options.from,
                "The corrupt question, in one string; without a SOURCE in it the clean question's. Of --pairs another "
                "model alone, as the same one tuned: its answers to the clean sentences are the corrupt ones",
                "'[SOURCE] [REQUEST]'");
  const TakeWord take_part = [&options](const std::string& word) {
    options.neurons = word == "neurons";
    options.at = options.neurons ? PatchAt::ffn : value_named<PatchAt>(kPatchNames, word);
    return options.at ? std::string() : "expected " + listed(kPatchNames) + ", neurons, found " + word;
  };
  parser.option("--at", take_part,
                "What is put in: heads (z of a head), residual (the stream after a layer), ffn, pattern (a head's "
                "weights), q, k, v, or neurons (each of the activations inside ffn)",
                "PART");
  add_places(parser, options);
  parser.option("--baseline", options.baseline,
                "Of --at, in place of the corrupt answer's part: its mean over the sentences of a file, mean:FILE, its "
                "mean at each position, position:FILE, or what it is in each of them, resample:FILE; the number is the "
                "share of the clean answer that is lost",
                "KIND:FILE");
  add_control_option(
      parser, options.control,
      "Beside the map, N times as many places at random: of chosen places as many others, of a whole map one; of many "
      "pairs each place is tested against them");
  const TakeWord take_estimate = [&options](const std::string& word) {
    options.estimate = word.empty() ? std::optional<Index>(kEstimated) : parse_index(word);
    const bool right = options.estimate && *options.estimate > 0;
    return right ? std::string() : "expected how many places are patched, found " + word;
  };
  parser
      .option(
          "--estimate", take_estimate,
          "What each part restores by the gradient of the metric, all of them for one pass back; then the K largest "
          "(10) and K at random are patched, and both are compared. Of many pairs the estimates alone",
          "[K]")
      .may_stand_alone();
  parser
      .option("--from-head", options.senders,
              "In place of --at, path patching: what these heads write for --to alone, all other heads between as they "
              "are; cross:0.3 is of another stack",
              "HEADS")
      .list();
  parser
      .option(
          "--to", options.to,
          "The reader: a head, its query, key or value as it alone reads them (6.9:k), those of all heads that share "
          "them (6.9:k@group), output, or, of one sender, all: each query, key and value behind it, and output",
          "HEAD")
      .needs("--from-head");
  parser.section("What is compared");
  add_metric_options(parser, options.metric);
  add_study_options(parser, options.study);
  parser.section("Many pairs", kStudyTopic);
  add_choice<Normalise>(parser, "--normalise", options.normalise, kNormaliseNames,
                        "total (default): the mean difference over that of clean and corrupt; pairs: the mean of the "
                        "pairs' shares; none: the mean difference")
      .needs("--pairs");
  parser.section();
}

Status check_patch(const PatchOptions& options) {
  if (!options.at && !options.of_paths()) return bad_input("patch", "", "--at, or --from-head and --to", "neither");
  if (options.at && options.of_paths()) return bad_input("--at", "", "no --from-head beside it", "both");
  if (options.of_paths() && options.to.empty()) return bad_input("--from-head", "", "--to beside it", "none");
  if (options.estimate && (options.of_paths() || !options.control.empty()))
    return bad_input("--estimate", "", "--at, no --control beside it",
                     options.of_paths() ? "--from-head" : "--control");
  if (options.estimate && (options.directions() == Directions::both || options.metric.metric == Metric::rank))
    return bad_input("--estimate", "", "one direction, and a metric that has a gradient",
                     options.directions() == Directions::both ? "both" : "rank");
  if (options.of_paths() && !options.control.empty())
    return bad_input("--control", "", "--at beside it", "--from-head");
  const std::pair<const char*, const std::vector<std::string>*> of_places[] = {
      {"--at-layers", &options.layers}, {"--at-heads", &options.heads}, {"--at-tokens", &options.tokens}};
  for (const auto& [option, given] : of_places)
    if (options.of_paths() && !given->empty()) return bad_input(option, "", "--at beside it", "--from-head");
  if (!options.neurons && (options.at == PatchAt::residual || options.at == PatchAt::ffn) && !options.heads.empty())
    return bad_input("--at-heads, --at-neurons", "", "--at with a part of a head, or neurons, beside it",
                     "--at " + options.part_text());
  if (!options.baseline.empty()) {
    const bool resamples = options.baseline.starts_with("resample:");
    if (options.directions() != Directions::noise)
      return bad_input("--baseline", "", "--direction noise beside it", name_in(kDirectionNames, *options.direction));
    if (options.of_paths() || options.at == PatchAt::pattern)
      return bad_input("--baseline", "", "--at with another part beside it",
                       options.of_paths() ? "--from-head" : "pattern");
    if (resamples && (options.estimate || !options.control.empty()))
      return bad_input("--baseline resample", "", "neither --estimate nor --control beside it", "one");
  }
  if (options.from.empty() && options.study.pairs.empty())
    return bad_input("patch", "", "--from or --pairs", "neither");
  TRY(wanted_of(options));
  for (const std::string& text : options.senders) TRY(heads_named("--from-head", text, Stack::self));
  PathWanted path;
  return options.of_paths() ? read_receiver(options, path) : Status(Done{});
}

Status read_places(const std::vector<std::string>& layers, const char* option, const std::vector<std::string>& heads,
                   Stack stack, std::vector<Index>& numbers, std::vector<LayerHeads>& chosen) {
  for (const std::string& text : layers) {
    const auto layer = parse_index(text);
    if (!layer) return bad_input("--at-layers", "", "numbers of layers", text);
    numbers.push_back(*layer);
  }
  for (const std::string& text : heads) chosen.push_back(TRY(heads_named(option, text, stack)));
  return Done{};
}

std::string_view part_name(const PatchCell& cell) { return cell.part ? name(*cell.part) : "output"; }

Stack stack_of(const PatchOptions& options) {
  if (options.stack) return *parse_stack(*options.stack);
  const std::vector<std::string>& named = options.of_paths() ? options.senders : options.heads;
  if (named.empty()) return Stack::self;
  const auto heads = parse_heads(named.front());
  return heads ? heads->stack : Stack::self;
}

Result<std::vector<PatchAnswer>> patched(const Trace& clean, const Trace& corrupt, const PatchOptions& options,
                                         const MetricWanted& metric, const Baseline& baseline, int threads,
                                         Progress& progress) {
  auto wanted = TRY(wanted_of(options));
  wanted.metric = metric;
  wanted.baseline = baseline;
  std::vector<PatchAnswer> answers;
  for (const PatchDirection direction : {PatchDirection::denoise, PatchDirection::noise}) {
    const bool noise = direction == PatchDirection::noise;
    if (options.directions() == (noise ? Directions::denoise : Directions::noise)) continue;
    wanted.direction = direction;
    if (options.directions() == Directions::both) progress.share = 0.5f, progress.begin = noise ? 0.5f : 0;
    answers.push_back(TRY(one_direction(clean, corrupt, options, wanted, threads, progress)));
  }
  return answers;
}

Result<PatchEstimate> estimated(const Trace& clean, const Trace& corrupt, const PatchOptions& options,
                                const MetricWanted& metric, const Baseline& baseline, Index most, int threads,
                                Progress& progress) {
  auto wanted = TRY(wanted_of(options));
  wanted.metric = metric;
  wanted.baseline = baseline;
  if (options.directions() == Directions::noise) wanted.direction = PatchDirection::noise;
  TRY(align_tokens_of(wanted, clean, corrupt, options));
  return estimate_patches(clean, corrupt, wanted, most, threads, &progress);
}

bool is_noise(const PatchOptions& options, std::size_t answer) {
  return options.directions() == Directions::noise || answer == 1;
}

const char* column_of(const PatchOptions& options, std::size_t answer) {
  if (options.estimate) return is_noise(options, answer) ? "estimate_lost" : "estimate";
  return is_noise(options, answer) ? kLost : "restored";
}

Result<int> study_patches(const QuestionCommand& command, const PatchOptions& options) {
  const std::string part = options.at ? options.part_text() : joined_texts(options.senders, ",");
  const std::string direction(name_in(kDirectionNames, options.directions()));
  const std::string others = TRY(baseline_text(options.baseline));
  auto other = TRY(other_model_of(options.from));
  std::string title =
      (options.estimate ? "patch, estimated, " : "patch ") + part + (options.to.empty() ? "" : " → " + options.to);
  const std::string asked =
      joined_texts(std::vector<std::string>{title, options.metric.text(), options.stack.value_or(""), options.control,
                                            direction, joined_texts(options.layers, ","),
                                            joined_texts(options.heads, ","), joined_texts(options.tokens, ","),
                                            options.align ? std::string(name(*options.align)) : ""},
                   "|") +
      (others.empty() ? "" : "|" + others) +
      (other ? "|from " + identity(*other.document.model, command.request().threads()) : "");
  const Metric metric = options.metric.metric.value_or(Metric::logit_difference);
  title += ", " + std::string(name(metric)) + (metric == Metric::rank ? " (log2)" : "");
  StudyQuestion question{
      .columns = {"what", "layer", options.head_column(), "token"}, .title = title, .options = asked};
  if (options.names_stacks()) question.columns.insert(question.columns.begin() + 1, "stack");
  question.normalise = options.normalise;
  question.more = {{"answers", json_list(options.metric.answers)},
                   {"direction", direction},
                   {"align", options.align ? name(*options.align) : "positions, of unequal lengths words"}};
  if (options.of_readers()) question.columns.emplace_back("part");
  Baseline baseline;
  question.prepare = [&](const Document& document, const Lexicon& lexicon) -> Status {
    other.lexicon = &lexicon;
    baseline = TRY(read_baseline(options.baseline, document, lexicon, command.request().threads()));
    return Done{};
  };
  question.with_corrupt = !other;
  if (other) question.more.emplace_back("from", options.from);
  question.answer = [&](const StudyTraces& traces) -> Result<std::vector<StudyCell>> {
    StudyTraces both = traces;
    if (other) both.corrupt = TRY(other.answer_to(*traces.clean, traces.threads));
    return cells_of(both, options, baseline);
  };
  return run_study(command, options.study, question);
}

}  // namespace headlight
