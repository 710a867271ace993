// For processors with AVX2 and FMA; CMakeLists.txt sets the flags.
#if defined(__x86_64__)
#include "train/network/row_bodies.h"

namespace headlight {

const Kernels& avx2_kernels();

const Kernels& avx2_kernels() {
  static constexpr Kernels table = HEADLIGHT_KERNEL_TABLE;
  return table;
}

}  // namespace headlight
#endif
