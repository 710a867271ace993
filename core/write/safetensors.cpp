#include "write/safetensors.h"

#include <cstdint>
#include <string>

#include "write/json.h"

namespace headlight {
namespace {

constexpr std::size_t kAlignment = 8;

std::string json_sizes(const std::vector<Index>& shape) {
  std::string list = "[";
  for (const Index size : shape) list += (list.size() > 1 ? "," : "") + std::to_string(size);
  return list + "]";
}

/// The length of the header and the header, padded with spaces so that the data is aligned.
std::string header_of(const std::string& metadata, const std::vector<ArrayStream>& arrays) {
  std::string header = "{\"__metadata__\":{" + metadata + "}";
  std::size_t at = 0;
  for (const auto& array : arrays) {
    const std::size_t end = at + array.num_elements() * sizeof(float);
    header += "," + json_string(array.name) + ":{\"dtype\":\"F32\",\"shape\":" + json_sizes(array.shape) +
              ",\"data_offsets\":[" + std::to_string(at) + "," + std::to_string(end) + "]}";
    at = end;
  }
  header += "}";
  header.append((kAlignment - header.size() % kAlignment) % kAlignment, ' ');
  std::string length;
  for (std::size_t byte = 0; byte < kAlignment; ++byte)
    length += static_cast<char>(static_cast<std::uint64_t>(header.size()) >> (8 * byte) & 0xFF);
  return length + header;
}

}  // namespace

Status write_safetensors(const std::vector<std::shared_ptr<const Trace>>& traces, const ExportOptions& options,
                         Output& output, Progress& progress) {
  std::string metadata = "\"format\":\"headlight.attention/1\"";
  for (std::size_t i = 0; i < traces.size(); ++i) {
    const std::string prefix = traces.size() > 1 ? std::to_string(i) + "." : std::string();
    for (const NamedTokens& named : named_tokens(*traces[i]))
      metadata += "," + json_string(prefix + named.name) + ":" + json_string(json_texts(*named.tokens));
  }
  const auto arrays = all_arrays(traces, options);
  Work work(progress, num_elements(arrays));
  output.write(header_of(metadata, arrays));
  for (const auto& array : arrays) {
    ArrayReader reader(array, work);
    while (!reader.at_end()) {
      const auto piece = reader.next();
      if (!piece) return piece.error();
      output.write(bytes_of(*piece));
      if (output.failed()) return output.commit();
    }
  }
  return Done{};
}

}  // namespace headlight
