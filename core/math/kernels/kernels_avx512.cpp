// For processors with AVX-512; CMakeLists.txt sets the flags.
#if defined(__x86_64__)
#include "math/kernels/product_bodies.h"
#include "math/kernels/training_bodies.h"

namespace headlight {

const MathKernels& avx512_math_kernels();

const MathKernels& avx512_math_kernels() {
  static constexpr MathKernels table = HEADLIGHT_MATH_KERNEL_TABLE;
  return table;
}

}  // namespace headlight
#endif
