// The one program: the command line, the window behind it where this build has one, and the tools.
#include "cli/frame/cli.h"

#include <iterator>

#include "base/system.h"
#include "tool/tool.h"
#if HEADLIGHT_GUI
#include "gl/app.h"
#endif
#ifdef HEADLIGHT_HAS_TRAIN
#include "train/cli/train_tool.h"
#endif
#ifdef HEADLIGHT_HAS_DIAGNOSE
#include "diagnose/cli/diagnose_tool.h"
#endif
#ifdef HEADLIGHT_HAS_PAGE
#include "page/cli/page_tool.h"
#endif
#ifdef HEADLIGHT_HAS_STUDY
#include "study/cli/study_tool.h"
#endif
#ifdef HEADLIGHT_HAS_MCP
#include "mcp/mcp_tool.h"
#endif

std::span<const headlight::Tool* const> headlight::tools() {
  static constexpr const Tool* kTools[] = {
#ifdef HEADLIGHT_HAS_TRAIN
      &kTrainTool,
#endif
#ifdef HEADLIGHT_HAS_DIAGNOSE
      &kDiagnoseTool,
#endif
#ifdef HEADLIGHT_HAS_PAGE
      &kPageTool,
#endif
#ifdef HEADLIGHT_HAS_STUDY
      &kStudyTool,
#endif
#ifdef HEADLIGHT_HAS_MCP
      &kMcpTool,
#endif
      nullptr};
  return std::span(kTools).first(std::size(kTools) - 1);
}

int main(int argc, char** argv) {
  headlight::begin_program();
  headlight::Frontend frontend;
#if HEADLIGHT_GUI
  frontend.open_window = headlight::open_window;
  frontend.screenshot = headlight::screenshot;
#endif
  return headlight::end_program(headlight::run_command_line(argc, argv, frontend));
}
