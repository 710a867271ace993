#include "session/loop/file_jobs.h"

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/folders.h"
#include "code/program.h"
#include "lesson/lesson.h"
#include "models/model_sources.h"
#include "question/picture_input.h"
#include "read/array/torch_file.h"
#include "read/external/page_text.h"
#include "read/hub/config_file.h"

namespace headlight {

namespace {

/// `model` and `picture` are those of the window.
Status see_picture(const std::string& path, const std::shared_ptr<const Model>& model,
                   const std::shared_ptr<const PictureInput>& picture, OpenFile& file) {
  Document& fresh = file.session.document;
  if (file.kind == OpenFile::Kind::document && reads_picture(fresh) && picture) return set_picture(fresh, picture);
  if (file.kind != OpenFile::Kind::picture) return Done{};
  Document asked;
  asked.model = model;
  if (!reads_picture(asked))
    return bad_input(path, "", "a model that reads pictures, open before it", model ? model->name : "fresh weights",
                     ErrorCode::needs_text);
  TRY(set_picture(asked, file.picture));
  file.seen = std::move(asked.seen);
  file.seen_by = model;
  return Done{};
}

}  // namespace

Job open_job(const OpenPath& open, const Document& shown) {
  return [open = OpenPath{typed_path(open.path), open.as_a}, model = shown.model,
          picture = shown.picture](Progress& progress) -> std::optional<Command> {
    auto opened = open_any(open.path, progress);
    if (!opened && (progress.stop || open.as_a)) return FileFailed{opened.error()};
    if (!opened) return OpenFailed{open.path, opened.error(), sentence_of_session(open.path)};
    if (const Status seen = see_picture(open.path, model, picture, *opened); !seen) {
      if (opened->kind == OpenFile::Kind::picture) return FileFailed{seen.error()};
      opened->warnings.push_back(seen.error());
    }
    return FileOpened{open.path, std::move(*opened), open.as_a};
  };
}

Job save_job(const std::string& path, Session session) {
  return [path, session = std::move(session)](Progress&) -> std::optional<Command> {
    if (const auto written = write_file(path, to_json(session)); !written) return FileFailed{written.error()};
    return FileSaved{path, session.document};
  };
}

namespace {

/// A job that writes a file which is no session.
template <class Write>
Job write_job(const std::string& path, Write write) {
  return [path, write = std::move(write)](Progress& progress) -> std::optional<Command> {
    const Status written = write(progress);
    if (written) return FileSaved{path, std::nullopt};
    if (progress.stop) return FileFailed{cancelled(path, "nothing was written")};
    return FileFailed{written.error()};
  };
}

/// The program of View::code with its inputs.
Status write_program(const std::optional<ListingQuestion>& question, const std::string& path, Progress& progress) {
  if (!question) return bad_input(path, "program", "an answer to write", "none yet");
  const auto program = TRY(program_of_batch(*question, inputs_beside(path).filename().string(), progress));
  return progress.stop ? Status(cancelled(path, "nothing was written")) : write_program(program, path);
}

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
  if (names_picture(path)) return "picture";
  if (ending == ".jsonl") return opened_by_tool(path.string()) ? "study" : "";
  const bool table = ending == ".csv" || ending == ".tsv";
  if (ending == ".safetensors" || ending == ".npz" || table || is_torch_name(path)) return "tensors";
  if (ending == ".gguf") return "GGUF";
  if (ending == ".npy" || ending == ".json") return "mask";
  return ending == ".txt" || ending.empty() ? "text" : "";
}

/// `BERT, 12×12`: a family as people write it, its layers and its heads.
std::string model_in_words(std::string_view family, const Config& config) {
  const auto is = [&](const auto& one) { return one.first == family; };
  const auto found = std::ranges::find_if(kFamilies, is);
  const std::string_view shown = found == std::end(kFamilies) ? family : found->second;
  return std::string(shown) + ", " + std::to_string(config.num_layers) + "×" + std::to_string(config.num_heads);
}

/// Empty where config.json has no known field.
std::string model_in_words(const fs::path& folder) {
  const auto config = read_hub_config(folder / "config.json");
  return config ? model_in_words(name(*config->family), config->config) : std::string();
}

/// The visible entries of a folder, folders first, each with what it is (Browser::Entry). Of a folder with a
/// config.json that is the family and the size; of a file one of `session`, `lesson`, `page`, `tensors`, `picture`,
/// `mask`, `text`, `study`, by its ending. Error: the folder cannot be read.
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
  if (error)
    return bad_input(folder.string(), "folder", "a readable folder", error.message(), read_fault(error.value()));
  std::ranges::sort(entries,
                    [](const auto& a, const auto& b) { return a.folder != b.folder ? a.folder : a.name < b.name; });
  return entries;
}

}  // namespace

Job export_job(const std::string& path, const AppState& state) {
  if (!check_program_name(path))
    return write_job(path, [path, numbers = exported_numbers(state)](Progress& progress) {
      return write_numbers(numbers, path, progress);
    });
  const bool answered = state.trace && !is_stale(state);
  return write_job(path, [path, question = answered ? std::optional(program_question(state)) : std::nullopt](
                             Progress& progress) { return write_program(question, path, progress); });
}

Job figure_job(const std::string& path, FigureRequest order, DrawFigure draw) {
  return write_job(path, [path, order = std::move(order), draw = std::move(draw)](Progress& progress) -> Status {
    if (!order.trace) return bad_input(path, "figure", "an answer to draw", "none yet");
    return draw(order, path, progress);
  });
}

Job list_job(const std::string& folder) {
  return [folder](Progress& progress) -> std::optional<Command> {
    auto entries = folder_entries(folder, progress);
    if (!entries) return FileFailed{entries.error()};
    return FolderListed{folder, std::move(*entries)};
  };
}

Job models_job() {
  return [](Progress&) -> std::optional<Command> {
    ModelsListed listed;
    for (const ListedModel& model : models_on_disk()) {
      if (!model.opens()) continue;
      Config shape;
      shape.num_layers = model.layers;
      shape.num_heads = model.heads;
      listed.models.push_back(
          {.name = model.name, .folder = true, .opens = true, .what = model_in_words(model.family, shape)});
    }
    return listed;
  };
}

}  // namespace headlight
