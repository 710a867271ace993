// What is looked at: never a part of the question, never undone, and never kept inside a widget.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/matrix.h"

namespace headlight {

enum class Scale { linear, log };

struct HeadRef {
  Index layer = 0, head = 0;
  friend bool operator==(const HeadRef&, const HeadRef&) = default;
};

/// A cell of the pattern; the same cell lights up in every head.
struct CellRef {
  Index query = 0, key = 0;
  friend bool operator==(const CellRef&, const CellRef&) = default;
};

/// The part of the pattern that the enlarged head shows, in cells; zero sizes: all of it.
struct Viewport {
  Index first_query = 0, num_queries = 0;
  Index first_key = 0, num_keys = 0;
  friend bool operator==(const Viewport&, const Viewport&) = default;
};

struct ViewState {
  std::size_t sentence = 0;            // of a batch
  HeadRef chosen;                      // the enlarged head
  std::optional<HeadRef> hovered_head;
  std::optional<CellRef> hovered;
  std::optional<CellRef> pinned;
  Scale scale = Scale::linear;
  Viewport viewport;
  bool painting = false;               // a click on the enlarged head paints the mask instead of pinning
  std::optional<bool> stroke;          // while a stroke is painted: what it sets cells to, true = may attend
  bool focus_text = false;             // the sentence box is to take the keyboard, its text selected
  bool help = false;                   // the overlay with the keys

  friend bool operator==(const ViewState&, const ViewState&) = default;
};

/// The file browser, for opening, saving and exporting.
struct Browser {
  enum class Purpose { none, open, save, export_to } purpose = Purpose::none;
  std::string folder;
  std::string name;                    // the chosen or typed file name; may be a whole path

  struct Entry {
    std::string name;
    bool folder = false;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  std::vector<Entry> entries;          // of `folder`: folders first, then files, by name
};

}  // namespace headlight
