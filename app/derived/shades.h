// The weights that shade the words of a text: how much the chosen words look at each word, or how much each word looks
// at them.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/names.h"
#include "derived/fold.h"

namespace headlight {

/// Whose weights: one head's, or the mean of the heads of its layer or of its stack.
enum class ShadeHeads { head, layer, all };
/// Of ShadeHeads, in its order.
inline constexpr std::string_view kShadeHeadNames[] = {"head", "layer", "all"};
inline std::string_view name(ShadeHeads heads) { return name_in(kShadeHeadNames, heads); }

struct ShadeChoice {
  HeadRef head = {};
  ShadeHeads heads = ShadeHeads::head;
  bool columns = false;           // how much each word looks at the chosen ones, else how much these look at it
  std::vector<Index> words = {};  // chosen tokens, ascending: queries, or keys where `columns`

  friend bool operator==(const ShadeChoice&, const ShadeChoice&) = default;
};

/// The heads whose mean is taken.
std::vector<HeadRef> shading_heads(const Trace& trace, const ShadeChoice& choice);

/// The words of a side that the tokens belong to: the tokens themselves, or where they are folded their groups, each
/// once.
std::vector<Index> words_of_tokens(const FoldedAxis* axis, const std::vector<Index>& tokens);

/// Of each key the mean of its weights in the chosen rows (S); of each query, where `columns`, the sum of its weights
/// in the chosen columns (T). Mean over the heads; −1, of a signed answer −inf, where every such cell is blocked. Of
/// folded tokens a number for each group, from the folded maps. The cells are those of attention_rows, so of one word
/// and one head each is the exported weight. Empty where no word is chosen or `stop` became true.
Vector shades_of(const Trace& trace, const FoldedStack* folded, const ShadeChoice& choice,
                 const std::atomic<bool>& stop);

/// The maps of a picture: for each head and each patch, the weight between the patch and the chosen tokens.
struct PictureGrids {
  std::shared_ptr<const Trace> trace;
  ShadeChoice choice;        // of every head: its head and the mean are ignored
  std::vector<Matrix> maps;  // (rows, cols) of each head, layer after layer; −1: blocked

  const PatchGrid& grid() const { return trace->key_tokens().picture->grid; }
  const Matrix& map(const HeadRef& head) const {
    return maps[static_cast<std::size_t>(head.layer * trace->num_heads() + head.head)];
  }
  /// The cell of the pattern that a square of the grid stands for.
  CellRef cell_of(const CellRef& square) const;
  /// The square of the cell's patch; nothing where the cell is not of the chosen token, or of no patch.
  std::optional<CellRef> square_of(const CellRef& cell) const;
};

/// Whether the keys of an answer are places of a grid: patches of a picture, or of brought arrays squares alone.
inline bool is_of_picture(const Trace& trace) { return trace.key_tokens().picture != nullptr; }
/// Whether its queries are too.
inline bool is_all_of_picture(const Trace& trace) { return trace.query_tokens().picture != nullptr; }
/// Whether the places have no pixels.
inline bool is_bare(const PatchGrid& grid) { return grid.patch == 0; }

/// The numbers of the patches among those of all tokens, as a grid.
Matrix grid_of(const PatchGrid& grid, const Vector& of_tokens);

/// The query that is looked at first: the class token, else the middle patch; where queries are none the first.
Index first_token(const Trace& trace);

/// Null when stopped.
std::shared_ptr<const PictureGrids> picture_grids(std::shared_ptr<const Trace> trace, ShadeChoice choice,
                                                  const std::atomic<bool>& stop);

}  // namespace headlight
