// A small model that reads pictures, with fresh weights, and questions about a drawn picture.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "question/document.h"

namespace headlight {

/// 3 × 4 patches of 4 pixels, behind a class token and a register; two layers of two heads.
inline std::shared_ptr<const Model> picture_model() {
  Config config{.d_model = 16, .num_heads = 2, .num_layers = 2, .ffn = 32, .position = Position::learned};
  config.norm = Norm::pre;
  const auto model = random_model(config);
  model->name = "small";
  model->patches = PatchGrid{.patch = 4, .rows = 3, .cols = 4, .leading = {"CLS", "R1"}};
  const auto waves = [](Index rows, Index cols, float step) {
    return Matrix(Matrix::NullaryExpr(
        rows, cols, [=](Index row, Index col) { return std::sin(step * static_cast<float>(row * cols + col)); }));
  };
  PatchEmbedding& patches = model->embeddings.patches.emplace();
  patches.projection.weight = 0.3f * waves(config.d_model, 48, 0.7f);
  patches.leading = waves(2, config.d_model, 1.3f);
  return model;
}

/// Squares of two colours on a slope.
inline std::shared_ptr<const PictureInput> drawn_picture(const std::string& path = "/pictures/drawn.png") {
  PictureInput picture;
  picture.path = path;
  picture.hash = "0123456789abcdef";
  picture.picture = {.width = 16, .height = 12};
  for (Index row = 0; row < 12; ++row)
    for (Index col = 0; col < 16; ++col)
      for (const Index tone : {16 * row, 12 * col, Index{(row / 4 + col / 4) % 2 * 200}})
        picture.picture.pixels.push_back(static_cast<std::uint8_t>(tone));
  return std::make_shared<const PictureInput>(std::move(picture));
}

/// The same with a classifier of the class token and the mean of all patches.
inline std::shared_ptr<const Model> classifier_model() {
  auto model = std::make_shared<Model>(*picture_model());
  Linear classes{.weight = Matrix(3, 32), .bias = {}};
  for (Index i = 0; i < classes.weight.size(); ++i) classes.weight.data()[i] = std::cos(1.7f * static_cast<float>(i));
  OutputWeights& output = model->output.emplace();
  output.weight = std::make_shared<const Linear>(std::move(classes));
  output.mixtures = Matrix::Zero(2, 14);
  output.mixtures(0, 0) = 1;
  output.mixtures.row(1).tail(12).setConstant(1.0f / 12);
  model->vocabulary =
      std::make_shared<const Vocabulary>(Vocabulary{.words = {"cat, tomcat", "dog", "tree"}, .ids = {}});
  return model;
}

inline Document picture_document(std::shared_ptr<const Model> model = picture_model()) {
  Document document;
  document.model = std::move(model);
  document.model_path = "/models/small";
  document.mask.causal = false;
  if (!set_picture(document, drawn_picture())) document.seen = nullptr;
  return document;
}

}  // namespace headlight
