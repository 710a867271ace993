#include "base/floats.h"

#include <sys/mman.h>

#include <new>

namespace headlight {
namespace {

constexpr std::size_t kCacheLine = 64, kLargePage = std::size_t{2} << 20;

std::align_val_t alignment(std::size_t bytes) { return std::align_val_t{bytes < kLargePage ? kCacheLine : kLargePage}; }

}  // namespace

void* allocate_array(std::size_t bytes) {
  void* at = ::operator new(bytes, alignment(bytes));
#ifdef MADV_HUGEPAGE
  if (bytes >= kLargePage) static_cast<void>(::madvise(at, bytes, MADV_HUGEPAGE));  // a wish
#endif
  return at;
}

void free_array(void* at, std::size_t bytes) { ::operator delete(at, alignment(bytes)); }

}  // namespace headlight
