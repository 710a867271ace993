#include "train/kernels.h"

namespace headlight {

// Each is the same source, compiled for another processor.
const Kernels& baseline_kernels();
#if defined(__x86_64__)
const Kernels& avx2_kernels();
const Kernels& avx512_kernels();
#endif

KernelChoice runnable_kernels() {
  KernelChoice choice;
  choice.tables[choice.count++] = {"baseline", &baseline_kernels()};
#if defined(__x86_64__)
  if (runs_avx2()) choice.tables[choice.count++] = {"avx2", &avx2_kernels()};
  if (runs_avx512()) choice.tables[choice.count++] = {"avx512", &avx512_kernels()};
#endif
  return choice;
}

const Kernels& kernels() {
  static const Kernels& best = []() -> const Kernels& {
    const KernelChoice choice = runnable_kernels();
    return *choice.tables[choice.count - 1].table;
  }();
  return best;
}

}  // namespace headlight
