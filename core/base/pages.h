// Memory straight from the system: for what is large and stays.
#pragma once

#include <cstddef>
#include <memory>

namespace headlight {

/// So many bytes of zeros, in large pages where the system has them, through which a processor reads with fewer pauses.
/// Memory is taken as it is first written to, and given back at the end.
std::shared_ptr<std::byte> fresh_pages(std::size_t bytes);

/// Gives back to the system what is free on the heap.
void give_back_memory();

}  // namespace headlight
