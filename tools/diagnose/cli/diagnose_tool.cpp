#include "diagnose/cli/diagnose_tool.h"

#include "cli/frame/commands.h"
#include "cli/frame/tool_commands.h"
#include "diagnose/check/judgements.h"
#include "diagnose/typed_numbers.h"

namespace headlight {

extern const NamedCommand kCheck, kDiagnose, kReport;

namespace {
constexpr const NamedCommand* kOfDiagnose[] = {&kDiagnose, &kCheck, &kReport};
constexpr ToolCommands kDiagnoseCommands{.commands = kOfDiagnose};
}  // namespace

const Tool kDiagnoseTool{
    .name = "diagnose", .state = &kDiagnoseState, .commands = &kDiagnoseCommands, .check_numbers = check_numbers};

}  // namespace headlight
