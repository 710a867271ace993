#include "read/hub/kept_models.h"

#include <algorithm>
#include <set>
#include <system_error>

#include "base/file.h"
#include "base/folders.h"
#include "base/formatted.h"
#include "base/utf8.h"
#include "read/hub/gguf_stores.h"
#include "read/hub/weight_files.h"
#include "text/nearest.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRepository = "models--", kDash = "--", kDot = "___";
constexpr std::size_t kLongestName = 200, kMostRefBytes = 1024, kMostRevisions = 64, kMostNearest = 3;
/// Files that a SOURCE may be: a name that ends like one of them is a path.
constexpr std::string_view kFileEndings[] = {".safetensors", ".npz", ".npy", ".json", ".html", ".txt",
                                             ".bin",         ".pt",  ".pth", ".ckpt", ".gguf"};

bool is_sign(char c) { return c == '-' || c == '_' || c == '.'; }
bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || is_sign(c);
}

/// One part of a name, safe as the name of a folder.
bool is_part(std::string_view part) {
  return !part.empty() && part.size() <= kLongestName && part.front() != '.' && part.front() != '-' &&
         std::all_of(part.begin(), part.end(), is_name_character) && part.find("..") == part.npos;
}

/// A branch may have slashes: refs/pr/1.
bool is_revision(std::string_view text) {
  const auto parts = split_at('/', text);
  return std::all_of(parts.begin(), parts.end(), is_part);
}

struct AskedName {
  std::string_view name, revision;
};
AskedName split_revision(std::string_view text) {
  const std::size_t at = text.find('@');
  return at == text.npos ? AskedName{text, {}} : AskedName{text.substr(0, at), text.substr(at + 1)};
}

/// The names in a folder, in order; of more than `most` those that the system names first.
std::vector<std::string> entries(const fs::path& folder, std::size_t most) {
  std::vector<std::string> names;
  std::error_code error;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::directory_iterator at(folder, options, error), end; !error && at != end && names.size() < most;
       at.increment(error))
    names.push_back(at->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) text.replace(at, from.size(), to);
  return text;
}

/// Where a model lies, before its files are looked at.
struct ModelFolder {
  enum class Kind { hugging_face, model_scope, folder, file } kind = Kind::folder;
  std::string name;
  fs::path folder;                    // of Hugging Face's cache: models--ORG--NAME
  fs::path root;                      // the cache; empty: a folder of the user, whose links may lead anywhere
  std::optional<Error> trouble = {};  // of a GGUF file, which `folder` then is
};

void add_hugging_face(const fs::path& root, std::vector<ModelFolder>& found) {
  for (const std::string& entry : entries(root, kMostKeptModels)) {
    if (!entry.starts_with(kRepository)) continue;
    std::string name = entry.substr(kRepository.size());
    if (const std::size_t at = name.find(kDash); at != name.npos) name.replace(at, kDash.size(), "/");
    if (is_model_name(name)) found.push_back({ModelFolder::Kind::hugging_face, name, root / entry, root});
  }
}

/// modelscope keeps a list of its files beside them, and links the name with its dots to the folder without.
bool is_of_model_scope(const fs::path& folder) {
  std::error_code ignored;
  if (fs::is_symlink(folder, ignored)) return false;
  for (const char* file : {"config.json", "configuration.json", ".msc", ".mdl"})
    if (path_exists(folder / file)) return true;
  return false;
}

/// Folders of one or two levels: ORG/NAME, and of the folders of the user also NAME.
void add_tree(ModelFolder::Kind kind, const fs::path& root, std::vector<ModelFolder>& found) {
  const bool own = kind == ModelFolder::Kind::folder;
  const auto shown = [&](const std::string& entry) { return own ? entry : replaced(entry, kDot, "."); };
  const std::size_t most = found.size() + kMostKeptModels;
  for (const std::string& group : entries(root, kMostKeptModels)) {
    const fs::path folder = root / group;
    if (found.size() >= most || !is_part(group) || !is_folder(folder)) continue;
    if (own && path_exists(folder / "config.json")) {
      found.push_back({kind, shown(group), folder, {}});
      continue;
    }
    for (const std::string& entry : entries(folder, kMostKeptModels)) {
      const fs::path model = folder / entry;
      if (found.size() >= most || !is_part(entry) || !is_folder(model)) continue;
      if (own && !path_exists(model / "config.json")) continue;
      if (!own && !is_of_model_scope(model)) continue;
      found.push_back({kind, shown(group) + "/" + shown(entry), model, own ? fs::path() : root});
    }
  }
}

/// The folders of all models, each name once.
std::vector<ModelFolder> all_model_folders(const ModelRoots& model_roots) {
  std::vector<ModelFolder> found;
  for (const fs::path& root : model_roots.hugging_face) add_hugging_face(root, found);
  // A folder that is itself listed, as hub/models/ inside hub/ is, is no organisation.
  std::set<fs::path> roots(model_roots.model_scope.begin(), model_roots.model_scope.end());
  for (const fs::path& root : model_roots.model_scope) add_tree(ModelFolder::Kind::model_scope, root, found);
  for (const fs::path& root : model_roots.folders) add_tree(ModelFolder::Kind::folder, root, found);
  std::erase_if(found, [&](const ModelFolder& one) {
    return one.kind == ModelFolder::Kind::model_scope && roots.contains(one.folder.parent_path()) &&
           one.folder.parent_path() != one.root;
  });
  const auto add_files = [&](std::vector<StoredModelFile> files) {
    for (StoredModelFile& one : files)
      found.push_back({ModelFolder::Kind::file, std::move(one.name), std::move(one.file), {}, std::move(one.trouble)});
  };
  for (const fs::path& root : model_roots.ollama) add_files(ollama_models(root));
  for (const fs::path& root : model_roots.gguf) add_files(gguf_files(root));
  for (const fs::path& root : model_roots.folders) add_files(gguf_files(root));
  std::set<std::string> names;
  std::erase_if(found, [&](const ModelFolder& one) { return !names.insert(one.name).second; });
  return found;
}

/// The commit that a branch or tag stands for; empty where there is none.
std::string commit_of(const fs::path& repository, std::string_view ref) {
  auto text = read_file(repository / "refs" / ref, kMostRefBytes);
  if (!text) return {};
  while (!text->empty() && (text->back() == '\n' || text->back() == '\r' || text->back() == ' ')) text->pop_back();
  return is_part(*text) ? *text : std::string{};
}

/// The snapshot that was made last.
std::string newest_snapshot(const fs::path& snapshots, const std::vector<std::string>& names) {
  std::error_code ignored;
  const auto written = [&](const std::string& name) { return fs::last_write_time(snapshots / name, ignored); };
  return names.empty() ? std::string{}
                       : *std::max_element(names.begin(), names.end(),
                                           [&](const auto& a, const auto& b) { return written(a) < written(b); });
}

Error half_downloaded(const std::string& what) { return Error(ErrorCode::half_downloaded, "half downloaded", what); }

Result<fs::path> snapshot_of(const ModelFolder& model, std::string_view revision) {
  const fs::path snapshots = model.folder / "snapshots";
  std::vector<std::string> names = entries(snapshots, kMostModelFiles);
  std::erase_if(names, [&](const std::string& name) { return !is_part(name) || !is_folder(snapshots / name); });
  std::string commit = commit_of(model.folder, revision.empty() ? "main" : revision);
  if (commit.empty() && revision.empty()) commit = newest_snapshot(snapshots, names);
  if (commit.empty() && !revision.empty()) {
    const auto begins = [&](const std::string& name) { return name.starts_with(revision); };
    if (std::count_if(names.begin(), names.end(), begins) == 1)
      commit = *std::find_if(names.begin(), names.end(), begins);
  }
  if (!commit.empty() && std::find(names.begin(), names.end(), commit) != names.end()) return snapshots / commit;
  if (revision.empty()) return half_downloaded("none of its files is there");
  std::string known;
  for (const std::string& ref : entries(model.folder / "refs", kMostRevisions))
    if (!commit_of(model.folder, ref).empty()) known.append(known.empty() ? "" : ", ").append(ref);
  for (const std::string& name : names) known.append(known.empty() ? "" : ", ").append(name.substr(0, 12));
  return bad_input(model.name, "revision", known.empty() ? "one that was downloaded" : "one of " + known,
                   "'" + printable(revision) + "'");
}

bool lies_within(const fs::path& path, const fs::path& root) {
  return std::mismatch(root.begin(), root.end(), path.begin(), path.end()).first == root.end();
}

std::string first_names(const std::vector<std::string>& names) { return first_texts(names, kMostNearest, printable); }

/// Whether a download stopped in the middle: its tool leaves what it has under other names.
bool was_interrupted(const ModelFolder& model) {
  if (model.kind == ModelFolder::Kind::model_scope)
    return is_folder(model.root / "._____temp" / model.folder.lexically_relative(model.root));
  if (model.kind == ModelFolder::Kind::folder) return false;
  const auto blobs = entries(model.folder / "blobs", kMostModelFiles);
  return std::any_of(blobs.begin(), blobs.end(), [](const auto& name) { return name.ends_with(".incomplete"); });
}

/// Why the files of `folder` cannot be read; none: they are there, and within the cache.
std::optional<Error> trouble_of(const ModelFolder& model, const fs::path& folder) {
  std::error_code error;
  const fs::path root = model.root.empty() ? fs::path() : fs::canonical(model.root, error);
  std::vector<std::string> missing;
  const std::vector<std::string> files = entries(folder, kMostModelFiles);
  const auto refused = [](const std::string& line) { return Error(ErrorCode::bad_value, line); };
  if (files.size() == kMostModelFiles)
    return refused("at least " + std::to_string(kMostModelFiles) + " files in one model");
  if (!root.empty() && !lies_within(fs::canonical(folder, error), root))
    return refused("its folder is a link out of the cache: name the folder itself");
  for (const std::string& file : files) {
    if (!fs::is_symlink(folder / file, error)) continue;
    const fs::path target = fs::canonical(folder / file, error);
    if (error == std::errc::too_many_symbolic_link_levels) return refused(printable(file) + " is a link in a circle");
    if (error) missing.push_back(file);
    else if (!root.empty() && !lies_within(target, root))
      return refused(printable(file) + " is a link out of the cache");
  }
  const bool interrupted = was_interrupted(model);
  if (missing.empty()) missing = missing_weights(folder);
  if (!missing.empty()) return half_downloaded("without " + first_names(missing));
  if (!path_exists(folder / "config.json") && only_gguf(folder).empty())
    return interrupted ? half_downloaded("without config.json")
                       : Error(ErrorCode::not_a_model, found_without_config(folder), "not a model of transformers");
  if (interrupted && !has_weights(folder) && only_gguf(folder).empty()) return half_downloaded("without its weights");
  return std::nullopt;
}

/// What is wrong with the files of `kept`. A folder that holds a GGUF file alone stands for that.
void look_into(const ModelFolder& model, KeptModel& kept) {
  if (model.kind != ModelFolder::Kind::file) kept.trouble = trouble_of(model, kept.folder);
  if (const fs::path file = only_gguf(kept.folder); !kept.trouble && !file.empty()) kept.folder = file;
}

/// The revision that a name without one means; `trouble` where it has none.
KeptModel kept_model(const ModelFolder& model) {
  KeptModel kept{.name = model.name, .folder = model.folder, .trouble = model.trouble};
  if (model.kind == ModelFolder::Kind::hugging_face) {
    const auto snapshot = snapshot_of(model, {});
    if (!snapshot) {
      kept.trouble = snapshot.error();
      return kept;
    }
    kept.folder = *snapshot;
  }
  look_into(model, kept);
  return kept;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

/// The names nearest to `asked`, with or without its organisation; those that share nothing are none.
std::vector<std::string> nearest(const std::vector<ModelFolder>& models, std::string_view asked) {
  const auto own = [](std::string_view name) { return name.substr(name.rfind('/') + 1); };
  const std::string wanted = lower(asked), wanted_own = lower(own(asked));
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const ModelFolder& model : models) {
    const std::string name = lower(model.name), name_own = lower(own(model.name));
    const bool part = wanted_own.size() > 2 && name.find(wanted_own) != name.npos;
    const std::size_t apart = std::min(letters_apart(name, wanted), letters_apart(name_own, wanted_own));
    if (part || apart <= std::max<std::size_t>(2, wanted_own.size() / 3))
      near.emplace_back(part ? 0 : apart, model.name);
  }
  std::sort(near.begin(), near.end());
  std::vector<std::string> names;
  for (const auto& [apart, name] : near)
    if (names.size() < kMostNearest) names.push_back(name);
  return names;
}

Error not_kept(std::string_view asked, const std::vector<ModelFolder>& models) {
  const AskedName name = split_revision(asked);
  std::vector<std::string> names = nearest(models, name.name);
  if (const fs::path file = nearest_path(name.name); !file.empty()) names.push_back("./" + file.string());
  std::string near = first_names(names);
  if (near.empty())
    near = models.empty() ? "there is none yet" : "`headlight models` lists " + std::to_string(models.size());
  else near = "the nearest: " + near;
  const bool tagged = name.name.find(':') != name.name.npos;
  std::string command = (tagged ? "ollama pull " : "hf download ") + std::string(name.name);
  if (!name.revision.empty()) command.append(" --revision ").append(name.revision);
  return bad_input(asked, "source", "a file, a folder, or the name of a model on this disk (" + near + ")",
                   "none; `" + command + "` would fetch it", ErrorCode::file_absent);
}

}  // namespace

bool is_model_name(std::string_view text) {
  const auto [whole_name, revision] = split_revision(text);
  if (whole_name.size() < text.size() && !is_revision(revision)) return false;
  const std::size_t colon = whole_name.find(':');
  const bool tagged = colon != whole_name.npos;
  if (tagged && !is_part(whole_name.substr(colon + 1))) return false;
  const std::string_view name = whole_name.substr(0, colon);
  const auto parts = split_at('/', name);
  return parts.size() <= (tagged ? 3 : 2) && std::all_of(parts.begin(), parts.end(), is_part) &&
         std::none_of(std::begin(kFileEndings), std::end(kFileEndings),
                      [&, whole = name](std::string_view ending) { return whole.ends_with(ending); });
}

std::vector<KeptModel> kept_models(const ModelRoots& roots) {
  std::vector<KeptModel> models;
  for (const ModelFolder& model : all_model_folders(roots)) models.push_back(kept_model(model));
  return models;
}

Result<KeptModel> find_kept_model(const ModelRoots& roots, std::string_view asked) {
  const AskedName name = split_revision(asked);
  const std::vector<ModelFolder> all = is_model_name(asked) ? all_model_folders(roots) : std::vector<ModelFolder>{};
  const auto called = [&](const std::string& wanted) {
    return std::find_if(all.begin(), all.end(), [&](const ModelFolder& one) { return one.name == wanted; });
  };
  auto at = called(std::string(name.name));
  if (at == all.end()) at = called(std::string(name.name) + ":latest");
  if (at == all.end()) return not_kept(asked, all);
  KeptModel kept{.name = at->name, .folder = at->folder, .trouble = at->trouble};
  if (at->kind == ModelFolder::Kind::hugging_face) {
    const auto snapshot = snapshot_of(*at, name.revision);
    if (!snapshot)
      return name.revision.empty()
                 ? bad_input(asked, "", "a whole model", snapshot.error().message(), snapshot.error().code)
                 : snapshot.error();
    kept.folder = *snapshot;
    if (name.revision.empty() && commit_of(at->folder, "main").empty())
      kept.remark = Error(ErrorCode::bad_value, asked,
                          "no branch main in the cache (refs/main): the newest snapshot was taken, " + at->name + "@" +
                              snapshot->filename().string());
  } else if (!name.revision.empty()) {
    return bad_input(asked, "revision", "none, as " + at->folder.string() + " has one alone", name.revision);
  }
  look_into(*at, kept);
  if (!kept.trouble) return kept;
  std::string found = kept.trouble->message();
  if (kept.trouble->code == ErrorCode::half_downloaded && at->kind == ModelFolder::Kind::hugging_face)
    found += "; `hf download " + at->name + "` fetches the rest";
  return bad_input(asked, kept.folder.string(), "a whole model", found, kept.trouble->code);
}

}  // namespace headlight
