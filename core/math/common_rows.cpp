#include "math/common_rows.h"

#include <algorithm>

namespace headlight {
namespace {

Index equal_rows(const Matrix& a, const Matrix& b) {
  if (a.cols() != b.cols()) return 0;
  Index rows = 0;
  const Index most = std::min(a.rows(), b.rows());
  while (rows < most && (a.row(rows).array() == b.row(rows).array()).all()) ++rows;
  return rows;
}

/// A head that outputs the mean of all rows makes every row depend on all.
bool any_mean(const Edits& edits) {
  return edits.off_as == OffAs::mean && std::any_of(edits.off.begin(), edits.off.end(),
                                                    [](const HeadRef& head) { return head.stack != Stack::encoder; });
}

/// A weight set by hand beyond the rows in common reads a value that may have changed.
Index without_far_weights(const Edits& edits, Index rows) {
  for (Index before = rows + 1; before != rows;) {
    before = rows;
    for (const WeightEdit& edit : edits.weights)
      if (edit.head.stack == Stack::self && edit.cell.query < rows && edit.cell.key >= rows) rows = edit.cell.query;
  }
  return rows;
}

/// At most `rows`: the first rows of an answer that read no later ones, and the same ones under other masks, those that
/// `mask_in` gives for an attention of a layer.
template <class MaskIn>
Result<Index> independent_rows(const Trace& trace, Index rows, const MaskIn& mask_in) {
  for (Index before = rows + 1; rows > 0 && before != rows;) {
    before = rows;
    rows = without_far_weights(trace.request.edits, rows);
    for (std::size_t layer = 0; layer < trace.blocks.size() && rows > 0; ++layer) {
      const BlockTrace& block = trace.blocks[layer];
      for (const Stack stack : {Stack::self, Stack::cross}) {
        const AttentionTrace* attention = stack == Stack::self ? &block.self : block.cross ? &*block.cross : nullptr;
        if (!attention) continue;
        const auto mask = TRY(mask_in(stack, static_cast<Index>(layer)));
        rows = attention->mask->common_rows(*mask, rows, stack == Stack::self);
      }
    }
  }
  return rows;
}

}  // namespace

Result<Index> common_rows(const Trace& previous, const Trace& trace, const Matrix& embedding, const StackRun& run) {
  const Request &before = previous.request, &now = trace.request;
  if (previous.model != trace.model || previous.encoder != trace.encoder || trace.model->given ||
      !(before.edits == now.edits) || any_mean(now.edits) || previous.blocks.size() != run.stack.blocks.size())
    return Index{0};
  const Index rows = std::min(equal_rows(previous.embedding, embedding), embedding.rows() - 1);
  return independent_rows(previous, rows, [&](Stack stack, Index layer) -> Result<std::shared_ptr<const Mask>> {
    std::optional<ResolvedMask> own_mask;
    const auto mask = TRY(mask_of(run, stack, layer, own_mask));
    return mask->mask;
  });
}

Index rows_before(const Trace& trace, Index row) {
  if (any_mean(trace.request.edits)) return 0;
  return *independent_rows(trace, row, [&](Stack stack, Index layer) -> Result<std::shared_ptr<const Mask>> {
    return trace.attention(stack, layer).mask;
  });
}

Matrix last_rows(const Matrix& x, Index texts, Index skipped) {
  const Index all = x.rows() / texts, kept = all - skipped;
  Matrix rows(texts * kept, x.cols());
  for (Index text = 0; text < texts; ++text)
    rows.middleRows(text * kept, kept) = x.middleRows(text * all + skipped, kept);
  return rows;
}

}  // namespace headlight
