// Masks as the diagnosis reads and changes them.
#pragma once

#include <optional>

#include "diagnose/texts.h"
#include "math/reference.h"

namespace headlight {

using reference::Grid;
using reference::Heads;

/// Whether a query may attend to a key, by the mask alone: values below −10⁴ block as −inf does.
using Allowed = Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
Allowed allowed_by(const Grid& mask);
/// 0 where allowed, −inf elsewhere.
Grid mask_of(const Allowed& allowed);

/// A score of at most so much masks its cell, beside the others of its row.
double masked_below(const Grid& scores, Index row);
/// The cells of scores that are not masked.
Allowed allowed_in(const Grid& scores);
/// A score of at most so much masks its cell in any row.
inline constexpr double kSurelyMasked = -1e8;

/// Query i sees the keys up to i + offset.
Allowed causal_mask(Index queries, Index keys, Index offset);
/// Every query's last key moved by so many.
Allowed shifted(const Allowed& allowed, Index by);

/// The parts of a mask: keys that no query may attend to, and the pattern of the rest.
struct MaskParts {
  Allowed keys;          // true in the columns that some query sees
  bool padding = false;  // some column is hidden
  bool causal = false;   // the rest is that of causal_mask(T, S, S − T), T > 1
  Index window = 0;      // the same, and each query sees so many keys at most; 0: as many as there are
};
MaskParts parts_of(const Allowed& allowed);
/// How far away the keys are at most that each query sees, all of them, to both sides; 0: they are not so.
Index nearness_of(const Allowed& allowed);

/// The words of the mistake that a mask is moved by −1 or by 1.
Bilingual off_by_one_words(bool causal, Index by);

bool are_same(const Allowed& a, const Allowed& b);
bool has_equal_rows(const Allowed& a);
/// true … true false … false, with at least one true.
bool is_prefix(const Allowed& row);

Mistake mistake_of(const MistakeCode& code, Bilingual text);
Mistake mistake_of(const MistakeCode& code);

struct Meant {
  Allowed allowed;
  Mistake mistake;
};
/// What was meant by a mask that one sentence had, where it is one that only a mistake gives.
std::optional<Meant> meant_by(const Allowed& a);

}  // namespace headlight
