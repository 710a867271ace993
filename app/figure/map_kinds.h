// The kinds of maps in words: what a square is, and its source. The window and the figures use the same words.
#pragma once

#include <string>

#include "derived/derived_maps.h"
#include "figure/figure.h"

namespace headlight {

/// weight, norm, rollout: what the number of a cell is called.
const char* number_title(Language language, MapKind kind);

/// The meaning of a cell of such a map, in one line with its source.
const char* kind_line(Language language, MapKind kind);

/// How its number is made, beside that line.
const char* kind_formula(Language language, MapKind kind);

/// The line as short as a caption has it; empty for weights.
const char* kind_caption(Language language, MapKind kind);

/// Why maps of this kind cannot be shown, in one line.
std::string why_not_line(Language language, MapKind kind, MapUnavailable why);

/// The colours of such maps: from 0 to a round number not far above the largest of them all; of numbers below 0 as far
/// on both sides.
ColourScale other_scale(const DerivedMaps& maps, Theme theme, Scale scale);

/// Blocks of tokens (Reduction::tokens) by their names in this language.
std::vector<Token> blocks_in(Language language, std::vector<Token> blocks);

/// What each cell of such maps sums up, as captions say it: of which heads, blocks of tokens, sentences, and what is
/// left out.
std::string reduction_caption(Language language, const ReducedMaps& maps);

/// That of DerivedMaps::shades.
ColourScale head_scale(Theme theme);
/// The heads with a colour, in the order of their colours, by the names that a legend has: `H3`, `L1·H3`; behind them,
/// where there are others, the word for these.
std::vector<std::string> coloured_head_names(Language language, const DerivedMaps& maps, Stack stack);

/// What stands above a map that is no single head's: `Layer 2` where each layer has one, `H3` where each head; else
/// empty.
std::string summed_title(Language language, const DerivedMaps* maps, const HeadRef& head);
/// The same of maps that are summed up in this way: what stands above that of a head, also where it is a head's.
std::string summed_title(Language language, const Reduction& by, const HeadRef& head);

/// The maps that a figure draws of a stack instead of its weights; null: the weights.
const DerivedMaps* other_maps_of(const FigureSubject& subject, Stack stack);
MapKind kind_of(const FigureSubject& subject, Stack stack);

/// The colour scale of what a figure draws of a stack.
ColourScale map_scale(const FigureSubject& subject, const FigureOptions& options);

/// The same up to a round number above the largest of these weights, where each map has a separate range.
ColourScale own_scale(ColourScale scale, const Matrix& weights, const FigureOptions& options);

/// The layers that a figure shows.
std::vector<Index> layers_of(const FigureSubject& subject, const FigureOptions& options);
/// All maps of these layers, layer by layer.
std::vector<HeadRef> maps_of_layers(const FigureSubject& subject, const FigureOptions& options);

}  // namespace headlight
