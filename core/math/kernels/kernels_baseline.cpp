// For any processor.
#include "math/kernels/product_bodies.h"
#include "math/kernels/training_bodies.h"

namespace headlight {

const MathKernels& baseline_math_kernels();

const MathKernels& baseline_math_kernels() {
  static constexpr MathKernels table = HEADLIGHT_MATH_KERNEL_TABLE;
  return table;
}

}  // namespace headlight
