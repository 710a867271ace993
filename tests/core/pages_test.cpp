// Memory straight from the system.
#include "base/pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace headlight {
namespace {

TEST(Pages, AreZerosThatCanBeWrittenFromEndToEnd) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4096}, std::size_t{5} << 20}) {
    const auto pages = fresh_pages(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pages.get()) % 64, 0u);
    EXPECT_TRUE(std::all_of(pages.get(), pages.get() + bytes, [](std::byte one) { return one == std::byte{0}; }));
    std::fill_n(pages.get(), bytes, std::byte{7});
    EXPECT_EQ(pages.get()[bytes - 1], std::byte{7});
  }
}

TEST(Pages, StayAsLongAsAPartOfThemIsHeld) {
  std::shared_ptr<const std::byte> part;
  {
    const auto pages = fresh_pages(3 << 20);
    pages.get()[2 << 20] = std::byte{9};
    part = {pages, pages.get() + (2 << 20)};
  }
  give_back_memory();
  EXPECT_EQ(*part, std::byte{9});
}

}  // namespace
}  // namespace headlight
