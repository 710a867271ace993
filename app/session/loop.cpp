#include "session/loop.h"

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "derived/derived_maps.h"
#include "session/head_grid.h"
#include "session/jobs.h"
#include "session/recovery.h"
#include "session/shown.h"

namespace headlight {
namespace {

/// A change is on disk at most this many seconds after it was made.
constexpr double kKeepAfter = 0.5;

/// As far as a session's file tells them apart: a training changes its model many times.
bool same_document(const Document& a, Document b) {
  if (!a.source.empty() && a.source == b.source) {
    b.model = a.model;
    b.tokenizers = a.tokenizers;
    b.card = a.card;
  }
  return a == b;
}

bool same_session(const Session& a, const Session& b) {
  ViewState left = a.view, right = b.view;
  left.hovered = right.hovered = {};
  left.hovered_head = right.hovered_head = {};
  left.hovered_kept = right.hovered_kept = {};
  left.stroke = right.stroke = {};
  left.focus_find = right.focus_find = false;
  left.palette.reset();
  right.palette.reset();
  return left == right && same_document(a.document, b.document) && same_question(a.kept, b.kept) &&
         a.lesson == b.lesson;
}

}  // namespace

Loop::Loop(std::function<void()> wake, std::string autosave, LoopOptions options)
    : traces_(wake),
      details_(wake),
      baselines_(wake),
      insides_(wake),
      flows_(wake),
      checks_(wake),
      heads_(wake),
      sweeps_(wake),
      maps_(wake),
      folds_(wake),
      comparisons_(wake),
      kepts_(wake),
      files_(wake),
      lister_(wake),
      keeper_({}),
      draw_figure_(std::move(options.draw_figure)),
      trained_(options.training.folder),
      trainer_(wake, std::move(options.training)),
      autosave_(std::move(autosave)) {}

Loop::~Loop() {
  if (!saving_) files_.cancel();
  files_.wait();
  Progress progress;
  for (const FileJob& job : file_jobs_)
    if (job.saves) static_cast<void>(job.run(progress));
  keeper_.wait();
  if (!autosave_.empty()) forget_autosave(autosave_);
}

bool Loop::step(AppState& state, Commands& commands, double now) {
  for (Command& command : commands) {
    update(state, command);  // first, so that a save has the gesture that it ends
    carry_out(state, command);
  }
  commands.clear();
  bool answered = false;
  const auto apply = [&](Commands answers) {
    answered |= !answers.empty();
    for (Command& answer : answers) update(state, std::move(answer));
  };
  apply(trainer_.take());
  for (Worker* worker : answering_) apply(worker->take());
  if (!file_jobs_.empty() && !files_.busy()) {
    saving_ = file_jobs_.front().saves;
    files_.post(std::move(file_jobs_.front().run));
    file_jobs_.erase(file_jobs_.begin());
  }
  ask(state);
  ask_detail(state);
  ask_baseline(state);
  ask_inside(state);
  ask_check(state);
  trainer_.follow(state);
  list_trainings(state);
  ask_heads(state);
  ask_effects(state);
  ask_flow(state);
  ask_kept(state);
  ask_comparison(state);
  ask_maps(state);
  ask_folds(state);
  keep(state, now);
  return answered;
}

void Loop::carry_out(const AppState& state, const Command& command) {
  if (const auto* open = command.as<OpenPath>()) file_jobs_.push_back({open_job(open->path)});
  if (const auto* save = command.as<SaveSession>())
    file_jobs_.push_back({save_job(save->path, session_of(state)), true});
  if (const auto* target = command.as<ExportTo>()) file_jobs_.push_back({export_job(target->path, state)});
  if (const auto* figure = command.as<FigureTo>(); figure && draw_figure_)
    file_jobs_.push_back({figure_job(figure->path, figure_order(state), draw_figure_)});
  if (command.as<Browse>() && state.browser.purpose != Browser::Purpose::none)
    file_jobs_.push_back({list_job(state.browser.folder)});
  if (command.as<CancelFileWork>()) {
    std::erase_if(file_jobs_, [](const FileJob& job) { return !job.saves; });
    if (!saving_) files_.cancel();
  }
}

void Loop::ask(AppState& state) {
  if (!is_stale(state)) {
    if (asked_) traces_.cancel();
    asked_.reset();
    return;
  }
  const Request* request = wanted(state);
  if (!request) {
    if (asked_) traces_.cancel();
    asked_.reset();
    return;
  }
  if (state.refused && *state.refused == *request) return;
  if (asked_ && *asked_ == *request) return;
  asked_ = *request;
  const FoldChoice fold = folds_tokens(state.view.view) ? state.view.fold : FoldChoice{};
  traces_.post(trace_job(*request, state.trace, wanted_kind(state), fold));
}

void Loop::ask_detail(const AppState& state) {
  if (!state.trace || !needs_detail(state)) return;
  const Region region = shown_region(state);
  if (state.detail && state.detail->trace == state.trace && state.detail->region == region) return;
  if (detail_trace_ == state.trace && detail_region_ == region) return;
  detail_trace_ = state.trace;
  detail_region_ = region;
  details_.post(detail_job(state.trace, region));
}

void Loop::ask_baseline(const AppState& state) {
  if (state.baseline) baseline_asked_.reset();
  if (!state.trace || state.baseline || is_stale(state)) return;
  Request plain = unedited(state.trace->request);
  if (baseline_asked_ == plain) return;
  baseline_asked_ = plain;
  baselines_.post(baseline_job(plain, state.trace));
}

void Loop::ask_inside(const AppState& state) {
  auto question = inside_question(state);
  if (!question) return;
  if ((state.inside && state.inside->question == *question) || inside_asked_ == question) return;
  inside_asked_ = question;
  insides_.post(inside_job(std::move(*question)));
}

void Loop::ask_check(const AppState& state) {
  const ModelCheck* check = check_of_model(state);
  const auto wanted_model = check && !check->findings ? state.document.model : nullptr;
  if (check_asked_ == wanted_model) return;
  if (check_asked_) checks_.cancel();
  check_asked_.reset();
  if (!wanted_model || traces_.busy()) return;  // the answer comes first
  check_asked_ = wanted_model;
  checks_.post(check_job(wanted_model, state.document.source, check->warnings));
}

/// At the start, and whenever a training has begun or ended.
void Loop::list_trainings(const AppState& state) {
  std::pair<std::uint64_t, TrainingPhase> now{0, TrainingPhase::stopped};
  if (state.training) now = {state.training->id, state.training->phase};
  const bool settled = !state.training || !is_active(*state.training);
  if (trained_.empty() || listed_ == now || (settled && trainer_.busy())) return;
  listed_ = now;
  lister_.post(
      [folder = trained_](Progress&) -> std::optional<Command> { return TrainedListed{list_trained(folder)}; });
}

void Loop::ask_heads(const AppState& state) {
  auto question = head_question(state);
  if (!question || (state.heads && covers(*state.heads, *question))) {
    if (heads_asked_) heads_.cancel();
    heads_asked_.reset();
    return;
  }
  if (heads_asked_ == question) return;
  heads_asked_ = question;
  heads_.post(heads_job(std::move(*question), state.heads));
}

void Loop::ask_effects(const AppState& state) {
  if (!wants_effects(state) || known_effects(state)) {
    if (sweep_asked_) sweeps_.cancel();
    sweep_asked_.reset();
    return;
  }
  if (sweep_asked_ == state.trace) return;
  sweep_asked_ = state.trace;
  sweeps_.post(sweep_job(state.trace));
}

void Loop::ask_flow(const AppState& state) {
  auto question = flow_question(state);
  if (!question) return;
  if ((state.flow && state.flow->question == *question) || flow_asked_ == question) return;
  flow_asked_ = question;
  flows_.post(flow_job(std::move(*question)));
}

void Loop::ask_kept(const AppState& state) {
  if (!state.kept || state.kept->trace) {
    if (kept_asked_) kepts_.cancel();
    kept_asked_.reset();
    return;
  }
  if (same_question(kept_asked_, state.kept) || traces_.busy()) return;  // what is on the screen comes first
  kept_asked_ = state.kept;
  kepts_.post(kept_job(*state.kept, *state.lexicon));
}

void Loop::ask_comparison(const AppState& state) {
  auto question = comparison_question(state);
  if (!question || (state.comparison && answers(*state.comparison, *question))) {
    if (comparison_asked_) comparisons_.cancel();
    comparison_asked_.reset();
    return;
  }
  if (comparison_asked_ == question) return;
  comparison_asked_ = question;
  comparisons_.post(comparison_job(std::move(*question), state.comparison));
}

void Loop::ask_maps(const AppState& state) {
  const MapKind kind = wanted_kind(state);
  const DerivedMaps* known = state.other_maps.get();
  if (!state.trace || kind == MapKind::weights || (known && known->trace == state.trace && known->kind == kind)) {
    if (maps_asked_) maps_.cancel();
    maps_asked_.reset();
    return;
  }
  const std::pair question{state.trace, kind};
  if (maps_asked_ == question) return;
  maps_asked_ = question;
  maps_.post(maps_job(state.trace, kind));
}

void Loop::ask_folds(const AppState& state) {
  const FoldedMaps* known = state.folded.get();
  if (!known || known->trace != state.trace || known->wanted == state.view.fold || !folds_tokens(state.view.view)) {
    if (folds_asked_) folds_.cancel();
    folds_asked_.reset();
    return;
  }
  const std::pair question{state.trace, state.view.fold};
  if (folds_asked_ == question) return;
  folds_asked_ = question;
  folds_.post(folds_job(state.trace, state.view.fold));
}

void Loop::keep(const AppState& state, double now) {
  if (autosave_.empty()) return;
  Session session = session_of(state);
  const Settings settings = settings_to_keep(state);
  if (first_step_) {
    first_step_ = false;
    // What a crash left was taken over; it must not wait for a change to be kept again.
    const bool restored = state.notice && state.notice->kind == Notice::Kind::restored;
    if (!restored) kept_ = session;
    kept_settings_ = settings;
  }
  if (same_session(session, kept_) && settings == kept_settings_) {
    changed_at_.reset();
    return;
  }
  if (!changed_at_) changed_at_ = now;
  if (state.quit) keeper_.wait();
  else if (now - *changed_at_ < kKeepAfter || keeper_.busy()) return;
  changed_at_.reset();
  kept_ = session;
  kept_settings_ = settings;
  keeper_.post([path = autosave_, session = std::move(session), settings](Progress&) {
    // Nobody can be asked where this fails; the next change tries again.
    static_cast<void>(write_file(path, to_json(session)));
    static_cast<void>(write_file(settings_path(), to_json(settings)));
    return std::optional<Command>{};
  });
}

bool Loop::is_answering() const {
  return std::any_of(answering_.begin(), answering_.end(), [](const Worker* worker) { return worker->busy(); });
}

double Loop::next_due(double now) const {
  double due = 1e9;
  if (is_answering()) due = 0.05;
  if (changed_at_) due = std::min(due, std::max(0.0, *changed_at_ + kKeepAfter - now));
  return due;
}

void Loop::settle_training(AppState& state) {
  Commands none;
  do {
    step(state, none, 0);
    trainer_.wait();
    step(state, none, 0);
  } while (trainer_.busy());
  settle(state);
}

void Loop::settle(AppState& state) {
  Commands none;
  do {
    step(state, none, 0);
    for (const Worker* worker : answering_) worker->wait();
    step(state, none, 0);
  } while (is_answering() || !file_jobs_.empty());
}

}  // namespace headlight
