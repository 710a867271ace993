// `./run bench`: how fast this machine is.
#include "bench/bench.h"
#include "bench/draw.h"

int main(int argc, char** argv) {
#if HEADLIGHT_GUI
  return headlight::run_bench(argc, argv, headlight::bench_draw);
#else
  return headlight::run_bench(argc, argv, {});
#endif
}
