#include "page/page.h"

#include <nlohmann/json.hpp>

#include "assets/assets.h"
#include "base/file.h"
#include "base/folders.h"
#include "base/mapped_file.h"
#include "base/random.h"
#include "lesson/lesson.h"
#include "models/bundled_models.h"
#include "models/open_model.h"
#include "page/page_data.h"
#include "page/page_template.h"
#include "session/state_rules.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The files beside the first page: their bytes by their names in the site's folder.
struct SiteFiles {
  std::map<std::string, std::string> bytes;
  std::map<fs::path, std::string> packed;  // which file of a model is which of them

  /// Packs each file once: [{"names": …, "data": {"file": …, "size": …}}, …].
  Result<json> add(const LiveFiles& files) {
    json list = json::array();
    for (const auto& [path, names] : files) {
      std::string& name = packed[path];
      if (name.empty()) {
        const auto file = TRY(MappedFile::open(path));
        name = "models/" + path.parent_path().filename().string() + "/" + path.filename().string() + ".bin";
        while (bytes.contains(name)) name.insert(name.rfind('/'), "-");
        bytes[name] = deflated(file->bytes(), 6, Packing::checked);
      }
      list.push_back({{"names", names}, {"data", {{"file", name}, {"size", bytes[name].size()}}}});
    }
    return list;
  }
};

/// The model of the first question where it is another than a shipped one, and these. `source` is how requests name it.
Result<json> models_object(SiteFiles& files, const Document& first, const std::string& source) {
  json models = json::array();
  const auto add = [&](const std::string& name, const Document& document) -> Status {
    const auto own = TRY(live_files(document, name));
    auto list = TRY(files.add(own));
    const Config config = config_of(document);
    models.push_back({{"source", name},
                      {"encoder_decoder", config.arch == Arch::encoder_decoder},
                      {"d_model", config.d_model},
                      {"heads", config.num_heads},
                      {"files", std::move(list)}});
    return Done{};
  };
  if (first.model && !is_shipped(first)) TRY(add(source, first));
  for (const std::string& shipped : TRY(shipped_sources())) {
    if (shipped == kShapes) continue;  // a visitor types words
    const auto opened = TRY(open_model(shipped));
    TRY(add(shipped, opened.document));
  }
  return models;
}

/// The worker that keeps the site's files: its version changes with any of them.
std::string worker_of(const SiteFiles& files, const std::string& site) {
  std::string all = site;
  for (const auto& [name, bytes] : files.bytes) all += name + std::to_string(hash_text(bytes));
  for (const std::string_view part : page_head()) all += part;
  for (const std::string_view part : page_tail()) all += part;
  return "const VERSION = '" + std::to_string(hash_text(all)) + "';\n" + std::string(page_worker());
}

}  // namespace

Result<SiteSize> write_site(const PageContent& content, const PageOptions& options, const fs::path& folder) {
  const fs::path assets = TRY(asset_folder()) / "assets";
  SiteFiles files;
  PageContent first = content;
  Document& document = first.session.document;
  const std::string source =
      is_shipped(document) ? document.model_path : fs::path(document.model_path).filename().string();
  json site{{"text", kDefaultSentence}};
  if (document.source.text == kDefaultSentence)  // as a window of the reader's language opens
    site["greetings"] = {{"en", kEnglishSentence}, {"zh", kDefaultSentence}};
  site["models"] = TRY(models_object(files, document, source));
  document.model_path = source;  // a folder's path says nothing to readers
  for (const fs::path& lesson : lesson_files(assets / "lessons")) {
    const auto text = TRY(read_file(lesson));
    site["lessons"].push_back(json::parse(text, nullptr, false));
  }
  files.bytes["core.bin"] = TRY(packed_core("core.wasm", Packing::checked));
  for (const fs::path& part : {assets / "desktop" / "headlight.svg", assets / "page" / "manifest.webmanifest"})
    files.bytes[part.filename().string()] = TRY(read_file(part));
  auto plan = TRY(plan_page(first, options, unwatched()));
  plan.core = R"({"file":"core.bin"})";
  plan.site = ",\"site\":" + page_json(site);
  files.bytes["worker.js"] = worker_of(files, plan.site);

  SiteSize size{files.bytes.size() + 1, 0};
  for (const auto& [name, bytes] : files.bytes) {
    std::error_code ignored;  // what could not be made cannot be written to
    fs::create_directories((folder / name).parent_path(), ignored);
    TRY(write_file(folder / name, bytes));
    size.bytes += bytes.size();
  }
  const fs::path page = folder / "index.html";
  TRY(write_page(first, options, plan, page, unwatched()));
  size.bytes += static_cast<std::size_t>(fs::file_size(page));
  return size;
}

}  // namespace headlight
