#include "model/edits.h"

#include <algorithm>
#include <tuple>

#include "base/names.h"

namespace headlight {
namespace {

constexpr std::string_view kPartNames[] = {"residual", "norm", "scale", "ffn"};  // of BlockPart, in its order

bool weight_before(const WeightEdit& a, const WeightEdit& b) {
  return std::tie(a.head, a.cell) < std::tie(b.head, b.cell);
}

bool layer_before(const LayerEdit& a, const LayerEdit& b) {
  return std::tie(a.stack, a.layer) < std::tie(b.stack, b.layer);
}

bool same_target(const WeightEdit& a, const WeightEdit& b) { return a.head == b.head && a.cell == b.cell; }
bool same_target(const LayerEdit& a, const LayerEdit& b) { return a.stack == b.stack && a.layer == b.layer; }

/// The entry of the same cell or layer in an ordered list, constant where the list is; null where there is none.
template <class Edits, class Edit, class Before>
auto* find(Edits& edits, const Edit& wanted, const Before& before) {
  const auto at = std::lower_bound(edits.begin(), edits.end(), wanted, before);
  return at != edits.end() && same_target(*at, wanted) ? &*at : nullptr;
}

/// Replaces an entry, inserts it in order, or removes it where `keep` is false.
template <class Edit, class Before>
void put(std::vector<Edit>& edits, Edit edit, bool keep, const Before& before) {
  Edit* at = find(edits, edit, before);
  if (at && keep) *at = std::move(edit);
  else if (at) edits.erase(edits.begin() + (at - edits.data()));
  else if (keep) edits.insert(std::lower_bound(edits.begin(), edits.end(), edit, before), std::move(edit));
}

}  // namespace

bool is_off(const Edits& edits, const HeadRef& head) {
  return std::binary_search(edits.off.begin(), edits.off.end(), head);
}

void switch_off(Edits& edits, const HeadRef& head, bool off) {
  const auto at = std::lower_bound(edits.off.begin(), edits.off.end(), head);
  const bool is = at != edits.off.end() && *at == head;
  if (off && !is) edits.off.insert(at, head);
  if (!off && is) edits.off.erase(at);
}

const WeightEdit* edited_weight(const Edits& edits, const HeadRef& head, const CellRef& cell) {
  return find(edits.weights, WeightEdit{.head = head, .cell = cell}, weight_before);
}

bool is_row_edited(const Edits& edits, const HeadRef& head, Index query) {
  return std::ranges::any_of(edits.weights,
                             [&](const WeightEdit& edit) { return edit.head == head && edit.cell.query == query; });
}

void set_weight(Edits& edits, const HeadRef& head, const CellRef& cell, std::optional<float> weight) {
  put(edits.weights, WeightEdit{head, cell, weight.value_or(0.0f)}, weight.has_value(), weight_before);
}

const LayerEdit* layer_edit(const Edits& edits, Stack stack, Index layer) {
  return find(edits.layers, LayerEdit{.stack = stack, .layer = layer}, layer_before);
}

void set_layer_edit(Edits& edits, LayerEdit edit) {
  const bool keep = edit.scale || edit.mask || edit.parts.any();
  put(edits.layers, std::move(edit), keep, layer_before);
}

LayerEdit layer_edit_or_none(const Edits& edits, Stack stack, Index layer) {
  const LayerEdit* edit = layer_edit(edits, stack, layer);
  return edit ? *edit : LayerEdit{.stack = stack, .layer = layer};
}

std::string_view name(BlockPart part) { return name_in(kPartNames, part); }
std::optional<BlockPart> parse_part(std::string_view text) { return value_named<BlockPart>(kPartNames, text); }

bool PartsOff::*field_of(BlockPart part) {
  constexpr bool PartsOff::*kFields[] = {&PartsOff::residual, &PartsOff::norm, nullptr, &PartsOff::ffn};
  return kFields[static_cast<std::size_t>(part)];
}

PartsOff parts_off(const Edits& edits, Stack stack, Index layer) {
  const LayerEdit* edit = layer_edit(edits, stack == Stack::cross ? Stack::self : stack, layer);
  return edit ? edit->parts : PartsOff{};
}

bool is_off(const Edits& edits, Stack stack, Index layer, BlockPart part) {
  if (const auto field = field_of(part)) return parts_off(edits, stack, layer).*field;
  const LayerEdit* edit = layer_edit(edits, stack, layer);
  return edit && edit->scale == 1.0f;
}

void switch_off(Edits& edits, Stack stack, Index layer, BlockPart part, bool off) {
  const auto field = field_of(part);
  LayerEdit edit = layer_edit_or_none(edits, field && stack == Stack::cross ? Stack::self : stack, layer);
  if (field) edit.parts.*field = off;
  else edit.scale = off ? std::optional(1.0f) : std::nullopt;
  set_layer_edit(edits, std::move(edit));
}

}  // namespace headlight
