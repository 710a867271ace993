#include "read/hub/checkpoint_layout.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "math/position.h"

namespace headlight {
namespace {

void lay_out_windows(const HubConfig& hub, Model& model) {
  const auto rotary = hub.window_rotary ? std::make_shared<const Rotary>(*hub.window_rotary) : nullptr;
  for (std::size_t layer = 0; layer < hub.windows.size(); ++layer) {
    AttentionWeights& attention = model.blocks[layer].self;
    attention.window = hub.windows[layer];
    if (attention.window > 0) attention.rotary = rotary;
  }
}

/// A rotation by nothing, which leaves the numbers to the bit what they are.
void lay_out_unrotated(const HubConfig& hub, Model& model) {
  if (hub.unrotated.empty()) return;
  const auto none = std::make_shared<const Rotary>(Rotary{.frequencies = Vector::Zero(hub.rotary->frequencies.size())});
  for (const Index layer : hub.unrotated) model.blocks[static_cast<std::size_t>(layer)].self.rotary = none;
}

void lay_out_embeddings(const HubConfig& hub, StackWeights& stack) {
  stack.embeddings.scale = hub.embedding_scale;
  stack.embeddings.first_position = hub.first_position;
  stack.embeddings.pad_id = hub.pad_id;
  stack.longest = hub.longest;
}

}  // namespace

std::shared_ptr<Model> laid_out(const HubConfig& hub) {
  const Config& config = hub.config;
  auto model = std::make_shared<Model>();
  model->config = config;
  lay_out_embeddings(hub, *model);
  AttentionWeights attention;
  attention.scale = hub.attention_scale;
  attention.softcap = config.softcap;
  attention.num_heads = config.num_heads;
  attention.num_kv_heads = config.kv_heads();
  model->blocks.resize(static_cast<std::size_t>(config.num_layers));
  for (BlockWeights& block : model->blocks) {
    block.self = attention;
    block.parallel = hub.parallel;
    if (hub.experts > 0) {
      block.experts = Experts{.router = {}, .all = {}, .chosen = hub.chosen_experts};
      block.experts->all.resize(static_cast<std::size_t>(hub.experts));
      block.experts->to_one = hub.experts_to_one;
    }
    if (hub.shared_ffn > 0) block.experts->shared.emplace();
    if (config.arch == Arch::encoder_decoder) block.cross = attention;
  }
  lay_out_windows(hub, *model);
  lay_out_unrotated(hub, *model);
  if (hub.plain_norms) {
    const NormWeights plain{
        .scale = Vector::Ones(config.d_model), .shift = {}, .epsilon = hub.norm_epsilon, .kind = config.norm_kind};
    for (BlockWeights& block : model->blocks) block.attention_norm = block.ffn_norm = plain;
    model->final_norm = plain;
  }
  if (config.arch != Arch::encoder_decoder) return model;
  model->encoder.emplace();
  lay_out_embeddings(hub, *model->encoder);
  model->encoder->blocks.resize(static_cast<std::size_t>(config.layers_of_encoder()));
  attention.num_heads = attention.num_kv_heads = hub.encoder_heads;
  for (BlockWeights& block : model->encoder->blocks) block.self = attention;
  return model;
}

std::vector<Row> rows_as_stored(const HubConfig& hub, bool with_output,
                                const std::function<bool(const Row& row, TensorShape size)>& lies_so) {
  std::vector<Row> rows = tensor_names(hub, with_output);
  std::size_t turned = 0, oblong = 0;
  for (const Row& row : rows) {
    const TensorShape size = shape(row.field, row.part, hub);
    if (row.form != Form::transposed || size.rows == size.cols) continue;
    ++oblong;
    turned += lies_so(row, size);
  }
  if (oblong > 0 && turned == oblong)
    for (Row& row : rows) row.form = Form::plain;
  return rows;
}

Linear& linear_field(Field field, Index expert, BlockWeights& block) {
  switch (field) {
    case Field::query: return block.self.query;
    case Field::key: return block.self.key;
    case Field::value: return block.self.value;
    case Field::attention_output: return block.self.output;
    case Field::cross_query: return block.cross->query;
    case Field::cross_key: return block.cross->key;
    case Field::cross_value: return block.cross->value;
    case Field::cross_output: return block.cross->output;
    case Field::gate: return block.gate;
    case Field::up: return block.up;
    case Field::down: return block.down;
    default: break;
  }
  Experts& experts = *block.experts;
  switch (field) {
    case Field::router: return experts.router;
    case Field::shared_gate: return experts.shared->gate;
    case Field::shared_up: return experts.shared->up;
    case Field::shared_down: return experts.shared->down;
    case Field::shared_expert_gate: return experts.shared_gate.emplace();
    case Field::expert_gate: return experts.all[static_cast<std::size_t>(expert)].gate;
    case Field::expert_up: return experts.all[static_cast<std::size_t>(expert)].up;
    default: assert(field == Field::expert_down); return experts.all[static_cast<std::size_t>(expert)].down;
  }
}

NormWeights& norm_field(Field field, BlockWeights& block) {
  switch (field) {
    case Field::query_norm: return block.self.query_norm.emplace();
    case Field::key_norm: return block.self.key_norm.emplace();
    case Field::attention_norm: return block.attention_norm;
    case Field::cross_norm: return block.cross_norm;
    case Field::attention_after_norm: return block.attention_after_norm.emplace();
    case Field::ffn_after_norm: return block.ffn_after_norm.emplace();
    default: assert(field == Field::ffn_norm); return block.ffn_norm;
  }
}

Linear in_memory(Linear linear) {
  if (linear.stored) linear.weight = weight_rows(linear, 0, linear.outputs());
  linear.stored = nullptr;
  return linear;
}

Linear scaled(Linear linear, const Vector& factors) {
  linear = in_memory(std::move(linear));
  linear.weight.array().colwise() *= factors.transpose().array();
  if (linear.bias.size() > 0) linear.bias.array() *= factors.array();
  return linear;
}

TensorShape shape_of_left(const Row& row, std::size_t layer, const HubConfig& hub) {
  TensorShape size = shape(row.field, row.part, hub);
  const auto pruned = hub.pruned.find(static_cast<Index>(layer));
  if (pruned == hub.pruned.end()) return size;
  const Index left = (hub.config.num_heads - std::ssize(pruned->second)) * hub.config.d_k();
  switch (row.field) {
    case Field::query:
    case Field::key:
    case Field::value: size.rows = left; break;
    case Field::attention_output: size.cols = left; break;
    default: break;
  }
  return size;
}

Linear at_their_heads(Linear left, const Row& row, std::size_t layer, const HubConfig& hub) {
  const TensorShape size = shape(row.field, row.part, hub), stored = shape_of_left(row, layer, hub);
  if (size.rows == stored.rows && size.cols == stored.cols) return left;
  left = in_memory(std::move(left));
  const bool columns = row.field == Field::attention_output;
  Linear whole{.weight = Matrix::Zero(size.rows, size.cols), .bias = left.bias};
  if (!columns && whole.bias.size() > 0) whole.bias = Vector::Zero(size.rows);
  const Index width = hub.config.d_k();
  Index from = 0;
  for (Index head = 0; head < hub.config.num_heads; ++head) {
    if (hub.pruned.at(static_cast<Index>(layer)).contains(head)) continue;
    if (columns) {
      whole.weight.middleCols(head * width, width) = left.weight.middleCols(from, width);
    } else {
      whole.weight.middleRows(head * width, width) = left.weight.middleRows(from, width);
      if (whole.bias.size() > 0) whole.bias.segment(head * width, width) = left.bias.segment(from, width);
    }
    from += width;
  }
  return whole;
}

void share_layers(Model& model, Index layer_groups) {
  std::vector<BlockWeights>& blocks = model.blocks;
  const auto groups = static_cast<std::size_t>(layer_groups);
  for (std::size_t layer = blocks.size(); layer-- > 0;) blocks[layer] = blocks[layer * groups / blocks.size()];
}

Linear part_of(const Linear& fused, Index first, Index count) {
  Linear part;
  if (fused.stored) {
    StoredMatrix rows = *fused.stored;
    rows.line = rows.step();
    rows.bytes = rows.at(first, 0);
    rows.rows = count;
    part.stored = std::make_shared<const StoredMatrix>(std::move(rows));
  } else {
    part.weight = fused.weight.middleRows(first, count);
  }
  if (fused.bias.size() > 0) part.bias = fused.bias.segment(first, count);
  return part;
}

Linear part_of_heads(const Linear& fused, Index which, Index heads, Index kv_heads) {
  const Index group = heads / kv_heads, rows = fused.weight.rows() / (kv_heads * (group + 2));
  const Index first = which == 0 ? 0 : (group + which - 1) * rows, count = (which == 0 ? group : 1) * rows;
  Linear part{.weight = Matrix(kv_heads * count, fused.weight.cols()),
              .bias = Vector(fused.bias.size() > 0 ? kv_heads * count : 0)};
  for (Index head = 0; head < kv_heads; ++head) {
    const Index from = head * (group + 2) * rows + first;
    part.weight.middleRows(head * count, count) = fused.weight.middleRows(from, count);
    if (part.bias.size() > 0) part.bias.segment(head * count, count) = fused.bias.segment(from, count);
  }
  return part;
}

namespace {

float in_bfloat16(double value) { return static_cast<float>(Eigen::bfloat16(static_cast<float>(value))); }

}  // namespace

std::shared_ptr<const RelativeBias> linear_biases(Index heads, Index distances) {
  const std::vector<double> of_heads = alibi_slopes(heads);
  Matrix table = Matrix::Zero(2 * distances, heads);  // the second half is for distances that share a row: none
  for (Index head = 0; head < heads; ++head) {
    const double slope = of_heads[static_cast<std::size_t>(head)];
    for (Index distance = 0; distance < 2 * distances; ++distance)
      table(distance, head) = static_cast<float>(-slope * static_cast<double>(std::min(distance, distances)));
  }
  return std::make_shared<const RelativeBias>(RelativeBias{std::move(table), false, 2 * distances});
}

std::shared_ptr<const RelativeBias> linear_key_biases(Index heads, Index positions, double scale) {
  const std::vector<double> of_heads = alibi_slopes(heads);
  RelativeBias bias{.table = Matrix(positions, heads), .of_keys = true};
  for (Index head = 0; head < heads; ++head) {
    const double slope = static_cast<double>(in_bfloat16(of_heads[static_cast<std::size_t>(head)]));
    for (Index position = 0; position < positions; ++position) {
      const auto at = static_cast<double>(in_bfloat16(static_cast<double>(position)));
      bias.table(position, head) = static_cast<float>(static_cast<double>(in_bfloat16(slope * at)) * scale);
    }
  }
  return std::make_shared<const RelativeBias>(std::move(bias));
}

Matrix falling_sinusoids(Index rows, Index d, std::optional<std::int64_t> pad) {
  const Index half = d / 2;
  Matrix positions = Matrix::Zero(rows, d);
  for (Index row = 0; row < rows; ++row)
    for (Index i = 0; i < half && row != pad.value_or(-1); ++i) {
      const double angle = static_cast<double>(row) * std::exp(-std::log(10000.0) * static_cast<double>(i) /
                                                               static_cast<double>(std::max<Index>(half - 1, 1)));
      positions(row, i) = static_cast<float>(std::sin(angle));
      positions(row, half + i) = static_cast<float>(std::cos(angle));
    }
  return positions;
}

bool drop_sinusoids(Matrix& decoder, Matrix& encoder, Index rows) {
  if (decoder.size() == 0 && encoder.size() == 0) return true;
  const Matrix sinusoids = sinusoidal_positions(rows, std::max(decoder.cols(), encoder.cols()), true);
  bool differ = false;
  for (Matrix* table : {&decoder, &encoder}) {
    if (table->size() == 0) *table = sinusoids;
    differ = differ || (*table - sinusoids).cwiseAbs().maxCoeff() > 1e-6f;
  }
  if (!differ) decoder = encoder = {};
  return !differ;
}

}  // namespace headlight
