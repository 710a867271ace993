#include <algorithm>

#include "base/file.h"
#include "base/formatted.h"
#include "cli/figure_maps.h"
#include "cli/figure_views.h"
#include "cli/frame/question_command.h"
#include "cli/frame/study.h"
#include "cli/options/against_option.h"
#include "cli/options/head_option.h"
#include "cli/options/view_options.h"
#include "derived/answer_comparison.h"
#include "derived/derived_maps.h"
#include "derived/head_stats.h"
#include "derived/inside.h"
#include "figure/figure.h"
#include "figure/page.h"
#include "model/head_text.h"
#include "paper/figure_file.h"
#include "paper/visual_text.h"
#include "write/json.h"

namespace headlight {
namespace {

struct FigureArguments {
  explicit FigureArguments(Parser& of) : parser(of), head(of) {}
  Parser parser;
  HeadOption head;
  FigureOptions figure;  // as far as it does not depend on the answer
  std::string file, view = "heads", width = "column";
  std::optional<Language> language;
  FigureMaps maps;
  std::vector<std::string> heads, answers, layers;
  std::string font;
  std::optional<std::string> against, matrix, order;
  WordPair words = {};
  bool ascending = false, no_caption = false;
  Index row = -1, column = -1;
  std::vector<std::string> queries, keys;  // of a text: the chosen words
  std::optional<ShadeHeads> mean;
};

Result<float> points_of(const std::string& width) {
  if (width == "column" || width == "slide") return (width == "slide" ? kSlideMm : kColumnMm) * kPointsInMm;
  const auto mm = parse_number<float>(width);
  if (!mm || !(*mm >= kLeastMm && *mm <= kMostMm))
    return bad_input("--width", "", "column, slide, or 40 to 1000 (millimetres)", width);
  return *mm * kPointsInMm;
}

/// `0.3,1.*`: heads of the stack, each once, as they were named.
Result<std::vector<HeadRef>> heads_of(const std::vector<std::string>& texts, const Trace& trace, Stack stack) {
  std::vector<HeadRef> heads;
  for (const std::string& text : texts) {
    const auto named = parse_heads(text);
    if (!named) return bad_input("--heads", "", "LAYER.HEAD or LAYER.*", text);
    if (text.find(':') != std::string::npos && named->stack != stack)
      return bad_input("--heads", "", "heads of --stack " + std::string(stack_name(stack)), text);
    const auto& [of, layer, head] = *named;
    if (layer >= trace.num_layers(stack))
      return bad_input("--heads", "layer", "0 to " + std::to_string(trace.num_layers(stack) - 1), text);
    if (head && *head >= trace.num_heads(stack))
      return bad_input("--heads", "head", "0 to " + std::to_string(trace.num_heads(stack) - 1), text);
    for (const HeadRef& one : heads_in({stack, layer, head}, trace.num_heads(stack)))
      if (std::ranges::find(heads, one) == heads.end()) heads.push_back(one);
  }
  return heads;
}

/// Reads --order: the heads of the stack in that order, and the number by which each stands there.
Status add_order(const FigureArguments& options, const Question& question, FigureOptions& figure) {
  const std::shared_ptr<const Trace>& trace = question.trace;
  using By = HeadOrder::By;
  const bool looks_for = options.words != WordPair{};
  if (!options.order) {
    if (options.ascending || looks_for)
      return bad_input(options.ascending ? "--ascending" : "--from, --to", "", "--order", "none");
    return Done{};
  }
  auto order = parse_head_order(*options.order);
  if (!order) {
    return bad_input("--order", "", joined_texts(head_orders(), ", ", [](const HeadOrder& one) { return name(one); }),
                     *options.order);
  }
  if (!shows_all_heads(figure.kind))
    return bad_input("--order", "", "--view heads or glance", "--view " + options.view);
  if (options.maps.kind == MapKind::rollout) return bad_input("--order", "", "maps of heads", "--maps rollout");
  if (options.maps.by) return bad_input("--order", "", "maps of heads", "--reduce " + reduction_text(*options.maps.by));
  if (looks_for != (order->by == By::found))
    return bad_input("--order " + *options.order, "", looks_for ? "--order found" : "--from and --to",
                     looks_for ? "--from, --to" : "nothing to find");
  if (order->by == By::layer || !trace->has(figure.head.stack)) return Done{};
  order->ascending = options.ascending;
  HeadQuestion numbers{.trace = trace, .measures = order->by == By::measure};
  if (order->by == By::found) numbers.words = options.words;
  const auto stats = answer_heads(numbers, nullptr, unwatched());
  std::vector<HeadEffect> effects;
  if (order->by == By::effect) {
    auto found = TRY(head_effects(*trace, unwatched(), question.threads));
    effects = std::move(*found);
  }
  std::vector<HeadRef> ordered = heads_in_order(heads_of(*trace, figure.head.stack), *order, stats.get(), &effects);
  std::erase_if(ordered, [&](const HeadRef& head) {
    return (!figure.heads.empty() && std::ranges::find(figure.heads, head) == figure.heads.end()) ||
           (figure.layers && !std::ranges::binary_search(*figure.layers, head.layer));
  });
  for (const HeadRef& head : ordered) figure.numbers.push_back(order_number(*order, head, stats.get(), &effects));
  figure.heads = std::move(ordered), figure.order = *order;
  return Done{};
}

Result<Look> look_of(const FigureArguments& options, const Trace& trace, const HeadRef& head) {
  if (!options.matrix) return bad_input("--view matrix", "", "--matrix NAME", "none");
  TRY(check_head(trace, head));
  const auto id = find_matrix(trace, head, *options.matrix);
  if (!id) {
    const std::string example = path(trace, matrix_id(Quantity::weights, head));
    return bad_input("--matrix", "", "a name that explain prints, as W_Q or " + example, *options.matrix);
  }
  Look look{*id};
  if (options.row >= 0 || options.column >= 0)
    look.cell = MatrixCell{std::max<Index>(0, options.row), std::max<Index>(0, options.column)};
  return look;
}

/// Reads --queries, --keys, --query and --mean of a text.
Status add_shades(const FigureArguments& options, const Trace& trace, FigureOptions& figure) {
  const bool columns = !options.keys.empty(), several = columns || !options.queries.empty();
  if (figure.kind != FigureKind::text) return Done{};
  if (columns && (!options.queries.empty() || (is_of_picture(trace) && !is_all_of_picture(trace))))
    return bad_input("--keys", "", "--queries alone", options.queries.empty() ? "a grid of keys" : "both");
  ShadeChoice& shades = figure.shades;
  shades.columns = columns, shades.heads = options.mean.value_or(ShadeHeads::head);
  if (figure.query && !columns) shades.words.push_back(*figure.query);
  const Stack stack = figure.head.stack;
  if (!several || !trace.has(stack)) return Done{};
  shades.words = TRY(columns ? numbers_of("--keys", "tokens", options.keys, trace.keys(stack))
                             : numbers_of("--queries", "tokens", options.queries, trace.queries(stack)));
  return Done{};
}

Result<FigureOptions> page_of(const FigureArguments& options) {
  FigureOptions figure = options.figure;
  figure.caption = !options.no_caption;
  figure.kind = named_view(options.view)->figure.value_or(figure.kind);  // --view study has a figure of its own
  figure.language = options.language.value_or(default_settings().language);
  figure.width = TRY(points_of(options.width));
  return figure;
}

Result<FigureOptions> figure_of(const FigureArguments& options, const Trace& trace) {
  FigureOptions figure = TRY(page_of(options));
  figure.head = TRY(options.head.parts()).ref();
  TRY(check_read(options.parser, figure.kind, options.view));
  if (!(figure.threshold >= 0 && figure.threshold <= 1))
    return bad_input("--threshold", "", "0 to 1", shortest_text(figure.threshold));
  if (figure.kind == FigureKind::matrix) figure.look = TRY(look_of(options, trace, figure.head));
  if (!options.answers.empty()) {
    if (options.answers.size() > 2)
      return bad_input("--answers", "", "one word or two", std::to_string(options.answers.size()));
    figure.lens = {options.answers.front(), options.answers.size() > 1 ? options.answers.back() : ""};
  }
  figure.measure.words = figure.lens, figure.measure.query = figure.query;
  TRY(add_shades(options, trace, figure));
  if (figure.range && (!colours_weights(figure.kind) || figure.scale == Scale::log))
    return bad_input("--range", "", "--view heads, head, text or glance, --colours linear", "--view " + options.view);
  if (!options.layers.empty()) {
    if (!shows_all_heads(figure.kind) || !options.heads.empty())
      return bad_input("--only-layers", "", "--view heads or glance, without --heads",
                       options.heads.empty() ? "--view " + options.view : "--heads");
    if (!trace.has(figure.head.stack)) return figure;  // which draw_figure refuses
    figure.layers = TRY(numbers_of("--only-layers", "layers", options.layers, trace.num_layers(figure.head.stack)));
  }
  if (options.heads.empty()) return figure;
  const bool flows = figure.kind == FigureKind::flow;
  const bool summed = options.maps.by && figure.kind == FigureKind::head;
  if (!flows && !summed && !shows_all_heads(figure.kind))
    return bad_input("--heads", "", "--view heads, glance or flow", "--view " + options.view);
  if (!trace.has(figure.head.stack)) return figure;  // which draw_figure refuses
  figure.heads = TRY(heads_of(options.heads, trace, figure.head.stack));
  if (!flows) return figure;
  std::ranges::sort(figure.heads);
  figure.head = figure.heads.front();
  return figure;
}

/// A of --view compare: what --against asks, or the same question without edits.
Result<AnswerSnapshot> other_answer(const FigureArguments& options, const Question& question) {
  const std::shared_ptr<const Trace>& trace = question.trace;
  if (options.against) return answer_of(*options.against, question.asked);
  Request plain = unedited(trace->request);
  if (plain == trace->request)
    return bad_input("--against", "", "[SOURCE] [REQUEST], or a question with edits", "neither");
  auto before = TRY(forward(plain, unwatched(), trace.get(), question.threads));
  return AnswerSnapshot{.trace = std::move(before), .document = question.asked.document()};
}

/// --query counts the tokens of the clean question, as `patch` does; a figure those of the corrupt one.
Result<FigureOptions> of_corrupt(FigureOptions figure, const Trace& clean, const Trace& corrupt) {
  if (!figure.measure.query) return figure;
  TRY(check_within("--query", "", *figure.measure.query, clean.queries()));
  for (const auto& [of_clean, of_corrupt] : patch_pairs(clean, corrupt, Stack::self, figure.alignment))
    if (of_clean == *figure.measure.query) {
      figure.measure.query = of_corrupt;
      return figure;
    }
  return bad_input("--query", "", "a token that both sentences have", std::to_string(*figure.measure.query));
}

/// `beside`: the other sentences of a batch, where --reduce lays them over each other.
Result<Drawing> drawing_of(const FigureArguments& options, const Question& question,
                           const std::vector<std::shared_ptr<const Trace>>& beside, FigureOptions figure,
                           const TextWidth& measure) {
  const std::shared_ptr<const Trace>& trace = question.trace;
  const auto maps = TRY(figure_maps(options.maps, trace, beside, figure, question.threads));
  if (!shows_two(figure.kind)) {
    const auto folded = TRY(figure_folds(options.maps, trace, figure));
    return draw_figure({*trace, question.asked.document(), folded.get(), maps.get()}, figure, measure);
  }
  const auto other = TRY(other_answer(options, question));
  const AnswerSnapshot now{.trace = trace, .document = question.asked.document()};
  if (options.maps.pair != PairPart::all)
    return bad_input("--pair " + std::string(name(options.maps.pair)), "", "--view heads, head, text, glance or flow",
                     "--view " + options.view);
  if (figure.kind != FigureKind::patch)
    return draw_comparison(other, now, figure, measure, fold_choice(options.maps.folds));
  return options.against ? draw_patch(now, other, TRY(of_corrupt(figure, *now.trace, *other.trace)), measure)
                         : draw_patch(other, now, figure, measure);
}

Result<Answer> answer(const Question& question, const FigureArguments& options,
                      const std::vector<std::shared_ptr<const Trace>>& beside = {}) {
  auto figure = TRY(figure_of(options, *question.trace));
  TRY(add_order(options, question, figure));
  const auto fonts = TRY(PaperFonts::open(options.font, figure.language));
  Progress progress;
  const ProgressReport report("figure", &progress);
  figure.progress = &progress;
  const auto drawing = TRY(drawing_of(options, question, beside, figure, fonts->measure()));
  TRY(write_figure(drawing, options.file, *fonts));
  std::string words;
  for (const NamedTokens& named : named_tokens(*question.trace)) words += named.tokens->text;
  if (const std::string script = unshaped_script(words); !script.empty())
    question.warnings.emplace_back(ErrorCode::bad_value, options.file,
                                   script + " is set letter by letter, without its joined forms; a page has them");
  if (!figure.caption)
    TRY(write_file(std::filesystem::path(options.file).replace_extension(".txt"), drawing.caption + "\n"));
  return Answer(Done{});
}

/// One picture of all sentences together.
Result<Answer> answer_to_all(Question question, const FigureArguments& options, const QuestionCommand& command) {
  std::vector<std::shared_ptr<const Trace>> traces;
  for (const Request& request : question.asked.requests)
    traces.push_back(TRY(command.trace_of(request, question.warnings)));
  question.trace = traces.front();
  traces.erase(traces.begin());
  return answer(question, options, traces);
}

void add_text_options(Parser& parser, FigureArguments& options) {
  parser
      .option("--queries", options.queries,
              "Of text: words that look, 3,7-9; each word is shaded by the mean of its weights in their rows", "LIST")
      .list();
  parser
      .option("--keys", options.keys,
              "Of text: words that are looked at; each word is shaded by how much it looks at them together", "LIST")
      .list();
  add_choice<ShadeHeads>(parser, "--mean", options.mean, kShadeHeadNames,
                         "Of text: the weights of the head (default), or the mean of its layer or of all heads");
}

void add_look_options(Parser& parser, FigureArguments& options) {
  add_text_options(parser, options);
  parser.option("--own-range", options.figure.own_range, "Each head's colours up to its own largest number");
  add_range(parser, options.figure.range);
  add_map_options(parser, options.maps);
  parser.option("--only-layers", options.layers, "Of heads and glance: the maps of these layers alone, 0,4-6", "LIST")
      .list();
  parser.option("--font", options.font, "The font of the figure: a file, or a family as fc-list names it", "FILE|NAME");
  parser.option("--no-caption", options.no_caption, "No caption below the figure: it is written to FILE.txt beside it");
  parser.option("--width", options.width, "column (85 mm, default), slide (254 mm), or millimetres", "W");
  add_choice<Scale>(parser, "--colours", options.figure.scale, kScaleNames, "linear (default) or log");
  add_choice<ColourMap>(parser, "--colour-map", options.figure.colours, kColourNames,
                        "teal (default), viridis, cividis or grey");
  add_theme_and_language(parser, options.figure.theme, options.language);
}

/// Of two answers, and of the words of one.
void add_answer_options(Parser& parser, FigureArguments& options) {
  add_against(parser, options.against);
  add_choice<PatchForm>(parser, "--at", options.figure.patch, kPatchForms,
                        "Of patch: heads (default): z of each head; residual: the stream after each layer at each "
                        "token; tokens: z of each head of --layer at each token");
  add_alignment(parser, options.figure.alignment);
  add_choice<Metric>(parser, "--metric", options.figure.measure.metric, kMetricNames,
                     "Of patch: what is compared, as in `patch`");
  parser
      .option("--answers", options.answers,
              "Of lens: the word whose logit is split, or WORD,OTHER: the difference of the two; of patch the right "
              "word and the wrong one; default: the likeliest",
              "WORDS")
      .list();
}

ParsedCommand add_figure(Parser& parser, const Frontend&) {
  const QuestionCommand command(parser);
  const auto options = std::make_shared<FigureArguments>(parser);
  parser.option("-o,--output", options->file, "FILE.svg, FILE.pdf or FILE.png, whole or not at all").required();
  add_view(
      parser, options->view, [](const NamedView& view) { return view.figure.has_value(); },
      "heads (default): a map of every head; head: one head large; text: the text, each word shaded; glance: all heads "
      "small, a row per layer; inside: the numbers behind one weight; writers: what wrote its score; lens: the guess "
      "after each layer; diagram: the matrices of a layer and what each is computed from; matrix: one of these "
      "matrices; flow: lines between the words; compare: one head in two answers; patch: what of this question, the "
      "clean one, brings its answer back in that of --against, the corrupt one; study: SOURCE, which --resume wrote",
      study_ways() ? "study" : "");
  add_answer_options(parser, *options);
  parser
      .option("--query", options->figure.query,
              "Of inside, writers, lens, diagram and text: the query (the token that attends), from 0; by default the "
              "last token. Of patch: the token of the clean question whose next word is guessed")
      .not_negative();
  parser.option("--key", options->figure.key, "Of inside and writers: the key (the token attended to), from 0")
      .not_negative();
  parser.option("--matrix", options->matrix,
                "Of a matrix: its name as explain prints it (W_Q of the head), or its path (encoder.0.self.3.query)",
                "NAME");
  parser.option("--row", options->row, "Of a matrix: the row of the cell whose terms are listed, from 0")
      .not_negative();
  parser.option("--column", options->column, "Of a matrix: the column of that cell, from 0").not_negative();
  parser
      .option("--heads", options->heads, "Of flow: its heads, 0.3,1.*; of heads and glance: which heads, in this order",
              "HEADS")
      .list();
  parser.option("--order", options->order,
                "Of heads and glance: a measure's name, effect, found or layer (default), as heads --sort has it",
                "METRIC");
  parser.option("--ascending", options->ascending, "Of --order: the smallest first");
  parser.option("--from", options->words.from, "Of --order found: the word that looks …", "WORD");
  parser.option("--to", options->words.to, "… at this one", "WORD");
  parser.option("--threshold", options->figure.threshold,
                "Of flow: the smallest weight that has a line, 0.05 by default", "X");
  parser.topic("look", "The options of how the picture looks");
  parser.section("How the picture looks", "look");
  add_look_options(parser, *options);
  const ParsedCommand one =
      command.answers(SentencesAsked::one, [options](const Question& question) { return answer(question, *options); });
  const ParsedCommand all = command.answers(SentencesAsked::all, [options, command](const Question& question) {
    return answer_to_all(question, *options, command);
  });
  return [options, command, one, all]() -> Result<int> {
    TRY(figure_format(options->file));
    TRY(options->maps.read());
    if (options->maps.by && options->maps.by->sentences) return all();
    if (const StudyWays* ways = study_ways())
      if (const auto drawn = ways->draw(command, TRY(page_of(*options)), options->file, options->font)) return *drawn;
    return one();
  };
}

}  // namespace

const NamedCommand kFigure{"figure", "A picture for a paper or a slide: SVG, PDF or PNG", R"(
headlight figure --view inside --head 1.2 --query 9 --key 5 --width slide -o steps.pdf
headlight figure --view matrix --matrix q --head 1.2 --row 9 --column 3 -o q.svg
headlight figure --view flow --heads '1.*' --threshold 0.2 -o flow.png)",
                           add_figure};

}  // namespace headlight
