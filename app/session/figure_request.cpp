#include "session/figure_request.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "base/system.h"
#include "derived/answer_comparison.h"
#include "model/head_text.h"
#include "question/json/export.h"
#include "session/head_grid.h"
#include "session/shown.h"
#include "session/state.h"
#include "session/tool_state.h"
#include "view/view_names.h"

namespace headlight {

namespace {

/// Whether a matrix is looked at for itself, and not the pinned weight of the steps.
bool looks_at_matrix(const ViewState& view) {
  const Look& look = view.look;
  if (look.matrix.quantity != Quantity::weights) return true;
  const auto is_pinned = [&] { return view.pinned && look.cell == MatrixCell{view.pinned->query, view.pinned->key}; };
  return look.cell && !is_pinned();
}

/// Whether two requests give the same file.
bool same_figure(const FigureRequest& a, const FigureRequest& b) {
  const auto look = [](const FigureRequest& it) {
    const ViewState& view = it.view;
    return std::tie(it.trace, it.instead, it.fold.words, it.fold.pair, it.other, it.step, it.heads, it.kind, it.width,
                    it.theme, it.colours, it.language, view.scale, view.chosen, view.flow, view.look, view.own_range,
                    view.range, view.pinned, view.order, view.text, view.lens, view.patch, view.alignment,
                    view.sentence, view.prefix, view.find);
  };
  return look(a) == look(b) && same_question(a.compared, b.compared) && a.document == b.document;
}

}  // namespace

FigureKind seen_figure(const AppState& state) {
  const ViewState& view = state.view;
  if (view.view == View::compare)
    return !compared_trace(state) ? FigureKind::grid
           : view.patch.on        ? FigureKind::patch
           : shows_changes(state) ? FigureKind::changes
                                  : FigureKind::compare;
  if (shows_matrix(view) && state.trace && exists(*state.trace, view.look.matrix) && looks_at_matrix(view))
    return FigureKind::matrix;
  const bool one_stage = shown_grid(state) == GridShow::maps;
  if (shows_text(state)) return FigureKind::text;
  if (stage_form(state) == StageForm::sentence && one_stage) return FigureKind::sentence;
  // All of few heads are the same figure as some of many.
  const GridShow grid =
      shown_grid(state) == GridShow::all && !has_many_heads(state) ? GridShow::maps : shown_grid(state);
  const auto shows = [&](const NamedView& named) {
    if (!named.figure || named.view != view.view) return false;
    return (view.view != View::heads || named.grid == grid) && (view.view != View::inside || named.tab == view.tab);
  };
  const auto seen = std::ranges::find_if(kNamedViews, shows);
  return seen == std::end(kNamedViews) ? FigureKind::grid : *seen->figure;
}

FigureRequest figure_order(const AppState& state) {
  const FoldChoice fold = looks_at_matrices(state.view.view) ? FoldChoice{} : drawn_fold(state.view);
  std::optional<AnswerSnapshot> compared;
  if (const auto other = compared_trace(state))
    compared = state.kept
                   ? *state.kept
                   : AnswerSnapshot{other, state.document, state.view.sentence, state.view.prefix, shown_step(state)};
  // Numbers of an earlier answer are not written under this one's name.
  const bool known =
      state.view.order.by == HeadOrder::By::effect ? known_effects(state) != nullptr : known_heads(state) != nullptr;
  std::vector<HeadRef> heads = known ? shown_order(state) : std::vector<HeadRef>{};
  std::vector<std::optional<float>> numbers;
  for (const HeadRef& head : heads) numbers.push_back(order_value(state, head));
  return {.trace = state.trace,
          .fold = {.words = fold.words, .pair = fold.pair},
          .other = state.trace && shown_maps(state, state.view.chosen.stack) ? state.other_maps.answer() : nullptr,
          .compared = std::move(compared),
          .document = state.document,
          .step = shown_step(state),
          .instead = picture_of_tool(state),
          .view = state.view,
          .heads = std::move(heads),
          .numbers = std::move(numbers),
          .kind = state.browser.figure,
          .width = state.browser.width,
          .theme = state.browser.dark ? (*state.browser.dark ? Theme::dark : Theme::light) : state.settings.theme,
          .colours = state.settings.colours,
          .language = state.settings.language};
}

bool operator==(const FileQuestion& a, const FileQuestion& b) {
  const auto rest = [](const FileQuestion& it) { return std::tie(it.trace, it.part, it.head, it.ending); };
  if (rest(a) != rest(b) || a.figure.has_value() != b.figure.has_value()) return false;
  return !a.figure || same_figure(*a.figure, *b.figure);
}

std::size_t numbers_of_attention(const AppState& state) {
  const Trace& trace = *state.trace;
  const auto of_head = [&](Stack stack) { return static_cast<std::size_t>(trace.queries(stack) * trace.keys(stack)); };
  if (state.browser.part == ExportPart::head) return of_head(state.view.chosen.stack);
  std::size_t all = 0;
  for (const Stack stack : kStacks)
    if (trace.has(stack))
      all += of_head(stack) * static_cast<std::size_t>(trace.num_layers(stack) * trace.num_heads(stack));
  return all * std::max<std::size_t>(1, state.requests.size());
}

ExportedNumbers exported_numbers(const AppState& state) {
  ExportedNumbers numbers{state.document, state.requests, {}, state.trace};
  if (state.browser.part == ExportPart::head && whole_request(state)) {
    const HeadRef& chosen = state.view.chosen;
    numbers.options.only = {chosen};
    if (const auto by = reduced_by(shown_kind(state, chosen.stack))) {  // the map on the stage
      numbers.options.reduce = Reduction{.by = *by, .heads = true};
      numbers.options.only = heads_in({chosen.stack, chosen.layer, {}}, state.trace->num_heads(chosen.stack));
    }
    numbers.requests = {*whole_request(state)};
  }
  return numbers;
}

Status write_numbers(const ExportedNumbers& numbers, const std::filesystem::path& path, Progress& progress) {
  const auto format = TRY(format_for(path));
  return export_document(numbers.document, numbers.requests, format, numbers.options, path, progress, numbers.known);
}

Result<FigurePicture> size_of_export(const ExportedNumbers& numbers, const std::string& ending, Progress& progress) {
  std::error_code failed;
  std::filesystem::path file = std::filesystem::temp_directory_path(failed);
  file /= "headlight-size-" + std::to_string(process_number()) + ending;
  const auto written = write_numbers(numbers, file, progress);
  FigurePicture picture;
  if (written) picture.bytes = static_cast<std::size_t>(std::filesystem::file_size(file, failed));
  std::filesystem::remove(file, failed);
  if (!written) return written.error();
  return picture;
}

std::optional<FileQuestion> file_question(const AppState& state) {
  const Browser& browser = state.browser;
  if (!state.trace || is_stale(state)) return std::nullopt;
  std::string ending = std::filesystem::path(browser.name).extension().string();
  for (char& c : ending) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (browser.purpose == Browser::Purpose::export_to) {
    if (!format_of(browser.name) || numbers_of_attention(state) > kMostCounted) return std::nullopt;
    return FileQuestion{{}, state.trace, browser.part, state.view.chosen, std::move(ending)};
  }
  if (browser.purpose != Browser::Purpose::figure) return std::nullopt;
  if (ending != ".svg" && ending != ".pdf" && ending != ".png" && ending != ".html") return std::nullopt;
  return FileQuestion{figure_order(state), state.trace, {}, {}, std::move(ending)};
}

}  // namespace headlight
