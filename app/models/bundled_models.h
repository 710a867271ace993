// The trained models that come with the program, in assets/models: the one it opens on, and its family of other sizes.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "card/relation_scores.h"
#include "question/document.h"

namespace headlight {

/// The model that the program opens on.
inline constexpr std::string_view kDefaultModel = "shipped:encoder";
/// The one that sees pictures, and reads no text.
inline constexpr std::string_view kShapes = "shipped:shapes";

struct BundledModel {
  std::string source;  // "shipped:encoder"
  std::shared_ptr<const Model> model;
  std::shared_ptr<const Tokenizers> tokenizers;
  std::shared_ptr<const TrainingCard> card;  // null: unknown
};
using BundledModels = std::vector<BundledModel>;

bool is_shipped(const Document& document);

/// How the shipped models are named, in alphabetical order. Errors: no assets.
Result<std::vector<std::string>> shipped_sources();

/// The folder of a bundled model's name; any other path unchanged.
Result<std::filesystem::path> resolved_source(const std::filesystem::path& path);

/// All bundled models, the default first. Error: that of the first model that cannot be read.
Result<std::shared_ptr<const BundledModels>> read_shipped_models();

/// A bundled model by its configuration, without its weights.
struct BundledShape {
  std::string source;
  Config config;
};

/// Those of all bundled models, the default first, in a hundredth of the time that it takes to read the models.
Result<std::vector<BundledShape>> read_shipped_shapes();

/// The model with these sizes (those that the sliders set), or null; other fields of the configuration are ignored.
const BundledModel* find_model(const BundledModels& models, const Config& config);
const BundledShape* find_model(const std::vector<BundledShape>& shapes, const Config& config);

/// The model whose sizes are nearest to the configuration's, of its architecture if there is one; null: there is none.
const BundledModel* nearest_model(const BundledModels& models, const Config& config);
const BundledShape* nearest_model(const std::vector<BundledShape>& shapes, const Config& config);

/// Puts a bundled model into the document; text, masks and edits stay.
void take_model(Document& document, const BundledModel& shipped);

/// Replaces the document's copy of a bundled model by the loaded one, because models are compared by identity.
/// `models` may be null.
void share_model(Document& document, const BundledModels* models);

/// Sets the shape of a document that prefers trained models: the trained model of that shape; where the architecture
/// changed, else the nearest model of the new one; else fresh weights. `models` may be null.
void reshape(Document& document, const Config& config, const BundledModels* models);

/// The document that the program begins with: the default sentence, and the first shipped model where there is one.
Document default_document(const BundledModels* models);

/// A head is named by a relation where its score exceeds the score of position alone by so much.
inline constexpr double kLeastGain = 0.15;
/// The score of position alone for a relation: the best fixed distance, for each kind of sentence or for all.
double position_alone(const RelationScore& relation);
/// How far the score is above that.
double gain(const RelationScore& relation);
bool is_worn(const RelationScore& relation);

/// The measured relations of a head: those that it was chosen for.
std::vector<const RelationScore*> relations_of(const Document& document, const HeadRef& head);
/// … and those for which it is the best in the other direction, if no other head was chosen for that.
std::vector<const RelationScore*> opposites_of(const Document& document, const HeadRef& head);

}  // namespace headlight
