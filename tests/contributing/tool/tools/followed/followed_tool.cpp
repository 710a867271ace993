#include "followed/followed_tool.h"

#include <cstdio>

#include "cli/frame/commands.h"
#include "cli/frame/tool_commands.h"

namespace headlight {
namespace {

ParsedCommand add_followed(Parser&, const Frontend&) {
  return [] {
    std::puts("the tool is there");
    return Result<int>(0);
  };
}

constexpr NamedCommand kFollowed{"followed", "Says that the tool is there", "headlight followed", add_followed};
constexpr const NamedCommand* kOfFollowed[] = {&kFollowed};
constexpr ToolCommands kFollowedCommands{.commands = kOfFollowed};

}  // namespace

const Tool kFollowedTool{.name = "followed", .commands = &kFollowedCommands};

}  // namespace headlight
