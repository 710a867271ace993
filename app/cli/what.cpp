#include <algorithm>
#include <string>
#include <system_error>
#include <vector>

#include "base/folders.h"
#include "base/formatted.h"
#include "base/utf8.h"
#include "cli/frame/commands.h"
#include "model/head_text.h"
#include "models/bundled_models.h"
#include "models/log_folder.h"
#include "models/model_sources.h"
#include "models/open_model.h"
#include "read/gguf/gguf_model.h"
#include "read/hub/adapter.h"
#include "read/hub/folder_kind.h"
#include "read/tokenizer/tokenizer_file.h"
#include "text/nearest.h"

namespace headlight {
namespace {

struct WhatLines {
  std::string what;
  bool opens = false;
};

/// A checkpoint, perhaps with adapters, or a GGUF file, by its headers alone.
Result<WhatLines> what_checkpoint(const SourceParts& parts, const std::filesystem::path& path) {
  const auto places = TRY(checkpoint_places(parts, path));
  const ListedModel model = listed_folder_or_file({.name = path.string(), .folder = places.weights});
  const std::string kind = is_gguf(places.weights) ? "a GGUF file" : "a checkpoint";
  WhatLines lines{.what = {}, .opens = model.opens()};
  const auto stack = [](const char* which, Index layers, Index heads) {
    return layers > 0 ? std::string(", ") + which + counted(layers, "layer") + " of " + counted(heads, "head") : "";
  };
  const bool two = model.encoder_layers > 0;
  lines.what = (model.family.empty() ? kind : kind + " of the family " + model.family) +
               stack("encoder ", model.encoder_layers, model.encoder_heads) +
               stack(two ? "decoder " : "", model.layers, model.heads) +
               (model.dtype.empty() ? "" : ", " + model.dtype);
  for (const auto& adapter : places.choice.folders) lines.what += ", with the adapter in " + adapter.string();
  if (places.weights == path && has_adapter(path)) lines.what += ", with an adapter beside it";
  if (!model.opens()) lines.what += "\n" + printable_message(model.reason);
  if (is_folder(places.tokenizer) && has_tokenizer(places.tokenizer))
    if (const auto tokenizer = read_tokenizer(places.tokenizer, parts.rules); !tokenizer)
      lines.what += "\n" + printable_message(tokenizer.error().message());
  return lines;
}

/// Attention that was computed before, or the tensors of one, in the words of its sizes.
std::string what_numbers(const Model& model) {
  std::string line;
  for (const auto& [which, stack] : model.given->stacks) {
    const bool computed = !stack.patterns.empty();
    line += (line.empty() ? computed ? "attention: " : "tensors of an attention: " : "; ") +
            (model.given->stacks.size() > 1 ? std::string(stack_name(which)) + ": " : "") +
            counted(computed ? static_cast<Index>(stack.patterns.size()) : 1, "layer") + ", " +
            counted(model.config.num_heads, "head") + ", " + std::to_string(stack.query_tokens.size()) + " × " +
            std::to_string(stack.key_tokens.size()) + " tokens";
  }
  return line;
}

/// A folder that is none of a model; files in it may be opened.
WhatLines what_other_folder(const std::filesystem::path& folder) {
  constexpr std::size_t kMostNamed = 3;
  std::vector<std::string> files;
  std::error_code failed;
  for (std::filesystem::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed))
    if (is_regular(entry->path()) && names_model(entry->path()))
      files.push_back(printable(entry->path().filename().string()));
  std::sort(files.begin(), files.end());
  if (files.empty()) return {"a folder without config.json, with nothing of a model that is known"};
  return {"a folder without config.json, with " + counted(static_cast<Index>(files.size()), "file") +
          " of attention or weights\nattention opens by its path, weights beside a config.json: " +
          first_texts(files, kMostNamed)};
}

Result<WhatLines> what_is(const std::string& source) {
  const SourceParts parts = parts_of_source(source);
  const auto path = TRY(path_of_source(source));
  if (!path_exists(path) && !source.starts_with(kShipped))
    return bad_input(source, "", "a file, a folder, or the name of a model", found_at(path), ErrorCode::file_absent);
  const bool folder = is_folder(path);
  if (is_gguf(path) || (folder && (path_exists(path / "config.json") || has_adapter(path))))
    return what_checkpoint(parts, path);
  if (const FolderKind kind = kind_of_folder(path); !kind.what.empty())
    return WhatLines{kind.what + (kind.way.empty() ? "" : "\n" + kind.way)};
  if (folder && !logged_steps(path).empty())
    return WhatLines{"the log of a training, with " + std::to_string(logged_steps(path).size()) + " steps", true};
  if (folder) return what_other_folder(path);
  if (!names_model(path) && !source.ends_with(".headlight.json") && !source.ends_with(".html"))
    return WhatLines{found_at(path)};
  auto opened = open_model(path);
  if (!opened) return WhatLines{"a file of a known kind that cannot be opened\n" + opened.error().message()};
  const Model& model = *opened->document.model;
  WhatLines lines{
      model.given ? what_numbers(model) : "the weights of a model: " + counted(model.config.num_heads, "head"), true};
  for (const Error& warning : opened->warnings) lines.what += "\n" + printable_message(warning.message());
  return lines;
}

ParsedCommand add_what(Parser& parser, const Frontend&) {
  const auto path = std::make_shared<std::string>();
  parser.option("PATH", *path, "A file, a folder, or the name of a model").required();
  return [path]() -> Result<int> {
    const auto lines = TRY(what_is(*path));
    TRY(print(lines.what + "\n"));
    return lines.opens ? 0 : 1;
  };
}

}  // namespace

const NamedCommand kWhat{"what", "What a file or folder is, and how it is opened", R"(
headlight what FOLDER
A line that says what it is: a checkpoint, an adapter, shards, another program's layout, attention;
a second one that says what makes of it one that is read. No number of the weights is read.
Exit status: 0 it opens, 1 it does not, 2 there is nothing.)",
                         add_what};

}  // namespace headlight
