#include "math/kernels.h"

namespace headlight {

// The same source, compiled for three kinds of processor.
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

TableChoice<MathKernels> runnable_math_kernels() {
#if defined(__x86_64__)
  return runnable(&baseline_math_kernels(), &avx2_math_kernels(), &avx512_math_kernels());
#else
  return runnable<MathKernels>(&baseline_math_kernels(), nullptr, nullptr);
#endif
}

const MathKernels& math_kernels() {
  static const MathKernels& best = runnable_math_kernels().best();
  return best;
}

}  // namespace headlight
