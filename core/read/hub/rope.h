// Rotary frequencies as config.json describes them: plain, or stretched for longer texts than a model was trained on.
#pragma once

#include "read/hub/config_file.h"
#include "read/hub/config_keys.h"

namespace headlight {

/// Reads rope_theta and rope_scaling (or rope_parameters) into hub.rotary, and hub.longest where the frequencies would
/// depend on the length of the text. Kinds: default; linear, all frequencies divided (Chen et al. 2023); dynamic, which
/// changes nothing up to the trained length; llama3, the low ones divided (Llama 3.1); yarn (Peng et al. 2023).
/// hub.config must be there.
void read_rope(Keyed& keyed, HubConfig& hub);

}  // namespace headlight
