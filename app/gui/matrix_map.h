// Any matrix of an explanation as a map: colours on both sides of zero where it has both, its numbers where they fit.
#pragma once

#include <string>

#include "figure/map_layout.h"
#include "gui/gui.h"
#include "session/inside.h"

namespace headlight {

/// The colours of a picture's numbers: from 0, or on both sides of it, to a round number above its largest.
ColourScale picture_scale(const AppState& state, const Picture& picture, bool is_signed);

/// Fills `box` with the picture, its outline around it.
void draw_picture(Gui& gui, ImDrawList& list, const Picture& picture, std::uint64_t version, const Box& box,
                  bool is_signed);

/// Names for the pictures of the Inside view: of a node, and of the matrix that is looked at.
std::uint64_t inside_picture_version(const AppState& state, std::size_t node);
std::uint64_t inside_matrix_version(const AppState& state);

/// A number with as many digits as tell it from its neighbours, at most six.
std::string brief_number(float value);
/// A number that reads back to the same float: as exports have it.
std::string exact_number(float value);
/// The numbers of a matrix in one line: all of them where they are few, else the first and how many there are.
std::string numbers_in_brief(const Matrix& values);

}  // namespace headlight
