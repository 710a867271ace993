#include "page/site.h"

#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/folders.h"
#include "base/mapped_file.h"
#include "base/random.h"
#include "document/assets.h"
#include "document/bundled_models.h"
#include "document/open_model.h"
#include "page/page_data.h"
#include "page/page_template.h"

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
        const auto file = MappedFile::open(path);
        if (!file) return file.error();
        name = "models/" + path.parent_path().filename().string() + "/" + path.filename().string() + ".bin";
        while (bytes.contains(name)) name.insert(name.rfind('/'), "-");
        bytes[name] = deflated((*file)->bytes(), 6, Packing::checked);
      }
      list.push_back({{"names", names}, {"data", {{"file", name}, {"size", bytes[name].size()}}}});
    }
    return list;
  }
};

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code unreadable;
  for (fs::directory_iterator at(folder, unreadable), end; !unreadable && at != end; at.increment(unreadable))
    entries.push_back(at->path());
  std::sort(entries.begin(), entries.end());
  return entries;
}

/// The model of the first question where it is another than a shipped one, and these. `source` is how requests name it.
Result<json> models_object(SiteFiles& files, const Document& first, const std::string& source, const fs::path& assets) {
  json models = json::array();
  const auto add = [&](const std::string& name, const Document& document) -> Status {
    const auto own = live_files(document, name);
    if (!own) return own.error();
    auto list = files.add(*own);
    if (!list) return list.error();
    const Config config = config_of(document);
    models.push_back({{"source", name},
                      {"encoder_decoder", config.arch == Arch::encoder_decoder},
                      {"d_model", config.d_model},
                      {"heads", config.num_heads},
                      {"files", *std::move(list)}});
    return Done{};
  };
  if (first.model && !is_shipped(first))
    if (const auto added = add(source, first); !added) return added.error();
  for (const fs::path& model : sorted_entries(assets / "models")) {
    const std::string shipped = std::string(kShipped) + model.filename().string();
    const auto opened = open_model(shipped);
    if (!opened) return opened.error();
    if (const auto added = add(shipped, opened->document); !added) return added.error();
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
  const auto root = asset_folder();
  if (!root) return root.error();
  const fs::path assets = *root / "assets";
  SiteFiles files;
  PageContent first = content;
  Document& document = first.session.document;
  const std::string source =
      is_shipped(document) ? document.model_path : fs::path(document.model_path).filename().string();
  json site{{"text", kDefaultSentence}};
  auto models = models_object(files, document, source, assets);
  if (!models) return models.error();
  site["models"] = *std::move(models);
  document.model_path = source;  // a folder's path says nothing to readers
  for (const fs::path& lesson : sorted_entries(assets / "lessons")) {
    const auto text = read_file(lesson);
    if (!text) return text.error();
    site["lessons"].push_back(json::parse(*text, nullptr, false));
  }
  auto core = packed_core("core.wasm", Packing::checked);
  if (!core) return core.error();
  files.bytes["core.bin"] = *std::move(core);
  for (const fs::path& part : {assets / "desktop" / "headlight.svg", assets / "page" / "manifest.webmanifest"}) {
    auto bytes = read_file(part);
    if (!bytes) return bytes.error();
    files.bytes[part.filename().string()] = *std::move(bytes);
  }
  auto plan = plan_page(first, options);
  if (!plan) return plan.error();
  plan->core = R"({"file":"core.bin"})";
  plan->site = ",\"site\":" + page_json(site);
  files.bytes["worker.js"] = worker_of(files, plan->site);

  SiteSize size{files.bytes.size() + 1, 0};
  for (const auto& [name, bytes] : files.bytes) {
    std::error_code ignored;  // what could not be made cannot be written to
    fs::create_directories((folder / name).parent_path(), ignored);
    if (const auto written = write_file(folder / name, bytes); !written) return written.error();
    size.bytes += bytes.size();
  }
  Progress progress;
  const fs::path page = folder / "index.html";
  if (const auto written = write_page(first, options, *plan, page, progress); !written) return written.error();
  size.bytes += static_cast<std::size_t>(fs::file_size(page));
  return size;
}

}  // namespace headlight
