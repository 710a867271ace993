#include "base/pages.h"

#include <sys/mman.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <cstdint>

#include "base/refusal.h"

namespace headlight {

std::shared_ptr<std::byte> fresh_pages(std::size_t bytes) {
  constexpr std::size_t kLargePage = std::size_t{2} << 20;
  const std::size_t all = bytes + kLargePage;
  void* const memory = is_refused(SystemCall::map) ? MAP_FAILED
                                                   : ::mmap(nullptr, all, PROT_READ | PROT_WRITE,
                                                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  auto* const aligned = static_cast<std::byte*>(memory) + (kLargePage - begin % kLargePage) % kLargePage;
#ifdef MADV_HUGEPAGE
  static_cast<void>(::madvise(aligned, bytes, MADV_HUGEPAGE));  // a hint
#endif
  return {aligned, [memory, all](std::byte*) { ::munmap(memory, all); }};
}

void give_back_memory() {
#if defined(__GLIBC__)
  ::malloc_trim(0);
#endif
}

}  // namespace headlight
