// The little that several tests need to ask the engine a question: sentences, numbers drawn at random, and the answer.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/random.h"
#include "math/attention.h"
#include "math/forward.h"
#include "model/weight_tree.h"

namespace headlight::reference {

/// Tokens of the given words, one space between them.
inline Tokens sentence(const std::vector<std::string>& words) {
  Tokens tokens;
  for (const auto& word : words) {
    if (!tokens.text.empty()) tokens.text += ' ';
    const std::size_t begin = tokens.text.size();
    tokens.text += word;
    tokens.tokens.push_back(
        {.id = hashed_id(word), .text = word, .raw = word, .begin = begin, .end = tokens.text.size()});
  }
  return tokens;
}

/// `count` different words: w0 w1 w2 …
inline Tokens counted(Index count) {
  std::vector<std::string> words;
  for (Index i = 0; i < count; ++i) words.push_back("w" + std::to_string(i));
  return sentence(words);
}

/// A vocabulary of `count` words: w0 w1 w2 …
inline std::shared_ptr<const Vocabulary> counted_words(Index count) {
  Vocabulary vocabulary;
  for (const Token& token : counted(count).tokens) vocabulary.words.push_back(token.text);
  return std::make_shared<const Vocabulary>(std::move(vocabulary));
}

inline Matrix random_matrix(Random& random, Index rows, Index cols, float limit = 1.0f) {
  Matrix matrix(rows, cols);
  for (Index i = 0; i < matrix.size(); ++i) matrix.data()[i] = random.symmetric(limit);
  return matrix;
}

/// Uniform in [least, most].
inline Index draw(Random& random, Index least, Index most) {
  return least + static_cast<Index>(random.next() % static_cast<std::uint64_t>(most - least + 1));
}

/// True once in `times`.
inline bool once_in(Random& random, Index times) { return draw(random, 1, times) == 1; }

/// The answer to a request that must have one.
inline std::shared_ptr<const Trace> ask(const Request& request, const Trace* previous = nullptr, int threads = 0) {
  Progress progress;
  auto result = forward(request, progress, previous, threads);
  if (!result) {
    ADD_FAILURE() << result.error().message();
    return nullptr;
  }
  EXPECT_TRUE(*result);
  return *result;
}

/// The line with which a request is refused; empty where it is not.
inline std::string refusal(const Request& request) {
  const auto result = forward(request);
  return result ? std::string{} : result.error().message();
}

/// A tensors file of T queries over S keys; the projections are the identity until the caller changes them.
inline std::shared_ptr<Model> given_model(Matrix query, Matrix key, Matrix value, Index num_heads) {
  auto model = std::make_shared<Model>();
  model->config.d_model = query.cols();
  model->config.num_heads = num_heads;
  model->config.num_layers = 1;
  model->config.ffn = 0;
  model->config.position = Position::none;
  model->blocks.resize(1);
  model->blocks[0].self.num_heads = model->blocks[0].self.num_kv_heads = num_heads;
  ExternalStack given;
  given.query_tokens = counted(query.rows());
  given.key_tokens = counted(key.rows());
  given.query = std::move(query);
  given.key = std::move(key);
  given.value = std::move(value);
  model->given = ExternalInputs{{{Stack::self, std::move(given)}}};
  return model;
}

inline Request request_for(std::shared_ptr<const Model> model, MaskSpec mask = {}) {
  Request request;
  request.config = model->config;
  request.model = std::move(model);
  request.mask = std::move(mask);
  return request;
}

/// The whole pattern of a head.
inline Matrix pattern(const Trace& trace, const HeadRef& head) {
  return attention_rows(trace, head, 0, trace.queries(head.stack));
}

/// Lays the weights of a model out row by row again, for tests that change them.
inline void unpack(Model& model) {
  const auto unpack_linear = [](Linear& linear) {
    if (!linear.panels) return;
    linear.weight = weight_rows(linear, 0, linear.outputs());
    linear.panels.reset();
  };
  for (StackWeights* stack : {static_cast<StackWeights*>(&model), model.encoder ? &*model.encoder : nullptr}) {
    if (!stack) continue;
    for (BlockWeights& block : stack->blocks)
      for_each_layer(block, [&](const LayerName&, auto& layer) {
        if constexpr (std::is_same_v<decltype(layer), Linear&>) unpack_linear(layer);
      });
  }
}

inline bool same_attention(const AttentionTrace& a, const AttentionTrace& b) {
  if (a.scale != b.scale || a.num_kv_heads != b.num_kv_heads || a.heads.size() != b.heads.size()) return false;
  for (const auto matrix : {&AttentionTrace::query, &AttentionTrace::key, &AttentionTrace::value, &AttentionTrace::z})
    if (!same(a.*matrix, b.*matrix)) return false;
  for (std::size_t head = 0; head < a.heads.size(); ++head)
    if (!same(a.heads[head].row_max, b.heads[head].row_max) || !same(a.heads[head].row_sum, b.heads[head].row_sum) ||
        !same(a.heads[head].thumbnail, b.heads[head].thumbnail) || a.heads[head].largest != b.heads[head].largest)
      return false;
  return true;
}

inline bool same_stack(const StackTrace& a, const StackTrace& b) {
  if (!same(a.embedding, b.embedding) || !same(a.last_hidden_state(), b.last_hidden_state()) ||
      a.blocks.size() != b.blocks.size())
    return false;
  for (std::size_t layer = 0; layer < a.blocks.size(); ++layer) {
    const BlockTrace &x = a.blocks[layer], &y = b.blocks[layer];
    if (!same(x.output, y.output)) return false;
    if (!same_attention(x.self, y.self) || x.cross.has_value() != y.cross.has_value()) return false;
    if (x.cross && !same_attention(*x.cross, *y.cross)) return false;
  }
  return true;
}

/// The same numbers, bit for bit, from the first hidden state to the logits.
inline bool same_answer(const Trace& a, const Trace& b) {
  if (!same_stack(a, b) || !same(a.logits, b.logits) || a.answering != b.answering ||
      a.largest_weight != b.largest_weight || a.warnings != b.warnings)
    return false;
  if (!a.encoder || !b.encoder) return a.encoder == b.encoder;
  return same_stack(*a.encoder, *b.encoder);
}

/// Calls visit(stack, layer) for every attention of an answer.
template <class Visit>
void for_each_attention(const Trace& trace, const Visit& visit) {
  for (const Stack stack : kStacks) {
    if (!trace.has(stack)) continue;
    for (Index layer = 0; layer < trace.num_layers(stack); ++layer) visit(stack, layer);
  }
}

/// Calls visit(head) for every head of an answer.
template <class Visit>
void for_each_head(const Trace& trace, const Visit& visit) {
  for_each_attention(trace, [&](Stack stack, Index layer) {
    for (Index head = 0; head < trace.attention(stack, layer).num_heads(); ++head) visit(HeadRef{layer, head, stack});
  });
}

}  // namespace headlight::reference
