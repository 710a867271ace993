#include "session/loop/errands.h"

#include <chrono>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/thrown.h"
#include "derived/answer_comparison.h"
#include "derived/derived_maps.h"
#include "derived/guess.h"
#include "document/answer_snapshot.h"
#include "document/bundled_models.h"
#include "document/model_sources.h"
#include "document/samples.h"
#include "document/sentence_facts.h"
#include "session/head_grid.h"
#include "session/loop/file_jobs.h"
#include "session/shown.h"
#include "training/layer_scores.h"

namespace headlight {
namespace {

/// The share of the progress for the answer in a job that also makes its other maps.
constexpr float kAnswerShare = 0.9f;

/// A job that hands on what `answer` makes; nothing where that is null, as it was cancelled.
template <class Ready, class Answer>
Job answer_job(Answer answer) {
  return [answer = std::move(answer)](Progress& progress) -> std::optional<Command> {
    auto made = answer(progress);
    if (!made) return std::nullopt;
    return Ready{std::move(made)};
  };
}

/// The question, unless the state has an answer to it.
template <auto question_of, auto known>
auto unless_known(const AppState& state) {
  auto question = question_of(state);
  const auto& answer = state.*known;
  return question && answer && answer->question == *question ? std::nullopt : std::move(question);
}

/// The job of an errand whose question `answer` takes as it is.
template <class Ready, auto answer>
constexpr auto kJob = [](auto question, const AppState&) {
  return answer_job<Ready>([question = std::move(question)](Progress& progress) {
    if constexpr (std::is_invocable_v<decltype(answer), decltype(question), Progress&>)
      return answer(question, progress);
    else return answer(question, progress.stop);
  });
};

// Each errand below: its question, which is nothing where it is not wanted or answered already, and its job.

const Request* trace_question(const AppState& state) {
  const Request* request = is_stale(state) ? wanted(state) : nullptr;
  return request && state.refused != *request ? request : nullptr;
}

/// The maps that are drawn come with the answer, so that weights do not flash between two of them.
Job trace_job(const Request& request, const AppState& state) {
  const FoldChoice fold = folds_tokens(state.view.view) ? state.view.fold : FoldChoice{};
  return
      [request, kind = wanted_kind(state), fold, previous = state.trace](Progress& progress) -> std::optional<Command> {
        const auto begin = std::chrono::steady_clock::now();
        if (kind != MapKind::weights) progress.share = kAnswerShare;
        const auto answer = [&]() -> Result<std::shared_ptr<const Trace>> {
          try {
            return forward(request, progress, previous.get());
          } catch (...) { return thrown_error(); }
        };
        auto trace = answer();
        if (!trace) return TraceFailed{request, trace.error().message};
        if (!*trace) return std::nullopt;
        const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
        TraceReady ready{std::move(*trace), took.count()};
        if (fold != FoldChoice{} && !folds_at_once(*ready.trace)) {
          ready.folded = folded_maps(ready.trace, fold, progress.stop);
          if (!ready.folded) return std::nullopt;
        }
        if (kind == MapKind::weights) return ready;
        progress.begin = kAnswerShare;
        progress.share = 1 - kAnswerShare;
        ready.maps = other_maps(ready.trace, kind, progress);
        if (!ready.maps) return std::nullopt;
        return ready;
      };
}

/// A failed one is not asked again: a question that cannot be answered has nothing to be compared with.
std::optional<Request> baseline_question(const AppState& state) {
  if (!state.trace || state.baseline) return std::nullopt;
  return unedited(state.trace->request);
}

Job baseline_job(const Request& request, const AppState& state) {
  return [request, previous = state.trace](Progress& progress) -> std::optional<Command> {
    auto trace = forward(request, progress, previous.get());
    if (!trace || !*trace) return std::nullopt;
    return BaselineReady{std::move(*trace)};
  };
}

struct DetailQuestion {
  std::shared_ptr<const Trace> trace;
  Region region;
  friend bool operator==(const DetailQuestion&, const DetailQuestion&) = default;
};

std::optional<DetailQuestion> detail_question(const AppState& state) {
  if (!state.trace || !needs_detail(state)) return std::nullopt;
  DetailQuestion question{state.trace, shown_region(state)};
  if (state.detail && question == DetailQuestion{state.detail->trace, state.detail->region}) return std::nullopt;
  return question;
}

Job detail_job(DetailQuestion question, const AppState&) {
  return [question = std::move(question)](Progress& progress) -> std::optional<Command> {
    Matrix weights = region_weights(*question.trace, question.region, kDetail, progress.stop);
    if (progress.stop) return std::nullopt;
    return DetailReady{question.trace, question.region, std::move(weights)};
  };
}

std::optional<std::shared_ptr<const Model>> check_question(const AppState& state) {
  const ModelCheck* check = check_of_model(state);
  return check && !check->findings ? std::optional(state.document.model) : std::nullopt;
}

Job check_job(std::shared_ptr<const Model> model, const AppState& state) {
  return [model = std::move(model), folder = state.document.model_path,
          warnings = check_of_model(state)->warnings](Progress& progress) -> std::optional<Command> {
    const auto resolved = path_of_source(folder);
    if (!resolved) return CheckReady{model, {{Severity::error, resolved.error().message}}};
    auto findings = check_checkpoint(*resolved, model, warnings, progress);
    if (progress.stop) return std::nullopt;
    return CheckReady{model, std::move(findings)};
  };
}

std::optional<HeadQuestion> unknown_heads(const AppState& state) {
  auto question = head_question(state);
  return question && state.heads && covers(*state.heads, *question) ? std::nullopt : std::move(question);
}

/// Known results of the same answer are taken over.
Job heads_job(HeadQuestion question, const AppState& state) {
  return answer_job<HeadsReady>([question = std::move(question), known = state.heads](Progress& progress) {
    return answer_heads(question, known.get(), progress);
  });
}

std::optional<std::shared_ptr<const Trace>> effects_question(const AppState& state) {
  return wants_effects(state) && !known_effects(state) ? std::optional(state.trace) : std::nullopt;
}

Job effects_job(std::shared_ptr<const Trace> trace, const AppState&) {
  return [trace = std::move(trace)](Progress& progress) -> std::optional<Command> {
    auto effects = head_effects(*trace, progress);
    if (!effects) return EffectsReady{std::make_shared<EffectAnswer>(EffectAnswer{trace, {}, effects.error().message})};
    if (!*effects) return std::nullopt;
    return EffectsReady{std::make_shared<EffectAnswer>(EffectAnswer{trace, std::move(**effects), {}})};
  };
}

std::optional<std::shared_ptr<const Model>> relations_question(const AppState& state) {
  return wants_layer_scores(state) && !known_layer_scores(state) ? std::optional(state.document.model) : std::nullopt;
}

Job relations_job(std::shared_ptr<const Model> model, const AppState&) {
  return [model = std::move(model)](Progress& progress) -> std::optional<Command> {
    auto scores = measure_layers(model, shipped_grammar(), progress);
    if (!scores) return std::nullopt;
    return LayerScoresReady{std::move(scores)};
  };
}

struct MapsQuestion {
  std::shared_ptr<const Trace> trace;
  MapKind kind = MapKind::weights;
  friend bool operator==(const MapsQuestion&, const MapsQuestion&) = default;
};

std::optional<MapsQuestion> maps_question(const AppState& state) {
  const MapKind kind = wanted_kind(state);
  const DerivedMaps* known = state.other_maps.get();
  if (!state.trace || kind == MapKind::weights) return std::nullopt;
  if (known && known->trace == state.trace && known->kind == kind) return std::nullopt;
  return MapsQuestion{state.trace, kind};
}

Job maps_job(MapsQuestion question, const AppState&) {
  return answer_job<MapsReady>([question = std::move(question)](Progress& progress) {
    return other_maps(question.trace, question.kind, progress);
  });
}

struct FoldQuestion {
  std::shared_ptr<const Trace> trace;
  FoldChoice fold;
  friend bool operator==(const FoldQuestion&, const FoldQuestion&) = default;
};

std::optional<FoldQuestion> fold_question(const AppState& state) {
  const FoldedMaps* known = state.folded.get();
  if (!known || known->trace != state.trace || known->wanted == state.view.fold || !folds_tokens(state.view.view))
    return std::nullopt;
  return FoldQuestion{state.trace, state.view.fold};
}

Job fold_job(FoldQuestion question, const AppState&) {
  return answer_job<FoldsReady>([question = std::move(question)](Progress& progress) {
    return folded_maps(question.trace, question.fold, progress.stop);
  });
}

std::optional<ComparisonQuestion> unknown_comparison(const AppState& state) {
  auto question = comparison_question(state);
  return question && state.comparison && answers(*state.comparison, *question) ? std::nullopt : std::move(question);
}

/// Known results of the same two answers are taken over.
Job comparison_job(ComparisonQuestion question, const AppState& state) {
  return answer_job<ComparisonReady>([question = std::move(question), known = state.comparison](Progress& progress) {
    return compare_answers(question, known.get(), progress);
  });
}

struct SnapshotQuestion {
  AnswerSnapshot asked;
  friend bool operator==(const SnapshotQuestion& a, const SnapshotQuestion& b) {
    return same_question(a.asked, b.asked);
  }
};

std::optional<SnapshotQuestion> snapshot_question(const AppState& state) {
  return state.kept && !state.kept->trace ? std::optional(SnapshotQuestion{*state.kept}) : std::nullopt;
}

Job snapshot_job(SnapshotQuestion question, const AppState& state) {
  return [kept = std::move(question.asked), &lexicon = *state.lexicon](Progress& progress) -> std::optional<Command> {
    auto answered = answer_to_keep(kept, lexicon, progress);
    if (!answered) return KeptFailed{kept, answered.error().message};
    if (!answered->trace) return std::nullopt;
    return KeptReady{*std::move(answered)};
  };
}

std::optional<GuessQuestion> unknown_guess(const AppState& state) {
  auto question = guess_question(state);
  const Guess* known = state.guess.get();
  const bool is_known =
      question && known && known->trace.lock() == question->trace && known->hidden == question->hidden;
  return is_known ? std::nullopt : std::move(question);
}

struct NearestQuestion {
  std::vector<std::string> words;
  std::shared_ptr<const Model> model;
  friend bool operator==(const NearestQuestion&, const NearestQuestion&) = default;
};

std::optional<NearestQuestion> nearest_question(const AppState& state) {
  auto words = partly_unknown_words(state);
  if (!words) return std::nullopt;
  const auto& known = state.nearest;
  if (known && known->model.lock() == state.document.model && known->words == *words) return std::nullopt;
  return NearestQuestion{*std::move(words), state.document.model};
}

Job nearest_job(NearestQuestion question, const AppState& state) {
  const Lexicon& lexicon = lexicon_of(state.document, TextSide::source, *state.lexicon);
  return [question = std::move(question), tokenizers = state.document.tokenizers,
          &lexicon](Progress&) -> std::optional<Command> {
    const Grammar* grammar = shipped_grammar();
    std::string text;
    if (grammar)
      text = nearest_known_sentence(question.words, *question.model->vocabulary, *grammar, words_of_samples(lexicon));
    return NearestReady{question.words, question.model, std::move(text)};
  };
}

using TrainingMoment = std::pair<std::uint64_t, TrainingPhase>;

/// The folders are listed at the start, and whenever a training has begun or ended.
TrainingMoment training_moment(const AppState& state) {
  if (!state.training) return {0, TrainingPhase::stopped};
  return {state.training->id, state.training->phase};
}

/// One row of the table: posts a question that was not asked yet, and gives up the one before where nothing is wanted
/// or it may not begin.
template <class QuestionOf, class JobOf, class MayBegin>
auto errand(QuestionOf question_of, JobOf job_of, MayBegin may_begin) {
  using Question = std::remove_cvref_t<decltype(*question_of(std::declval<const AppState&>()))>;
  return [=, asked = std::optional<Question>()](const AppState& state, Worker& worker) mutable {
    auto question = question_of(state);
    if (question && asked && *asked == *question) return;
    if (!question || !may_begin(state)) {
      if (asked) worker.cancel();
      asked.reset();
      return;
    }
    asked = *question;
    worker.post(job_of(*asked, state));
  };
}

}  // namespace

Errands::Errands(JobThreads& threads, const std::function<void()>& wake, std::filesystem::path trained,
                 std::function<bool()> is_writing, PreviewFigure preview) {
  for (Row& row : rows_) row.worker = std::make_unique<Worker>(threads, wake);
  const auto at_once = [](const AppState&) { return true; };
  const auto after_the_answer = [&trace = worker(Errand::trace)](const AppState&) { return !trace.busy(); };
  const auto is_fresh = [](const AppState& state) { return !is_stale(state); };
  const auto list_question = [listed = !trained.empty()](const AppState& state) {
    return listed ? std::optional(training_moment(state)) : std::nullopt;
  };
  const auto list_job = [trained](const TrainingMoment&, const AppState&) -> Job {
    return [trained](Progress&) -> std::optional<Command> { return TrainedListed{list_trained(trained)}; };
  };
  const auto is_settled = [is_writing](const AppState& state) {
    return (state.training && is_active(*state.training)) || !is_writing();
  };

  const auto preview_of = [preview = std::move(preview)](const FileQuestion& question, const AppState& state) -> Job {
    return question.figure ? preview_job(question, preview) : export_size_job(question, state);
  };

  const auto set = [this](Errand which, auto ask) { rows_[static_cast<std::size_t>(which)].ask = std::move(ask); };
  set(Errand::trace, errand(trace_question, trace_job, at_once));
  set(Errand::baseline, errand(baseline_question, baseline_job, is_fresh));
  set(Errand::detail, errand(detail_question, detail_job, at_once));
  set(Errand::inside,
      errand(unless_known<inside_question, &AppState::inside>, kJob<InsideReady, look_inside>, at_once));
  set(Errand::listing,
      errand(unless_known<listing_question, &AppState::listing>, kJob<ListingReady, listing_of>, at_once));
  set(Errand::flow, errand(unless_known<flow_question, &AppState::flow>, kJob<FlowReady, look_at_flow>, at_once));
  set(Errand::check, errand(check_question, check_job, after_the_answer));
  set(Errand::heads, errand(unknown_heads, heads_job, at_once));
  set(Errand::effects, errand(effects_question, effects_job, at_once));
  set(Errand::relations, errand(relations_question, relations_job, at_once));
  set(Errand::maps, errand(maps_question, maps_job, at_once));
  set(Errand::folds, errand(fold_question, fold_job, at_once));
  set(Errand::comparison, errand(unknown_comparison, comparison_job, at_once));
  set(Errand::snapshot, errand(snapshot_question, snapshot_job, after_the_answer));
  set(Errand::guess, errand(unknown_guess, kJob<GuessReady, make_guess>, after_the_answer));
  set(Errand::nearest, errand(nearest_question, nearest_job, after_the_answer));
  set(Errand::preview, errand(unless_known<file_question, &AppState::preview>, preview_of, at_once));
  set(Errand::trained, errand(list_question, list_job, is_settled));
}

void Errands::ask(const AppState& state) {
  for (Row& row : rows_) row.ask(state, *row.worker);
}

}  // namespace headlight
