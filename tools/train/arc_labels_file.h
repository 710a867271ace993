// The labels of arcs beside a model: arcs.safetensors, and the precisions in its card.
#pragma once

#include <filesystem>
#include <string_view>

#include "heads/arc_labels.h"
#include "read/json/json_fields.h"

namespace headlight {

inline constexpr const char* kArcLabelsFile = "arcs.safetensors";

/// `en.weights` (relations + 1, features), `en.calibration` (relations, 3), `en.order` (1, features of a sentence),
/// which old files lack, `zh.…` alike, in float16; metadata: `format`, `heads`, `relations` with commas between them,
/// `en.least`, `zh.least`.
Status write_arc_labels(const std::filesystem::path& path, const ArcLabels& labels);

/// Without precisions. Errors: those of the file; a format, heads, relations or numbers that no labels have.
Result<ArcLabels> parse_arc_labels(std::string_view where, std::string_view bytes);

/// [{"head": "2.0", "relation": "det", "language": "en", "named": 880, "right": 790}, …]
nlohmann::ordered_json precisions_json(const std::vector<ArcPrecision>& precisions);
std::vector<ArcPrecision> precisions_from(const JsonField& field);

}  // namespace headlight
