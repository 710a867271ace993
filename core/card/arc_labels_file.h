// The labels of arcs beside a model: arcs.safetensors, and the precisions in its card.
#pragma once

#include <array>
#include <string_view>

#include "base/result.h"
#include "heads/arc_labels.h"

namespace headlight {

class JsonField;

inline constexpr const char* kArcLabelsFile = "arcs.safetensors";

/// `en.weights` (relations + 1, features), `en.calibration` (relations, 3), `en.order` (1, features of a sentence),
/// which old files lack, `zh.…` alike, in float16; metadata: `format`, `heads`, `relations` with commas between them,
/// `en.least`, `zh.least`.
inline constexpr std::string_view kArcLabelsFormat = "headlight.arcs/1";
inline constexpr std::array kLabelledLanguages{ArcLanguage::english, ArcLanguage::chinese};
inline const char* name_of(ArcLanguage language) { return kArcLanguages[static_cast<std::size_t>(language)]; }

/// Without precisions. Errors: those of the file; a format, heads, relations or numbers that no labels have.
Result<ArcLabels> parse_arc_labels(std::string_view where, std::string_view bytes);

/// [{"head": "2.0", "relation": "det", "language": "en", "named": 880, "right": 790}, …]
std::vector<ArcPrecision> precisions_from(const JsonField& field);

}  // namespace headlight
