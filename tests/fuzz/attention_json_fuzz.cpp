// Attention in JSON: any bytes give patterns that can be shown, or one line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fuzz/target.h"
#include "read/external/tensors_file.h"

HEADLIGHT_FUZZ_TARGET(attention_json) {
  const auto file = headlight::parse_attention_json("fuzz", {reinterpret_cast<const char*>(data), size});
  if (!file) {
    if (file.error().message().find('\n') != std::string::npos) std::abort();
    return;
  }
  if (!headlight::check(file->model->config)) std::abort();
  for (const auto& [stack, given] : file->model->given->stacks) {
    for (const auto& heads : given.patterns) {
      if (heads.size() != given.patterns.front().size()) std::abort();
      for (const auto& pattern : heads) {
        if (pattern.rows() != static_cast<headlight::Index>(given.query_tokens.size())) std::abort();
        if (pattern.cols() != static_cast<headlight::Index>(given.key_tokens.size())) std::abort();
        if (pattern.array().isInf().any()) std::abort();  // NaN and numbers below 0 are shown as what they are
      }
    }
  }
}
