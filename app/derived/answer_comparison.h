// Two answers beside each other: A that was kept, or the same question without edits, and B that is on the screen.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "derived/fold.h"
#include "derived/weak_ref.h"
#include "heads/pattern_difference.h"
#include "math/forward.h"
#include "text/words.h"

namespace headlight {

/// The order of the heads of View::compare: their layers, or how much two answers differ in them, most first.
enum class DifferenceOrder { layer, largest, mean, divergence };

/// The two answers, and the head of B that is looked at.
struct ComparisonQuestion {
  WeakRef<Trace> a, b;
  HeadRef head;
  std::optional<Index> hidden = {};  // the token of B that is hidden and guessed; nothing: the answers' predictions
  Alignment alignment = Alignment::words;
  FoldChoice fold = {};  // of both, as far as there is something to fold

  friend bool operator==(const ComparisonQuestion&, const ComparisonQuestion&) = default;
};

/// The axes of an attention of B, of groups of tokens, with the tokens along them: B's where both have them, named
/// "A's word / B's word" where only their positions are the same.
struct JointStack {
  JointAxes axes;
  std::vector<Token> queries, keys;
  bool in_both = false;  // A has this attention; else no token is A's
  Fold a = {}, b = {};   // which tokens each group stands for; A's is empty where no token is
};

/// Whether their rows and their columns are the same words at the same positions.
bool same_axes(const JointStack& a, const JointStack& b);

/// Whether both have the attention but no token of the rows, or none of the columns, is in both: then nothing can be
/// subtracted.
bool shares_no_cell(const JointStack& stack);
/// Whether a word is in only one of two sentences that both have the attention.
bool has_words_of_one(const JointStack& stack);

/// A head that both answers have.
struct HeadDifference {
  HeadRef head;
  Matrix map;  // B − A on the joint axes (heads/pattern_difference.h), at most kThumbnail cells a side
  PatternDifference measured;
};

/// A word that an answer predicts next, or at the masked or hidden position, and its probability; nothing where the
/// word is not in the model's vocabulary.
struct ComparedWord {
  std::string text;
  std::optional<float> a, b;
};

/// All heads of two answers.
struct ComparedHeads {
  WeakRef<Trace> a, b;
  Alignment alignment = Alignment::words;
  FoldChoice fold = {};
  std::optional<std::size_t> too_long = {};              // tokens of a sentence that is longer than kMostAligned
  std::array<std::optional<JointStack>, 3> stacks = {};  // by Stack; those that B has
  std::vector<HeadDifference> heads = {};                // in the order of heads_of() of B
  std::size_t only_a = 0, only_b = 0;                    // heads that the other does not have
  float largest = 0;                                     // |B − A| of any of them

  const JointStack* stack(Stack stack) const;
  /// Null where A has no such head.
  const HeadDifference* head(const HeadRef& head) const;
};

/// All heads, and one of them in full.
struct AnswerComparison {
  std::shared_ptr<const ComparedHeads> heads;
  HeadRef chosen;
  PatternPair maps = {};  // of `chosen`; A's all NaN where it has no such head; empty where the sentences are too long
  std::vector<ComparedWord> words = {};  // the most probable of either, where both predict one
  std::optional<Index> hidden = {};      // … with this token of B hidden
};

/// The upper end of the colours of a head's difference: the largest of all heads or, with `own`, of this head.
float range_of(const ComparedHeads& compared, const HeadRef& head, bool own);
/// That of the weights of both answers: the largest of either or, with `own` maps of a head, of these.
float range_of_weights(const Trace* a, const Trace& b, const PatternPair* own);
float largest_weight(const PatternPair& maps);

/// The answer; results in `known` for the same two are reused. Null when stopped, or one of them is gone.
std::shared_ptr<const AnswerComparison> compare_answers(const ComparisonQuestion& question,
                                                        const AnswerComparison* known, Progress& progress,
                                                        int threads = 0);

/// One head of two answers, without the others and what the answers predict.
struct ComparedHead {
  JointStack stack;
  PatternPair maps = {};
};
/// Nothing where the sentences differ and one is longer than kMostAligned.
std::optional<ComparedHead> compare_head(const Trace& a, const Trace& b, const HeadRef& head);

/// Of DifferenceOrder, in its order.
inline constexpr std::string_view kDifferenceOrders[] = {"layer", "largest", "mean", "divergence"};

/// The heads of B's attention that both have, in the order that is asked for; of equal ones the lower first.
std::vector<HeadRef> heads_by(const ComparedHeads& compared, Stack stack, DifferenceOrder order);
/// The value by which heads are sorted; nothing for the order of their layers, and where no cell is in both.
std::optional<float> order_value(const HeadDifference& head, DifferenceOrder order);

/// The position of a cell of B, or of a cell of A, on the joint axes; nothing where they do not have it.
std::optional<CellRef> joint_cell(const JointStack& stack, const std::optional<CellRef>& of_b,
                                  const std::optional<CellRef>& of_a);

/// A joint cell in each of the two answers, by its first tokens; nothing where one lacks its row or its column.
struct CellsBehind {
  std::optional<CellRef> a, b;
};
CellsBehind cells_behind(const JointStack& stack, const CellRef& joint);
/// What a map with such a fold has where this cell is; nothing where it is blocked.
std::optional<float> folded_weight(const Trace& trace, const Fold& fold, const HeadRef& head, const CellRef& cell);

}  // namespace headlight
