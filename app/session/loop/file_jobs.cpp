#include "session/loop/file_jobs.h"

#include <filesystem>

#include "base/file.h"
#include "code/program.h"
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

Job export_job(const std::string& path, const AppState& state) {
  if (check_program_name(path)) return program_job(path, state);
  return [path, numbers = exported_numbers(state)](Progress& progress) -> std::optional<Command> {
    const auto written = write_numbers(numbers, path, progress);
    if (written) return FileSaved{path, std::nullopt};
    if (progress.stop) return FileFailed{path + ": cancelled, nothing was written"};
    return FileFailed{written.error().message};
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
