#include "train/network/kernels.h"

namespace headlight {

// Each is the same source, compiled for another processor.
const Kernels& baseline_kernels();
#if defined(__x86_64__)
const Kernels& avx2_kernels();
const Kernels& avx512_kernels();
#endif

TableChoice<Kernels> runnable_kernels() {
#if defined(__x86_64__)
  return runnable(&baseline_kernels(), &avx2_kernels(), &avx512_kernels());
#else
  return runnable<Kernels>(&baseline_kernels(), nullptr, nullptr);
#endif
}

const Kernels& kernels() {
  static const Kernels& best = runnable_kernels().best();
  return best;
}

}  // namespace headlight
