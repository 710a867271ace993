#include "session/loop/lesson_check.h"

#include "base/formatted.h"
#include "derived/inside.h"
#include "session/lesson_commands.h"
#include "session/update.h"

namespace headlight {
namespace {

std::string number_text(double number) { return formatted("%.6g", number); }

std::string limits_text(const Claim& claim) {
  std::string text = claim.above ? "above " + number_text(*claim.above) : "";
  if (claim.above && claim.below) text += " and ";
  return claim.below ? text + "below " + number_text(*claim.below) : text;
}

/// The findings about one step, under its name.
struct StepFindings {
  std::string name;
  std::vector<Finding>& findings;

  void add(Severity severity, const std::string& line) { findings.push_back({severity, name + ": " + line}); }
};

void check_scene(const AppState& state, const Scene& scene, StepFindings& step) {
  const ViewState &asked = scene.view, &shown = state.view;
  if (shown.chosen != asked.chosen) step.add(Severity::error, "layer and head: the model has no such head");
  if (shown.pinned != asked.pinned) step.add(Severity::error, "pinned: there is no such cell");
  std::string unknown;
  for (const Token& token : state.trace->request.tokens.tokens)
    if (!token.known) unknown += " " + token.text;
  if (!unknown.empty()) step.add(Severity::warning, "words that the model does not know:" + unknown);
  if (!looks_at_matrices(shown.view)) return;
  const MatrixId& matrix = shown.look.matrix;
  if (!exists(*state.trace, matrix))
    return step.add(Severity::error, "matrix: the model has no " + matrix_name(matrix.quantity));
  const Shape size = shape(*state.trace, matrix);
  if (shown.look.cell && (shown.look.cell->row >= size.rows || shown.look.cell->col >= size.cols))
    step.add(Severity::error, "cell: there is no such cell");
}

void check_claims(const AppState& state, const std::vector<Claim>& claims, StepFindings& step) {
  for (const Claim& claim : claims) {
    const auto number = claimed_number(claim, state.document, *state.trace);
    if (!number) step.add(Severity::error, number.error().message());
    else if (holds(claim, *number)) step.add(Severity::good, words_of(claim) + ": " + number_text(*number));
    else step.add(Severity::error, bad_input(words_of(claim), "", limits_text(claim), number_text(*number)).message());
  }
}

/// Why there is no answer; none where there is one now.
std::optional<Error> answer(AppState& state) {
  const Request* request = wanted(state);
  if (!is_stale(state) || !request) {
    const Error* problem = problem_of(state);
    return problem ? std::optional(*problem) : std::nullopt;
  }
  auto trace = TRY(forward(*request));
  update(state, reply(&Answers::trace, *request, std::move(trace)));
  return std::nullopt;
}

}  // namespace

std::vector<Finding> check_lesson(Lesson lesson, const Lexicon& lexicon, std::shared_ptr<const BundledModels> shipped) {
  std::vector<Finding> findings;
  Document begin = default_document(shipped.get());
  AppState state = initial_state(lexicon, std::move(begin), {}, {}, std::move(shipped));
  take_lesson(state, std::move(lesson), 0);
  const Lesson& taken = *current_lesson(state);
  const auto check_step = [&](std::size_t i, Language language, const std::string& name) {
    StepFindings step{name, findings};
    const StepContent& content = taken.steps[i].in(language);
    state.settings.language = language;
    go_to_step(state, i, 0);
    if (const auto problem = answer(state)) return step.add(Severity::error, problem->message());
    if (content.scene) check_scene(state, *content.scene, step);
    check_claims(state, content.claims, step);
    if (is_attempt_done(state) == true && content.scene) step.add(Severity::warning, "done: it is so from the start");
  };
  for (std::size_t i = 0; i < taken.steps.size(); ++i) {
    const std::string name = "step " + std::to_string(i + 1);
    check_step(i, Language::zh, name);
    if (taken.steps[i].english) check_step(i, Language::en, name + ", english");
  }
  return findings;
}

}  // namespace headlight
