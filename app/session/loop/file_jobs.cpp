#include "session/loop/file_jobs.h"

#include <unistd.h>

#include <filesystem>

#include "base/file.h"
#include "code/program.h"
#include "document/export.h"
#include "document/model_sources.h"
#include "session/loop/folder_entries.h"

namespace headlight {

Job open_job(const std::string& path) {
  return [path](Progress& progress) -> std::optional<Command> {
    auto opened = open_any(path, progress);
    if (!opened && progress.stop) return FileFailed{opened.error().message};
    if (!opened) return OpenFailed{path, opened.error().message, sentence_of_session(path)};
    return FileOpened{path, std::move(*opened)};
  };
}

Job save_job(const std::string& path, Session session) {
  return [path, session = std::move(session)](Progress&) -> std::optional<Command> {
    if (const auto written = write_file(path, to_json(session)); !written) return FileFailed{written.error().message};
    return FileSaved{path, session.document};
  };
}

namespace {

/// The program of View::code with its inputs.
Job program_job(const std::string& path, const AppState& state) {
  if (!state.trace || is_stale(state))
    return [path](Progress&) -> std::optional<Command> {
      return FileFailed{bad_input(path, "program", "an answer to write", "none yet").message};
    };
  return [path, question = program_question(state)](Progress& progress) -> std::optional<Command> {
    const auto program = program_of_batch(question, inputs_beside(path).filename().string(), progress);
    if (progress.stop) return FileFailed{path + ": cancelled, nothing was written"};
    if (!program) return FileFailed{program.error().message};
    if (const auto written = write_program(*program, path); !written) return FileFailed{written.error().message};
    return FileSaved{path, std::nullopt};
  };
}

}  // namespace

namespace {

/// What an export writes.
struct Numbers {
  Document document;
  std::vector<Request> requests;
  ExportOptions options = {};
  std::shared_ptr<const Trace> known;
};

Numbers numbers_of(const AppState& state) {
  Numbers numbers{state.document, state.requests, {}, state.trace};
  if (state.browser.part == ExportPart::head && whole_request(state)) {
    numbers.options.only = {state.view.chosen};
    numbers.requests = {*whole_request(state)};
  }
  return numbers;
}

Status write_numbers(const Numbers& numbers, const std::filesystem::path& path, Progress& progress) {
  const auto format = format_for(path);
  if (!format) return format.error();
  return export_document(numbers.document, numbers.requests, *format, numbers.options, path, progress, numbers.known);
}

}  // namespace

Job export_job(const std::string& path, const AppState& state) {
  if (check_program_name(path)) return program_job(path, state);
  return [path, numbers = numbers_of(state)](Progress& progress) -> std::optional<Command> {
    const auto written = write_numbers(numbers, path, progress);
    if (written) return FileSaved{path, std::nullopt};
    if (progress.stop) return FileFailed{path + ": cancelled, nothing was written"};
    return FileFailed{written.error().message};
  };
}

Job export_size_job(const FileQuestion& question, const AppState& state) {
  return [question, numbers = numbers_of(state)](Progress& progress) -> std::optional<Command> {
    std::error_code failed;
    std::filesystem::path file = std::filesystem::temp_directory_path(failed);
    file /= "headlight-size-" + std::to_string(getpid()) + question.ending;
    FilePreview preview{question, {}, {}};
    if (const auto written = write_numbers(numbers, file, progress); !written)
      preview.problem = written.error().message;
    else preview.picture.bytes = static_cast<std::size_t>(std::filesystem::file_size(file, failed));
    std::filesystem::remove(file, failed);
    if (progress.stop) return std::nullopt;
    return PreviewReady{std::make_shared<const FilePreview>(std::move(preview))};
  };
}

Job preview_job(const FileQuestion& question, const PreviewFigure& preview) {
  return [question, preview](Progress& progress) -> std::optional<Command> {
    if (!preview) return std::nullopt;
    auto picture = preview(*question.figure, "figure" + question.ending, progress);
    if (progress.stop) return std::nullopt;
    FilePreview seen{question, {}, {}};
    if (picture) seen.picture = std::move(*picture);
    else seen.problem = picture.error().message;
    return PreviewReady{std::make_shared<const FilePreview>(std::move(seen))};
  };
}

Job figure_job(const std::string& path, FigureRequest order, DrawFigure draw) {
  return [path, order = std::move(order), draw = std::move(draw)](Progress& progress) -> std::optional<Command> {
    if (!order.trace) return FileFailed{bad_input(path, "figure", "an answer to draw", "none yet").message};
    const auto written = draw(order, path, progress);
    if (written) return FileSaved{path, std::nullopt};
    if (progress.stop) return FileFailed{path + ": cancelled, nothing was written"};
    return FileFailed{written.error().message};
  };
}

Job list_job(const std::string& folder) {
  return [folder](Progress& progress) -> std::optional<Command> {
    auto entries = folder_entries(folder, progress);
    if (!entries) return FileFailed{entries.error().message};
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
