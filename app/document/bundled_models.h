// The trained models that come with the program, in assets/models: the one it opens on, and its family of other sizes.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "document/document.h"
#include "train/measure/relations.h"

namespace headlight {

/// How a document names a shipped model in place of a path: "shipped:encoder".
inline constexpr std::string_view kShipped = "shipped:";
/// The model that the program opens on.
inline constexpr std::string_view kDefaultModel = "shipped:encoder";

struct BundledModel {
  std::string source;  // "shipped:encoder"
  std::shared_ptr<const Model> model;
  std::shared_ptr<const Tokenizers> tokenizers;
  std::shared_ptr<const TrainingCard> card;  // null: nobody says
};
using BundledModels = std::vector<BundledModel>;

bool is_shipped(const Document& document);

/// The folder that a shipped model's name stands for; any other path as it is.
Result<std::filesystem::path> resolved_source(const std::filesystem::path& path);

/// All of them, the default first. Errors: what is wrong with the first that cannot be read.
Result<std::shared_ptr<const BundledModels>> read_shipped_models();

/// The model of this shape, or null: the sizes that the sliders move, whatever else the configuration says.
const BundledModel* find_model(const BundledModels& models, const Config& config);

/// The model whose sizes are nearest to the configuration's, of its architecture if there is one; null: there is none.
const BundledModel* nearest_model(const BundledModels& models, const Config& config);

/// Takes a shipped model for the document's text; masks and edits stay.
void take_model(Document& document, const BundledModel& shipped);

/// A document that was read with a shipped model of its own gets the one that is here already: one model, one identity.
/// `models` may be null.
void share_model(Document& document, const BundledModels* models);

/// What the sliders ask of a document that prefers trained models: the one of that shape where there is one, of
/// another architecture than before the nearest of that; else fresh weights of it. `models` may be null.
void reshape(Document& document, const Config& config, const BundledModels* models);

/// The document that the program begins with: the default sentence, and the first shipped model where there is one.
Document default_document(const BundledModels* models);

/// What was measured of a head: the relations that it was chosen for.
std::vector<const RelationScore*> relations_of(const Document& document, const HeadRef& head);

}  // namespace headlight
