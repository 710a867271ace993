#include "study/shown_study.h"

#include "session/loop/errands.h"
#include "study/read_study.h"
#include "study/study_figure.h"

namespace headlight {
namespace {

void open_study(AppState& state, OpenStudy& command) {
  auto& asked = part<ShownStudy>(state).asked;
  asked = StudyAsked{std::move(command.path), asked ? asked->opened + 1 : 0};
  state.view.view = View::study;
  state.browser.purpose = Browser::Purpose::none;
}

constexpr Handler kHandlers[] = {handler<OpenStudy, open_study>()};

std::vector<Errand> study_answers(JobThreads& threads, const std::function<void()>& wake) {
  std::vector<Errand> answers;
  answers.emplace_back(threads, wake, &ShownStudy::picture);
  return answers;
}

std::optional<Command> opens_study(const std::string& path) {
  return is_study(path) ? std::optional<Command>(OpenStudy{path}) : std::nullopt;
}

std::shared_ptr<const ToolPicture> shown_picture(const AppState& state) {
  return part<ShownStudy>(state).picture.answer();
}

}  // namespace

std::optional<StudyAsked> study_asked(const AppState& state) { return part<ShownStudy>(state).asked; }

Result<std::shared_ptr<const StudyPicture>> study_picture(const StudyAsked& asked, Progress& progress) {
  auto picture = std::make_shared<StudyPicture>();
  auto read = read_study(asked.path, 0, picture->warnings, progress.stop);
  if (progress.stop) return std::shared_ptr<const StudyPicture>();
  if (!read) return read.error();
  picture->source = asked.path;
  picture->draw = [study = *std::move(read)](const FigureOptions& options, const TextWidth& measure) {
    return drawing_of_study(study, options, measure);
  };
  return std::shared_ptr<const StudyPicture>(std::move(picture));
}

void note_study(AppState& state, const std::shared_ptr<const StudyPicture>& before, const Error* error) {
  if (!error) return;
  state.notice = notice_of(*error);
  if (!before && state.view.view == View::study) state.view.view = View::heads;
}

const ToolState kStudyState{.handlers = kHandlers,
                            .view = View::study,
                            .fills = [](const AppState& state) { return part<ShownStudy>(state).asked.has_value(); },
                            .picture = shown_picture,
                            .answers = study_answers,
                            .opens = opens_study};

}  // namespace headlight
