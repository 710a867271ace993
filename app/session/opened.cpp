#include "session/opened.h"

#include <system_error>

#include "base/file.h"
#include "read/attention_json.h"
#include "read/checkpoint.h"
#include "read/tensors.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool is_tensors(const fs::path& path) { return path.extension() == ".safetensors" || path.extension() == ".npz"; }

/// Masks are JSON too, but have no list of attentions.
bool is_attention_json(const fs::path& path) {
  if (path.extension() != ".json" || path.filename().string().ends_with(".headlight.json")) return false;
  const auto text = read_file(path);
  return text && text->find("\"attention\"") != std::string::npos;
}

Error no_num_heads(const fs::path& path, Index found) {
  return bad_input(path.string(), "--num-heads", "none, the file says it", std::to_string(found));
}

}  // namespace

bool names_model(const fs::path& path) { return is_folder(path) || is_tensors(path) || is_attention_json(path); }

Result<Opened> open_model(const fs::path& path, std::optional<Index> num_heads) {
  Opened opened;
  opened.kind = Opened::Kind::document;
  Document& document = opened.session.document;
  if (is_tensors(path)) {
    auto file = read_tensors(path, num_heads);
    if (!file) return file.error();
    document.model = std::move(file->model);
    if (file->mask) document.mask.given = std::make_shared<const Matrix>(std::move(*file->mask));
    opened.warnings = std::move(file->warnings);
  } else if (num_heads) {
    return no_num_heads(path, *num_heads);
  } else if (is_folder(path)) {
    auto checkpoint = read_checkpoint(path);
    if (!checkpoint) return checkpoint.error();
    document.model = std::move(checkpoint->model);
    document.mask.causal = is_causal_by_default(document.model->config.arch);
    opened.warnings = std::move(checkpoint->warnings);
  } else if (is_attention_json(path)) {
    auto file = read_attention_json(path);
    if (!file) return file.error();
    document.model = std::move(file->model);
    opened.warnings = std::move(file->warnings);
  } else {
    std::error_code ignored;
    return bad_input(path.string(), "kind",
                     "a checkpoint folder, a tensors file (.safetensors, .npz) or a JSON of attention",
                     fs::exists(path, ignored) ? "another file" : "no such file");
  }
  // A session that names the model may be opened from another folder than this one.
  std::error_code error;
  const auto absolute = fs::absolute(path, error);
  document.source = (error ? path : absolute.lexically_normal()).string();
  return opened;
}

}  // namespace headlight
