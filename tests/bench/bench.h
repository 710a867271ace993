// The benchmark's command line, without the suite of the window, which only a program with OpenGL has.
#pragma once

#include "bench/suites.h"

namespace headlight {

/// `headlight_bench [SUITE] [OPTIONS]`: runs the suites and prints their rows. `draw`: the suite of the window; empty
/// where it was not built. `argv[0]` names the folder in which the suite `open` expects the program `headlight`. Gives
/// the exit
/// status: 0 done, 2 wrong use or a failure, which is one line on standard error.
int run_bench(int argc, const char* const* argv, const BenchSuite::Run& draw);

}  // namespace headlight
