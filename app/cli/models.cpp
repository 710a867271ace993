#include <string>
#include <vector>

#include "base/formatted.h"
#include "cli/frame/commands.h"
#include "cli/frame/values.h"
#include "models/model_sources.h"

namespace headlight {
namespace {

/// 102.3M, 1.2B.
std::string short_count(double count, const char* const (&units)[4]) {
  std::size_t unit = 0;
  while (count >= 1000 && unit + 1 < std::size(units)) {
    count /= 1000;
    ++unit;
  }
  return formatted(unit == 0 ? "%.0f%s" : "%.1f%s", count, units[unit]);
}
constexpr const char* kCounts[4] = {"", "k", "M", "B"};
constexpr const char* kBytes[4] = {" B", " kB", " MB", " GB"};

std::vector<std::string> text_row(const ListedModel& model) {
  const auto known = [](bool is, std::string text) { return is ? std::move(text) : std::string("–"); };
  return {printable_message(model.name),
          known(!model.family.empty(), printable(model.family)),
          known(model.layers > 0, std::to_string(model.layers) + " × " + std::to_string(model.heads)),
          known(model.parameters > 0, short_count(static_cast<double>(model.parameters), kCounts)),
          known(!model.dtype.empty(), printable(model.dtype)),
          known(model.bytes > 0, short_count(static_cast<double>(model.bytes), kBytes)),
          model.opens() ? "opens" : printable_message(model.reason)};
}

Value json_row(const ListedModel& model) {
  return json_object({{"name", model.name},
                      {"path", model.folder.string()},
                      {"family", model.family},
                      {"layers", model.layers},
                      {"heads", model.heads},
                      {"parameters", model.parameters},
                      {"dtype", model.dtype},
                      {"bytes", model.bytes},
                      {"opens", model.opens()},
                      {"reason", model.reason}});
}

Result<int> run_models(bool json) {
  const std::vector<ListedModel> models = models_on_disk();
  if (json) return print_json(json_object({{"models", json_list(models, json_row)}}));
  if (models.empty())
    print_message(
        "no models in the caches of Hugging Face, ModelScope, Ollama, LM Studio and llama.cpp, nor in folders of your "
        "own");
  std::vector<std::vector<std::string>> rows{
      {"name", "family", "layers × heads", "parameters", "precision", "size", "opens"}};
  for (const ListedModel& model : models) rows.push_back(text_row(model));
  return print(models.empty() ? std::string() : aligned_text(rows));
}

ParsedCommand add_models(Parser& parser, const Frontend&) {
  const auto format = std::make_shared<std::string>("text");
  parser.option("--format", *format, "text (default) or json").one_of({"text", "json"});
  return [format] { return run_models(*format == "json"); };
}

}  // namespace

const NamedCommand kModels{"models", "The models on this disk, and which can be opened by name", R"(
headlight models --format json
Looks into the caches of Hugging Face (HF_HUB_CACHE, HF_HOME, TRANSFORMERS_CACHE, ~/.cache/huggingface)
and ModelScope (MODELSCOPE_CACHE, ~/.cache/modelscope), for GGUF files into those of Ollama (OLLAMA_MODELS,
~/.ollama/models), LM Studio (~/.lmstudio/models) and llama.cpp (LLAMA_CACHE, ~/.cache/llama.cpp), and into the
folders that ~/.config/headlight/model-folders.txt lists, one a line. Nothing is downloaded. A name is a SOURCE of every
command, with @REVISION behind it if need be; the models that come along are named shipped:NAME.)",
                           add_models};

}  // namespace headlight
