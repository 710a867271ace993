// A short text by which it is seen that a model has other weights than it had.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/weights.h"

namespace headlight {

/// A hash of the model's numbers as 16 hexadecimal digits: of every matrix at most eight rows, evenly spread from the
/// first to the last, and all biases and norms of the blocks. Equal models have the same one, in whichever form their
/// weights are stored; a training step changes it, a single number that was edited perhaps not.
std::string fingerprint(const Model& model);

/// A hash of all of the model's numbers and settings, read on up to `threads` threads (0: one for each processor):
/// models with the same one answer alike, whatever they are called, wherever they lie and however they are stored.
std::string identity(const Model& model, int threads = 0);

/// A hash of many bytes, 16 at a time: what hash_text takes ten times as long for. In the machine's order of bytes.
std::uint64_t hash_bytes(std::string_view bytes);

}  // namespace headlight
