// Texts as they were laid out last: a long one is laid out once, not in every frame.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "derived/weak_ref.h"
#include "views/text/text_scene.h"

namespace headlight {

class KeptTexts {
 public:
  /// Everything that a layout depends on. `fonts` counts their atlases: a glyph may be missing in an earlier one.
  struct Key {
    WeakRef<Trace> trace;
    WeakRef<FoldedMaps> folded;
    Stack stack = Stack::self;
    float width = 0, em = 0;
    std::uint64_t fonts = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  /// The layout of a side of the attention as it was kept, or as make() gives it.
  std::shared_ptr<const TextLines> lines(bool queries, const Key& key, const std::function<TextLines()>& make) {
    auto& [of, lines] = kept_[queries ? 0 : 1];
    if (!lines || !(of == key)) of = key, lines = std::make_shared<const TextLines>(make());
    return lines;
  }
  /// The one that was drawn last; null: none was.
  const TextLines* last(bool queries) const { return kept_[queries ? 0 : 1].lines.get(); }
  /// The chosen word that was scrolled to last.
  std::optional<Index> seen;

 private:
  struct Kept {
    Key key;
    std::shared_ptr<const TextLines> lines;
  };
  std::array<Kept, 2> kept_;
};

}  // namespace headlight
