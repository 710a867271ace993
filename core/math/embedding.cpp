#include "math/embedding.h"

#include <algorithm>

#include "base/result.h"
#include "math/ops.h"
#include "math/position.h"

namespace headlight {
namespace {

/// The number of tokens that get separate positions: padding tokens may share one.
Index counted_tokens(const Embeddings& embeddings, const Tokens& tokens) {
  if (!embeddings.pad_id) return static_cast<Index>(tokens.size());
  return std::count_if(tokens.tokens.begin(), tokens.tokens.end(),
                       [&](const Token& token) { return token.id != *embeddings.pad_id; });
}

/// Learned positions of a model in which all padding tokens share one row.
Matrix positions_without_padding(const Embeddings& embeddings, const Tokens& tokens) {
  Matrix positions(static_cast<Index>(tokens.size()), embeddings.positions.cols());
  Index next = embeddings.first_position;
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    const bool pad = tokens.tokens[t].id == *embeddings.pad_id;
    positions.row(static_cast<Index>(t)) = embeddings.positions.row(pad ? *embeddings.pad_id : next);
    if (!pad) ++next;
  }
  return positions;
}

}  // namespace

std::optional<Index> most_tokens(const Model& model, const StackWeights& stack) {
  std::optional<Index> most;
  if (stack.longest) most = stack.longest->tokens;
  const Embeddings& embeddings = stack.embeddings;
  if (model.config.position != Position::learned || embeddings.positions.size() == 0) return most;
  const Index known = embeddings.positions.rows() - embeddings.first_position;
  return std::min(known, most.value_or(known));
}

Status check_tokens(const Model& model, const StackWeights& stack, const Tokens& tokens) {
  const Embeddings& embeddings = stack.embeddings;
  if (embeddings.patches) {
    const bool fits = tokens.picture && tokens.picture->grid == *model.patches;
    return fits ? Status(Done{})
                : bad_input("text", "", "a picture, which this model reads", "a text", ErrorCode::needs_picture);
  }
  if (tokens.picture)
    return bad_input("picture", "", "a text, which this model reads", "a picture", ErrorCode::needs_text);
  const bool is_target = model.encoder && &stack == &model;
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    const Token& token = tokens.tokens[t];
    const std::string where = (is_target ? "target token " : "token ") + std::to_string(t);
    if (embeddings.tokens)
      if (const auto s = check_within(where, "id", token.id, embeddings.tokens->outputs(), ErrorCode::unknown_token_id);
          !s)
        return s;
    if (embeddings.token_types.size() > 0) TRY(check_within(where, "type", token.type, embeddings.token_types.rows()));
  }
  const auto check_count = [&](Index count, Index most, const std::string& why) -> Status {
    if (count <= most) return Done{};
    return bad_input(is_target ? "target" : "text", "tokens", "at most " + std::to_string(most) + ", " + why,
                     std::to_string(count), ErrorCode::too_many_tokens);
  };
  if (stack.longest) TRY(check_count(static_cast<Index>(tokens.size()), stack.longest->tokens, stack.longest->why));
  if (model.config.position != Position::learned || embeddings.positions.size() == 0) return Done{};
  return check_count(counted_tokens(embeddings, tokens), embeddings.positions.rows() - embeddings.first_position,
                     "the positions that the model knows");
}

Matrix token_vectors(const Model& model, const StackWeights& stack, const Tokens& tokens) {
  const Embeddings& embeddings = stack.embeddings;
  if (embeddings.patches) {
    Matrix vectors(static_cast<Index>(tokens.size()), model.config.d_model);
    const Index first = embeddings.patches->leading.rows();
    vectors.topRows(first) = embeddings.patches->leading;
    vectors.bottomRows(vectors.rows() - first) = linear(tokens.picture->patches, embeddings.patches->projection);
    return vectors;
  }
  Matrix vectors(static_cast<Index>(tokens.size()),
                 embeddings.tokens ? embeddings.tokens->inputs() : model.config.d_model);
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    const Token& token = tokens.tokens[t];
    auto row = vectors.row(static_cast<Index>(t));
    if (embeddings.tokens) row = weight_rows(*embeddings.tokens, token.id, 1);
    else row = random_embedding(model.config, token.text);
  }
  if (embeddings.scale != 1.0f) vectors *= embeddings.scale;
  return vectors;
}

Matrix position_vectors(const Model& model, const StackWeights& stack, const Tokens& tokens) {
  const Index count = static_cast<Index>(tokens.size()), d = model.config.d_model;
  switch (model.config.position) {
    case Position::sinusoidal: return sinusoidal_positions(count, d);
    case Position::sinusoidal_halves: return sinusoidal_positions(count, d, true);
    case Position::learned: break;
    case Position::none:
    case Position::rotary: return {};
  }
  if (stack.embeddings.positions.size() > 0 && stack.embeddings.pad_id)
    return positions_without_padding(stack.embeddings, tokens);
  if (stack.embeddings.positions.size() > 0)
    return stack.embeddings.positions.middleRows(stack.embeddings.first_position, count);
  Matrix positions(count, d);
  for (Index t = 0; t < count; ++t) positions.row(t) = random_position(model.config, t);
  return positions;
}

Matrix type_vectors(const StackWeights& stack, const Tokens& tokens) {
  const Matrix& types = stack.embeddings.token_types;
  if (types.size() == 0) return {};
  Matrix vectors(static_cast<Index>(tokens.size()), types.cols());
  for (std::size_t t = 0; t < tokens.size(); ++t) vectors.row(static_cast<Index>(t)) = types.row(tokens.tokens[t].type);
  return vectors;
}

Matrix embed(const Model& model, const StackWeights& stack, const Tokens& tokens) {
  Matrix sum = token_vectors(model, stack, tokens);
  if (const Matrix positions = position_vectors(model, stack, tokens); positions.size() > 0) sum += positions;
  if (const Matrix types = type_vectors(stack, tokens); types.size() > 0) sum += types;
  if (stack.embeddings.norm) sum = norm(sum, *stack.embeddings.norm);
  return linear(sum, stack.embeddings.projection);
}

}  // namespace headlight
