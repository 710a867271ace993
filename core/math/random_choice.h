// Some of a list at random.
#pragma once

#include <utility>
#include <vector>

#include "base/random.h"

namespace headlight {

/// Brings `count` items, at most all, to the front: every subset is equally likely, each item once.
template <class Item>
void draw_to_front(Random& random, std::vector<Item>& items, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    std::swap(items[i], items[i + static_cast<std::size_t>(random.next() % (items.size() - i))]);
}

}  // namespace headlight
