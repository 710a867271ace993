// The model of a page that answers other sentences: the files that the program itself reads, which the page's core
// reads too.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "assets/assets.h"
#include "base/base64.h"
#include "base/folders.h"
#include "base/mapped_file.h"
#include "models/model_sources.h"
#include "page/page_data.h"
#include "question/tokenizers.h"
#include "read/external/packed_planes.h"
#include "read/hub/adapter.h"
#include "text/tokenizer.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

Error cannot(const std::string& what) {
  return bad_input("--live", "", "a checkpoint in .safetensors files, or fresh weights", what);
}

/// A file of the folder that readers of models and of tokenizers may open.
bool is_read(const fs::path& path) {
  const std::string name = path.filename().string();
  return path.extension() == ".json" || path.extension() == ".model" || name == "vocab.txt" || name == "merges.txt" ||
         name.ends_with(".jinja") ||
         (path.extension() == ".safetensors" && (name.starts_with("model") || name == "arcs.safetensors"));
}

/// Whether the program's lexicon cuts the texts of this tokenizer.
bool cuts_by_list(const std::shared_ptr<const Tokenizer>& tokenizer) { return tokenizer && finds_words(*tokenizer); }

}  // namespace

Result<LiveFiles> live_files(const Document& document, const std::string& folder_of_page) {
  LiveFiles files;
  const auto add = [&](const fs::path& path, const std::string& name) {
    std::error_code unknown;
    const fs::path own = fs::canonical(path, unknown);
    files[unknown ? path : own].push_back(name);
  };
  const Model* model = document.model.get();
  const Tokenizers* tokenizers = document.tokenizers.get();
  if (model && (model->given || document.model_path.empty()))
    return cannot(model->given ? "numbers without a model" : "a model without a file");
  if (model) {
    const SourceParts parts = parts_of_source(document.model_path);
    if (!parts.adapters.empty()) return cannot("a model with an adapter");
    if (parts.part == ModelPart::text) return cannot("a part of a model");
    const auto resolved = TRY(path_of_source(document.model_path));
    if (has_adapter(resolved)) return cannot("a model with an adapter");
    const fs::path folder = is_folder(resolved) ? resolved : resolved.parent_path();
    std::error_code unreadable;
    for (fs::directory_iterator at(folder, unreadable), end; !unreadable && at != end; at.increment(unreadable))
      if (is_regular(at->path()) && is_read(at->path()))
        add(at->path(), folder_of_page + "/" + at->path().filename().string());
    const bool has_weights =
        std::ranges::any_of(files, [](const auto& file) { return file.first.extension() == ".safetensors"; });
    if (!has_weights) return cannot("another kind of file in " + folder.string());
    if (!tokenizers || !tokenizers->source) return cannot("a model without a tokenizer");
  }
  const auto assets = TRY(asset_folder());
  if (document.card)  // the sentences in which its heads are named, and the words that examples change
    for (const std::string name : {"assets/grammar.json", "assets/samples.json"}) add(assets / name, "/" + name);
  if (model && !cuts_by_list(tokenizers->source) && !cuts_by_list(tokenizers->target)) return files;
  for (const char* name :
       {"assets/lexicon.txt", "assets/models/encoder/tokenizer.json", "assets/models/any-sentence/tokenizer.json"})
    if (path_exists(assets / name)) add(assets / name, "/" + std::string(name));
  return files;
}

Status write_live(const LiveFiles& files, PageSink& sink) {
  sink("{\"files\":[");
  const char* between = "";
  for (const auto& [path, names] : files) {
    const auto file = TRY(MappedFile::open(path));
    sink(between + ("{\"names\":" + page_json(names)) + ",\"data\":\"");
    if (sink.only_counts()) sink.bytes += base64_size(file->bytes().size());
    else sink(encode_base64(deflated(file->bytes())));
    sink("\"}");
    between = ",";
  }
  sink("]}");
  return Done{};
}

}  // namespace headlight
