// `./run bench`: how fast this machine is.
#include "base/system.h"
#include "bench/bench.h"
#include "bench/draw.h"

int main(int argc, char** argv) {
  headlight::begin_program();  // memory as the program keeps it
#if HEADLIGHT_GUI
  return headlight::run_bench(argc, argv, headlight::bench_draw);
#else
  return headlight::run_bench(argc, argv, {});
#endif
}
