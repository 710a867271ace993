// The attention in the data of a page (docs/page.md), from the page's numbers alone: what is left of an answer where
// its model is not there, and what a check compares with the model's.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/progress.h"
#include "base/result.h"
#include "model/trace.h"

namespace headlight {

struct PageStack {
  Tokens query_tokens, key_tokens;
  /// With query and key, value where the page has it, scale, soft cap, sinks and terms of distances; or with patterns,
  /// which point into those below and may have NaN. Results are empty; of heads that the page does not have all numbers
  /// are 0.
  std::vector<AttentionTrace> layers;
  std::vector<Index> windows;                 // [layer] of the layer itself; 0: none
  std::vector<std::vector<Matrix>> patterns;  // [layer][head] (T, S) of attention that another program computed
  std::vector<HeadRef> heads;                 // those that the page has
};

struct PageAttention {
  std::map<Stack, PageStack> stacks;  // at least one
  std::map<Stack, MaskSpec> masks;    // of each of them, as asked for
  Edits edits;                        // heads that are off, weights by hand, dropout, masks of single layers
  std::optional<SummedUp> summed_up = {};
  float error = 0;  // the stated largest difference of a weight from float32
};

/// The fields of a stack with its numbers, which are packed a layer at a time.
inline constexpr const char* kPageNumberFields[] = {"q", "k", "v", "weights"};
/// The first head that is of another layer than `head`.
inline auto end_of_layer(std::vector<HeadRef>::const_iterator head, const std::vector<HeadRef>& heads) {
  return std::find_if(head, heads.end(), [layer = head->layer](const HeadRef& one) { return one.layer != layer; });
}

/// Where the numbers of a page stand beside its data, as bytes: those of a field of the stack with this number; nothing
/// where there are none.
using PageNumbers = std::function<std::optional<std::string_view>(Index stack, std::string_view field)>;

/// The tokens and the numbers of `answer`, the object that has `tokens` and `stacks`: without masks and edits, which
/// have a session's spelling (page_of_answer of document/question_fields.h adds them). The numbers of heads are those
/// of its fields, or `beside` it. Errors name `where` and the field.
Result<PageAttention> page_attention(const std::string& where, const nlohmann::json& answer,
                                     const PageNumbers& beside = {});

/// A page as a model of weights alone (read/external/patterns.h), and the changes that act on them.
struct PageModel {
  std::shared_ptr<const Model> model;
  std::map<Stack, MaskSpec> masks;
  Edits edits;
  std::vector<Error> warnings;
};

/// The weights of q and k before any mask, so that another mask acts on them as it does in the page. A row in which the
/// visible keys have less than 1e-6 of that has its weights under the page's mask, which each layer must then have. The
/// only attention of a page is `self`, whatever it was. Errors: more than 2²⁸ weights; numbers that overflow; stopped
/// by `progress`.
Result<PageModel> model_of_page(const std::string& where, PageAttention page, Progress& progress);

}  // namespace headlight
