// The tools of a test program: all of them; of one without a command line (HEADLIGHT_HAS_STATES) what they add to a
// state; else none.
#include "tool/tool.h"

#if defined(HEADLIGHT_HAS_COMMANDS)
#include "diagnose/cli/diagnose_tool.h"
#include "mcp/mcp_tool.h"
#include "page/cli/page_tool.h"
#include "study/cli/study_tool.h"
#include "train/cli/train_tool.h"

std::span<const headlight::Tool* const> headlight::tools() {
  static constexpr const Tool* kAll[] = {&kTrainTool, &kDiagnoseTool, &kPageTool, &kStudyTool, &kMcpTool};
  return kAll;
}
#elif defined(HEADLIGHT_HAS_STATES)
#include "diagnose/check/judgements.h"
#include "diagnose/typed_numbers.h"
#include "train/run/training_commands.h"

std::span<const headlight::Tool* const> headlight::tools() {
  static constexpr Tool kTrain{.name = "train", .state = &kTrainState};
  static constexpr Tool kDiagnose{.name = "diagnose", .state = &kDiagnoseState, .check_numbers = check_numbers};
  static constexpr const Tool* kAll[] = {&kTrain, &kDiagnose};
  return kAll;
}
#else
std::span<const headlight::Tool* const> headlight::tools() { return {}; }
#endif
