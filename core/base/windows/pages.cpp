#include "base/pages.h"

#include <windows.h>
// after windows.h
#include <malloc.h>

#include "base/refusal.h"

namespace headlight {

std::shared_ptr<std::byte> fresh_pages(std::size_t bytes) {
  void* const memory = is_refused(SystemCall::map)
                           ? nullptr
                           : VirtualAlloc(nullptr, bytes + 1, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
  if (!memory) throw std::bad_alloc();
  return {static_cast<std::byte*>(memory), [](std::byte* pages) { VirtualFree(pages, 0, MEM_RELEASE); }};
}

void give_back_memory() { _heapmin(); }

}  // namespace headlight
