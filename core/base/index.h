// The type of every count and position. By itself, because the kernels, which are compiled for several processors, must
// not see Eigen: its layout depends on the processor that it is compiled for.
#pragma once

#include <cstddef>
#include <cstdint>

namespace headlight {

using Index = std::ptrdiff_t;  // = Eigen::Index

/// So many bytes, or as many as an address of 32 bits reaches (WebAssembly).
constexpr std::size_t within_memory(std::uint64_t bytes) {
  return bytes < PTRDIFF_MAX ? static_cast<std::size_t>(bytes) : PTRDIFF_MAX;
}

}  // namespace headlight
