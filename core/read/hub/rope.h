// Rotary frequencies as config.json describes them: plain, or stretched for longer texts than a model was trained on.
#pragma once

#include <optional>

#include "read/hub/config_file.h"
#include "read/hub/config_keys.h"

namespace headlight {

/// Reads rope_theta and rope_scaling (or rope_parameters) into hub.rotary, and hub.longest where the frequencies would
/// depend on the length of the text. Kinds: default; linear, all frequencies divided (Chen et al. 2023); dynamic, which
/// changes nothing up to the trained length; llama3, the low ones divided (Llama 3.1); yarn (Peng et al. 2023).
/// hub.config must be there. What a file means that says neither is `unsaid_theta` and `unsaid_share`: the share of a
/// head's columns that are rotated, the first ones; all columns in families without one.
void read_rope(Keyed& keyed, HubConfig& hub, double unsaid_theta = 10000, std::optional<double> unsaid_share = {});

/// theta^(−2i / columns) for each pair of so many columns, unscaled.
Rotary plain_rotary(Index columns, double theta, bool interleaved = false);

/// The base of the frequencies under this key.
double read_theta(Keyed& keyed, const char* key, double unsaid);

}  // namespace headlight
