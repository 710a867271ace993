#include "math/kernels.h"

namespace headlight {

// Each is the same source, compiled for another processor.
const MathKernels& baseline_math_kernels();
#if defined(__x86_64__)
const MathKernels& avx2_math_kernels();
const MathKernels& avx512_math_kernels();
#endif

bool runs_avx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

bool runs_avx512() {
#if defined(__x86_64__)
  return runs_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
#else
  return false;
#endif
}

MathKernelChoice runnable_math_kernels() {
  MathKernelChoice choice;
  choice.tables[choice.count++] = {"baseline", &baseline_math_kernels()};
#if defined(__x86_64__)
  if (runs_avx2()) choice.tables[choice.count++] = {"avx2", &avx2_math_kernels()};
  if (runs_avx512()) choice.tables[choice.count++] = {"avx512", &avx512_math_kernels()};
#endif
  return choice;
}

const MathKernels& math_kernels() {
  static const MathKernels& best = []() -> const MathKernels& {
    const MathKernelChoice choice = runnable_math_kernels();
    return *choice.tables[choice.count - 1].table;
  }();
  return best;
}

}  // namespace headlight
