#include "session/loop/loop.h"

#include <algorithm>
#include <exception>

#include "base/file.h"
#include "session/loop/file_jobs.h"
#include "session/loop/recovery.h"
#include "session/tool_state.h"
#include "session/typing.h"

namespace headlight {
namespace {

/// Into the file of all windows.
Status write_settings(const Settings& before, const Settings& now) {
  const auto stored = read_file(settings_path(), std::size_t{1} << 20);
  return write_file(settings_path(), stored ? with_changes(*stored, before, now) : to_json(now));
}

/// As far as a session's file distinguishes them: a training changes its model many times.
bool same_document(const Document& a, Document b) {
  if (!a.model_path.empty() && a.model_path == b.model_path) {
    b.model = a.model;
    b.tokenizers = a.tokenizers;
    b.card = a.card;
    b.numbers = a.numbers;
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
  left.numbers.reset();
  right.numbers.reset();
  right.palette.reset();
  return left == right && same_document(a.document, b.document) && same_question(a.kept, b.kept) &&
         a.lesson == b.lesson;
}

/// Files are read and written before the tools look for theirs.
std::vector<Worker*> in_order(const Errands& errands, Worker& files) {
  std::vector<Worker*> workers;
  for (const Errand& errand : errands.all()) workers.push_back(&errand.worker());
  workers.insert(workers.begin() + static_cast<std::ptrdiff_t>(errands.count_of_viewer()), &files);
  return workers;
}

std::vector<std::unique_ptr<Companion>> companions_of_tools(JobThreads& threads, const std::function<void()>& wake,
                                                            const LoopOptions& options) {
  std::vector<std::unique_ptr<Companion>> all;
  for (const Tool* tool : tools())
    if (tool->state && tool->state->companion) all.push_back(tool->state->companion(threads, wake, options));
  return all;
}

}  // namespace

Errands::Errands(JobThreads& threads, const std::function<void()>& wake, Services services)
    : services_(std::move(services)) {
  Answers::for_each([&](auto slot) { all_.emplace_back(threads, wake, slot); });
  count_of_viewer_ = all_.size();
  for (const Tool* tool : tools())
    if (tool->state && tool->state->answers)
      for (Errand& errand : tool->state->answers(threads, wake)) all_.push_back(std::move(errand));
}

Loop::Loop(std::function<void()> wake, std::string autosave, LoopOptions options)
    : draw_figure_(std::move(options.draw_figure)),
      errands_(threads_, wake,
               {.preview = std::move(options.preview_figure),
                .kept = options.kept,
                .is_busy = [this] { return is_busy_beside(); }}),
      companions_(companions_of_tools(threads_, wake, options)),
      files_(threads_, wake),
      autosaves_(threads_, {}),
      answering_(in_order(errands_, files_)),
      autosave_(std::move(autosave)) {}

Loop::~Loop() {
  if (!saving_) files_.cancel();
  files_.wait();
  autosaves_.wait();
  try {
    for (const FileJob& job : file_jobs_)
      if (job.saves) static_cast<void>(job.run(unwatched()));
    if (!unsaved_) forget_autosave(autosave_);
  } catch (const std::exception&) {}  // out of memory: the autosave stays
}

bool Loop::step(AppState& state, Commands& commands, double now) {
  for (Command& command : commands) {
    if (const auto* open = command.as<OpenPath>(); open && !open->as_a)
      if (auto instead = opened_by_tool(open->path)) command = *std::move(instead);
    update(state, command);  // first, so that a save has the gesture that it ends
    if (is_typed(command.kind())) rests_at_ = now + kTextRests;
    carry_out(state, command);
  }
  commands.clear();
  bool answered = false;
  const auto apply = [&](Command answer) {
    answered = true;
    update(state, std::move(answer));
  };
  if (!is_typing(state)) rests_at_.reset();
  else if (rests_at_ && now >= *rests_at_) apply(EndGesture{});
  for (const auto& companion : companions_)
    for (Command& news : companion->take()) apply(std::move(news));
  for (Worker* worker : answering_) {
    for (Command& answer : worker->take()) {
      if (worker == &files_ && saving_ && answer.as<FileFailed>()) quits_after_saving_ = false;
      apply(std::move(answer));
    }
  }
  if (!file_jobs_.empty() && !files_.busy()) {
    saving_ = file_jobs_.front().saves;
    files_.post(std::move(file_jobs_.front().run));
    file_jobs_.erase(file_jobs_.begin());
  }
  for (const auto& companion : companions_) companion->follow(state);
  errands_.ask(state);
  delay_quit(state);
  const bool had_failed = autosave_failed_;
  autosave(state, now);
  return answered || (autosave_failed_ && !had_failed);
}

void Loop::carry_out(const AppState& state, const Command& command) {
  if (const auto* open = command.as<OpenPath>()) file_jobs_.push_back({open_job(*open, state.document)});
  if (const auto* save = command.as<SaveSession>())
    file_jobs_.push_back({save_job(save->path, session_of(state)), true});
  if (const auto* target = command.as<ExportTo>()) file_jobs_.push_back({export_job(target->path, state)});
  if (const auto* figure = command.as<FigureTo>(); figure && draw_figure_)
    file_jobs_.push_back({figure_job(figure->path, figure_order(state), draw_figure_)});
  if (command.as<Browse>() && state.browser.purpose != Browser::Purpose::none)
    file_jobs_.push_back({list_job(state.browser.folder)});
  if (const auto* chosen = command.as<ChooseList>(); chosen && chosen->value == Browser::List::disk)
    file_jobs_.push_back({models_job()});
  if (command.as<CancelFileWork>()) {
    std::erase_if(file_jobs_, [](const FileJob& job) { return !job.saves; });
    if (!saving_) files_.stop();
  }
}

bool Loop::saves() const {
  const auto saves = [](const FileJob& job) { return job.saves; };
  return (saving_ && files_.busy()) || std::ranges::any_of(file_jobs_, saves);
}

void Loop::delay_quit(AppState& state) {
  const bool asked = std::exchange(quits_after_saving_, false) || state.quit;
  state.quit = asked && !saves();
  quits_after_saving_ = asked && !state.quit;
}

void Loop::autosave(AppState& state, double now) {
  unsaved_ = has_unsaved_changes(state);
  if (autosave_.empty()) return;
  for (Command& failed : autosaves_.take()) {
    autosaved_.reset();
    autosave_at_ = now + kAutosaveRetry;
    if (!std::exchange(autosave_failed_, true)) update(state, std::move(failed));
  }
  Session session = session_of(state);
  const Settings settings = settings_to_keep(state);
  if (first_step_) {
    first_step_ = false;
    // A restored session is written again at once, without a change.
    const bool restored = state.notice && state.notice->kind == Notice::Kind::restored;
    if (!restored) autosaved_ = session;
    autosaved_settings_ = settings;
  }
  if (autosaved_ && same_session(session, *autosaved_) && settings == autosaved_settings_) {
    autosave_at_.reset();
    if (!autosaves_.busy()) autosave_failed_ = false;
    return;
  }
  if (!autosave_at_) autosave_at_ = now + kAutosaveAfter;
  if (state.quit) autosaves_.wait();
  else if (now < *autosave_at_ || autosaves_.busy()) return;
  autosave_at_.reset();
  autosaved_ = session;
  if (!autosave_failed_) kept_settings_ = autosaved_settings_;
  autosaved_settings_ = settings;
  autosaves_.post([path = autosave_, session = std::move(session), before = kept_settings_,
                   settings](Progress&) -> std::optional<Command> {
    const Status kept = write_file(path, to_json(session));
    const Status set = is_of_newer_version(settings_path(), "headlight.settings", 1) ? Status(Done{})
                                                                                     : write_settings(before, settings);
    if (!kept) return FileFailed{inside("autosave", kept.error())};
    if (!set) return FileFailed{set.error()};
    return std::nullopt;
  });
}

bool Loop::is_answering() const {
  return std::ranges::any_of(answering_, [](const Worker* worker) { return worker->busy(); });
}

const Worker& Loop::reader() const {
  const Worker& maps = errands_.worker(&Answers::other_maps);
  return maps.busy() ? maps : errands_.worker(&Answers::layer_scores);
}

double Loop::next_due(double now) const {
  double due = 1e9;
  if (is_answering()) due = 0.05;
  if (rests_at_) due = std::min(due, std::max(0.0, *rests_at_ - now));
  if (autosave_at_) due = std::min(due, std::max(0.0, *autosave_at_ - now));
  if (autosaves_.busy()) due = std::min(due, kAutosaveAfter);  // perhaps it fails
  return due;
}

bool Loop::is_busy_beside() const {
  return std::ranges::any_of(companions_, [](const auto& companion) { return companion->busy(); });
}

void Loop::settle_tools(AppState& state) {
  Commands none;
  do {
    step(state, none, 0);
    for (const auto& companion : companions_) companion->wait();
    step(state, none, 0);
  } while (is_busy_beside());
  settle(state);
}

void Loop::settle(AppState& state) {
  Commands none;
  if (is_typing(state)) none.emplace_back(EndGesture{});
  do {
    step(state, none, 0);
    for (const Worker* worker : answering_) worker->wait();
    step(state, none, 0);
  } while (is_answering() || !file_jobs_.empty());
}

}  // namespace headlight
