// Token ids and positions → hidden state 0 (Vaswani et al. 2017, sections 3.4 and 3.5; math/reference.h, step 7).
#pragma once

#include <optional>

#include "base/matrix.h"
#include "model/trace.h"

namespace headlight {

/// An Error names the first token that the model has no vector for: an id outside its table, a position beyond its
/// last.
Status check_tokens(const Model& model, const StackWeights& stack, const Tokens& tokens);

/// The most tokens of a text without padding that the stack reads; nothing: any number.
std::optional<Index> most_tokens(const Model& model, const StackWeights& stack);

/// The vectors of the tokens, scaled, (T, e); e: d_model, or the width of the tables where the sum is projected.
Matrix token_vectors(const Model& model, const StackWeights& stack, const Tokens& tokens);

/// The vectors of their positions, (T, e); empty where none are added (none, rotary).
Matrix position_vectors(const Model& model, const StackWeights& stack, const Tokens& tokens);

/// The vectors of their types, (T, e); empty where the model has no types.
Matrix type_vectors(const StackWeights& stack, const Tokens& tokens);

/// The sum of the three, normed and projected where the model does that: hidden state 0, (T, d_model).
Matrix embed(const Model& model, const StackWeights& stack, const Tokens& tokens);

}  // namespace headlight
