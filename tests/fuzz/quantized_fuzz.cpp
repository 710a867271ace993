// The tensors of quantized weights: any bytes give weights of finite numbers, or one line.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fuzz/target.h"
#include "read/array/quantized.h"
#include "read/array/safetensors.h"

namespace {

using headlight::Quantization;

constexpr Quantization kEach[] = {{.method = Quantization::Method::gptq, .zeros_less_one = true},
                                  {.method = Quantization::Method::awq},
                                  {.method = Quantization::Method::bitsandbytes},
                                  {.method = Quantization::Method::fp8, .scale_rows = 128, .scale_cols = 128},
                                  {.method = Quantization::Method::mlx, .group_size = 32}};

}  // namespace

HEADLIGHT_FUZZ_TARGET(quantized) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const Quantization& how : kEach)
    for (const bool shapes_alone : {true, false}) {
      auto stored = headlight::locate_safetensors("fuzz", bytes);
      if (!stored) return;
      const auto weights = headlight::put_together(*std::move(stored), how, shapes_alone);
      if (!weights && weights.error().message().find('\n') != std::string::npos) std::abort();
      if (!weights || shapes_alone) continue;
      for (const auto& [name, array] : weights->arrays) {
        if (!headlight::is_in_blocks(array.dtype)) continue;
        const auto numbers = headlight::in_memory({.arrays = {{name, array}}, .metadata = {}}).arrays.at(name).values;
        for (const float number : numbers)
          if (!std::isfinite(number)) std::abort();
      }
    }
}
