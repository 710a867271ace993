#include "session/jobs.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "base/file.h"
#include "derived/derived_maps.h"
#include "document/answer_snapshot.h"
#include "document/bundled_models.h"
#include "document/export.h"
#include "session/open_file.h"

namespace headlight {
namespace {

/// What the answer takes of a job that also makes its other maps.
constexpr float kAnswerShare = 0.9f;

}  // namespace

Job trace_job(const Request& request, std::shared_ptr<const Trace> previous, MapKind kind, FoldChoice fold) {
  return [request, kind, fold, previous = std::move(previous)](Progress& progress) -> std::optional<Command> {
    const auto begin = std::chrono::steady_clock::now();
    if (kind != MapKind::weights) progress.share = kAnswerShare;
    auto trace = forward(request, progress, previous.get());
    if (!trace) return TraceFailed{request, trace.error().message};
    if (!*trace) return std::nullopt;
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    TraceReady ready{std::move(*trace), took.count()};
    if (fold != FoldChoice{} && !folds_at_once(*ready.trace)) {
      ready.folded = folded_maps(ready.trace, fold, progress.stop);
      if (!ready.folded) return std::nullopt;
    }
    if (kind == MapKind::weights) return ready;
    progress.begin = kAnswerShare;
    progress.share = 1 - kAnswerShare;
    ready.maps = other_maps(ready.trace, kind, progress);
    if (!ready.maps) return std::nullopt;
    return ready;
  };
}

Job folds_job(std::shared_ptr<const Trace> trace, FoldChoice fold) {
  return [trace = std::move(trace), fold](Progress& progress) -> std::optional<Command> {
    auto folded = folded_maps(trace, fold, progress.stop);
    if (!folded) return std::nullopt;
    return FoldsReady{std::move(folded)};
  };
}

Job maps_job(std::shared_ptr<const Trace> trace, MapKind kind) {
  return [trace = std::move(trace), kind](Progress& progress) -> std::optional<Command> {
    auto maps = other_maps(trace, kind, progress);
    if (!maps) return std::nullopt;
    return MapsReady{std::move(maps)};
  };
}

Job detail_job(std::shared_ptr<const Trace> trace, const Region& region) {
  return [trace = std::move(trace), region](Progress& progress) -> std::optional<Command> {
    Matrix weights = region_weights(*trace, region, kDetail, progress.stop);
    if (progress.stop) return std::nullopt;
    return DetailReady{trace, region, std::move(weights)};
  };
}

Job inside_job(InsideQuestion question) {
  return [question = std::move(question)](Progress& progress) -> std::optional<Command> {
    auto inside = look_inside(question, progress.stop);
    if (!inside) return std::nullopt;
    return InsideReady{std::move(inside)};
  };
}

Job baseline_job(const Request& request, std::shared_ptr<const Trace> previous) {
  return [request, previous = std::move(previous)](Progress& progress) -> std::optional<Command> {
    auto trace = forward(request, progress, previous.get());
    if (!trace || !*trace) return std::nullopt;
    return BaselineReady{std::move(*trace)};
  };
}

Job check_job(std::shared_ptr<const Model> model, const std::string& folder, std::vector<std::string> warnings) {
  return
      [model = std::move(model), folder, warnings = std::move(warnings)](Progress& progress) -> std::optional<Command> {
        const auto resolved = resolved_source(folder);
        if (!resolved) return CheckReady{model, {{Severity::error, resolved.error().message}}};
        auto findings = check_checkpoint(*resolved, model, warnings, progress);
        if (progress.stop) return std::nullopt;
        return CheckReady{model, std::move(findings)};
      };
}

Job heads_job(HeadQuestion question, std::shared_ptr<const HeadStats> known) {
  return [question = std::move(question), known = std::move(known)](Progress& progress) -> std::optional<Command> {
    auto heads = answer_heads(question, known.get(), progress);
    if (!heads) return std::nullopt;
    return HeadsReady{std::move(heads)};
  };
}

Job sweep_job(std::shared_ptr<const Trace> trace) {
  return [trace = std::move(trace)](Progress& progress) -> std::optional<Command> {
    auto effects = head_effects(*trace, progress);
    if (!effects) return EffectsReady{std::make_shared<EffectAnswer>(EffectAnswer{trace, {}, effects.error().message})};
    if (!*effects) return std::nullopt;
    return EffectsReady{std::make_shared<EffectAnswer>(EffectAnswer{trace, std::move(**effects), {}})};
  };
}

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

Job flow_job(FlowQuestion question) {
  return [question = std::move(question)](Progress& progress) -> std::optional<Command> {
    auto flow = look_at_flow(question, progress.stop);
    if (!flow) return std::nullopt;
    return FlowReady{std::move(flow)};
  };
}

Job comparison_job(ComparisonQuestion question, std::shared_ptr<const AnswerComparison> known) {
  return [question = std::move(question), known = std::move(known)](Progress& progress) -> std::optional<Command> {
    auto comparison = compare_answers(question, known.get(), progress);
    if (!comparison) return std::nullopt;
    return ComparisonReady{std::move(comparison)};
  };
}

Job kept_job(AnswerSnapshot kept, const Lexicon& lexicon) {
  return [kept = std::move(kept), &lexicon](Progress& progress) -> std::optional<Command> {
    auto answered = answer_to_keep(kept, lexicon, progress);
    if (!answered) return KeptFailed{kept, answered.error().message};
    if (!answered->trace) return std::nullopt;
    return KeptReady{*std::move(answered)};
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
