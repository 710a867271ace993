// Memory for large arrays: straight from the system for those that live long, and flat arrays that begin on a cache
// line.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace headlight {

/// So many zero bytes, in large pages where the system has them: fewer TLB misses. The system allocates a page at the
/// first write to it; the memory is released with the pointer.
std::shared_ptr<std::byte> fresh_pages(std::size_t bytes);

/// Returns free heap memory to the system.
void give_back_memory();

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
