// Layers and heads that are chosen from all of a model.
#pragma once

#include <algorithm>
#include <vector>

#include "model/head_text.h"

namespace headlight {

/// Whether a head is one of these, of one of these layers; empty lists: all.
inline bool is_chosen(const HeadRef& head, const std::vector<Index>& layers, const std::vector<LayerHeads>& heads) {
  const auto has_it = [&](const LayerHeads& one) {
    return one.stack == head.stack && one.layer == head.layer && one.head.value_or(head.head) == head.head;
  };
  return (layers.empty() || std::find(layers.begin(), layers.end(), head.layer) != layers.end()) &&
         (heads.empty() || std::any_of(heads.begin(), heads.end(), has_it));
}

}  // namespace headlight
