// The commands, one a file. To add one: docs/contributing.md.
#pragma once

#include <functional>

#include "cli/frame/cli.h"
#include "cli/options/parser.h"
#include "cli/options/print.h"

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

extern const NamedCommand kOpen, kExport, kScreenshot, kExplain, kWhy, kLens, kPatch, kNext, kGenerate, kDiagnose,
    kTokenize, kCheck, kTrain, kHeads, kClaims, kFigure, kPage, kModels, kCode, kWorksheet, kSite;

}  // namespace headlight
