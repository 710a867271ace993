// How positions enter an attention: what rotary ones did to the columns of queries and keys, and the slopes of ALiBi.
#pragma once

#include <initializer_list>
#include <optional>
#include <vector>

#include "diagnose/capture/capture_masks.h"

namespace headlight {

/// How positions turn pairs of columns: c with c + r/2, or neighbours.
enum class Pairs { half, neighbours };

struct Turned {
  Pairs pairs = Pairs::half;
  Index columns = 0;    // of a head that are turned: r
  double base = 0;      // 0: not known
  double first = 0;     // the position of row 0
  bool steady = false;  // each row is one position further
};

/// Whether rotary positions of this base turn every head of a call's queries and keys, each row by its place, queries
/// from `first` on; whichever pairs, and as many columns, that may be. Numbers of half precision show it too. With the
/// mask of each sentence and head the places may be counted from where a sentence begins, behind padding.
bool are_turned(const CapturedCall& call, double base, Index first,
                const std::vector<std::vector<Allowed>>& allowed = {});

/// How columns were paired where the angles are those of the other pairing, with one of these bases; nothing where no
/// base explains the numbers.
std::optional<Pairs> mixed_pairs(const Grid& before, const Grid& after, std::initializer_list<double> bases);

/// The positions that turned one head (rows, columns); nothing where no rotation of pairs explains it. `known_base` is
/// taken where the numbers do not show the base.
std::optional<Turned> turned_by(const Grid& before, const Grid& after, double known_base);

/// What ALiBi multiplies the distance by: 2^(−most / heads), its square, …: as many as `count`.
std::vector<double> geometric_slopes(Index heads, double most, Index count);

/// How fast the bias of each head falls with the distance, from the last queries on; nothing where it does not do so
/// evenly. Of two keys there is one number: any falls so.
std::optional<std::vector<double>> slopes_of(const Array& bias, const Allowed& allowed);

}  // namespace headlight
