// The commands, one a file. To add one: docs/contributing.md.
#pragma once

#include <functional>

#include "cli/frame/cli.h"
#include "cli/options/parser.h"
#include "cli/options/print.h"
#include "session/loop/startup.h"

namespace headlight {

/// A command that was parsed: runs and gives the exit status, or the Error that goes to standard error.
using ParsedCommand = std::function<Result<int>()>;

/// `add` adds the options to the command's parser. `examples` stand below them in the help.
struct NamedCommand {
  const char* name;
  const char* about;
  const char* examples;
  ParsedCommand (*add)(Parser& parser, const Frontend& frontend);
};

/// The viewer's; those of a tool are declared where it gives itself to the program.
extern const NamedCommand kOpen, kExport, kScreenshot, kExplain, kWhy, kLens, kNext, kGenerate, kTokenize, kHeads,
    kFigure, kModels, kWhat, kCode, kSimilarity;

}  // namespace headlight
