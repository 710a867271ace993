#include <utility>

#include "base/parallel.h"
#include "math/attention.h"
#include "read/external/page_attention.h"
#include "read/external/patterns.h"

namespace headlight {
namespace {

constexpr Index kMostPageWeights = Index{1} << 28;
/// Weights before the mask are used as long as what the mask leaves of a row is not less than that.
constexpr float kLeastLeft = 1e-6f;

/// An answer of these attentions alone, of which math/attention.h computes weights.
Trace trace_of(const PageStack& page) {
  Trace trace;
  for (const AttentionTrace& attention : page.layers)
    trace.blocks.push_back({.self = attention, .cross = {}, .output = {}});
  return trace;
}

std::shared_ptr<const Mask> open_mask(const PageStack& page) {
  auto mask = resolve({.padding = false}, page.query_tokens, page.key_tokens);
  return std::make_shared<const Mask>(*std::move(mask));
}

/// The weights of one head before the mask; row by row those under it where too little is left.
Matrix weights_before_mask(const Trace& open, const Trace& masked, const HeadRef& head) {
  const Index queries = open.attention(Stack::self, head.layer).query.rows();
  Matrix weights = softmax_of_rows(open, head, 0, queries);
  const Mask& mask = masked.mask_of({head.layer, head.head, Stack::self});
  if (mask.is_open()) return weights;
  const Matrix left = softmax_of_rows(masked, head, 0, queries);
  for (Index query = 0; query < queries; ++query) {
    Index most = 0;
    const float largest = left.row(query).maxCoeff(&most);
    if (weights(query, most) < kLeastLeft * largest) weights.row(query) = left.row(query);
  }
  return weights;
}

/// The name of the page's attentions in the model: a model of weights alone always has `self`.
Stack name_in_model(const std::map<Stack, PageStack>& stacks, Stack stack) {
  if (stacks.size() == 1 || (stack == Stack::cross && !stacks.contains(Stack::self))) return Stack::self;
  return stack;
}

/// The edits that act on weights, under those names; those of heads that the page does not have are left out.
Edits edits_in_model(const std::map<Stack, PageStack>& stacks, const Edits& edits) {
  const auto head_in_model = [&](const HeadRef& head) -> std::optional<HeadRef> {
    const auto at = stacks.find(head.stack);
    const bool is_there = at != stacks.end() && head.layer < static_cast<Index>(at->second.layers.size()) &&
                          head.head < at->second.layers.front().num_heads();
    if (!is_there) return {};
    return HeadRef{head.layer, head.head, name_in_model(stacks, head.stack)};
  };
  Edits kept{.off_as = edits.off_as, .dropout = edits.dropout, .dropout_seed = edits.dropout_seed};
  for (const HeadRef& head : edits.off)
    if (const auto known = head_in_model(head)) switch_off(kept, *known, true);
  for (const WeightEdit& edit : edits.weights)
    if (const auto known = head_in_model(edit.head)) set_weight(kept, *known, edit.cell, edit.weight);
  for (const LayerEdit& edit : edits.layers)
    if (const auto known = head_in_model({edit.layer, 0, edit.stack}); known && edit.mask)
      set_layer_edit(kept, {.stack = known->stack, .layer = edit.layer, .mask = edit.mask});
  return kept;
}

/// A layer's window as a mask of the layer: a model of weights alone has no windows.
void keep_windows(const PageAttention& page, Edits& edits) {
  for (const auto& [stack, of_stack] : page.stacks)
    for (std::size_t layer = 0; layer < of_stack.windows.size(); ++layer) {
      const Stack named = name_in_model(page.stacks, stack);
      LayerEdit edit = layer_edit_or_none(edits, named, static_cast<Index>(layer));
      MaskSpec mask = edit.mask.value_or(page.masks.at(stack));
      if (of_stack.windows[layer] == 0 || mask.window) continue;
      mask.window = of_stack.windows[layer];
      edit.mask = std::move(mask);
      set_layer_edit(edits, std::move(edit));
    }
}

}  // namespace

Result<PageModel> model_of_page(const std::string& where, PageAttention page, Progress& progress) {
  std::int64_t cells = 0;
  Index absent = 0;
  for (const auto& [stack, of_stack] : page.stacks) {
    const Index heads = static_cast<Index>(of_stack.layers.size()) * of_stack.layers.front().num_heads();
    cells += std::int64_t{heads} * static_cast<Index>(of_stack.query_tokens.size() * of_stack.key_tokens.size());
    absent += heads - static_cast<Index>(of_stack.heads.size());
    // Without them its rows would be scaled back to 1.
    if (of_stack.layers.front().sinks.size() > 0)
      return bad_input(where, "model", "the model that the page was made of, whose heads have sinks", "none there");
  }
  if (cells > kMostPageWeights)
    return bad_input(where, "weights", "at most " + std::to_string(kMostPageWeights), std::to_string(cells),
                     ErrorCode::too_large);
  PageModel result;
  if (absent > 0)
    result.warnings.emplace_back(
        ErrorCode::bad_value, where,
        std::to_string(absent) + (absent == 1 ? " head is" : " heads are") + " not in the page: empty maps");
  result.edits = edits_in_model(page.stacks, page.edits);
  keep_windows(page, result.edits);
  if (page.edits.dropout > 0 && page.stacks.size() == 1 && !page.stacks.contains(Stack::self)) {
    result.edits.dropout = 0;
    result.warnings.emplace_back(ErrorCode::bad_value, where,
                                 "dropout is left out: it was drawn for another attention");
  }
  for (const auto& [stack, mask] : page.masks) result.masks.emplace(name_in_model(page.stacks, stack), mask);
  std::map<Stack, FoundPatterns> found;
  for (auto& entry : page.stacks) {  // clang 14 captures no structured binding
    PageStack& of_stack = entry.second;
    FoundPatterns& patterns = found[entry.first];
    patterns.name = "weights";
    patterns.stack.query_tokens = of_stack.query_tokens;
    patterns.stack.key_tokens = of_stack.key_tokens;
    patterns.stack.patterns = std::move(of_stack.patterns);
    if (!patterns.stack.patterns.empty()) continue;
    const Trace masked = trace_of(of_stack);
    Trace open = masked;
    for (BlockTrace& block : open.blocks) block.self.mask = open_mask(of_stack);
    const auto queries = static_cast<Index>(of_stack.query_tokens.size()),
               keys = static_cast<Index>(of_stack.key_tokens.size());
    const auto heads = static_cast<std::size_t>(of_stack.layers.front().num_heads());
    for (std::size_t layer = 0; layer < of_stack.layers.size(); ++layer)
      patterns.stack.patterns.emplace_back(heads, Matrix::Zero(queries, keys));
    parallel_for(static_cast<Index>(of_stack.heads.size()), Threads(0, &progress.stop), [&](Index i) {
      const HeadRef& head = of_stack.heads[static_cast<std::size_t>(i)];
      patterns.stack.patterns[static_cast<std::size_t>(head.layer)][static_cast<std::size_t>(head.head)] =
          weights_before_mask(open, masked, head);
    });
    if (progress.stop) return cancelled(where, "nothing was opened");
  }
  auto model = std::make_shared<Model>(*TRY(pattern_model(where, std::move(found), result.warnings)));
  model->given->summed_up = std::move(page.summed_up);
  result.model = std::move(model);
  return result;
}

}  // namespace headlight
