#include "models/bundled_models.h"

#include <algorithm>
#include <cmath>

#include "assets/assets.h"
#include "base/folders.h"
#include "base/formatted.h"
#include "base/utf8.h"
#include "card/training_card.h"
#include "models/model_choice.h"
#include "question/tokenizers.h"
#include "read/hub/checkpoint.h"
#include "text/characters.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

bool same_shape(const Config& a, const Config& b) {
  return a.arch == b.arch && a.d_model == b.d_model && a.num_heads == b.num_heads && a.d_k() == b.d_k() &&
         a.kv_heads() == b.kv_heads() && a.num_layers == b.num_layers && a.ffn == b.ffn && a.position == b.position &&
         a.norm == b.norm && a.norm_kind == b.norm_kind && a.activation == b.activation && a.gated == b.gated;
}

/// Whether `tied` or `bias`, which find_model ignores, changed to another value than that of `trained`.
bool leaves(const Config& trained, const Config& before, const Config& now) {
  return (now.tied != before.tied && now.tied != trained.tied) || (now.bias != before.bias && now.bias != trained.bias);
}

const Config& sizes_of(const BundledModel& model) { return model.model->config; }
const Config& sizes_of(const BundledShape& shape) { return shape.config; }

template <class Shipped>
const Shipped* of_shape(const std::vector<Shipped>& all, const Config& config) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Shipped& one) { return same_shape(sizes_of(one), config); });
  return found == all.end() ? nullptr : &*found;
}

template <class Shipped>
const Shipped* nearest_shape(const std::vector<Shipped>& all, const Config& config) {
  const auto apart = [](Index a, Index b) {
    return std::abs(std::log2(static_cast<double>(std::max<Index>(1, a)) / static_cast<double>(std::max<Index>(1, b))));
  };
  const auto distance = [&](const Shipped& shipped) {
    const Config& own = sizes_of(shipped);
    return (own.arch == config.arch ? 0 : 1000) + apart(own.d_model, config.d_model) +
           apart(own.num_heads, config.num_heads) + apart(own.num_layers, config.num_layers);
  };
  const auto nearest = std::min_element(all.begin(), all.end(),
                                        [&](const Shipped& a, const Shipped& b) { return distance(a) < distance(b); });
  return nearest == all.end() ? nullptr : &*nearest;
}

/// The default first.
Result<std::vector<std::string>> names_of_shipped() {
  auto names = TRY(shipped_sources());
  // Those are read when they are named, or a sentence needs them.
  std::erase_if(names, [](const std::string& name) {
    return name == kAnySentence || name == "shipped:induction" || name == kShapes;
  });
  std::stable_partition(names.begin(), names.end(), [](const std::string& name) { return name == kDefaultModel; });
  return names;
}

}  // namespace

Result<std::vector<std::string>> shipped_sources() {
  const auto folder = TRY(asset_folder());
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder / "assets" / "models", error), end; !error && at != end; at.increment(error))
    if (is_folder(*at)) names.push_back(std::string(kShipped) + at->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

bool is_shipped(const Document& document) { return document.model && document.model_path.starts_with(kShipped); }

Result<fs::path> resolved_source(const fs::path& path) {
  const std::string text = path.string();
  if (!text.starts_with(kShipped)) return path;
  const std::string model = text.substr(kShipped.size());
  const auto is_plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  if (model.empty() || !std::all_of(model.begin(), model.end(), is_plain))
    return bad_input(text, "", "the name of a shipped model", "'" + model + "'");
  const auto folder = TRY(asset_folder());
  const fs::path named = folder / "assets" / "models" / model;
  if (is_folder(named)) return named;
  const auto names = TRY(shipped_sources());
  const auto bare = [](const std::string& name) { return name.substr(kShipped.size()); };
  return bad_input("shipped", "", "one of " + joined_texts(names, ", ", bare), "'" + model + "'");
}

Result<std::vector<BundledShape>> read_shipped_shapes() {
  const auto names = TRY(names_of_shipped());
  std::vector<BundledShape> shapes;
  for (const std::string& name : names) {
    const auto path = TRY(resolved_source(name));
    const auto hub = TRY(read_hub_config(path / "config.json"));
    shapes.push_back({name, hub.config});
  }
  return shapes;
}

Result<std::shared_ptr<const BundledModels>> read_shipped_models() {
  const auto names = TRY(names_of_shipped());
  BundledModels models;
  for (const std::string& name : names) {
    const auto path = TRY(resolved_source(name));
    auto checkpoint = TRY(read_checkpoint(path));
    std::vector<Error> warnings;
    auto tokenizers = read_tokenizers(path, *checkpoint.model, warnings);
    auto card = TRY(read_card(path));
    models.push_back({name, std::move(checkpoint.model), std::move(tokenizers),
                      card ? std::make_shared<const TrainingCard>(*std::move(card)) : nullptr});
  }
  return std::make_shared<const BundledModels>(std::move(models));
}

const BundledModel* find_model(const BundledModels& models, const Config& config) { return of_shape(models, config); }

const BundledShape* find_model(const std::vector<BundledShape>& shapes, const Config& config) {
  return of_shape(shapes, config);
}

const BundledModel* nearest_model(const BundledModels& models, const Config& config) {
  return nearest_shape(models, config);
}

const BundledShape* nearest_model(const std::vector<BundledShape>& shapes, const Config& config) {
  return nearest_shape(shapes, config);
}

void take_model(Document& document, const BundledModel& shipped) {
  document.model = shipped.model;
  document.tokenizers = shipped.tokenizers;
  document.card = shipped.card;
  document.model_path = shipped.source;
  document.trained = true;
  document.config = shipped.model->config;
}

void share_model(Document& document, const BundledModels* models) {
  if (!models || !is_shipped(document)) return;
  for (const BundledModel& shipped : *models)
    if (shipped.source == document.model_path) take_model(document, shipped);
}

void reshape(Document& document, const Config& config, const BundledModels* models) {
  const BundledModel* trained = models ? find_model(*models, config) : nullptr;
  if (trained && leaves(trained->model->config, config_of(document), config)) trained = nullptr;
  if (!trained && models && config.arch != config_of(document).arch) {
    const BundledModel* nearest = nearest_model(*models, config);
    if (nearest && nearest->model->config.arch == config.arch) trained = nearest;
  }
  if (trained) return take_model(document, *trained);
  document.model = nullptr;
  document.tokenizers = nullptr;
  document.card = nullptr;
  document.model_path.clear();
  document.config = config;
}

Document default_document(const BundledModels* models) {
  Document document;
  if (models && !models->empty()) take_model(document, models->front());
  return document;
}

double position_alone(const RelationScore& relation) { return std::max(relation.offset, relation.kind_offset); }

double gain(const RelationScore& relation) { return relation.score.accuracy - position_alone(relation); }

bool is_worn(const RelationScore& relation) { return gain(relation) >= kLeastGain; }

std::vector<const RelationScore*> opposites_of(const Document& document, const HeadRef& head) {
  std::vector<const RelationScore*> relations;
  if (!document.card || !document.card->scores) return relations;
  for (const RelationScore& one : document.card->scores->opposite)
    if (HeadRef{one.chosen.layer, one.chosen.head, one.stack} == head) relations.push_back(&one);
  return relations;
}

std::vector<const RelationScore*> relations_of(const Document& document, const HeadRef& head) {
  std::vector<const RelationScore*> relations;
  if (!document.card || !document.card->scores) return relations;
  const auto& all = document.card->scores->relations;
  const bool by_language = std::any_of(all.begin(), all.end(), is_of_chinese);  // then those of the sentence's language
  const bool chinese = by_language && has_chinese(document.source.text);
  for (const RelationScore& one : all)
    if (HeadRef{one.chosen.layer, one.chosen.head, one.stack} == head &&
        (!by_language || is_of_chinese(one) == chinese))
      relations.push_back(&one);
  return relations;
}

}  // namespace headlight
