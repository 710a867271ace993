#include "model/batch_mask.h"

#include <algorithm>

namespace headlight {
namespace {

using Axes3 = std::array<Index, 3>;

bool fits(const Axes3& shape, const Axes3& whole) {
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] != 1 && shape[axis] != whole[axis]) return false;
  return true;
}

std::string counted_axis(char axis, Index count) {
  if (count != 1) return std::string(axis_name(axis));
  return axis == 'i' ? "query" : axis == 'j' ? "key" : "sentence";
}

/// The first axis that is neither whole nor 1, in words: "axis 0 is 2 for 4 queries".
std::string misfit(const Axes3& shape, const Axes3& whole, std::string_view axes) {
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] != 1 && shape[axis] != whole[axis])
      return "axis " + std::to_string(axis) + " is " + std::to_string(shape[axis]) + " for " +
             std::to_string(whole[axis]) + " " + counted_axis(axes[axis], whole[axis]);
  return {};
}

struct AxesOrder {
  bool sentences_first = false, either = false;
};
/// Nothing where neither order fits.
std::optional<AxesOrder> order_of(const BatchMask& mask, Index queries, Index keys, Index sentences) {
  const Axes3& shape = mask.shape;
  const bool last = !mask.sentences_first && fits(shape, {queries, keys, sentences});
  const bool first = fits(shape, {sentences, queries, keys});
  if (!last && !first) return std::nullopt;
  if (!last || !first) return AxesOrder{first, false};
  // (1, keys, 1) is a row for all queries, the usual padding mask: no reader means the other order.
  const bool one_row = shape[0] == 1 && shape[2] == 1;
  return AxesOrder{shape[0] == 1 && !one_row, !one_row};
}

/// Whether every mask is the first, as torch.nn.MultiheadAttention wants one for each head of each sentence.
bool are_copies(const BatchMask& mask, Index queries, Index keys) {
  const auto one = static_cast<std::ptrdiff_t>(mask.shape[1] * mask.shape[2]);
  return mask.shape[1] == queries && mask.shape[2] == keys &&
         std::equal(mask.addends.begin(), mask.addends.end() - one, mask.addends.begin() + one);
}

/// The same masks with an axis for the heads, where they are one for each head, or for each head of each sentence.
std::shared_ptr<const BatchMask> by_head(const BatchMask& mask, Index queries, Index keys, Index sentences,
                                         Index heads) {
  const Index count = mask.shape[0] == heads ? 1 : sentences;
  const Axes3 shape{count, mask.shape[1], mask.shape[2]};
  const bool is_table = mask.shape[1] == queries || mask.shape[2] == keys;  // no number that a whole head adds
  if (mask.sentences_first || heads == 1 || mask.shape[0] != count * heads || !is_table ||
      !fits(shape, {sentences, queries, keys}))
    return nullptr;
  return std::make_shared<const BatchMask>(BatchMask{shape, mask.addends, true, heads});
}

}  // namespace

Status give_own_mask(std::string_view where, MaskSpec& spec, Index queries, Index keys, Index sentences, Index sentence,
                     Index heads) {
  if (!spec.batch) return Done{};
  auto order = order_of(*spec.batch, queries, keys, sentences);
  if (!order && !are_copies(*spec.batch, queries, keys))
    if (auto of_heads = by_head(*spec.batch, queries, keys, sentences, heads)) {
      spec.batch = std::move(of_heads);
      order = AxesOrder{true, false};
    }
  const Axes3& shape = spec.batch->shape;
  if (order && order->either && std::count(shape.begin(), shape.end(), 1) == 0)
    return bad_input(
        where, "axes", "three axes that are read in one way, or (sentences, 1, queries, keys)",
        axes_text({shape.begin(), shape.end()}) + ": (queries, keys, sentences) or (sentences, queries, keys)",
        ErrorCode::mask_shape);
  if (!order && are_copies(*spec.batch, queries, keys)) {
    spec.given = std::make_shared<const Matrix>(Eigen::Map<const Matrix>(spec.batch->addends.data(), queries, keys));
    spec.batch = nullptr;
    return Done{};
  }
  if (!order) {
    const Axes3 last{queries, keys, sentences}, first{sentences, queries, keys};
    if (spec.batch->sentences_first)
      return bad_input(
          where, "axes",
          "(sentences, queries, keys) = " + axes_text({first.begin(), first.end()}) +
              " and an axis of heads, each axis whole or 1",
          axes_text({shape.begin(), shape.end()}) + ": " + misfit(shape, first, "bij") +
              (shape == Axes3{keys, 1, 1} ? "; a row for all queries is " + axes_text({1, 1, 1, keys}) : std::string()),
          ErrorCode::mask_shape);
    return bad_input(where, "axes",
                     "(queries, keys, sentences) = " + axes_text({last.begin(), last.end()}) +
                         " or (sentences, queries, keys) = " + axes_text({first.begin(), first.end()}) +
                         ", each axis whole or 1",
                     axes_text({shape.begin(), shape.end()}) + ": in the first order " + misfit(shape, last, "ijb") +
                         ", in the second " + misfit(shape, first, "bij"),
                     ErrorCode::mask_shape);
  }
  const bool first = order->sentences_first;
  spec.heads = spec.batch->heads;
  Matrix own(spec.heads * shape[first ? 1 : 0], shape[first ? 2 : 1]);
  const Index at = shape[first ? 0 : 2] == 1 ? 0 : sentence;
  for (Index row = 0; row < own.rows(); ++row)
    for (Index key = 0; key < own.cols(); ++key) {
      const Index element = first ? (at * own.rows() + row) * shape[2] + key : (row * shape[1] + key) * shape[2] + at;
      own(row, key) = spec.batch->addends[static_cast<std::size_t>(element)];
    }
  spec.given = std::make_shared<const Matrix>(std::move(own));
  spec.sentences = sentences;
  return Done{};
}

std::optional<StretchedMask> stretched_mask(const MaskSpec& spec, Index queries, Index keys) {
  if (!spec.given) return std::nullopt;
  const auto with_heads = [&](StretchedMask mask, std::ptrdiff_t at) {
    if (spec.heads == 1) return mask;
    mask.shape.insert(mask.shape.begin() + at, spec.heads);
    mask.whole.insert(mask.whole.begin() + at, spec.heads);
    mask.axes.insert(mask.axes.begin() + at, 'h');
    return mask;
  };
  if (!spec.batch) return with_heads({{spec.given->rows() / spec.heads, spec.given->cols()}, {queries, keys}, "ij"}, 0);
  const Axes3& shape = spec.batch->shape;
  const auto order = order_of(*spec.batch, queries, keys, spec.sentences);
  if (!order) return std::nullopt;
  StretchedMask mask{{shape.begin(), shape.end()}, {queries, keys, spec.sentences}, "ijb", order->either};
  if (order->sentences_first) mask.whole = {spec.sentences, queries, keys}, mask.axes = "bij";
  return with_heads(std::move(mask), 1);
}

std::optional<StretchedMask> stretched_mask(const Request& request, Stack stack, Index layer, const Mask& mask) {
  const LayerEdit* own = layer_edit(request.edits, stack, layer);
  return stretched_mask(own && own->mask ? *own->mask : mask_spec(request, stack), mask.queries(), mask.keys());
}

std::string axes_in_words(const StretchedMask& mask) {
  std::string text;
  for (const char axis : mask.axes) text += (text.empty() ? "(" : ", ") + std::string(axis_name(axis));
  return text + ")";
}

std::string stretched_text(const StretchedMask& mask) {
  std::string text = axes_text(mask.shape);
  if (mask.is_stretched()) text += ", broadcast to " + axes_text(mask.whole) + ":";
  bool repeated = false;
  for (std::size_t axis = 0; axis < mask.shape.size(); ++axis) {
    if (mask.shape[axis] == mask.whole[axis]) continue;
    text += std::string(repeated ? ", and axis " : " axis ") + std::to_string(axis) + ", the " +
            std::string(axis_name(mask.axes[axis])) + ", is repeated " + std::to_string(mask.whole[axis]) + " times";
    repeated = true;
  }
  return text;
}

std::string_view axis_name(char axis) {
  return axis == 'i' ? "queries" : axis == 'j' ? "keys" : axis == 'b' ? "sentences" : "heads";
}

std::string axes_text(const std::vector<Index>& shape) {
  std::string text = "(";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) text += (axis == 0 ? "" : ", ") + std::to_string(shape[axis]);
  return text + ")";
}

}  // namespace headlight
