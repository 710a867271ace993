#include "read/array/quantized.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "read/array/quantized_levels.h"
#include "read/json/json_document.h"
#include "read/json/json_fields.h"

namespace headlight {
namespace {

using namespace quantized;
using Method = Quantization::Method;

/// Products of such a scale and a level are finite, too.
constexpr float kLargestScale = 1e35f;

/// The tensors of a file while weights are made of them.
class QuantizedParts {
 public:
  QuantizedParts(StoredArrays& stored, const Quantization& how, bool shapes_alone)
      : stored_(stored), how_(how), shapes_alone_(shapes_alone) {}

  Status gptq(const std::string& stem) {
    const auto weight = TRY(words(stem + ".qweight"));
    const auto scales = TRY(part(stem + ".scales", 2));
    const auto zeros = TRY(words(stem + ".qzeros"));
    const Index rows = weight->shape[1], groups = scales->shape[0];
    TRY(has_shape(stem + ".scales", {groups, rows}));
    const int bits = bits_of(zeros->shape[1], rows);
    if (bits == 0) return bad_bits(*zeros, stem + ".qzeros", rows);
    TRY(has_shape(stem + ".qzeros", {groups, rows * bits / 32}));
    const Index cols = weight->shape[0] * 32 / bits;
    const std::vector<Index> group_of = TRY(groups_of_inputs(stem, cols, *scales));
    return take(stem, {"qweight", "qzeros", "scales", "g_idx"}, *weight, {rows, cols}, [&]() -> Result<StoredArray> {
      bool even = true;
      for (std::size_t i = 0; i < group_of.size(); ++i)
        even = even && group_of[i] == group_of[i / kTogether * kTogether];
      auto factors = TRY(finite(stem + ".scales"));
      const GptqLevels levels{*weight, *zeros, std::move(factors), group_of, rows, bits, how_.zeros_less_one};
      return array_of_source(weight->where, rows, cols, even, Grouped<GptqLevels>{levels, bits});
    });
  }

  Status awq(const std::string& stem) {
    const auto weight = TRY(words(stem + ".qweight"));
    const auto zeros = TRY(words(stem + ".qzeros"));
    const auto scales = TRY(part(stem + ".scales", 2));
    const Index cols = weight->shape[0], rows = weight->shape[1] * 8, groups = scales->shape[0];
    TRY(has_shape(stem + ".scales", {groups, rows}));
    TRY(has_shape(stem + ".qzeros", {groups, rows / 8}));
    if (groups == 0 || cols % groups != 0) return bad_groups(*scales, stem + ".scales", cols);
    return take(stem, {"qweight", "qzeros", "scales"}, *weight, {rows, cols}, [&]() -> Result<StoredArray> {
      auto factors = TRY(finite(stem + ".scales"));
      const AwqLevels levels{*weight, *zeros, std::move(factors), rows, cols / groups};
      return array_of_source(weight->where, rows, cols, levels.group_size % kTogether == 0,
                             Grouped<AwqLevels>{levels, 4});
    });
  }

  Status mlx(const std::string& stem) {
    const auto weight = TRY(words(stem + ".weight"));
    const auto scales = TRY(part(stem + ".scales", 2));
    const Index rows = weight->shape[0], groups = scales->shape[1], cols = groups * how_.group_size;
    TRY(has_shape(stem + ".scales", {rows, groups}));
    TRY(has_shape(stem + ".biases", {rows, groups}));
    const int bits = bits_of(weight->shape[1], cols);
    if (bits == 0) return bad_bits(*weight, stem + ".weight", cols);
    return take(stem, {"weight", "scales", "biases"}, *weight, {rows, cols}, [&]() -> Result<StoredArray> {
      auto factors = TRY(finite(stem + ".scales"));
      auto leasts = TRY(finite(stem + ".biases"));
      const MlxLevels levels{*weight, std::move(factors), std::move(leasts), cols, how_.group_size, bits};
      return array_of_source(weight->where, rows, cols, how_.group_size % kTogether == 0,
                             Grouped<MlxLevels>{levels, bits});
    });
  }

  Status int8(const std::string& stem) {
    const auto weight = TRY(part(stem + ".weight", 2, {Dtype::i8}));
    TRY(has_shape(stem + ".SCB", {weight->shape[0]}));
    const Index rows = weight->shape[0], cols = weight->shape[1];
    return take(stem, {"weight", "SCB", "weight_format"}, *weight, {rows, cols}, [&]() -> Result<StoredArray> {
      auto factors = TRY(finite(stem + ".SCB"));
      const Scaled scaled{*weight, std::move(factors), Dtype::int8, cols, 1, cols};
      return array_of_source(weight->where, rows, cols, true, scaled);
    });
  }

  Status float8(const std::string& stem) {
    const auto weight = TRY(part(stem + ".weight", 2, {Dtype::f8}));
    const Index rows = weight->shape[0], cols = weight->shape[1];
    const auto tiles = [](Index size, Index tile) { return (size + tile - 1) / tile; };
    TRY(has_shape(stem + ".weight_scale_inv", {tiles(rows, how_.scale_rows), tiles(cols, how_.scale_cols)}));
    return take(stem, {"weight", "weight_scale_inv"}, *weight, {rows, cols}, [&]() -> Result<StoredArray> {
      auto factors = TRY(finite(stem + ".weight_scale_inv"));
      const Scaled scaled{*weight, std::move(factors), Dtype::float8, cols, how_.scale_rows, how_.scale_cols};
      if (std::ranges::any_of(weight->bytes, [](char byte) { return (byte & 0x7F) == 0x7F; }))
        return bad_input(weight->where, printable(stem) + ".weight", "finite numbers", "one that is not");
      return array_of_source(weight->where, rows, cols, how_.scale_cols % kTogether == 0, scaled);
    });
  }

  /// `state` is the ending behind `.weight.` of the tensor that describes the others.
  Status levels4(const std::string& stem, const std::string& state) {
    const std::string name = stem + ".weight";
    const auto packed = TRY(find(name));
    const auto described = TRY(find(name + "." + state));
    const auto text = parse_json(described->where, described->bytes);
    if (!text) return text.error();
    JsonProblems problems{.where = described->where};
    const JsonField field(*text, printable(name), problems);
    const Index block_size = field.integer("blocksize", kTogether, 1 << 20);
    std::vector<Index> shape;
    for (const JsonField& one : field.at("shape").items()) shape.push_back(one.integer(1, 1 << 24));
    const bool nested = field.has("nested_blocksize");
    const Index nested_size = nested ? field.integer("nested_blocksize", 1, 1 << 20) : 1;
    const float offset = nested ? static_cast<float>(field.number("nested_offset")) : 0;
    if (problems.first) return *problems.first;
    const bool nf4 = state.ends_with("nf4");
    if (shape.size() != 2 || packed->dtype != Dtype::u8 ||
        packed->bytes.size() != static_cast<std::size_t>((shape[0] * shape[1] + 1) / 2) || block_size % kTogether != 0)
      return bad_input(packed->where, printable(name), "two numbers a byte of a matrix, in blocks of a multiple of 32",
                       shape_text(packed->shape) + " bytes for " + shape_text(shape));
    const auto make = [&]() -> Result<StoredArray> {
      TRY(has_levels(name + ".quant_map", nf4 ? kNf4Levels : kFp4Levels));
      auto scales = TRY(finite(name + ".absmax"));
      if (nested) {
        const auto map = TRY(finite(name + ".nested_quant_map")), outer = TRY(finite(name + ".nested_absmax"));
        if (map.size() != 256 || outer.size() * static_cast<std::size_t>(nested_size) < scales.size())
          return bad_input(packed->where, printable(name) + ".nested_absmax", "scales of all scales", "fewer");
        for (std::size_t i = 0; i < scales.size(); ++i)
          scales[i] = map[static_cast<Byte>(scales[i])] * outer[i / static_cast<std::size_t>(nested_size)] + offset;
      }
      if (!std::ranges::all_of(scales, [](float scale) { return std::abs(scale) <= kLargestScale; }))
        return bad_input(packed->where, printable(name) + ".absmax", "finite scales", "others");
      if (scales.size() != static_cast<std::size_t>((shape[0] * shape[1] + block_size - 1) / block_size))
        return bad_input(packed->where, printable(name) + ".absmax", "a scale a block", std::to_string(scales.size()));
      const Levels4 levels{*packed, std::move(scales), nf4 ? Dtype::nf4 : Dtype::fp4, shape[1], block_size};
      return array_of_source(packed->where, shape[0], shape[1], true, levels);
    };
    return take(stem,
                {"weight", "weight." + state, "weight.absmax", "weight.quant_map", "weight.nested_absmax",
                 "weight.nested_quant_map"},
                *packed, shape, make);
  }

 private:
  Result<const StoredArray*> find(const std::string& name) const {
    const auto at = stored_.arrays.find(name);
    if (at != stored_.arrays.end()) return &at->second;
    const std::string where = stored_.arrays.empty() ? "" : stored_.arrays.begin()->second.where;
    return bad_input(where, printable(name), "a tensor of a quantized weight", "none", ErrorCode::missing_tensor);
  }
  Result<const StoredArray*> part(const std::string& name, std::size_t axes, std::vector<Dtype> kinds = {}) const {
    const StoredArray* const array = TRY(find(name));
    if (kinds.empty()) kinds = {Dtype::f16, Dtype::bf16, Dtype::f32};
    if (std::ranges::find(kinds, array->dtype) == kinds.end())
      return bad_input(array->where, printable(name), std::string(headlight::name(kinds.front())) + " numbers",
                       std::string(headlight::name(array->dtype)), ErrorCode::quantized_weights);
    if (array->shape.size() != axes)
      return bad_input(array->where, printable(name), std::to_string(axes) + " axes", shape_text(array->shape),
                       ErrorCode::wrong_shape);
    return array;
  }
  Result<const StoredArray*> words(const std::string& name) const { return part(name, 2, {Dtype::i32, Dtype::u32}); }
  Status has_shape(const std::string& name, const std::vector<Index>& shape) const {
    const StoredArray* const array = TRY(find(name));
    if (array->shape != shape)
      return bad_input(array->where, printable(name), shape_text(shape), shape_text(array->shape),
                       ErrorCode::wrong_shape);
    return Done{};
  }
  Result<std::vector<float>> finite(const std::string& name) const {
    const StoredArray* const array = TRY(find(name));
    auto numbers = numbers_in(*array);
    const auto bad = std::ranges::find_if(numbers, [](float number) { return !(std::abs(number) <= kLargestScale); });
    if (bad != numbers.end())
      return not_finite(array->where, printable(name) + "[" + std::to_string(bad - numbers.begin()) + "]", *bad);
    return numbers;
  }
  Status has_levels(const std::string& name, const std::array<float, 16>& levels) const {
    const StoredArray* const array = TRY(find(name));
    const auto numbers = numbers_in(*array);
    const auto near = [](float a, float b) { return std::abs(a - b) <= 1e-7f; };
    if (!std::equal(numbers.begin(), numbers.end(), levels.begin(), levels.end(), near))
      return bad_input(array->where, printable(name), "the levels of nf4 or fp4", "others",
                       ErrorCode::quantized_weights);
    return Done{};
  }
  /// The group of each input of GPTQ: in their order, or as `g_idx` has them.
  Result<std::vector<Index>> groups_of_inputs(const std::string& stem, Index inputs, const StoredArray& scales) const {
    const Index groups = scales.shape[0];
    std::vector<Index> group_of(static_cast<std::size_t>(inputs));
    const std::string name = stem + ".g_idx";
    if (!stored_.arrays.contains(name)) {
      if (groups == 0 || inputs % groups != 0) return bad_groups(scales, stem + ".scales", inputs);
      for (Index i = 0; i < inputs; ++i) group_of[static_cast<std::size_t>(i)] = i / (inputs / groups);
      return group_of;
    }
    TRY(has_shape(name, {inputs}));
    const auto order = TRY(part(name, 1, {Dtype::i32, Dtype::i64}));
    const auto numbers = numbers_in(*order);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i] < 0 || numbers[i] >= static_cast<float>(groups))
        return bad_input(order->where, printable(name) + "[" + std::to_string(i) + "]",
                         "a group from 0 to " + std::to_string(groups - 1), std::to_string(numbers[i]));
      group_of[i] = static_cast<Index>(numbers[i]);
    }
    return group_of;
  }
  /// Bits of each of `numbers` whole numbers in so many words; 0: not 2, 4 or 8.
  static int bits_of(Index words, Index numbers) {
    for (const int bits : {2, 4, 8})
      if (words > 0 && words * 32 == numbers * bits) return bits;
    return 0;
  }
  static Error bad_bits(const StoredArray& array, const std::string& name, Index numbers) {
    return bad_input(array.where, printable(name), "2, 4 or 8 bits for each of " + std::to_string(numbers) + " numbers",
                     shape_text(array.shape) + " words", ErrorCode::quantized_weights);
  }
  static Error bad_groups(const StoredArray& array, const std::string& name, Index inputs) {
    return bad_input(array.where, printable(name), "groups that divide " + std::to_string(inputs) + " inputs",
                     shape_text(array.shape), ErrorCode::wrong_shape);
  }
  /// The weight that `make` gives in the place of its tensors, the first of which is `packed`.
  template <class Make>
  Status take(const std::string& stem, const std::vector<std::string>& endings, const StoredArray& packed,
              const std::vector<Index>& shape, const Make& make) {
    StoredArray weight{.dtype = Dtype::f16, .shape = shape, .bytes = {}, .where = packed.where};
    if (!shapes_alone_) weight = TRY(make());
    for (const std::string& ending : endings) stored_.arrays.erase(stem + "." + ending);
    stored_.arrays.insert_or_assign(stem + ".weight", std::move(weight));
    return Done{};
  }

  StoredArrays& stored_;
  const Quantization& how_;
  bool shapes_alone_;
};

/// The stems of the names that end so.
std::vector<std::string> stems_with(const StoredArrays& stored, std::string_view ending) {
  std::vector<std::string> found;
  for (const auto& [name, array] : stored.arrays)
    if (name.ends_with(ending)) found.push_back(name.substr(0, name.size() - ending.size()));
  return found;
}

}  // namespace

std::optional<Quantization> quantization_of(const nlohmann::json& config) {
  if (!config.is_object()) return std::nullopt;
  const auto text = [&](const char* key) {
    const auto& value = value_or_null(config, key);
    return value.is_string() ? value.get<std::string>() : std::string();
  };
  const auto whole = [](const nlohmann::json& value) -> Index {
    return value.is_number_unsigned() && value.get<std::uint64_t>() <= 1 << 20 ? value.get<Index>() : 0;
  };
  const std::string method = text("quant_method");
  if (method == "gptq")
    return Quantization{.method = Method::gptq, .zeros_less_one = text("checkpoint_format") != "gptq_v2"};
  if (method == "awq" && (text("version").empty() || text("version") == "gemm" || text("version") == "GEMM"))
    return Quantization{.method = Method::awq};
  if (method == "bitsandbytes") return Quantization{.method = Method::bitsandbytes};
  if (method == "fp8") {
    const auto& tile = value_or_null(config, "weight_block_size");
    if (!tile.is_array() || tile.size() != 2 || whole(tile[0]) == 0 || whole(tile[1]) == 0) return std::nullopt;
    return Quantization{.method = Method::fp8, .scale_rows = whole(tile[0]), .scale_cols = whole(tile[1])};
  }
  const Index group = whole(value_or_null(config, "group_size"));
  const bool affine = text("mode").empty() || text("mode") == "affine";
  if (method.empty() && group > 0 && config.contains("bits") && affine)
    return Quantization{.method = Method::mlx, .group_size = group};
  return std::nullopt;
}

Result<StoredArrays> put_together(StoredArrays stored, const Quantization& how, bool shapes_alone) {
  QuantizedParts parts(stored, how, shapes_alone);
  const auto each = [&](std::string_view ending, auto one) -> Status {
    for (const std::string& stem : stems_with(stored, ending)) TRY(one(stem));
    return Done{};
  };
  switch (how.method) {
    case Method::none: break;
    case Method::gptq: TRY(each(".qweight", [&](const auto& stem) { return parts.gptq(stem); })); break;
    case Method::awq: TRY(each(".qweight", [&](const auto& stem) { return parts.awq(stem); })); break;
    case Method::mlx: TRY(each(".scales", [&](const auto& stem) { return parts.mlx(stem); })); break;
    case Method::fp8: TRY(each(".weight_scale_inv", [&](const auto& stem) { return parts.float8(stem); })); break;
    case Method::bitsandbytes:
      TRY(each(".SCB", [&](const auto& stem) { return parts.int8(stem); }));
      for (const std::string state : {"quant_state.bitsandbytes__nf4", "quant_state.bitsandbytes__fp4"})
        TRY(each(".weight." + state, [&](const auto& stem) { return parts.levels4(stem, state); }));
      break;
  }
  return stored;
}

}  // namespace headlight
