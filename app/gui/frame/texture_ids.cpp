#include "gui/frame/texture_ids.h"

#include "derived/derived_maps.h"
#include "session/shown.h"

namespace headlight {
namespace {

/// The highest two bits are the kind of map, the others what each kind needs to distinguish its contents.
enum class MapFamily : std::uint64_t { small, inside, large, compared };
constexpr std::uint64_t in(MapFamily family, std::uint64_t rest) {
  return static_cast<std::uint64_t>(family) << 62 | rest;
}

/// A head's index among those of all stacks: 18 bits.
std::uint64_t head_number(const HeadRef& head, Index heads) {
  return static_cast<std::uint64_t>(head.stack) << 16 | static_cast<std::uint64_t>(head.layer * heads + head.head);
}

/// The folds: 7 bits.
std::uint64_t folds_of(const AppState& state, Stack stack) {
  const FoldedStack* folded = shown_fold(state, stack);
  if (!folded) return 0;
  const FoldChoice& done = folded->fold.done;
  return static_cast<std::uint64_t>(done.pair) | (done.special ? 8u : 0u) | (done.words ? 16u : 0u);
}

/// Of an answer, counted in 35 bits: its folds, its kind of maps, the head.
std::uint64_t map_of_answer(const AppState& state, const HeadRef& head) {
  const auto kind = static_cast<std::uint64_t>(shown_kind(state, head.stack));
  return folds_of(state, head.stack) << 55 | kind << 53 | state.trace.version() << 18 |
         head_number(head, state.trace->num_heads(head.stack));
}

// Beside the folded maps, whose folds take fewer bits.
constexpr std::uint64_t kLargeDetail = std::uint64_t{1} << 61, kWriters = std::uint64_t{1} << 60,
                        kLens = kWriters | std::uint64_t{1} << 59, kPatch = kWriters | std::uint64_t{1} << 58,
                        kShades = kWriters | std::uint64_t{1} << 57, kGrids = std::uint64_t{1} << 61;
// Of MapFamily::compared, above the 18 bits of a head or a map.
constexpr std::uint64_t kOfTool = std::uint64_t{1} << 18, kOfPreview = std::uint64_t{2} << 18,
                        kOfSide = std::uint64_t{3} << 18;

}  // namespace

std::uint64_t thumbnail_version(const AppState& state, HeadRef head) {
  return in(MapFamily::small, map_of_answer(state, head));
}

std::uint64_t shades_version(const AppState& state) { return in(MapFamily::large, kShades | state.shades.version()); }

std::uint64_t grid_version(const AppState& state, HeadRef head) {
  return in(MapFamily::small, kGrids | state.grids.version() << 18 | head_number(head, state.trace->num_heads()));
}

std::uint64_t folded_version(const AppState& state, HeadRef head) {
  const bool same_as_small = shown_fold(state, head.stack)->small.empty();
  return in(same_as_small ? MapFamily::small : MapFamily::large, map_of_answer(state, head));
}

std::uint64_t detail_version(const AppState& state) {
  return in(MapFamily::large, kLargeDetail | state.detail.version());
}

std::uint64_t inside_picture_version(const AppState& state, std::size_t node) {
  return in(MapFamily::inside, state.inside.version() << 10 | (node + 1));
}

std::uint64_t inside_matrix_version(const AppState& state) {
  return in(MapFamily::inside, state.inside.version() << 10);
}

std::uint64_t writers_version(const AppState& state) {
  return in(MapFamily::large, kWriters | state.writers.version());
}

std::uint64_t patch_version(const AppState& state) { return in(MapFamily::large, kPatch | state.patch.version()); }

std::uint64_t lens_version(const AppState& state) { return in(MapFamily::large, kLens | state.lens.version()); }

std::uint64_t joint_version(const AppState& state, const HeadRef& head) {
  return in(MapFamily::compared, state.comparison.version() << 20 | head_number(head, kMaxHeads));
}

std::uint64_t joint_version(const AppState& state, std::size_t side) {
  return in(MapFamily::compared, state.comparison.version() << 20 | kOfSide | side);
}

std::uint64_t preview_version(const AppState& state, std::size_t map) {
  return in(MapFamily::compared, state.preview.version() << 20 | kOfPreview | map);
}

std::uint64_t tool_version(std::uint64_t version, std::size_t map) {
  return in(MapFamily::compared, version << 20 | kOfTool | map);
}

}  // namespace headlight
