// Training programs put a prefix before the tensor names of the model that they train: `module.`, `_orig_mod.` …; so do
// models that read pictures too, before those of their text: `language_model.`
#pragma once

#include "read/array/stored_array.h"
#include "read/hub/config_file.h"

namespace headlight {

/// The arrays under the names of the family: a known prefix before the table of token vectors is dropped from every name
/// that begins with it.
StoredArrays unwrapped(StoredArrays stored, const HubConfig& hub);

}  // namespace headlight
