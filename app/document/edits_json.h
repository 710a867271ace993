// Masks and edits as JSON, in sessions and in the `request` of an export.
#pragma once

#include <nlohmann/json.hpp>

#include "model/edits.h"
#include "read/json/json_fields.h"

namespace headlight {

nlohmann::json mask_json(const MaskSpec& mask);
MaskSpec mask_from_json(const JsonField& object);

/// Adds the fields of those edits that were made: scale, off, off_as, weights, layer_edits, dropout, dropout_seed.
void write_edits(const Edits& edits, nlohmann::json& object);
void read_edits(const JsonField& object, Edits& edits);

}  // namespace headlight
