// Flat arrays of numbers that begin on a cache line; large ones lie in large pages of memory, where the system has them,
// through which a processor reads with fewer pauses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headlight {

void* allocate_array(std::size_t bytes);
void free_array(void* at, std::size_t bytes);

template <class T>
struct CacheLineAllocator {
  using value_type = T;

  CacheLineAllocator() = default;
  template <class U>
  CacheLineAllocator(const CacheLineAllocator<U>&) {}
  T* allocate(std::size_t count) { return static_cast<T*>(allocate_array(count * sizeof(T))); }
  void deallocate(T* at, std::size_t count) { free_array(at, count * sizeof(T)); }
  friend bool operator==(const CacheLineAllocator&, const CacheLineAllocator&) { return true; }
};

using Floats = std::vector<float, CacheLineAllocator<float>>;
using Halves = std::vector<std::uint16_t, CacheLineAllocator<std::uint16_t>>;

}  // namespace headlight
