// Names for the contents of maps (MapPainter::draw, `version`): the same number is the same matrix. All of them are
// made here, so that no two kinds of maps can share a number.
#pragma once

#include <cstddef>
#include <cstdint>

#include "session/state.h"

namespace headlight {

/// A head's thumbnail, small folded map, or map of another kind than weights.
std::uint64_t thumbnail_version(const AppState& state, HeadRef head);
/// The weights over the large picture.
std::uint64_t shades_version(const AppState& state);
/// A head's squares over a picture.
std::uint64_t grid_version(const AppState& state, HeadRef head);
/// The whole of a head's folded map, which must be shown.
std::uint64_t folded_version(const AppState& state, HeadRef head);
/// The weights of the enlarged head, at full size.
std::uint64_t detail_version(const AppState& state);

/// The Inside view: the picture of a node of the diagram or of a step, and the matrix that is looked at.
std::uint64_t inside_picture_version(const AppState& state, std::size_t node);
std::uint64_t inside_matrix_version(const AppState& state);

/// What wrote the score of a cell.
std::uint64_t writers_version(const AppState& state);
/// The map of what comes back.
std::uint64_t patch_version(const AppState& state);
/// The guess after each layer.
std::uint64_t lens_version(const AppState& state);

/// Compare: the small difference of a head, and a side of the chosen head.
std::uint64_t joint_version(const AppState& state, const HeadRef& head);
std::uint64_t joint_version(const AppState& state, std::size_t side);

/// A map of the figure that the browser would write, by its number in the drawing.
std::uint64_t preview_version(const AppState& state, std::size_t map);
/// The n-th map of what a tool shows, whose contents it counts.
std::uint64_t tool_version(std::uint64_t version, std::size_t map);

}  // namespace headlight
