#include "session/loop/folder_entries.h"

#include <algorithm>
#include <utility>

#include "base/folders.h"
#include "lesson/lesson.h"
#include "read/external/page_text.h"
#include "read/hub/config_file.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

constexpr std::pair<std::string_view, std::string_view> kFamilies[] = {
    {"bert", "BERT"},          {"roberta", "RoBERTa"}, {"distilbert", "DistilBERT"}, {"electra", "ELECTRA"},
    {"gpt2", "GPT-2"},         {"llama", "Llama"},     {"mistral", "Mistral"},       {"qwen2", "Qwen2"},
    {"qwen3", "Qwen3"},        {"bart", "BART"},       {"marian", "Marian"},         {"t5", "T5"},
    {"headlight", "Headlight"}};

/// The kind of a file by its ending; empty where it cannot be opened.
std::string file_kind(const fs::path& path) {
  const std::string name = path.filename().string(), ending = path.extension().string();
  if (name.ends_with(".headlight.json")) return "session";
  if (names_page(path)) return "page";
  if (name.ends_with(kLessonEnding)) return "lesson";
  if (ending == ".safetensors" || ending == ".npz") return "tensors";
  if (ending == ".npy" || ending == ".json") return "mask";
  return ending == ".txt" || ending.empty() ? "text" : "";
}

}  // namespace

std::string model_in_words(std::string_view family, const Config& config) {
  const auto is = [&](const auto& one) { return one.first == family; };
  const auto found = std::find_if(std::begin(kFamilies), std::end(kFamilies), is);
  const std::string_view shown = found == std::end(kFamilies) ? family : found->second;
  return std::string(shown) + ", " + std::to_string(config.num_layers) + "×" + std::to_string(config.num_heads);
}

std::string model_in_words(const fs::path& folder) {
  const auto config = read_hub_config(folder / "config.json");
  return config ? model_in_words(name(*config->family), config->config) : std::string();
}

Result<std::vector<Browser::Entry>> folder_entries(const fs::path& folder, const Progress& progress) {
  std::vector<Browser::Entry> entries;
  std::error_code error;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::directory_iterator at(folder, options, error), end; !error && at != end && !progress.stop;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with('.')) continue;
    Browser::Entry entry{.name = name, .folder = is_folder(*at)};
    if (!entry.folder) entry.what = file_kind(at->path());
    else if (is_regular(at->path() / "config.json")) entry.what = model_in_words(at->path());
    entry.opens = !entry.what.empty();
    entries.push_back(std::move(entry));
  }
  if (error) return bad_input(folder.string(), "folder", "a readable folder", error.message());
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.folder != b.folder ? a.folder : a.name < b.name; });
  return entries;
}

}  // namespace headlight
