#include "read/hub/checkpoint_layout.h"

#include <cassert>

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
  if (config.arch != Arch::encoder_decoder) return model;
  model->encoder.emplace();
  lay_out_embeddings(hub, *model->encoder);
  model->encoder->blocks.resize(static_cast<std::size_t>(config.layers_of_encoder()));
  attention.num_heads = attention.num_kv_heads = hub.encoder_heads;
  for (BlockWeights& block : model->encoder->blocks) block.self = attention;
  return model;
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

void share_layers(Model& model, Index layer_groups) {
  std::vector<BlockWeights>& blocks = model.blocks;
  const auto groups = static_cast<std::size_t>(layer_groups);
  for (std::size_t layer = blocks.size(); layer-- > 0;) blocks[layer] = blocks[layer * groups / blocks.size()];
}

}  // namespace headlight
