
#include "cli/frame/commands.h"
#include "cli/frame/reduced_question.h"
#include "cli/frame/tool_commands.h"
#include "cli/options/against_option.h"
#include "cli/options/head_option.h"
#include "cli/options/lesson_option.h"
#include "cli/options/request_options.h"
#include "cli/options/view_options.h"
#include "derived/answer_comparison.h"
#include "derived/derived_maps.h"
#include "session/tool_state.h"

namespace headlight {
namespace {

struct ScreenshotArguments {
  explicit ScreenshotArguments(Parser& command) : request(command), head(command), lesson(command) {}
  RequestOptions request;
  HeadOption head;
  LessonOption lesson;
  std::string size = "1600x1000", view;
  std::optional<MapKind> maps;
  std::string reduce;
  std::vector<std::string> folds;
  ScreenshotOptions picture;
  Index query = -1, key = -1;
  std::string order;
  bool ascending = false, own_range = false;
  HeadSearch find;
  std::optional<ColourRange> range = {};
  std::optional<std::string> against;
  std::optional<Alignment> alignment = {};
  PairPart pair = PairPart::all;
  CodeLook code;
};

Status read_size(const std::string& size, ScreenshotOptions& picture) {
  char rest = 0;
  const bool read = std::sscanf(size.c_str(), "%dx%d%c", &picture.width, &picture.height, &rest) == 2;
  if (read && picture.width >= 320 && picture.height >= 240 && picture.width <= 8192 && picture.height <= 8192)
    return Done{};
  return bad_input("--size", "", "WIDTHxHEIGHT from 320x240 to 8192x8192", size);
}

/// What a tool opens once the window is there.
Startup opened_later(const std::string& source) {
  Startup start;
  start.open = source;
  start.asked = true;
  return start;
}

Result<int> run_screenshot(ScreenshotArguments& options, const Frontend& frontend) {
  if (!frontend.screenshot)
    return Error(ErrorCode::bad_value, "headlight screenshot", "this program was built without the window");
  TRY(read_size(options.size, options.picture));
  std::optional<Reduction> by;
  if (!options.reduce.empty()) by = TRY(parse_reduction(options.reduce));
  const bool of_window = by == Reduction{.by = by.value_or(Reduction{}).by, .heads = true};  // as its menu has them
  auto asked = by && !of_window ? reduced_start(options.request, options.reduce) : options.request.start();
  if (!asked && opened_by_tool(options.request.source())) asked = opened_later(options.request.source());
  auto start = TRY(std::move(asked));
  TRY(options.lesson.put_into(start));
  ViewState& view = start.session.view;
  const bool has_own_view = !start.session_path.empty() || !start.lesson.empty();
  if (!has_own_view) view.fold = default_settings().layout.fold;
  const auto head = TRY(options.head.parts());
  options.picture.own_head = head.layer || head.head;
  if (options.picture.own_head) view.chosen = {head.layer.value_or(0), head.head.value_or(0), view.chosen.stack};
  if (head.stack) view.chosen.stack = *head.stack;
  if (options.query >= 0 && options.key >= 0) view.pinned = CellRef{options.query, options.key};
  if (!options.order.empty() && options.view == "compare") {
    const auto order = value_named<DifferenceOrder>(kDifferenceOrders, options.order);
    if (!order) return bad_input("--order", "", "of --view compare: layer, largest, mean or divergence", options.order);
    view.differences = *order;
  } else if (!options.order.empty()) {
    const auto order = parse_head_order(options.order);
    if (!order) return bad_input("--order", "", "layer, a measure or effect", options.order);
    view.order = *order;
  }
  view.order.ascending = options.ascending;
  if (options.maps) view.maps = *options.maps;
  if (by && of_window) view.maps = kind_of(by->by);
  if (options.find.on || options.find.words != WordPair{}) view.find = {true, options.find.words, options.find.above};
  if (const NamedView* named = named_view(options.view)) {
    if (!is_there(named->view)) return missing_tool("--view " + options.view, tool_of(named->view));
    view.view = named->view;
    view.grid = named->grid;
    view.tab = named->tab;
    view.patch.on = named->patch;
    if (named->view == View::compare) view.changes = named->changes;
    if (named->form) view.text.form = named->form;
  }
  if (options.alignment) view.alignment = options.alignment;
  if (options.code != CodeLook{}) view.code = options.code;
  if (options.own_range) view.own_range = true;
  if (options.range) view.range = options.range;
  if (!options.folds.empty()) view.fold = fold_choice(options.folds);
  if (options.pair != PairPart::all) view.fold.pair = options.pair;
  if (options.against)
    start.against = TRY(question_of(*options.against, "--against", options.request.source(), &start.session.document));
  if (options.against && view.patch.on) std::swap(*start.against, start.session.document);  // A is the clean question
  // A head that was asked for stays the one that is compared.
  const bool seeks_head = view.view == View::compare && !head.layer && !head.head;
  if (!options.view.empty() && (looks_at_matrices(view.view) || seeks_head)) options.picture.view = view.view;
  TRY(frontend.screenshot(start, options.picture));
  print_warnings(start.warnings);
  return 0;
}

ParsedCommand add_screenshot(Parser& parser, const Frontend& frontend) {
  auto options = std::make_shared<ScreenshotArguments>(parser);
  parser.option("-o,--output", options->picture.file, "The PNG file to write").required();
  parser.option("--size", options->size, "WIDTHxHEIGHT in pixels, 1600x1000 by default");
  parser.option("--boxes", options->picture.boxes,
                "A JSON file for the boxes, in pixels, of the maps and of everything that can be clicked", "FILE");
  add_view(
      parser, options->view,
      [](const NamedView& view) { return view.figure != FigureKind::matrix && view.view != View::study; },
      "heads: all heads, and beside them the stage; sentence, head, text: the stage with arcs over the words, the map "
      "of "
      "one head, the text itself, shaded; glance: all heads small; "
      "relations: how well each layer shows each relation; inside: the numbers behind one weight; writers: what wrote "
      "its score; lens: the guess after each layer; diagram: the matrices of a layer; flow: lines between the words; "
      "train: the heads beside a training; compare: A beside B; changes: arcs over their words for what changed; "
      "patch: what of A brings its answer back in B; code: the layer as a program");
  add_against(parser, options->against);
  add_alignment(parser, options->alignment);
  parser.option("!--first-start", options->picture.greeted, "With the words that a window opens on the first time");
  add_program_options(parser, options->code);
  for (const Tool* tool : tools())
    if (tool->commands && tool->commands->screenshot) tool->commands->screenshot(parser, options->picture);
  parser.option("--query", options->query, "With --key: the cell that is pinned").not_negative();
  parser.option("--key", options->key, "With --query: the cell that is pinned").not_negative();
  parser.option("--order", options->order,
                "The order of the heads: layer, a measure or effect; of --view compare "
                "layer, largest, mean or divergence",
                "METRIC");
  parser.option("--ascending", options->ascending, "The smallest first");
  parser.option("--from", options->find.words.from, "Heads in which this word looks …", "WORD");
  parser.option("--to", options->find.words.to, "… at this one stay bright …", "WORD");
  parser.option("--above", options->find.above, "… where they do with more than this weight, 0.3 by default", "X")
      .within(0, 1);
  parser.topic("look", "The options of how the picture looks");
  parser.section("How the picture looks", "look");
  add_theme_and_language(parser, options->picture.theme, options->picture.language);
  parser.option("--ui-scale", options->picture.ui_scale, "Size of everything, 1 to 2; default: what suits the size")
      .within(kLeastUiScale, kMostUiScale);
  add_folds(parser, options->folds);
  parser.option("--own-range", options->own_range, "Each head's colours up to its own largest weight");
  add_range(parser, options->range);
  add_pair_part(parser, options->pair);
  add_maps(parser, options->maps);
  add_reduce(parser, options->reduce);
  return [options, &frontend] { return run_screenshot(*options, frontend); };
}

}  // namespace

const NamedCommand kScreenshot{"screenshot", "A picture of the real window, drawn without a display", R"(
headlight screenshot --theme dark --size 2560x1600 -o window.png)",
                               add_screenshot};

}  // namespace headlight
