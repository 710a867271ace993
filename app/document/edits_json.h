// Masks and edits as JSON, in sessions and in the `request` of an export.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "model/edits.h"

namespace headlight {

nlohmann::json mask_json(const MaskSpec& mask);
Status read_mask_json(const std::string& where, const nlohmann::json& object, MaskSpec& mask);

/// Adds the fields of those edits that were made: scale, off, off_as, weights, layer_edits, dropout, dropout_seed.
void write_edits(const Edits& edits, nlohmann::json& object);
Status read_edits(const std::string& where, const nlohmann::json& object, Edits& edits);

}  // namespace headlight
