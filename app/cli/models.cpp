#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "base/formatted.h"
#include "base/utf8.h"
#include "cli/commands.h"
#include "cli/options/format_option.h"
#include "document/model_sources.h"
#include "write/json.h"

namespace headlight {
namespace {

struct ModelsArguments {
  std::string format = "text";
};

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

using Row = std::vector<std::string>;

Row text_row(const ListedModel& model) {
  const auto known = [](bool is, std::string text) { return is ? std::move(text) : std::string("–"); };
  return {printable_message(model.name),
          known(!model.family.empty(), printable(model.family)),
          known(model.layers > 0, std::to_string(model.layers) + " × " + std::to_string(model.heads)),
          known(model.parameters > 0, short_count(static_cast<double>(model.parameters), kCounts)),
          known(!model.dtype.empty(), printable(model.dtype)),
          known(model.bytes > 0, short_count(static_cast<double>(model.bytes), kBytes)),
          model.opens() ? "opens" : printable_message(model.reason)};
}

std::string as_text(const std::vector<ListedModel>& models) {
  std::vector<Row> rows{{"name", "family", "layers × heads", "parameters", "precision", "size", "opens"}};
  for (const ListedModel& model : models) rows.push_back(text_row(model));
  std::vector<std::size_t> widths(rows.front().size());
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], code_points(row[i]).size());
  std::string text;
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      text += i + 1 < row.size() ? padded(row[i], widths[i] + 2) : row[i] + '\n';
  return text;
}

std::string as_json(const std::vector<ListedModel>& models) {
  std::string text = "{\"models\":[";
  for (const ListedModel& model : models) {
    if (text.back() == '}') text += ',';
    text.append("{\"name\":").append(json_string(model.name));
    text.append(",\"path\":").append(json_string(model.folder.string()));
    text.append(",\"family\":").append(json_string(model.family));
    text.append(",\"layers\":").append(std::to_string(model.layers));
    text.append(",\"heads\":").append(std::to_string(model.heads));
    text.append(",\"parameters\":").append(std::to_string(model.parameters));
    text.append(",\"dtype\":").append(json_string(model.dtype));
    text.append(",\"bytes\":").append(std::to_string(model.bytes));
    text.append(",\"opens\":").append(model.opens() ? "true" : "false");
    text.append(",\"reason\":").append(json_string(model.reason)).append("}");
  }
  return text + "]}\n";
}

Result<int> run_models(const ModelsArguments& options) {
  const std::vector<ListedModel> models = models_on_disk();
  if (options.format == "json") return print(as_json(models));
  if (models.empty())
    std::fputs("no models in the caches of Hugging Face and ModelScope, nor in folders of your own\n", stderr);
  return print(models.empty() ? std::string() : as_text(models));
}

}  // namespace

ParsedCommand add_models(Parser& program) {
  Parser command = program.command("models", "The models on this disk, and which can be opened by name");
  command.footer(
      "headlight models --format json\n"
      "Looks into the caches of Hugging Face (HF_HUB_CACHE, HF_HOME, TRANSFORMERS_CACHE, ~/.cache/huggingface)\n"
      "and ModelScope (MODELSCOPE_CACHE, ~/.cache/modelscope), and into the folders that\n"
      "~/.config/headlight/model-folders.txt lists, one a line. Nothing is downloaded. A name is a SOURCE of every "
      "command, with\n"
      "@REVISION behind it if need be; the models that come along are named shipped:NAME.");
  auto options = std::make_shared<ModelsArguments>();
  add_format(command, options->format);
  return [options] { return run_models(*options); };
}

}  // namespace headlight
