// Flat arrays of numbers that begin on a cache line.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace headlight {

template <class T>
struct CacheLineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kAlignment{64};

  CacheLineAllocator() = default;
  template <class U>
  CacheLineAllocator(const CacheLineAllocator<U>&) {}
  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kAlignment)); }
  void deallocate(T* at, std::size_t) { ::operator delete(at, kAlignment); }
  friend bool operator==(const CacheLineAllocator&, const CacheLineAllocator&) { return true; }
};

using Floats = std::vector<float, CacheLineAllocator<float>>;

}  // namespace headlight
