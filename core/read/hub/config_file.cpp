#include "read/hub/config_file.h"
#include "read/array/quantized.h"

#include <algorithm>
#include <cctype>

#include "base/file.h"
#include "base/formatted.h"
#include "base/names.h"
#include "base/utf8.h"
#include "read/hub/families.h"
#include "read/json/json_document.h"

namespace headlight {
namespace {

/// Options of some families that change attention or what goes into it. A file of another family that has one switched
/// on describes a model that would be computed wrongly.
constexpr const char* kOptions[] = {"alibi",
                                    "attention_chunk_size",
                                    "attention_multiplier",
                                    "attn_logit_softcapping",
                                    "attention_sinks",
                                    "clip_qkv",
                                    "embedding_multiplier",
                                    "final_logit_softcapping",
                                    "logits_scaling",
                                    "no_rope_layers",
                                    "num_experts",
                                    "num_local_experts",
                                    "pruned_heads",
                                    "qk_layernorm",
                                    "qk_norm",
                                    "relative_attention",
                                    "residual_multiplier",
                                    "use_qk_norm"};

void refuse_options_of_others(Keyed& keyed) {
  for (const char* option : kOptions) {
    if (keyed.was_read(option)) continue;
    const nlohmann::json* value = keyed.find({option});
    if (value && *value != false && *value != 0 && !(value->is_structured() && value->empty()))
      keyed.fail({option}, "none in this family", found_text(*value));
  }
}

/// Models that read pictures too, and the families that their text models may be of, the usual one first.
struct PictureModel {
  std::string_view type;
  std::vector<std::string_view> texts;
  bool flat = false;  // the text model may be configured by the document itself
};
const PictureModel kPictureModels[] = {{"gemma3", {"gemma3_text"}},
                                       {"llava", {"llama", "mistral", "qwen2", "gemma"}},
                                       {"llava_next", {"llama", "mistral", "qwen2"}},
                                       {"llava_onevision", {"qwen2"}},
                                       {"mistral3", {"mistral"}},
                                       {"qwen2_vl", {"qwen2_vl_text"}, true},
                                       {"qwen2_5_vl", {"qwen2_5_vl_text"}, true}};

/// Of a model that reads pictures too, whose text model has a configuration in `text_config`: the text model, as its
/// files would have it alone. Sizes that it does not state are those of its family. Other documents are unchanged.
Result<nlohmann::json> text_model(std::string_view where, nlohmann::json document) {
  constexpr const char* kKey = "text_config";
  const nlohmann::json type = document.value("model_type", nlohmann::json());
  const auto known = std::find_if(std::begin(kPictureModels), std::end(kPictureModels),
                                  [&](const PictureModel& one) { return type == one.type; });
  if (known == std::end(kPictureModels) || (known->flat && !document.contains(kKey))) return document;
  if (!document.contains(kKey) || !document[kKey].is_object())
    return bad_input(where, kKey, "an object", document.contains(kKey) ? found_text(document[kKey]) : "none",
                     ErrorCode::bad_config);
  nlohmann::json text = std::move(document[kKey]);
  nlohmann::json& family = text["model_type"];
  if (family.is_null()) family = known->texts.front();
  if (std::none_of(known->texts.begin(), known->texts.end(), [&](std::string_view one) { return family == one; }))
    return bad_input(where, std::string(kKey) + ".model_type", listed(known->texts), found_text(family),
                     ErrorCode::unknown_model_type);
  for (const auto& [key, value] : value_or_null(family_of(family.get<std::string>())->row, "unstated").items())
    if (value_or_null(text, key.c_str()).is_null()) text[key] = value;
  for (const char* key : {"quantization_config", "quantization", "tie_word_embeddings"})
    if (document.contains(key) && !text.contains(key)) text[key] = document[key];
  text["architectures"] = {"LlamaForCausalLM"};  // of the classes of each of these families
  return text;
}

/// Of a model of a picture and a text beside each other (CLIP, SigLIP) one of them.
nlohmann::json part_of_two(nlohmann::json document, ModelPart part) {
  const char* const key = part == ModelPart::picture ? "vision_config" : "text_config";
  const nlohmann::json type = document.value("model_type", nlohmann::json());
  if ((type != "clip" && type != "siglip") || !document.contains(key) || !document[key].is_object()) return document;
  nlohmann::json one = std::move(document[key]);
  one["model_type"] = type.get<std::string>() + (part == ModelPart::picture ? "_vision_model" : "_text_model");
  return one;
}

/// The model_type of a document that has none, by the classes of transformers that it names: "RobertaForMaskedLM".
void find_type(nlohmann::json& document) {
  if (!value_or_null(document, "model_type").is_null()) return;
  const auto plain = [](std::string_view text) {
    std::string letters;
    for (const char c : text)
      if (std::isalnum(static_cast<unsigned char>(c)))
        letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return letters;
  };
  const nlohmann::json& classes = value_or_null(document, "architectures");
  for (const nlohmann::json& one : classes) {
    if (!one.is_string()) continue;
    std::string_view stem = one.get_ref<const std::string&>();
    for (const std::string_view end : {"For", "LMHead", "WithLMHead", "MTModel", "DoubleHeads", "Model"})
      stem = stem.substr(0, stem.find(end));
    for (const PictureModel& pictures : kPictureModels)
      if (plain(pictures.type) == plain(stem) && document.contains("text_config")) {
        document["model_type"] = pictures.type;
        return;
      }
    for (const Family& family : all_families())
      for (const std::string_view type : family.types)
        if (plain(type) == plain(stem) || plain(type) == plain(stem) + "text") {
          document["model_type"] = type;
          return;
        }
  }
}

/// "quantized weights (gptq, 4 bits)".
std::string quantized_by(const nlohmann::json& config) {
  std::string by;
  for (const char* key : {"quant_method", "bits"})
    if (const nlohmann::json& value = value_or_null(config, key); !value.is_null())
      by += (by.empty() ? "" : ", ") + (value.is_string() ? printable(value.get<std::string>()) : found_text(value)) +
            (std::string_view(key) == "bits" ? " bits" : "");
  return "quantized weights" + (by.empty() ? "" : " (" + by + ")");
}

/// Of a configuration whose family is not there: the family that reads the most of it, and the keys that it does not
/// know. Empty where none reads it without an error.
std::string nearest_family(std::string_view where, const nlohmann::json& document) {
  constexpr std::size_t kMostKeys = 6;
  static constexpr std::string_view kOfAny[] = {"architectures", "torch_dtype", "dtype",        "transformers_version",
                                                "use_cache",     "auto_map",    "_name_or_path"};
  const Family* nearest = nullptr;
  std::vector<std::string> least;
  for (const Family& family : all_families()) {
    Keyed keyed(where, document);
    (void)family_config(keyed, family);
    if (keyed.error()) continue;
    std::vector<std::string> unknown;
    std::size_t known = 0;
    for (const auto& [key, value] : document.items()) {
      if (value.is_null() || key.ends_with("_token_id") || key == "model_type" ||
          std::find(std::begin(kOfAny), std::end(kOfAny), key) != std::end(kOfAny))
        continue;
      if (keyed.was_read(key.c_str())) ++known;
      else unknown.push_back(printable(key));
    }
    if (known < unknown.size()) continue;  // hardly anything of it is the family's
    if (nearest && unknown.size() >= least.size()) continue;
    nearest = &family;
    least = std::move(unknown);
  }
  if (!nearest) return {};
  std::string text = std::string(name(*nearest)) + ", which ";
  if (least.empty()) return text + "knows all of its keys";
  if (least.size() > kMostKeys) {
    const std::size_t more = least.size() - kMostKeys;
    least.resize(kMostKeys);
    least.back() += " and " + std::to_string(more) + " more";
  }
  return text + "does not know " + joined_texts(least, ", ");
}

}  // namespace

std::string_view name(const Family& family) { return family.types.front(); }

Result<HubConfig> parse_hub_config(std::string_view where, std::string_view text, ModelPart part) {
  auto parsed = parse_python_json(where, text);
  if (!parsed) return parsed.error();
  if (!parsed->is_object()) return bad_input(where, "", "an object", parsed->type_name(), ErrorCode::bad_config);
  find_type(*parsed);
  const bool reads_pictures = parsed->contains("text_config");
  const auto document = part_of_two(TRY(text_model(where, *std::move(parsed))), part);
  Keyed keyed(where, document);
  const nlohmann::json* type = keyed.find({"model_type"});
  if (part == ModelPart::text && !(type && (*type == "clip_text_model" || *type == "siglip_text_model")))
    return bad_input(where, "--part", "a model of a picture and a text (CLIP, SigLIP)",
                     type ? found_text(*type) : "none");
  const Family* family =
      type != nullptr && type->is_string() ? family_of(type->get_ref<const std::string&>()) : nullptr;
  if (type != nullptr && *type == "gpt_oss")
    return bad_input(where, "model_type",
                     "experts with plain gates and weights of 16 or 32 bits, unlike those of gpt-oss",
                     found_text(*type), ErrorCode::unknown_model_type);
  if (type != nullptr && type->is_string() && type->get_ref<const std::string&>().starts_with("swin"))
    return bad_input(where, "model_type",
                     "patches that each see all others, not windows that shift from layer to layer", found_text(*type),
                     ErrorCode::unknown_model_type);
  const std::string nearest = family == nullptr ? nearest_family(where, document) : std::string();
  std::string other = "none";  // of diffusers or timm
  for (const char* key : {"_class_name", "architecture"})
    if (const nlohmann::json* named = keyed.find({key})) other = "none, " + std::string(key) + " " + found_text(*named);
  if (family == nullptr)
    return bad_input(where, "model_type", "a family of docs/models.md",
                     (type ? found_text(*type) : other) + (nearest.empty() ? "" : "; the nearest is " + nearest),
                     ErrorCode::unknown_model_type);
  const nlohmann::json* const quantized = keyed.find({"quantization_config", "quantization"});
  const auto quantization = quantized ? quantization_of(*quantized) : Quantization{};
  if (!quantization)
    return bad_input(where, "quantization_config",
                     "none, GPTQ, AWQ (gemm), bitsandbytes, fp8 in blocks, or MLX' groups", quantized_by(*quantized),
                     ErrorCode::quantized_weights);

  HubConfig hub = family_config(keyed, *family);
  hub.quantization = *quantization;
  refuse_options_of_others(keyed);
  if (keyed.error()) return *keyed.error();
  hub.tied_where_absent = hub.tied_where_absent || reads_pictures;
  if (hub.output_vocabulary == 0) hub.output_vocabulary = hub.vocabulary;
  // The sizes are good one by one; together they must still be those of a model.
  if (const auto valid = check(hub.config, kMaxStoredParameters); !valid)
    return bad_input(where, valid.error().what, valid.error().expected, valid.error().found, ErrorCode::bad_config);
  const Index rows = std::max({hub.vocabulary, hub.output_vocabulary, hub.positions, hub.token_types});
  if (rows > kMaxStoredParameters / hub.table_width())
    return bad_input(where, "vocab_size", "embeddings of at most " + std::to_string(kMaxStoredParameters) + " numbers",
                     std::to_string(rows) + " of " + std::to_string(hub.table_width()), ErrorCode::bad_config);
  return hub;
}

Result<HubConfig> read_hub_config(const std::filesystem::path& path, ModelPart part) {
  constexpr std::size_t kMostConfigBytes = std::size_t{16} << 20;
  const auto text = TRY(read_file(path, kMostConfigBytes));
  return parse_hub_config(path.string(), text, part);
}

}  // namespace headlight
