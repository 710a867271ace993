#include "model/block_parts.h"

#include "model/head_text.h"

namespace headlight {
namespace {

bool has_norm(const BlockWeights& block) {
  return !block.attention_norm.is_identity() || block.attention_after_norm ||
         (block.cross && !block.cross_norm.is_identity()) ||
         (block.has_ffn() && (!block.ffn_norm.is_identity() || block.ffn_after_norm));
}

}  // namespace

bool has_part(const Model& model, Stack stack, Index layer, BlockPart part) {
  if (model.given) {
    const auto given = model.given->stacks.find(stack);
    return part == BlockPart::scale && given != model.given->stacks.end() && given->second.patterns.empty() &&
           layer == 0;
  }
  if (stack == Stack::encoder && !model.encoder) return false;
  const auto& blocks = stack == Stack::encoder ? model.encoder->blocks : model.blocks;
  if (layer < 0 || static_cast<std::size_t>(layer) >= blocks.size()) return false;
  const BlockWeights& block = blocks[static_cast<std::size_t>(layer)];
  if (part == BlockPart::scale) return stack != Stack::cross || block.cross;
  if (stack == Stack::cross) return false;
  if (part == BlockPart::ffn) return block.has_ffn();
  return part == BlockPart::residual || has_norm(block);
}

Status check_parts(const Model& model, const Edits& edits) {
  for (const LayerEdit& edit : edits.layers) {
    for (const BlockPart part : kBlockParts) {
      const auto field = field_of(part);
      if (!field || !(edit.parts.*field) || has_part(model, edit.stack, edit.layer, part)) continue;
      const std::string stack = edit.stack == Stack::self ? "" : std::string(stack_name(edit.stack)) + ":";
      return bad_input("off", stack + std::string(name(part)) + ":" + std::to_string(edit.layer),
                       "a part that the model has", "none in this layer");
    }
  }
  return Done{};
}

}  // namespace headlight
