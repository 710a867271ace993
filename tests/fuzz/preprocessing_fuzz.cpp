// A preprocessor_config.json of any bytes gives finite numbers of the size that it states, or one line.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "fuzz/require.h"
#include "fuzz/target.h"
#include "read/json/json_document.h"
#include "read/picture/preprocessing.h"

using namespace headlight;

HEADLIGHT_FUZZ_TARGET(preprocessing) {
  const auto document = parse_python_json("fuzz", {reinterpret_cast<const char*>(data), size});
  if (!document) return;
  const auto preprocessing = read_preprocessing("fuzz", *document);
  if (!preprocessing) return require_line(preprocessing.error().message());
  // What a large size costs is known; a fuzzer is not to find it.
  const Index most = std::max({preprocessing->width(), preprocessing->height(), preprocessing->shortest_edge});
  if (most > 100 || (preprocessing->size && std::max(preprocessing->size->width, preprocessing->size->height) > 100))
    return;
  const auto seen = seen_by(*preprocessing, {3, 2, std::vector<std::uint8_t>(18, 100)});
  if (!seen) return require_line(seen.error().message());
  require(seen->picture.width == preprocessing->width() && seen->picture.height == preprocessing->height());
  require(seen->values.size() == seen->picture.pixels.size() && !seen->done.empty());
  for (const float value : seen->values) require(std::isfinite(value));
}
