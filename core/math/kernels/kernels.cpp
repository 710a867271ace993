#include "math/kernels/kernels.h"

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

RunnableMathKernels runnable_math_kernels() {
  RunnableMathKernels all;
  all.tables[all.count++] = {"baseline", &baseline_math_kernels()};
#if defined(__x86_64__)
  if (runs_avx2()) all.tables[all.count++] = {"avx2", &avx2_math_kernels()};
  if (runs_avx512()) all.tables[all.count++] = {"avx512", &avx512_math_kernels()};
#endif
  return all;
}

const MathKernels& math_kernels() {
  static const RunnableMathKernels all = runnable_math_kernels();
  return *all.tables[all.count - 1].table;
}

}  // namespace headlight
