// Mask files: the first byte says whether the rest is taken for NumPy or for JSON. What comes out can be added to
// scores: nothing but finite numbers and -inf.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "fuzz/target.h"
#include "model/batch_mask.h"
#include "read/array/npy.h"
#include "read/external/mask_file.h"

namespace {

/// What it adds to each score.
headlight::Result<headlight::Matrix> mask_from(std::string_view bytes) {
  const bool json = bytes.front() % 2 == 0;
  bytes.remove_prefix(1);
  if (json) {
    const auto mask = headlight::parse_json_mask("fuzz", bytes);
    if (!mask) return mask.error();
    if (!mask->batch) return *mask->given;
    const headlight::BatchMask& batch = *mask->batch;
    const auto count = static_cast<headlight::Index>(batch.addends.size());
    if (batch.shape[0] * batch.heads * batch.shape[1] * batch.shape[2] != count) std::abort();
    return headlight::Matrix(Eigen::Map<const headlight::Matrix>(batch.addends.data(), 1, count));
  }
  const auto array = headlight::parse_npy("fuzz", bytes);
  if (!array) return array.error();
  std::vector<headlight::Error> notes;
  return headlight::additive_mask("fuzz", "mask", *array, notes);
}

}  // namespace

HEADLIGHT_FUZZ_TARGET(mask) {
  if (size == 0) return;
  const auto mask = mask_from({reinterpret_cast<const char*>(data), size});
  if (!mask) {
    if (mask.error().message().find('\n') != std::string::npos) std::abort();
    return;
  }
  if (mask->size() == 0 || !(mask->array() <= std::numeric_limits<float>::max()).all()) std::abort();
}
