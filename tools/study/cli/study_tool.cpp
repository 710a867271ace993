#include "study/cli/study_tool.h"

#include "cli/frame/commands.h"
#include "cli/frame/study.h"
#include "cli/frame/tool_commands.h"
#include "study/effects.h"
#include "study/probe.h"
#include "study/shown_study.h"
#include "study/study.h"
#include "study/study_figure.h"
#if HEADLIGHT_GUI
#include "study/view/study_window.h"
#endif

namespace headlight {

extern const NamedCommand kNeurons, kPatch, kStudy;

namespace {
constexpr const NamedCommand* kOfStudy[] = {&kPatch, &kNeurons, &kStudy};
constexpr StudyWays kStudyWays{.add_options = add_study_options,
                               .run = run_study,
                               .probing = probing,
                               .take_effects = take_effects,
                               .take_metric = take_metric,
                               .effect_control = effect_control,
                               .effects = study_effects,
                               .control_text = control_text,
                               .control_json = control_json,
                               .add_control = add_control,
                               .draw = figure_of_study};
constexpr ToolCommands kStudyCommands{.commands = kOfStudy, .study = &kStudyWays};
#if HEADLIGHT_GUI
constexpr const ToolWindow* kWindow = &kStudyWindow;
#else
constexpr const ToolWindow* kWindow = nullptr;
#endif

}  // namespace

const Tool kStudyTool{.name = "study", .state = &kStudyState, .commands = &kStudyCommands, .window = kWindow};

}  // namespace headlight
