// The inputs of `./run bench`: models and sentences that are the same on every machine.
#pragma once

#include <memory>

#include "model/request.h"

namespace headlight {

/// w0, w1, … with their numbers as ids; after 977 words they begin again.
Tokens bench_tokens(Index count);

/// Drawn evenly from ±limit.
Matrix drawn_matrix(Index rows, Index cols, std::uint64_t seed, float limit = 1);

/// The shapes of BERT-base (Devlin et al. 2019) and of GPT-2's smallest (Radford et al. 2019).
Config bert_base();
Config gpt2_small();

/// Fresh weights, laid out as those of a model that was opened.
std::shared_ptr<const Model> packed_model(const Config& config, std::shared_ptr<const Vocabulary> words = nullptr);

/// Fresh weights of GPT-2-small's shape, with an output layer over its 50,257 words.
std::shared_ptr<const Model> random_gpt2_small();

/// The same with its weights rounded to bfloat16, as a checkpoint of that kind has them.
std::shared_ptr<const Model> random_half_gpt2_small();

/// Fresh weights of the shape of a Llama of 1.1 billion parameters (Zhang et al. 2024, TinyLlama): 22 layers, 32 heads.
std::shared_ptr<const Model> random_llama();

/// Softmax of drawn scores: attention as another program would have computed it.
std::shared_ptr<const Model> computed_patterns(std::size_t layers, std::size_t heads, Index tokens);

}  // namespace headlight
