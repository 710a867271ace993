#include "read/external/patterns.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/formatted.h"
#include "model/head_text.h"

namespace headlight {
namespace {

constexpr float kRounding = -1e-6f;  // a negative number this small is a zero of another program's arithmetic
constexpr double kRowTolerance = 1e-3;
constexpr std::string_view kLayerPrefix = "layer_";

std::string layer_name(Index layer) { return std::string(kLayerPrefix) + std::to_string(layer); }

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return formatted("%.6g", value);
}

std::string row_name(std::size_t layer, std::size_t head, Index query) {
  return head_label({static_cast<Index>(layer), static_cast<Index>(head)}) + " query " + std::to_string(query);
}

Status check_size(std::string_view where, std::string_view what, std::string_view axis, std::size_t size, Index most) {
  if (size >= 1 && size <= static_cast<std::size_t>(most)) return Done{};
  return bad_input(where, what, "1 to " + std::to_string(most) + " " + std::string(axis), std::to_string(size));
}

Status check_weights(std::string_view where, FoundPatterns& found, std::vector<Error>& warnings) {
  auto& patterns = found.stack.patterns;
  TRY(check_size(where, found.name, "layers", patterns.size(), kMaxLayers));
  TRY(check_size(where, found.name, "heads", patterns[0].size(), kMaxHeads));
  std::size_t odd_rows = 0;
  std::string first_odd;
  for (std::size_t layer = 0; layer < patterns.size(); ++layer) {
    for (std::size_t head = 0; head < patterns[layer].size(); ++head) {
      Matrix& weights = patterns[layer][head];
      for (Index query = 0; query < weights.rows(); ++query) {
        double sum = 0;
        for (Index key = 0; key < weights.cols(); ++key) {
          float& weight = weights(query, key);
          if (!std::isfinite(weight) || weight < kRounding)
            return bad_input(where, found.name + ": " + row_name(layer, head, query) + " key " + std::to_string(key),
                             "a finite weight of at least 0", number_text(static_cast<double>(weight)),
                             std::isfinite(weight) ? ErrorCode::weight_below_zero : ErrorCode::not_finite);
          weight = std::max(weight, 0.0f);
          sum += static_cast<double>(weight);
        }
        if (std::abs(sum - 1) <= kRowTolerance || sum == 0) continue;
        if (++odd_rows == 1) first_odd = row_name(layer, head, query) + " sums to " + number_text(sum);
      }
    }
  }
  if (odd_rows > 0)
    warnings.emplace_back(ErrorCode::sum_not_one, where,
                          found.name + ": " + std::to_string(odd_rows) +
                              (odd_rows == 1 ? " row of weights sums" : " rows of weights sum") +
                              " to neither 1 nor 0 (" + (odd_rows == 1 ? "" : "the first, ") + first_odd + ")");
  return Done{};
}

/// Cross-attention happens in the decoder's layers, from its tokens to the encoder's.
Status check_together(std::string_view where, const std::map<Stack, FoundPatterns>& found) {
  const auto cross = found.find(Stack::cross), encoder = found.find(Stack::encoder);
  if (cross == found.end()) return Done{};
  const FoundPatterns& own = found.at(Stack::self);
  const auto equal = [&](std::string_view axis, std::size_t size, std::size_t wanted, std::string_view of) -> Status {
    if (size == wanted) return Done{};
    return bad_input(where, cross->second.name,
                     std::to_string(wanted) + " " + std::string(axis) + ", as " + std::string(of),
                     std::to_string(size));
  };
  const ExternalStack& stack = cross->second.stack;
  TRY(equal("layers", stack.patterns.size(), own.stack.patterns.size(), own.name));
  TRY(equal("queries", stack.query_tokens.size(), own.stack.query_tokens.size(), own.name));
  if (encoder == found.end()) return Done{};
  return equal("keys", stack.key_tokens.size(), encoder->second.stack.key_tokens.size(), encoder->second.name);
}

}  // namespace

std::vector<std::vector<Matrix>> matrices_of(const std::vector<Index>& shape, const std::vector<float>& values) {
  std::vector<std::vector<Matrix>> matrices(static_cast<std::size_t>(shape[0]));
  const float* at = values.data();
  for (auto& heads : matrices)
    for (Index head = 0; head < shape[1]; ++head, at += shape[2] * shape[3])
      heads.emplace_back(Eigen::Map<const Matrix>(at, shape[2], shape[3]));
  return matrices;
}

bool has_layers(const ArrayFile& file) { return file.arrays.contains(layer_name(0)); }

Result<ArrayFile> joined_layers(std::string_view where, const ArrayFile& file) {
  ArrayFile joined{.arrays = {}, .metadata = file.metadata};
  Array all;
  std::vector<Index> shape;
  Index layer = 0;
  for (; file.arrays.contains(layer_name(layer)); ++layer) {
    const Array& one = file.arrays.at(layer_name(layer));
    std::vector<Index> own = one.shape;
    if (own.size() == 4 && own.front() == 1) own.erase(own.begin());
    if (layer == 0) shape = own;
    if (own.size() != 3 || own != shape)
      return bad_input(where, layer_name(layer),
                       layer == 0 ? "(heads, queries, keys)" : shape_text(shape) + " as layer_0",
                       shape_text(one.shape));
    all.dtype = one.dtype;
    all.values.insert(all.values.end(), one.values.begin(), one.values.end());
  }
  for (const auto& [name, array] : file.arrays) {
    const auto number = parse_number<Index>(std::string_view(name).substr(std::min(name.size(), kLayerPrefix.size())));
    const bool is_layer = number && layer_name(*number) == name;
    if (is_layer && *number >= layer) return bad_input(where, layer_name(layer), "an array as " + name, "none");
    if (!is_layer) joined.arrays.emplace(name, array);
  }
  shape.insert(shape.begin(), layer);
  all.shape = std::move(shape);
  joined.arrays.emplace("attentions", std::move(all));
  return joined;
}

Tokens tokens_of(const std::vector<std::string>& texts) {
  constexpr std::string_view kPiece = "##";  // of BERT: a later piece of a word
  const auto is_piece = [&](const std::string& raw) { return raw.size() > kPiece.size() && raw.starts_with(kPiece); };
  const auto has_space = [](const std::string& raw) { return raw.starts_with(' ') || raw.ends_with(' '); };
  constexpr std::string_view kSpecial[] = {"[CLS]", "[SEP]",         "[PAD]", "<s>",   "</s>",
                                           "<pad>", "<|endoftext|>", "<bos>", "<eos>", "<|begin_of_text|>"};
  const bool pieces = std::any_of(texts.begin(), texts.end(), is_piece);
  Tokens tokens;
  // Where no text shows how words are cut, every token is one.
  tokens.has_words = pieces || std::none_of(texts.begin(), texts.end(), has_space);
  for (const std::string& raw : texts) {
    const std::size_t begin = tokens.text.size();
    const bool continues = is_piece(raw) && !tokens.tokens.empty();
    tokens.text += continues ? raw.substr(kPiece.size()) : raw;
    const std::size_t first = raw.find_first_not_of(' ');
    const std::string text = first == std::string::npos ? raw : raw.substr(first);
    tokens.tokens.push_back({.id = hashed_id(text),
                             .text = text,
                             .raw = raw,
                             .begin = begin,
                             .end = tokens.text.size(),
                             .special = std::find(std::begin(kSpecial), std::end(kSpecial), raw) != std::end(kSpecial),
                             .continues = continues});
  }
  return tokens;
}

Tokens numbered_tokens(Index count) {
  std::vector<std::string> texts;
  for (Index i = 0; i < count; ++i) texts.push_back(std::to_string(i));
  return tokens_of(texts);
}

Result<std::shared_ptr<const Model>> pattern_model(std::string_view where, std::map<Stack, FoundPatterns> found,
                                                   std::vector<Error>& warnings) {
  if (found.size() == 1) {
    auto only = found.extract(found.begin());
    only.key() = Stack::self;
    found.insert(std::move(only));
  } else if (!found.contains(Stack::self)) {
    auto cross = found.extract(Stack::cross);
    cross.key() = Stack::self;
    warnings.emplace_back(ErrorCode::bad_value, where,
                          cross.mapped().name + ": shown as the decoder's attention, which the file does not have");
    found.insert(std::move(cross));
  }
  TRY(check_together(where, found));
  auto model = std::make_shared<Model>();
  ExternalInputs given;
  for (auto& [stack, patterns] : found) {
    TRY(check_weights(where, patterns, warnings));
    given.stacks.emplace(stack, std::move(patterns.stack));
  }
  const auto& self = given.stacks.at(Stack::self).patterns;
  Config& config = model->config;
  config = {.arch = given.stacks.size() == 1 ? Arch::encoder : Arch::encoder_decoder,
            .num_heads = static_cast<Index>(self[0].size()),
            .num_layers = static_cast<Index>(self.size()),
            .ffn = 0,
            .position = Position::none};
  config.d_model = config.num_heads;
  if (const auto encoder = given.stacks.find(Stack::encoder); encoder != given.stacks.end())
    config.encoder_layers = static_cast<Index>(encoder->second.patterns.size());
  model->name = std::filesystem::path(where).filename().string();
  model->given = std::move(given);
  return std::shared_ptr<const Model>(std::move(model));
}

}  // namespace headlight
