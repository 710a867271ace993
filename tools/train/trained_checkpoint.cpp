#include "train/trained_checkpoint.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/folders.h"
#include "base/formatted.h"
#include "base/utf8.h"
#include "card/arc_labels_file.h"
#include "model/config_fields.h"
#include "model/head_text.h"
#include "model/weight_tree.h"
#include "read/array/safetensors.h"
#include "train/measure/relations_json.h"

namespace headlight {
namespace {

using Json = nlohmann::ordered_json;

Json config_json(const Model& model) {
  const Config& config = model.config;
  const Index rows = model.embeddings.tokens->outputs();
  Json json = {{"model_type", "headlight"}, {"architectures", Json::array({"HeadlightModel"})}};
  for_each_field([&](const auto& field) {
    if (field.key) json[field.key] = ConfigValue{config}(field);
  });
  if (config.arch != Arch::encoder_decoder) json.erase("encoder_layers");
  json["norm_eps"] = model.blocks.front().attention_norm.epsilon;
  json["embedding_scale"] = model.embeddings.scale;
  json["vocab_size"] = rows;
  if (config.arch == Arch::encoder_decoder) json["decoder_start_token_id"] = kStartRow;
  if (config.arch == Arch::encoder_decoder && model.vocabulary->words.back() == kEndWord)
    json["eos_token_id"] = rows - 1;
  if (config.position == Position::learned) json["max_position_embeddings"] = model.embeddings.positions.rows();
  return json;
}

/// Words as text/words.h cuts them, each looked up as it is.
Json tokenizer_json(const Vocabulary& vocabulary, Arch arch) {
  Json words = Json::object(), added = Json::array();
  // Behind one another: looking each up would take the square of a large vocabulary's time.
  auto& rows = words.get_ref<Json::object_t&>();
  for (std::size_t row = 0; row < vocabulary.words.size(); ++row) {
    const auto special = std::find(std::begin(kSpecialWords), std::end(kSpecialWords), vocabulary.words[row]);
    if (row < std::size(kSpecialWords) || special == std::end(kSpecialWords))
      rows.emplace_back(vocabulary.words[row], row);
  }
  const auto add = [&](std::size_t row) {
    added.push_back({{"id", row},
                     {"content", vocabulary.words[row]},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", true}});
  };
  for (std::size_t row = 0; row < std::size(kSpecialWords); ++row) add(row);
  if (arch == Arch::encoder_decoder && vocabulary.words.back() == kEndWord) add(vocabulary.words.size() - 1);
  const std::string start(kSpecialWords[kStartRow]);
  const Json before = {{"SpecialToken", {{"id", start}, {"type_id", 0}}}};
  const auto sequence = [](const char* id, int type) { return Json{{"Sequence", {{"id", id}, {"type_id", type}}}}; };
  const Json template_processing = {
      {"type", "TemplateProcessing"},
      {"single", Json::array({before, sequence("A", 0)})},
      {"pair", Json::array({before, sequence("A", 0), before, sequence("B", 1)})},
      {"special_tokens",
       {{start, {{"id", start}, {"ids", Json::array({kStartRow})}, {"tokens", Json::array({start})}}}}}};
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens", added},
          {"normalizer", nullptr},
          {"pre_tokenizer", {{"type", "Words"}}},
          // A masked word is predicted at its position; the next word needs <s> at the beginning.
          {"post_processor", arch == Arch::decoder ? template_processing : Json()},
          {"decoder", nullptr},
          {"model", {{"type", "WordLevel"}, {"vocab", words}, {"unk_token", kSpecialWords[kUnknownRow]}}}};
}

/// The tensors under the names of read/names_headlight.cpp.
class Tensors {
 public:
  explicit Tensors(const Model& model) {
    add("embeddings.tokens", *model.embeddings.tokens);
    if (!model.config.tied) add("output", *model.output->weight);
    if (model.output->bias.size() > 0) add("output.bias", model.output->bias);
    if (model.encoder) add("encoder.", *model.encoder);
    add("", model);
  }

  std::vector<NamedTensor> list;

 private:
  void add(const std::string& name, const Matrix& matrix) {
    list.push_back({name, {matrix.rows(), matrix.cols()}, matrix.data()});
  }
  void add(const std::string& name, const Vector& vector) { list.push_back({name, {vector.size()}, vector.data()}); }
  /// Layers without numbers are left out.
  void add(const std::string& name, const Linear& linear) {
    if (linear.is_identity()) return;
    assert(linear.weight.size() > 0);  // as model_of() makes them
    add(name + ".weight", linear.weight);
    if (linear.bias.size() > 0) add(name + ".bias", linear.bias);
  }
  void add(const std::string& name, const NormWeights& norm) {
    if (norm.scale.size() > 0) add(name + ".weight", norm.scale);
    if (norm.shift.size() > 0) add(name + ".bias", norm.shift);
  }
  void add(const std::string& prefix, const StackWeights& stack) {
    if (stack.embeddings.positions.size() > 0) add(prefix + "embeddings.positions.weight", stack.embeddings.positions);
    for (std::size_t layer = 0; layer < stack.blocks.size(); ++layer)
      for_each_layer(stack.blocks[layer], [&](const LayerName& name, const auto& weights) {
        add(prefix + "layers." + std::to_string(layer) + "." + name.stored, weights);
      });
    if (stack.final_norm) add(prefix + "final_norm", *stack.final_norm);
  }
};

Json precisions_json(const std::vector<ArcPrecision>& precisions) {
  auto json = Json::array();
  for (const ArcPrecision& one : precisions)
    json.push_back({{"head", head_text(one.head)},
                    {"relation", one.relation},
                    {"language", name_of(one.language)},
                    {"named", one.named},
                    {"right", one.right}});
  return json;
}

Json card_json(const TrainingCard& card) {
  Json json = {{"schema", kTrainingSchema}, {"corpus", card.corpus}, {"command", card.command},
               {"step", card.step},         {"tokens", card.tokens}, {"plan", plan_json(card.plan)}};
  if (!card.treebanks.empty()) json["treebanks"] = card.treebanks;
  if (card.scores) json["scores"] = relations_json(*card.scores, card.plan.teaching.heads);
  if (card.arcs) json["arcs"] = precisions_json(card.arcs->precisions);
  return json;
}

/// A path in the command may be no UTF-8.
Status write_json(const std::filesystem::path& path, const Json& json) {
  return write_file(path, json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

/// The settings that a training must share with the one it resumes.
std::string identity(const TrainingPlan& plan, const Corpus& corpus) {
  nlohmann::ordered_json json = plan_json(plan);
  std::uint64_t words = corpus.lines.size();
  for (const std::string& word : corpus.words) words = derive_seed(words, word);
  const auto add = [&words](const auto& list) {
    words = derive_seed(
        words, std::string_view(reinterpret_cast<const char*>(list.data()), list.size() * sizeof list.front()));
  };
  for (const auto& line : corpus.lines) add(line);
  if (corpus.tokenizer) words = derive_seed(words, corpus.tokenizer_json);
  for (const CorpusText& text : corpus.texts) {
    words = derive_seed(words, std::to_string(text.weight));
    add(text.lines.rows);
    add(text.lines.starts);
  }
  for (const TaughtText& text : corpus.taught) {
    words = derive_seed(words, std::to_string(text.weight));
    for (const TaughtSentence& sentence : text.sentences) {
      add(sentence.rows);
      add(sentence.arcs);
      add(sentence.rests);
    }
  }
  if (corpus.taught_grammar)
    for (const std::string& word : corpus.taught_grammar->words) words = derive_seed(words, word);
  json["words"] = words;
  json["shape"] = nlohmann::ordered_json::array();
  for_each_field([&](const auto& field) {
    if (field.key && !std::is_same_v<decltype(field), const SeedField&>)
      json["shape"].push_back(ConfigValue{plan.config}(field));
  });
  return json.dump();
}

}  // namespace

Status write_arc_labels(const std::filesystem::path& path, const ArcLabels& labels) {
  std::map<std::string, std::string> metadata{{"format", std::string(kArcLabelsFormat)},
                                              {"heads", joined_texts(labels.heads, ",", head_text)},
                                              {"relations", joined_texts(labels.relations, ",")}};
  std::vector<NamedTensor> tensors;
  for (const ArcLanguage language : kLabelledLanguages) {
    const ArcLabels::OfLanguage& own = labels.languages[static_cast<std::size_t>(language)];
    if (own.weights.size() == 0) continue;
    const std::string name = name_of(language);
    for (const auto& [part, matrix] : {std::pair(".weights", &own.weights), std::pair(".calibration", &own.calibration),
                                       std::pair(".order", &own.order)})
      if (matrix->size() > 0) tensors.push_back({name + part, {matrix->rows(), matrix->cols()}, matrix->data()});
    metadata[name + ".least"] = formatted("%.9g", static_cast<double>(own.least));
  }
  return write_tensors(path, tensors, metadata, TensorType::float16);
}

Status save_checkpoint(const std::filesystem::path& folder, const Model& model, const TrainingCard& card,
                       TensorType type, std::string_view tokenizer) {
  assert(model.vocabulary && model.output);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return bad_input(folder.string(), "", "a folder that can be made", error.message(), write_fault(error.value()));
  // The weights last: a folder with weights has all that they need.
  TRY(write_json(folder / "config.json", config_json(model)));
  const std::filesystem::path tokenizer_path = folder / "tokenizer.json";
  TRY(tokenizer.empty() ? write_json(tokenizer_path, tokenizer_json(*model.vocabulary, model.config.arch))
                        : write_file(tokenizer_path, tokenizer));
  TRY(save_card(folder, model, card));
  const Tensors tensors(model);
  return write_tensors(folder / "model.safetensors", tensors.list, {{"format", "pt"}}, type);
}

Status save_card(const std::filesystem::path& folder, const Model& model, const TrainingCard& card) {
  const std::filesystem::path arcs = folder / kArcLabelsFile;
  std::error_code ignored;
  if (!card.arcs) std::filesystem::remove(arcs, ignored);  // another model's
  else TRY(write_arc_labels(arcs, *card.arcs));
  TRY(write_json(folder / "training.json", card_json(card)));
  return write_file(folder / "README.md", card_text(model, card));
}

Status save_training(const std::filesystem::path& folder, const Training& training, const TrainingPlan& plan,
                     const Corpus& corpus, double tokens) {
  const Index size = training.network.size();
  std::vector<NamedTensor> tensors = {{"values", {size}, training.network.values.data()}};
  if (!training.moments.first.empty()) {
    tensors.push_back({"first", {size}, training.moments.first.data()});
    tensors.push_back({"second", {size}, training.moments.second.data()});
  }
  return write_tensors(folder / "resume.safetensors", tensors,
                       {{"step", std::to_string(training.step)},
                        {"tokens", std::to_string(static_cast<std::int64_t>(tokens))},
                        {"plan", identity(plan, corpus)}});
}

Result<ResumedTraining> resume_training(const std::filesystem::path& folder, const TrainingPlan& plan,
                                        const Corpus& corpus) {
  const std::filesystem::path path = folder / "resume.safetensors";
  auto training = TRY(begin_training(plan, corpus));
  double words = 0;
  const auto file = TRY(read_safetensors(path));
  if (metadata_text(file, "plan").value_or("") != identity(plan, corpus)) {
    return bad_input(path.string(), "plan", "the options and the corpus that this training began with", "others");
  }
  const std::string step = metadata_text(file, "step").value_or("");
  training.step = parse_number<Index>(step).value_or(-1);
  if (training.step < 0) return bad_input(path.string(), "step", "a number", "'" + step + "'");
  if (const std::string tokens = metadata_text(file, "tokens").value_or(""); !tokens.empty()) {
    words = static_cast<double>(parse_number<std::int64_t>(tokens).value_or(-1));
    if (words < 0) return bad_input(path.string(), "tokens", "a number", "'" + tokens + "'");
  } else if (const auto card = read_card(folder); card && *card) {
    words = (*card)->tokens;
  }
  const auto take = [&](const char* what, Floats& to) -> Status {
    const Array* found = find_array(file.arrays, what);
    const auto size = static_cast<std::size_t>(training.network.size());
    if (!found || found->values.size() != size)
      return bad_input(path.string(), what, std::to_string(size) + " numbers",
                       found ? std::to_string(found->values.size()) : "none");
    to.assign(found->values.begin(), found->values.end());
    if (!std::all_of(to.begin(), to.end(), [](float value) { return std::isfinite(value); }))
      return bad_input(path.string(), what, "finite numbers", "others", ErrorCode::not_finite);
    return Done{};
  };
  TRY(take("values", training.network.values));
  if (training.step > 0) {
    TRY(take("first", training.moments.first));
    TRY(take("second", training.moments.second));
    const Floats& second = training.moments.second;
    if (std::any_of(second.begin(), second.end(), [](float value) { return value < 0; }))
      return bad_input(path.string(), "second", "mean squares, 0 or more", "a negative number");
  }
  return ResumedTraining{std::move(training), words};
}

}  // namespace headlight
