// The weights by which a head's values reach its output, from the thumbnails: the patterns of sentences of up to
// kThumbnail tokens, after mask, dropout and edits by hand. A head that is off passes on nothing, or at every query the
// mean of its z over all queries (Edits::off_as), that is the values weighted by the mean of its rows.
#pragma once

#include <string_view>

#include "model/trace.h"

namespace headlight {

/// Why a map that is derived from the weights cannot be computed.
enum class MapUnavailable {
  no_values,      // weights that another program computed, without the values that they weigh
  two_sequences,  // queries and keys are different words, so the layers do not follow one another
  too_long,       // more than kThumbnail tokens: the patterns are not stored
};

/// In a few words, for messages.
std::string_view name(MapUnavailable why);

/// Whether the patterns of an attention are longer than the thumbnails.
bool is_too_long(const Trace& trace, Stack stack);

/// (T, S), −1 where blocked: the head's weights, or what stands in for them while it is off.
Matrix effective_weights(const Trace& trace, const HeadRef& head);

}  // namespace headlight
