// The fuzz targets of one program: HEADLIGHT_FUZZ_TARGET(npy) { … } is called npy, and takes any bytes as `data` and
// `size`. What it finds wrong ends the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

namespace headlight {

using FuzzTarget = void (*)(const std::uint8_t* data, std::size_t size);

/// By name. A target adds itself before main().
std::map<std::string_view, FuzzTarget>& fuzz_targets();

/// The target of that name, which LLVMFuzzerTestOneInput then calls; false where none has it.
bool choose_fuzz_target(std::string_view name);

}  // namespace headlight

#define HEADLIGHT_FUZZ_TARGET(NAME)                                                              \
  static void fuzz_##NAME(const std::uint8_t* data, std::size_t size);                           \
  static const bool added_##NAME = headlight::fuzz_targets().emplace(#NAME, fuzz_##NAME).second; \
  static void fuzz_##NAME([[maybe_unused]] const std::uint8_t* data, [[maybe_unused]] std::size_t size)
