#include "model/request.h"

#include "model/head_text.h"

namespace headlight {

bool has_stack(const Request& request, Stack stack) {
  if (stack == Stack::self) return true;
  if (request.model && request.model->given) return request.model->given->stacks.contains(stack);
  return request.config.arch == Arch::encoder_decoder;
}

const Tokens& query_tokens(const Request& request, Stack stack) {
  if (request.model && request.model->given) return request.model->given->stacks.at(stack).query_tokens;
  return request.config.arch == Arch::encoder_decoder && stack != Stack::encoder ? request.target : request.tokens;
}

const Tokens& key_tokens(const Request& request, Stack stack) {
  if (request.model && request.model->given) return request.model->given->stacks.at(stack).key_tokens;
  return request.config.arch == Arch::encoder_decoder && stack == Stack::self ? request.target : request.tokens;
}

const MaskSpec& mask_spec(const Request& request, Stack stack) {
  switch (stack) {
    case Stack::encoder: return request.encoder_mask;
    case Stack::cross: return request.cross_mask;
    case Stack::self: break;
  }
  return request.mask;
}

Request unedited(Request request) {
  request.edits = {};
  for (MaskSpec* mask : {&request.mask, &request.encoder_mask, &request.cross_mask}) mask->painted.clear();
  return request;
}

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
      return bad_input("off", stack_prefix(edit.stack) + std::string(name(part)) + ":" + std::to_string(edit.layer),
                       "a part that the model has", "none in this layer");
    }
  }
  return Done{};
}

}  // namespace headlight
