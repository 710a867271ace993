#include "session/answers.h"

#include <algorithm>
#include <chrono>

#include "base/result.h"
#include "card/training_card.h"
#include "models/model_sources.h"
#include "names/sentence_facts.h"
#include "question/samples.h"
#include "session/model_check.h"
#include "session/shown.h"
#include "session/state.h"
#include "session/state_rules.h"
#include "session/tool_state.h"
#include "view/change_source.h"

namespace headlight {
namespace {

/// The share of the progress for the answer in a job that also makes its other maps.
constexpr float kAnswerShare = 0.9f;

/// Whether the answer on the screen is about to be replaced: what takes long waits for the new one.
bool awaits_answer(const AppState& state) {
  const Request* request = wanted(state);
  return request && is_stale(state) && !state.trace.error_of(*request);
}

/// Whether the heads are to be ranked for a question: nothing is typed or dragged, no training goes on, and they were
/// not ranked for its model and its sentence.
bool asks_for_ranking(const AppState& state, const Request& request) {
  if (state.gesture || is_live(state)) return false;
  return !state.ranking || !state.ranking->is_of(request);
}

std::vector<HeadRef> heads_of_arcs(const SentenceArcs& arcs) {
  std::vector<HeadRef> heads;
  for (const auto* cells : {&arcs.named, &arcs.referring})
    for (const NamedArc& arc : *cells) heads.push_back(arc.head);
  std::ranges::sort(heads);
  return heads;
}

/// What is drawn beside an answer.
struct Beside {
  MapKind kind = MapKind::weights;
  FoldChoice fold = {};
  bool ranks = false;                             // whether heads are ranked
  std::shared_ptr<const TrainingCard> card = {};  // by which arcs are named; null: none
};

/// The answer to a request with what is drawn of it.
std::optional<Command> answer_request(const Request& request, const Beside& drawn, const Trace* previous,
                                      Progress& progress) {
  const auto& [kind, fold, ranks, card] = drawn;
  const auto begin = std::chrono::steady_clock::now();
  if (kind != MapKind::weights) progress.share = kAnswerShare;
  auto trace = forward(request, progress, previous);
  if (!trace) return reply(&Answers::trace, request, trace.error());
  if (!*trace) return std::nullopt;
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  std::vector<Answered> beside;
  std::shared_ptr<const SentenceArcs> arcs;
  if (card) {
    const ArcsQuestion question{*trace, card};
    arcs = arcs_in(question, progress.stop);
    beside.push_back(reply(&Answers::arcs, question, arcs));
  }
  if (fold != FoldChoice{} && !folds_at_once(**trace)) {
    auto folded = folded_maps(*trace, fold, progress.stop);
    if (!folded) return std::nullopt;
    beside.push_back(reply(&Answers::folded, {*trace, fold}, std::move(folded)));
  }
  if (ranks) {
    const RankingQuestion question{*trace, arcs ? heads_of_arcs(*arcs) : std::vector<HeadRef>{}};
    beside.push_back(reply(&Answers::ranking, question, rank_heads(question, progress)));
  }
  if (kind != MapKind::weights) {
    progress.begin = kAnswerShare;
    progress.share = 1 - kAnswerShare;
    auto maps = other_maps(*trace, kind, progress);
    if (!maps) return std::nullopt;
    beside.push_back(reply(&Answers::other_maps, {*trace, kind}, std::move(maps)));
  }
  return reply(&Answers::trace, request, *trace, took.count(), std::move(beside));
}

/// More sentences would all be cut anew for each word.
constexpr std::size_t kMostTogether = 8;

bool takes_changes(const AppState& state) {
  const bool waits = is_stale(state) || state.generation || is_live(state);
  return state.view.view == View::heads && !waits && !state.prefix && !nothing_asked(state) && state.trace &&
         may_change_words(state.document, *state.trace) && state.requests.size() <= kMostTogether;
}

}  // namespace

Job trace_job(const Request& request, const AppState& state) {
  Beside drawn{.kind = wanted_kind(state)};
  if (state.document.model == request.model) drawn.card = state.document.card;
  if (folds_tokens(state.view.view)) drawn.fold = drawn_fold(state.view);
  drawn.ranks = asks_for_ranking(state, request);
  return [request, drawn, previous = state.trace.answer()](Progress& progress) -> std::optional<Command> {
    try {
      return answer_request(request, drawn, previous.get(), progress);
    } catch (...) { return reply(&Answers::trace, request, thrown_error()); }
  };
}

void after_trace(AppState& state, const std::shared_ptr<const Trace>& before, const Error* error) {
  if (error) {
    stop_generating(state);
    state.awaits_start = false;
    return;
  }
  if (state.other_maps.question() && state.other_maps.question()->trace != state.trace.answer())
    state.other_maps.reset();  // those of the previous answer are useless, and keep it in memory
  if (before) move_pin(state, *before);
  keep_baseline(state);
  choose_start(state);
  generate(state);
  if (!state.opened_view || is_stale(state)) return;
  state.chose_start = false;
  state.view.chosen = state.opened_view->chosen;
  state.view.pinned = state.opened_view->pinned;
  state.view.viewport = state.opened_view->viewport;
  state.view.look.matrix = matrix_id(state.view.look.matrix.quantity, state.view.chosen);
  state.opened_view.reset();
}

/// A question that cannot be answered has nothing to be compared with.
std::optional<Request> baseline_question(const AppState& state) {
  if (is_stale(state) || state.baseline) return std::nullopt;
  return unedited(state.trace->request);
}

Job baseline_job(const Request& request, const AppState& state) {
  return [request, previous = state.trace.answer()](Progress& progress) -> std::optional<Command> {
    auto trace = forward(request, progress, previous.get());
    if (trace && !*trace) return std::nullopt;
    return reply(&Answers::baseline, request, std::move(trace));
  };
}

void after_baseline(AppState& state, const std::shared_ptr<const Trace>&, const Error* error) {
  if (!error && !(state.trace && state.baseline->request == unedited(state.trace->request))) state.baseline.reset();
}

std::optional<DetailQuestion> detail_question(const AppState& state) {
  if (!state.trace || !needs_detail(state) || shows_text(state)) return std::nullopt;
  return DetailQuestion{state.trace, shown_region(state)};
}

std::shared_ptr<const Detail> detail_of(const DetailQuestion& question, const std::atomic<bool>& stop) {
  Matrix weights = region_weights(*question.trace, question.region, kDetail, stop);
  if (stop) return nullptr;
  return std::make_shared<const Detail>(Detail{question.trace, question.region, std::move(weights)});
}

std::optional<CheckQuestion> check_question(const AppState& state) {
  const LoadedModel* loaded = loaded_model(state);
  if (!loaded || findings_of_model(state) || awaits_answer(state) || !of_tools(&ToolState::check_model))
    return std::nullopt;
  return CheckQuestion{state.document.model, state.document.model_path, loaded->warnings};
}

std::shared_ptr<const std::vector<ModelCheck>> check_models(const CheckQuestion& question,
                                                            const std::vector<ModelCheck>* known, Progress& progress) {
  auto checks = std::make_shared<std::vector<ModelCheck>>(known ? *known : std::vector<ModelCheck>{});
  std::erase_if(*checks, [](const ModelCheck& check) { return check.model.expired(); });
  const SourceParts parts = parts_of_source(question.folder);
  const auto places = [&]() -> Result<CheckpointPlaces> {
    return checkpoint_places(parts, TRY(path_of_source(question.folder)));
  }();
  std::vector<Finding> findings;
  if (places)
    findings =
        of_tools(&ToolState::check_model)(places->tokenizer, question.model, question.warnings, progress, parts.rules);
  else findings.emplace_back(Severity::error, places.error());
  checks->push_back({question.model, std::move(findings)});
  return progress.stop ? nullptr : checks;
}

std::optional<RankingQuestion> ranking_question(const AppState& state) {
  if (is_stale(state) || !asks_for_ranking(state, state.trace->request)) return std::nullopt;
  return RankingQuestion{state.trace, heads_of_arcs(arcs_of(state))};
}

std::optional<EffectQuestion> effect_question(const AppState& state) {
  if (is_stale(state) || state.view.view != View::heads || state.view.order.by != HeadOrder::By::effect)
    return std::nullopt;
  return EffectQuestion{state.trace};
}

std::optional<LayerQuestion> layer_question(const AppState& state) {
  const auto& model = state.document.model;
  const bool asked = state.view.view == View::heads && state.view.grid == GridShow::relations && model &&
                     model->config.arch != Arch::encoder_decoder;
  return asked ? std::optional(LayerQuestion{model}) : std::nullopt;
}

Result<std::shared_ptr<const std::vector<RelationScore>>> layer_scores_of(const LayerQuestion& question,
                                                                          Progress& progress) {
  const auto model = question.model.lock();
  if (!model) return std::shared_ptr<const std::vector<RelationScore>>();
  const auto measure = of_tools(&ToolState::measure_layers);
  if (!measure) return missing_tool("relations", "train");
  return measure(model, shipped_grammar(), progress);
}

std::optional<MapsQuestion> maps_question(const AppState& state) {
  const MapKind kind = wanted_kind(state);
  return state.trace && kind != MapKind::weights ? std::optional(MapsQuestion{state.trace, kind}) : std::nullopt;
}

std::shared_ptr<const DerivedMaps> maps_of(const MapsQuestion& question, Progress& progress) {
  return other_maps(question.trace, question.kind, progress);
}

std::optional<FoldQuestion> fold_question(const AppState& state) {
  if (!state.folded || !folds_tokens(state.view.view)) return std::nullopt;
  return FoldQuestion{state.trace, drawn_fold(state.view)};
}

std::shared_ptr<const FoldedMaps> folds_of(const FoldQuestion& question, const std::atomic<bool>& stop) {
  return folded_maps(question.trace, question.fold, stop);
}

std::shared_ptr<const Vector> shades_to(const ShadeQuestion& question, const std::atomic<bool>& stop) {
  const Stack stack = question.choice.head.stack;
  const auto* folded = question.folded ? &*question.folded->stacks[static_cast<std::size_t>(stack)] : nullptr;
  Vector shades = shades_of(*question.trace, folded, question.choice, stop);
  return stop ? nullptr : std::make_shared<const Vector>(std::move(shades));
}

std::shared_ptr<const PictureGrids> grids_to(const GridQuestion& question, const std::atomic<bool>& stop) {
  return picture_grids(question.trace, question.choice, stop);
}

std::shared_ptr<const AnswerComparison> comparison_of(const ComparisonQuestion& question, const AnswerComparison* known,
                                                      Progress& progress) {
  return compare_answers(question, known, progress);
}

void after_comparison(AppState& state, const std::shared_ptr<const AnswerComparison>& last, const Error* error) {
  if (error) return;
  const Stack stack = state.view.chosen.stack;
  const JointStack* before = last ? last->heads->stack(stack) : nullptr;
  const JointStack* now = state.comparison->heads->stack(stack);
  if (before && !(now && same_axes(*before, *now))) state.view.compared = {};  // other words
  seek_most_changed(state);
}

std::optional<SnapshotQuestion> snapshot_question(const AppState& state) {
  if (!state.kept || state.kept->trace || awaits_answer(state)) return std::nullopt;
  return SnapshotQuestion{*state.kept, true};
}

Job snapshot_job(const SnapshotQuestion& question, const AppState& state) {
  return [question, &lexicon = *state.lexicon](Progress& progress) -> std::optional<Command> {
    auto answered = answer_to_keep(question.asked, lexicon, progress);
    if (!answered) return reply(&Answers::kept, question, answered.error());
    if (!answered->trace) return std::nullopt;
    return reply(&Answers::kept, question, std::make_shared<const AnswerSnapshot>(*std::move(answered)));
  };
}

void after_snapshot(AppState& state, const std::shared_ptr<const AnswerSnapshot>& before, const Error* error) {
  if (!error && (!before || before->trace || !same_question(*before, *state.kept))) {  // another A meanwhile, or none
    state.kept.reset();
    if (before) keep(state, *before);
  } else if (error && before && !before->trace && state.kept.error_of(SnapshotQuestion{*before, true})) {
    state.kept.reset();
    state.notice = notice_of(inside("A of Compare", *error));
  }
}

std::optional<ChangesQuestion> changes_question(const AppState& state) {
  const HeadRef& head = state.view.chosen;
  if (!takes_changes(state) || shown_kind(state, head.stack) != MapKind::weights) return std::nullopt;
  const Index query = pinned_or_strongest(state).query;
  if (!may_change_row(*state.trace, state.document.edits, head, query)) return std::nullopt;
  return ChangesQuestion{state.trace, head, query, state.view.own_word};
}

Job changes_job(const ChangesQuestion& question, const AppState& state) {
  return [question, document = state.document, shipped = state.shipped, &lexicon = *state.lexicon,
          sentence = state.view.sentence, asked = state.changes.question(),
          known = state.changes.answer()](Progress& progress) -> std::optional<Command> {
    const ChangeSource source = change_source(document, shipped.get(), lexicon, sentence);
    // Another word of the reader's needs no new search.
    ChangesQuestion same = question;
    if (asked) same.own = asked->own;
    auto found = find_changes(question, source, progress, asked == same ? known.get() : nullptr);
    if (!found) return std::nullopt;
    return reply(&Answers::changes, question, std::move(found));
  };
}

std::optional<NearestQuestion> nearest_question(const AppState& state) {
  auto words = partly_unknown_words(state);
  if (!words || awaits_answer(state)) return std::nullopt;
  return NearestQuestion{*std::move(words), state.document.model};
}

Job nearest_job(const NearestQuestion& question, const AppState& state) {
  const Lexicon& lexicon = lexicon_of(state.document, TextSide::source, *state.lexicon);
  return [question, model = state.document.model, tokenizers = state.document.tokenizers,
          &lexicon](Progress&) -> std::optional<Command> {
    std::string text;
    if (const Grammar* grammar = shipped_grammar())
      text = nearest_known_sentence(question.words, *model->vocabulary, *grammar, words_of_samples(lexicon));
    return reply(&Answers::nearest, question, std::make_shared<const std::string>(std::move(text)));
  };
}

Job preview_job(const FileQuestion& question, const AppState& state, const Services& services) {
  return [question, numbers = exported_numbers(state),
          preview = services.preview](Progress& progress) -> std::optional<Command> {
    if (question.figure && !preview) return std::nullopt;
    auto picture = question.figure ? preview(*question.figure, "figure" + question.ending, progress)
                                   : size_of_export(numbers, question.ending, progress);
    if (progress.stop) return std::nullopt;
    FilePreview seen{question, {}, std::nullopt};
    if (picture) seen.picture = std::move(*picture);
    else seen.problem = picture.error();
    return reply(&Answers::preview, question, std::make_shared<const FilePreview>(std::move(seen)));
  };
}

}  // namespace headlight
