#include "write/safetensors.h"

#include "base/formatted.h"
#include "write/json.h"
#include "write/reduced.h"

namespace headlight {
namespace {

constexpr std::size_t kAlignment = 8;

std::string json_sizes(const std::vector<Index>& shape) {
  return "[" + joined_texts(shape, ",", [](Index size) { return std::to_string(size); }) + "]";
}

/// The entry of one array in the header.
struct Entry {
  std::string_view name, dtype;
  const std::vector<Index>& shape;
  std::size_t bytes;
};

/// The length of the header and the header, padded with spaces so that the data is aligned.
std::string header_of(const std::string& metadata, const std::vector<Entry>& entries) {
  std::string header = "{\"__metadata__\":{" + metadata + "}";
  std::size_t at = 0;
  for (const Entry& entry : entries) {
    const std::size_t end = at + entry.bytes;
    header += "," + json_string(entry.name) + ":{\"dtype\":\"" + std::string(entry.dtype) +
              "\",\"shape\":" + json_sizes(entry.shape) + ",\"data_offsets\":[" + std::to_string(at) + "," +
              std::to_string(end) + "]}";
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
  if (options.reduce)
    for (const auto& [prefix, reduced] : TRY(reduced_sentences(traces, options))) {
      metadata += "," + json_string(prefix + "reduce") + ":" + json_string(reduction_json(reduced));
      for (const auto& [name, tokens] : reduced_tokens(reduced))
        metadata += "," + json_string(prefix + name) + ":" + json_string(json_texts(tokens));
    }
  for (std::size_t i = 0; !options.reduce && i < traces.size(); ++i) {
    const std::string prefix = traces.size() > 1 ? std::to_string(i) + "." : std::string();
    for (const NamedTokens& named : named_tokens(*traces[i]))
      metadata += "," + json_string(prefix + named.name) + ":" +
                  json_string(json_texts(exported_tokens(*named.tokens, options.special)));
  }
  const bool half = options.type == TensorType::float16;
  const auto arrays = all_arrays(traces, options);
  Work work(progress, num_elements(arrays));
  std::vector<Entry> entries;
  for (const auto& array : arrays)
    entries.push_back({array.name, half ? "F16" : "F32", array.shape, array.num_elements() * bytes_in(options.type)});
  output.write(header_of(metadata, entries));
  for (const auto& array : arrays) {
    ArrayReader reader(array, work);
    while (!reader.at_end()) {
      const std::size_t offset = reader.offset();
      const auto piece = TRY(reader.next());
      if (half) {
        const auto halves = TRY(halves_of(array, offset, piece));
        output.write(halves);
      } else {
        output.write(bytes_of(piece));
      }
      if (output.failed()) return output.commit();
    }
  }
  return Done{};
}

Status write_tensors(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors,
                     const std::map<std::string, std::string>& metadata, TensorType type) {
  auto output = TRY(Output::to_file(path));
  const std::string said = joined_texts(
      metadata, ",", [](const auto& entry) { return json_string(entry.first) + ":" + json_string(entry.second); });
  const bool half = type == TensorType::float16;
  std::vector<Entry> entries;
  for (const NamedTensor& tensor : tensors) {
    const std::size_t size = half ? sizeof(Eigen::half) : sizeof(float);
    entries.push_back({tensor.name, half ? "F16" : "F32", tensor.shape, tensor.size() * size});
  }
  output.write(header_of(said, entries));
  for (const NamedTensor& tensor : tensors) {
    const auto count = static_cast<Index>(tensor.size());
    const Eigen::Map<const Eigen::ArrayXf> values(tensor.values, count);
    if (!values.isFinite().all())
      return bad_input(path.string(), tensor.name, "finite numbers", "NaN or infinity", ErrorCode::not_finite);
    if (half) {
      const Eigen::Array<Eigen::half, Eigen::Dynamic, 1> rounded = values.cast<Eigen::half>();
      output.write({reinterpret_cast<const char*>(rounded.data()), tensor.size() * sizeof(Eigen::half)});
    } else {
      output.write({reinterpret_cast<const char*>(tensor.values), tensor.size() * sizeof(float)});
    }
  }
  return output.commit();
}

}  // namespace headlight
