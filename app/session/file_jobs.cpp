#include "session/file_jobs.h"

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "document/export.h"

namespace headlight {

Job open_job(const std::string& path) {
  return [path](Progress& progress) -> std::optional<Command> {
    auto opened = open_any(path, progress);
    if (!opened) return FileFailed{opened.error().message};
    return FileOpened{path, std::move(*opened)};
  };
}

Job save_job(const std::string& path, Session session) {
  return [path, session = std::move(session)](Progress&) -> std::optional<Command> {
    if (const auto written = write_file(path, to_json(session)); !written) return FileFailed{written.error().message};
    return FileSaved{path, session.document};
  };
}

Job export_job(const std::string& path, const AppState& state) {
  ExportOptions options;
  std::vector<Request> requests = state.requests;
  if (state.browser.part == ExportPart::head && whole_request(state)) {
    options.only = state.view.chosen;
    requests = {*whole_request(state)};
  }
  return [path, document = state.document, requests = std::move(requests), options,
          known = state.trace](Progress& progress) -> std::optional<Command> {
    const auto format = format_for(path);
    if (!format) return FileFailed{format.error().message};
    const auto written = export_document(document, requests, *format, options, path, progress, known);
    if (written) return FileSaved{path, std::nullopt};
    if (progress.stop) return FileFailed{path + ": cancelled, nothing was written"};
    return FileFailed{written.error().message};
  };
}

Job figure_job(const std::string& path, FigureRequest order, DrawFigure draw) {
  return [path, order = std::move(order), draw = std::move(draw)](Progress&) -> std::optional<Command> {
    if (!order.trace) return FileFailed{bad_input(path, "figure", "an answer to draw", "none yet").message};
    const auto written = draw(order, path);
    if (!written) return FileFailed{written.error().message};
    return FileSaved{path, std::nullopt};
  };
}

Job list_job(const std::string& folder) {
  return [folder](Progress&) -> std::optional<Command> {
    std::error_code error;
    FolderListed listed{folder, {}};
    const auto options = std::filesystem::directory_options::skip_permission_denied;
    for (std::filesystem::directory_iterator at(folder, options, error), end; !error && at != end;
         at.increment(error)) {
      const std::string name = at->path().filename().string();
      std::error_code ignored;
      if (!name.starts_with('.')) listed.entries.push_back({name, at->is_directory(ignored)});
    }
    if (error) return FileFailed{bad_input(folder, "folder", "a readable folder", error.message()).message};
    std::sort(listed.entries.begin(), listed.entries.end(),
              [](const auto& a, const auto& b) { return a.folder != b.folder ? a.folder : a.name < b.name; });
    return listed;
  };
}

}  // namespace headlight
