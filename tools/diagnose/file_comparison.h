// Two exports held against each other, array by array, in the order in which a model computes them: the first
// difference is where to look, all later ones follow from it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/index.h"
#include "diagnose/export_file.h"
#include "diagnose/texts.h"

namespace headlight {

inline constexpr float kCompareTolerance = 2e-5f;
/// Tolerances that allow for the rounding of numbers of half precision.
inline constexpr const char *kFloat16Tolerance = "4e-3", *kBfloat16Tolerance = "3e-2";
/// The tolerance for numbers of float16, bfloat16, tf32 (products of float32 on a GPU); else kCompareTolerance.
float tolerance_of(std::string_view dtype);

/// One cell of an array in both files.
struct ComparedCell {
  std::vector<Index> at = {};  // its indices
  float expected = 0;          // in A
  float found = 0;             // in B

  /// |found − expected|; infinite where only one of them is finite, 0 where both are the same infinity or NaN.
  float difference() const;
};

struct ComparedArray {
  std::string name;
  std::vector<Index> expected_shape, found_shape;  // a batch axis of 1 left out
  float tolerance = 0;                             // absolute, of the row in which `largest` is
  std::optional<ComparedCell> largest =
      {};                                  // the largest difference, of cells that differ if some do; nothing where the
                                           // shapes differ, or every score is masked in both files
  std::optional<ComparedCell> first = {};  // the first difference above the tolerance

  bool norm_apart = false;  // the last state of one file is before the final norm, that of the other behind it

  bool same_shape() const { return expected_shape == found_shape; }
  bool equal() const { return same_shape() && !first; }
};

struct FileComparison {
  std::vector<ComparedArray> arrays = {};  // those in both files, in the order of the data's way
  std::optional<std::size_t> first = {};   // the array in which the data's way first parts; none where all are equal
  float tolerance = 0;                     // that was asked for
  std::vector<std::string> only_a = {},
                           only_b = {};  // of a file that has answers; what was computed here is not missed

  bool equal() const { return !first; }
};

/// `expected` is A, `found` is B. Two numbers are equal when they are at most `tolerance` apart, in arrays other than
/// attentions times max(1, the largest |expected| of the row of the last axis). Scores that both files mask are equal
/// whatever number stands there, and count for no row's largest. The last of the hidden states may be before the final
/// norm in one file and behind it in the other, as transformers has it: then last_hidden_state is compared instead.
/// The data's way: hidden_states[0]; then of each layer
/// queries, keys, values, scores, attentions, and the hidden state that comes out; then output, last_hidden_state,
/// logits; an encoder before its decoder.
FileComparison compare(const ExportFile& expected, const ExportFile& found, float tolerance = kCompareTolerance);

/// `L0·H1, query 2 '李雷', key 0 '我'`: a cell in words, with the tokens where a file has them.
Bilingual cell_text(std::string_view array, const std::vector<Index>& at, const ExportFile& expected,
                    const ExportFile& found);

}  // namespace headlight
