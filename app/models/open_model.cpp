#include "models/open_model.h"

#include <cctype>
#include <system_error>

#include "base/file.h"
#include "base/folders.h"
#include "card/training_card.h"
#include "model/finding.h"
#include "models/bundled_models.h"
#include "models/log_folder.h"
#include "models/model_sources.h"
#include "question/question_fields.h"
#include "question/tokenizers.h"
#include "read/array/safetensors.h"
#include "read/array/torch_file.h"
#include "read/external/held_arrays.h"
#include "read/external/own_numbers.h"
#include "read/external/page_text.h"
#include "read/gguf/gguf_model.h"
#include "text/nearest.h"
#include "tool/tool.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

/// PyTorch, NumPy or safetensors files: each may hold the weights of a model or the tensors of one attention.
bool is_tensors(const fs::path& path) {
  return path.extension() == ".safetensors" || path.extension() == ".npz" || path.extension() == ".npy" ||
         is_torch_name(path) || names_pickle(path) || names_table(path);
}

/// A file of weights with any name, beside the config.json of its model.
bool is_weights(const fs::path& path) {
  if (path.extension() == ".npz" || path.extension() == ".npy" || !is_tensors(path) ||
      !path_exists(path.parent_path() / "config.json"))
    return false;
  const auto stored = path.extension() == ".safetensors" ? map_safetensors(path) : map_torch(path);
  return stored && !holds_attention(*stored);
}

/// Masks are JSON too, but have no attention by name, and no fractions in their lists.
bool is_attention_json(const fs::path& path) {
  if (path.extension() != ".json" || path.filename().string().ends_with(".headlight.json")) return false;
  const auto text = read_file(path);
  if (!text) return false;
  for (const char* key : {"\"att", "attention", "attn\"", "pattern\""})
    if (text->find(key) != std::string::npos) return true;
  if (!text->starts_with('[')) return false;
  for (std::size_t at = text->find("0."); at != text->npos; at = text->find("0.", at + 1)) {
    const std::size_t digit = text->find_first_not_of('0', at + 2);
    if (digit != text->npos && std::isdigit(static_cast<unsigned char>((*text)[digit])) != 0) return true;
  }
  return false;
}

/// Another folder than this one may be where the document is opened again.
std::string absolute_text(const fs::path& path) {
  std::error_code error;
  const auto absolute = fs::absolute(path, error);
  return (error ? path : absolute.lexically_normal()).string();
}

/// The model of a checkpoint, with what lies beside it: tokenizers and the card of its training.
Status take_checkpoint(const fs::path& asked, const fs::path& path, Progress& progress, Reading reading,
                       OpenedModel& opened) {
  Document& document = opened.document;
  const SourceParts parts = parts_of_source(asked);
  const auto places = TRY(checkpoint_places(parts, path));
  const fs::path& folder = places.tokenizer;
  auto checkpoint = TRY(read_any_checkpoint(places.weights, progress, kMostWidenedBytes, reading, places.choice));
  if (!checkpoint.model) return cancelled(path.string(), "nothing was opened");
  opened.model_warnings = checkpoint.warnings;
  opened.warnings.insert(opened.warnings.end(), checkpoint.warnings.begin(), checkpoint.warnings.end());
  document.tokenizers = read_tokenizers(folder, *checkpoint.model, opened.warnings, parts.rules);
  if (names_kept_model(asked)) checkpoint.model->name = parts.path.string();  // a snapshot's folder is a number
  for (const fs::path& adapter : places.choice.folders)
    checkpoint.model->name += " + " + adapter.lexically_normal().filename().string();
  document.model = std::move(checkpoint.model);
  if (auto card = read_card(folder); !card) opened.warnings.push_back(card.error());
  else if (*card) document.card = std::make_shared<const TrainingCard>(**std::move(card));
  document.mask.causal = is_causal_by_default(document.model->config.arch);
  return reads_picture(document) ? set_picture(document, example_picture()) : Status(Done{});
}

/// Numbers typed by hand, as a model.
Status take_numbers(const std::string& path, std::optional<Index> num_heads, OpenedModel& opened) {
  Document& document = opened.document;
  auto numbers = TRY(read_own_numbers(path));
  if (num_heads && numbers.x) numbers.num_heads = num_heads;
  const std::string where = path.starts_with(kNumbersSource) ? "numbers" : path;
  auto file = TRY(model_of_numbers(where, numbers));
  document.model = std::move(file.model);
  document.mask = std::move(file.mask);
  const auto check = of_tools(&Tool::check_numbers);
  for (const Mistake& mistake : check ? check(numbers) : std::vector<Mistake>{})
    opened.warnings.emplace_back(ErrorCode::numbers_mistaken, where, mistake.text.en);
  document.numbers = std::make_shared<const OwnNumbers>(std::move(numbers));
  return Done{};
}

/// An Error of what the SOURCE or --num-heads says and nothing reads of a model that came as numbers.
Status check_surplus(const fs::path& asked, std::optional<Index> num_heads, const Document& document) {
  const SourceParts parts = parts_of_source(asked);
  const std::string where = source_in_words(document), beside = inputs_in_words(document);
  if (num_heads && !has_part(*document.model, Stack::self, 0, BlockPart::scale))
    return bad_input(where, "--num-heads", "none, the file says it", std::to_string(*num_heads));
  const ArrayChoice choice = TRY(array_choice(asked));
  if (names_own_numbers(document.model_path) || names_page(document.model_path))
    TRY(check_choice(where, choice, {}, beside));
  const std::pair<const char*, bool> of_checkpoints[] = {{"--adapter", !parts.adapters.empty()},
                                                         {"--part", parts.part == ModelPart::text},
                                                         {"--as-stored", parts.rules == ClassRules::left_out}};
  for (const auto& [option, surplus] : of_checkpoints)
    if (surplus) return bad_input(option, "", "no such option beside " + beside, where);
  return Done{};
}

/// The numbers of a page, or of what it is compared with.
Result<OpenedModel> open_page(const std::string& source, Progress& progress) {
  const bool compared = source.ends_with(kComparedWith);
  const std::string path = source.substr(0, source.size() - (compared ? kComparedWith.size() : 0));
  const auto data = read_page(path);
  if (!data) return data.error();
  if (!data->is_object() || (compared && !data->contains("compare")))
    return bad_input(path, compared ? "compare" : "headlight-data", "an object", "nothing");
  return open_page_numbers(source, compared ? (*data)["compare"] : *data, progress);
}

Result<OpenedModel> read_source(const fs::path& asked, std::optional<Index> num_heads, Progress& progress,
                                Reading reading);

}  // namespace

Result<OpenedModel> open_page_numbers(const std::string& source, const nlohmann::json& answer, Progress& progress) {
  auto page = TRY(page_of_answer(source, answer));
  auto own = TRY(model_of_page(source, std::move(page), progress));
  OpenedModel opened;
  Document& document = opened.document;
  document.model = std::move(own.model);
  for (auto& [stack, mask] : own.masks) mask_of(document, stack) = std::move(mask);
  document.edits = std::move(own.edits);
  document.model_path = absolute_text(source);
  opened.warnings = std::move(own.warnings);
  return opened;
}

bool names_model(const fs::path& path) {
  if (names_own_numbers(path.string())) return true;
  if (path.string().starts_with(kShipped) || names_kept_model(path)) return true;
  const auto resolved = path_of_source(path);
  if (resolved && resolved->extension() == ".npy") return holds_attention(*resolved);
  return resolved &&
         (is_folder(*resolved) || is_gguf(*resolved) || is_tensors(*resolved) || is_attention_json(*resolved));
}

Result<OpenedModel> open_model(const fs::path& asked, std::optional<Index> num_heads, Progress& progress,
                               Reading reading) {
  auto opened = TRY(read_source(asked, num_heads, progress, reading));
  if (has_own_inputs(opened.document)) TRY(check_surplus(asked, num_heads, opened.document));
  return opened;
}

namespace {

Result<OpenedModel> read_source(const fs::path& asked, std::optional<Index> num_heads, Progress& progress,
                                Reading reading) {
  OpenedModel opened;
  const auto resolved = TRY(path_of_source(asked, &opened.warnings));
  const std::vector<LoggedStep> logged = logged_steps(resolved);
  const fs::path& path = logged.empty() ? resolved : logged.back().file;
  Document& document = opened.document;
  const ArrayChoice choice = TRY(array_choice(asked));
  const bool by_name = asked.string().starts_with(kShipped) || names_kept_model(asked);
  const bool weights = is_folder(path) || is_weights(path) || is_gguf(path);
  if (names_page(path) || path.string().ends_with(std::string(".html").append(kComparedWith)))
    return open_page(path.string(), progress);
  if (names_own_numbers(path.string())) {
    TRY(take_numbers(path.string(), num_heads, opened));
    if (path.string().starts_with(kNumbersSource)) {
      document.model_path = path.string();
      return opened;
    }
  } else if (is_tensors(path) && !weights) {
    auto file = read_tensors(path, num_heads, choice);
    if (!file) {
      Error error = file.error();
      error.found += nearest_hint(path);
      return error;
    }
    document.model = std::move(file->model);
    document.mask = std::move(file->mask);
    opened.warnings = std::move(file->warnings);
  } else if (!(choice.empty() && !choice.grid) && !is_attention_json(path)) {
    return bad_input(path.string(), "--sentence, --step, --array, --axes, --grid", "arrays of attention as SOURCE",
                     found_at(path));
  } else if (num_heads) {
    return bad_input(path.string(), "--num-heads", "none, the file says it", std::to_string(*num_heads));
  } else if (weights) {
    TRY(take_checkpoint(asked, path, progress, reading, opened));
  } else if (is_attention_json(path)) {
    auto file = TRY(read_attention_json(path, choice));
    document.model = std::move(file.model);
    document.mask = std::move(file.mask);
    document.encoder_mask = std::move(file.encoder_mask);
    document.cross_mask = std::move(file.cross_mask);
    opened.warnings = std::move(file.warnings);
  } else {
    return bad_input(
        path.string(), "kind",
        "a checkpoint folder, a GGUF file, a tensors file (.safetensors, .npz, .pt), a JSON of attentions, a session "
        "(.headlight.json), a page (.html) or a lesson (.lesson.json)",
        found_at(path), path_exists(path) ? ErrorCode::unknown_kind : ErrorCode::file_absent);
  }
  document.trained = !reads_picture(document) && (asked.string().starts_with(kShipped) || document.card != nullptr);
  if (document.trained) document.config = document.model->config;
  if (by_name) {
    document.model_path = asked.string();
    return opened;
  }
  document.model_path = absolute_text(path);
  const std::string text = asked.string();
  document.model_path += text.substr(parts_of_source(asked).path.string().size());
  return opened;
}

}  // namespace

}  // namespace headlight
