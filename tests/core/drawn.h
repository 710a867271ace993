// Settings drawn from all that a request can express, from a fixed seed, so that a failure can be repeated.
#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "asking.h"

namespace headlight::reference {

/// Which settings are drawn.
struct Drawn {
  Index least_width = 1;  // of d_model: the norm of one or two numbers is steep, and no measure of exactness
  bool edits = true;
  float steepest = 2;  // scale of the scores
  Index longest = 140;
};

inline Index drawn_divisor(Random& random, Index of) {
  Index divisor = draw(random, 1, of);
  while (of % divisor != 0) --divisor;
  return divisor;
}

inline Config drawn_config(Random& random, const Drawn& drawn = {}) {
  Config config;
  config.arch = static_cast<Arch>(draw(random, 0, 2));
  config.num_heads = draw(random, 1, 6);
  config.num_kv_heads = once_in(random, 2) ? 0 : drawn_divisor(random, config.num_heads);
  config.head_dim = once_in(random, 2) ? 0 : draw(random, 1, 7);
  do config.d_model = config.head_dim > 0 ? draw(random, 1, 24) : config.num_heads * draw(random, 1, 6);
  while (config.d_model < drawn.least_width);
  config.num_layers = draw(random, 1, 3);
  config.encoder_layers = draw(random, 0, 2);
  config.ffn = draw(random, 0, 3) > 0 ? draw(random, 1, 24) : 0;
  config.position = static_cast<Position>(draw(random, 0, 4));
  if (config.position == Position::rotary && config.d_k() % 2 == 1) config.head_dim = config.d_k() + 1;
  config.norm = static_cast<Norm>(draw(random, 0, 1));
  config.norm_kind = static_cast<NormKind>(draw(random, 0, 1));
  config.activation = static_cast<Activation>(draw(random, 0, 3));
  config.gated = once_in(random, 2);
  for (bool* bias : {&config.bias.query, &config.bias.key, &config.bias.value, &config.bias.output, &config.bias.ffn})
    *bias = once_in(random, 2);
  config.tied = once_in(random, 2);
  config.seed = random.next();
  return config;
}

inline NormWeights drawn_norm(Random& random, Index d, NormKind kind) {
  NormWeights norm{.scale = (random_matrix(random, 1, d, 0.5f).array() + 1.0f).matrix(), .shift = {}, .kind = kind};
  if (once_in(random, 2)) norm.shift = random_matrix(random, 1, d, 0.5f);
  if (once_in(random, 2)) norm.epsilon = 1e-6f;
  return norm;
}

/// What fresh weights do not have and a checkpoint may: other norms and tables, norms of the heads, values of
/// another width.
inline void decorate(Random& random, const Config& config, StackWeights& stack) {
  const Index d = config.d_model, d_k = config.d_k();
  // A layer norm of one or two numbers is little more than their sign.
  const NormKind head_kind = d_k > 2 && once_in(random, 2) ? NormKind::layer_norm : NormKind::rms_norm;
  const bool head_norms = d_k > 1 && once_in(random, 3);
  const Index d_v = once_in(random, 4) ? draw(random, 1, 6) : d_k;
  for (BlockWeights& block : stack.blocks) {
    for (AttentionWeights* attention : {&block.self, block.cross ? &*block.cross : nullptr}) {
      if (!attention) continue;
      if (head_norms) {
        attention->query_norm = drawn_norm(random, d_k, head_kind);
        attention->key_norm = drawn_norm(random, d_k, head_kind);
      }
      if (d_v == d_k) continue;
      const Index queries = attention->num_heads * d_v, keys = attention->num_kv_heads * d_v;
      attention->value = {random_matrix(random, keys, d, 0.5f), random_matrix(random, 1, keys)};
      attention->output.weight = random_matrix(random, d, queries, 0.5f);
    }
    block.attention_norm = drawn_norm(random, d, config.norm_kind);
    block.ffn_norm = drawn_norm(random, d, config.norm_kind);
    if (block.cross) block.cross_norm = drawn_norm(random, d, config.norm_kind);
  }
  if (once_in(random, 3)) stack.final_norm = drawn_norm(random, d, config.norm_kind);
  if (stack.rotary) {
    stack.rotary->interleaved = once_in(random, 2);
    Vector& frequencies = stack.rotary->frequencies;
    if (once_in(random, 2)) frequencies = Vector(frequencies.head(draw(random, 1, d_k / 2)));
  }
  Embeddings& embeddings = stack.embeddings;
  if (once_in(random, 2)) {
    embeddings.tokens = table_of(random_matrix(random, draw(random, 3, 40), d));
    if (once_in(random, 2)) embeddings.scale = std::sqrt(static_cast<float>(d));
  }
  if (once_in(random, 3)) embeddings.token_types = random_matrix(random, 2, d);
  if (once_in(random, 3)) embeddings.norm = drawn_norm(random, d, config.norm_kind);
  if (config.position == Position::learned && once_in(random, 2)) {
    embeddings.first_position = draw(random, 0, 2);
    embeddings.positions = random_matrix(random, 200, d);
  }
}

inline std::shared_ptr<const Model> drawn_model(Random& random, const Config& config) {
  auto model = std::make_shared<Model>(*random_model(config));
  decorate(random, config, *model);
  if (model->encoder) decorate(random, config, *model->encoder);
  if (once_in(random, 2)) {
    const Index words = draw(random, 1, 30);
    const Matrix rows = random_matrix(random, words, config.d_model);
    model->output = OutputWeights{.weight = table_of(rows)};
    if (once_in(random, 2)) model->output->bias = random_matrix(random, 1, words);
    if (once_in(random, 2)) model->output->scale = 0.25f;
  }
  return model;
}

/// Words of a small vocabulary, so that some come twice; sometimes with padding after them, or before.
inline Tokens drawn_tokens(Random& random, const Embeddings* embeddings, Index longest) {
  const Index count = once_in(random, 12) ? draw(random, 1, longest) : draw(random, 1, std::min<Index>(14, longest));
  std::vector<std::string> words;
  for (Index i = 0; i < count; ++i) words.push_back("w" + std::to_string(draw(random, 0, count)));
  Tokens tokens = sentence(words);
  for (Token& token : tokens.tokens) {
    if (embeddings && embeddings->tokens) token.id = draw(random, 0, embeddings->tokens->outputs() - 1);
    token.type = static_cast<int>(draw(random, 0, 1));
  }
  if (once_in(random, 8)) tokens.tokens.front().pad = true;
  return with_padding_marked(std::move(tokens), static_cast<std::size_t>(draw(random, 0, 3)));
}

inline MaskSpec drawn_mask(Random& random, Index queries, Index keys, Index heads = 1) {
  MaskSpec mask{.causal = once_in(random, 2), .padding = !once_in(random, 4)};
  if (once_in(random, 4)) {
    if (once_in(random, 2)) mask.heads = heads;
    Matrix given(mask.heads * (once_in(random, 4) ? 1 : queries), once_in(random, 4) ? 1 : keys);
    for (Index i = 0; i < given.size(); ++i)
      given.data()[i] = once_in(random, 3) ? -std::numeric_limits<float>::infinity() : random.symmetric(2.0f);
    mask.given = std::make_shared<const Matrix>(std::move(given));
  }
  for (Index strokes = draw(random, 0, 6); strokes > 0; --strokes)
    paint(mask.painted, {draw(random, 0, queries), draw(random, 0, keys), once_in(random, 2)});
  return mask;
}

inline Index side(const Tokens& tokens) { return static_cast<Index>(tokens.size()); }

/// Edits of heads, layers and cells that are there, and now and then of some that are not.
inline Edits drawn_edits(Random& random, const Request& request, const Drawn& drawn) {
  Edits edits;
  if (once_in(random, 3)) edits.scale = random.symmetric(drawn.steepest);
  if (once_in(random, 4)) edits.dropout = 0.9f * random.uniform();
  edits.dropout_seed = random.next();
  edits.off_as = static_cast<OffAs>(draw(random, 0, 1));
  const auto stack = [&] { return has_stack(request, Stack::cross) ? kStacks[draw(random, 0, 2)] : Stack::self; };
  const auto head = [&] { return HeadRef{draw(random, 0, 2), draw(random, 0, request.config.num_heads), stack()}; };
  for (Index count = draw(random, 0, 4); count > 0; --count) switch_off(edits, head(), true);
  for (Index count = once_in(random, 2) ? draw(random, 1, 12) : 0; count > 0; --count) {
    const HeadRef of = head();
    const Index query = draw(random, 0, side(query_tokens(request, of.stack)));
    for (Index cells = draw(random, 1, 3); cells > 0; --cells)
      set_weight(edits, of, {query, draw(random, 0, side(key_tokens(request, of.stack)))},
                 once_in(random, 4) ? static_cast<float>(draw(random, 0, 1)) : random.uniform());
  }
  for (Index count = draw(random, 0, 2); count > 0; --count) {
    LayerEdit edit{.stack = stack(), .layer = draw(random, 0, 3)};
    if (once_in(random, 2)) edit.scale = random.symmetric(drawn.steepest);
    if (once_in(random, 2))
      edit.mask = drawn_mask(random, side(query_tokens(request, edit.stack)), side(key_tokens(request, edit.stack)),
                             request.config.num_heads);
    set_layer_edit(edits, std::move(edit));
  }
  return edits;
}

/// Switches parts of blocks off, among those that the model has.
inline void draw_parts_off(Random& random, Request& request) {
  for (const Stack stack : {Stack::self, Stack::encoder}) {
    if (!has_stack(request, stack)) continue;
    const Config& config = request.config;
    const Index layers = stack == Stack::encoder ? config.layers_of_encoder() : config.num_layers;
    for (Index layer = 0; layer < layers; ++layer)
      for (const BlockPart part : kBlockParts)
        if ((part != BlockPart::ffn || config.ffn > 0) && once_in(random, 3))
          switch_off(request.edits, stack, layer, part, true);
  }
}

inline Request drawn_request(Random& random, const Drawn& drawn = {}) {
  Request request;
  request.config = drawn_config(random, drawn);
  const Embeddings *source = nullptr, *target = nullptr;
  if (once_in(random, 3)) {
    if (once_in(random, 2)) request.vocabulary = counted_words(draw(random, 1, 30));
  } else {
    request.model = drawn_model(random, request.config);
    target = &request.model->embeddings;
    source = request.model->encoder ? &request.model->encoder->embeddings : target;
  }
  request.tokens = drawn_tokens(random, source, drawn.longest);
  if (request.config.arch == Arch::encoder_decoder) request.target = drawn_tokens(random, target, drawn.longest);
  for (const Stack stack : kStacks) {
    if (!has_stack(request, stack)) continue;
    MaskSpec& mask = stack == Stack::encoder ? request.encoder_mask
                     : stack == Stack::cross ? request.cross_mask
                                             : request.mask;
    mask = drawn_mask(random, side(query_tokens(request, stack)), side(key_tokens(request, stack)),
                      request.config.num_heads);
  }
  if (drawn.edits) request.edits = drawn_edits(random, request, drawn);
  return request;
}

}  // namespace headlight::reference
