// For any processor.
#include "train/network/row_bodies.h"

namespace headlight {

const Kernels& baseline_kernels();

const Kernels& baseline_kernels() {
  static constexpr Kernels table = HEADLIGHT_KERNEL_TABLE;
  return table;
}

}  // namespace headlight
