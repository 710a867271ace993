// Memory straight from the system, for large arrays that live long.
#pragma once

#include <cstddef>
#include <memory>

namespace headlight {

/// So many zero bytes, in large pages where the system has them: fewer TLB misses. The system allocates a page at the
/// first write to it; the memory is released with the pointer.
std::shared_ptr<std::byte> fresh_pages(std::size_t bytes);

/// Returns free heap memory to the system.
void give_back_memory();

}  // namespace headlight
