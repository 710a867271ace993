#include "study/study_figure.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "base/file.h"
#include "base/formatted.h"
#include "base/result.h"
#include "cli/options/print.h"
#include "figure/labels.h"
#include "figure/map_items.h"
#include "paper/figure_file.h"
#include "study/study_plots.h"
#include "study/study_words.h"

namespace headlight {
namespace {

constexpr std::size_t kMostBars = 16;

constexpr std::pair<std::string_view, const Words*> kKinds[] = {{"patch", &kStudyWords.patch},
                                                                {"lens", &kStudyWords.lens},
                                                                {"why", &kStudyWords.why},
                                                                {"heads", &kStudyWords.heads}},
                                                    kWhats[] = {{"effect", &kStudyWords.effect},
                                                                {"top_word", &kStudyWords.top_word},
                                                                {"metric", &kStudyWords.metric},
                                                                {"spread", &kStudyWords.spread},
                                                                {"probability", &kStudyWords.probability},
                                                                {"difference", &kStudyWords.difference},
                                                                {"logit", &kStudyWords.logit},
                                                                {"uncapped_logit", &kStudyWords.uncapped_logit},
                                                                {"term", &kStudyWords.term}};

/// Cells of the same kind, of one stack.
struct CellGroup {
  std::string what, stack;
  std::vector<std::size_t> cells = {};
};

std::vector<CellGroup> groups_of(const ReadStudy& study) {
  std::vector<CellGroup> groups;
  for (std::size_t cell = 0; cell < study.values.keys.size(); ++cell) {
    const std::string& what = study.values.keys[cell].front();
    if (study.question.normalise && (what == kCleanCell || what == kCorruptCell)) continue;
    if (what == kRandomCell || what == kRandomLostCell) continue;  // a bar among the others
    const std::string& stack = study.field(cell, "stack");
    const auto known =
        std::ranges::find_if(groups, [&](const CellGroup& one) { return one.what == what && one.stack == stack; });
    CellGroup& group = known == groups.end() ? groups.emplace_back(CellGroup{what, stack}) : *known;
    group.cells.push_back(cell);
  }
  return groups;
}

/// Means by layer, and by head or token; NaN where there is no cell.
struct GroupMap {
  Matrix means = {};
  std::vector<Token> rows = {}, columns = {};
};

/// Nothing where the cells have no two such numbers, or are all of one column.
std::optional<GroupMap> map_of_group(const ReadStudy& study, const CellGroup& group) {
  const bool heads = !study.field(group.cells.front(), "head").empty();
  const char* of_columns = heads ? "head" : "token";
  std::set<Index> layers, columns;
  const auto numbers_of_cell = [&](std::size_t cell) -> std::optional<std::pair<Index, Index>> {
    const auto layer = parse_index(study.field(cell, "layer")), column = parse_index(study.field(cell, of_columns));
    if (!layer || !column || (heads && !study.field(cell, "token").empty())) return std::nullopt;
    return std::pair{*layer, *column};
  };
  for (const std::size_t cell : group.cells) {
    const auto at = numbers_of_cell(cell);
    if (!at) return std::nullopt;
    layers.insert(at->first), columns.insert(at->second);
  }
  if (columns.size() < 2) return std::nullopt;
  GroupMap map{Matrix::Constant(std::ssize(layers), std::ssize(columns), std::nanf(""))};
  for (const std::size_t cell : group.cells) {
    const auto at = *numbers_of_cell(cell);
    map.means(std::distance(layers.begin(), layers.find(at.first)),
              std::distance(columns.begin(), columns.find(at.second))) = static_cast<float>(study.summaries[cell].mean);
  }
  for (const Index layer : layers) map.rows.emplace_back().text = "L" + std::to_string(layer);
  for (const Index column : columns) map.columns.emplace_back().text = (heads ? "H" : "t") + std::to_string(column);
  return map;
}

/// Whether the cells are one a layer.
bool is_over_layers(const ReadStudy& study, const CellGroup& group) {
  return group.cells.size() > 1 && std::ranges::all_of(group.cells, [&](std::size_t cell) {
           return parse_index(study.field(cell, "layer")) &&
                  study.label(cell).ends_with("L" + study.field(cell, "layer"));
         });
}

std::string what_of(const ReadStudy& study, const CellGroup& group, Language language) {
  const bool unit = study.question.normalise == Normalise::none;
  if (group.what == "restored") return words(language, unit ? kStudyWords.restored_by : kStudyWords.restored);
  if (group.what == kLost) return words(language, unit ? kStudyWords.lost_by : kStudyWords.lost);
  std::string what = group.what;
  for (const auto& [name, text] : kWhats)
    if (what == name) what = words(language, *text);
  return group.stack.empty() || group.stack == "self" ? what : group.stack + ", " + what;
}

/// The largest cells, and beside them what random places do.
void add_largest(Page& page, const ReadStudy& study, std::vector<std::size_t> cells, const FigureOptions& options) {
  const std::string all = std::to_string(cells.size()), shown = std::to_string(std::min(cells.size(), kMostBars));
  std::ranges::stable_sort(
      cells, [&](std::size_t a, std::size_t b) { return size_of(study.summaries[a]) > size_of(study.summaries[b]); });
  cells.resize(std::min(cells.size(), kMostBars));
  const char* random = study.values.keys[cells.front()].front() == kLost ? kRandomLostCell : kRandomCell;
  std::vector<PlottedMean> bars;
  bool tested = false;
  for (const std::size_t cell : cells) {
    bars.push_back({study.label(cell), study.summaries[cell]});
    tested = tested || bars.back().summary.p_holm;
  }
  for (std::size_t cell = 0; cell < study.values.keys.size(); ++cell)
    if (study.values.keys[cell].front() == random)
      bars.push_back({words(options.language, kStudyWords.random), study.summaries[cell], true});
  std::string title = words(options.language, tested ? kStudyWords.tested : kStudyWords.bars);
  const bool zh = options.language == Language::zh;
  if (all != shown)
    title += " · " + filled(words(options.language, kStudyWords.largest), {zh ? all : shown, zh ? shown : all});
  add_lines(page, title, page.label, Role::label, page.ink.dim);
  page.y += 0.3f * page.label;
  add_bars(page, bars, options.theme);
}

void add_group(Page& page, const ReadStudy& study, const CellGroup& group, const FigureOptions& options) {
  const std::string what = what_of(study, group, options.language);
  const auto map = map_of_group(study, group);
  add_lines(page, what, page.label, Role::label, page.ink.text);
  page.y += 0.3f * page.label;
  if (is_over_layers(study, group)) {
    add_lines(page, words(options.language, kStudyWords.layers), page.label, Role::label, page.ink.dim);
    std::vector<PlottedMean> points;
    for (const std::size_t cell : group.cells)
      points.push_back({"L" + study.field(cell, "layer"), study.summaries[cell]});
    return add_line_plot(page, points);
  }
  if (map) {
    float largest = 0;
    bool negative = study.question.normalise.has_value();
    for (Index i = 0; i < map->means.size(); ++i) {
      const float mean = map->means.data()[i];
      if (std::isfinite(mean)) largest = std::max(largest, std::abs(mean)), negative = negative || mean < 0;
    }
    const ColourScale scale{
        .theme = options.theme, .top = nice_range(largest), .diverging = negative, .colours = options.colours};
    add_large_map(page, {map->means, &map->rows, &map->columns}, std::min(page.room(), page.fair_height()),
                  kLargestNamed, scale);
    add_colour_bar(page, scale, what, options.language, false);
  }
  add_largest(page, study, group.cells, options);
}

std::string title_of(const ReadStudy& study, Language language) {
  if (std::ranges::count(study.statement.words, "--from-head") > 0) return words(language, kStudyWords.paths);
  for (const auto& [command, kind] : kKinds)
    if (study.statement.words.front() == command) return words(language, *kind);
  return study.statement.words.front();
}

std::string pairs_text(const ReadStudy& study, Language language) {
  const Index count = std::ssize(study.values.rows);
  if (count < study.statement.pairs)
    return filled(words(language, kStudyWords.some), {std::to_string(count), std::to_string(study.statement.pairs)});
  return counted(language, static_cast<std::size_t>(count), kStudyWords.count);
}

/// The metric of both answers, with as many digits.
std::string ends_text(const ReadStudy& study, Language language) {
  std::vector<Summary> of_both;
  double largest = 0;
  for (std::size_t cell = 0; cell < study.values.keys.size(); ++cell) {
    const std::string& what = study.values.keys[cell].front();
    if (what != kCleanCell && what != kCorruptCell) continue;
    of_both.push_back(study.summaries[cell]);
    largest = std::max(largest, std::abs(of_both.back().mean));
  }
  const int digits = digits_of(largest);
  std::vector<std::string> ends;
  for (const Summary& one : of_both) {
    ends.push_back(number_text(one.mean, digits));
    if (one.low) ends.back() += " [" + number_text(*one.low, digits) + ", " + number_text(*one.high, digits) + "]";
  }
  return ends.size() == 2 ? filled(words(language, kStudyWords.ends), {ends[0], ends[1]}) : "";
}

std::string caption_of_study(const ReadStudy& study, Language language) {
  std::vector<std::string> parts{
      joined_texts(study.statement.words, " ", [](const std::string& word) { return shell_word(word, ",@%"); }),
      filled(words(language, kStudyWords.model), {study.statement.model, study.statement.version})};
  if (study.question.normalise) {
    const Words* kinds[] = {&kStudyWords.total, &kStudyWords.pairs, &kStudyWords.none};
    parts.emplace_back(words(language, *kinds[static_cast<std::size_t>(*study.question.normalise)]));
  }
  if (study.values.rows.size() > 1)
    parts.push_back(filled(words(language, kStudyWords.draws), {std::to_string(kDraws), std::to_string(kDrawsSeed)}));
  if (std::ranges::any_of(study.summaries, [](const Summary& one) { return one.p.has_value(); }))
    parts.emplace_back(words(language, kStudyWords.holm));
  return joined_texts(parts, " · ");
}

}  // namespace

Drawing drawing_of_study(const ReadStudy& study, const FigureOptions& options, const TextWidth& measure) {
  const Language language = options.language;
  Page page = new_page(options, measure);
  add_title(page, title_of(study, language), pairs_text(study, language), true);
  const std::string ends = ends_text(study, language);
  add_lines(page, study.question.title, page.label, Role::label, page.ink.text);
  if (!ends.empty()) add_lines(page, ends, page.label, Role::label, page.ink.text);
  page.y += 0.6f * page.label;
  for (const CellGroup& group : groups_of(study)) add_group(page, study, group, options);
  return with_caption(std::move(page), caption_of_study(study, language));
}

namespace {

/// Text of HTML, or of JSON inside it.
std::string in_markup(const std::string& text, bool json = false) {
  std::string safe;
  for (const char c : text)
    if (c == '<') safe += json ? "\\u003c" : "&lt;";
    else if (c == '&' && !json) safe += "&amp;";
    else safe += c;
  return safe;
}

/// One file: the figure, every number as a table, and the same as JSON.
Result<std::string> study_page(const ReadStudy& study, const Drawing& drawing, Language language, PaperFonts& fonts) {
  const auto svg = TRY(figure_bytes(drawing, FigureFormat::svg, fonts));
  const auto answer_in = [&](const char* format) {
    return study_answer(format, study.question, study.values, study.summaries);
  };
  const Table table = std::get<Table>(answer_in("csv"));
  std::string rows;
  const auto add_row = [&](const auto& fields, const char* cell, const auto& text_of) {
    rows += "<tr>";
    for (const auto& field : fields) rows += "<" + std::string(cell) + ">" + in_markup(std::invoke(text_of, field));
    rows += "\n";
  };
  add_row(table.columns, "th", std::identity{});
  for (const std::vector<Value>& row : table.rows) add_row(row, "td", &Value::text);
  return "<!DOCTYPE html>\n<html lang=\"" + std::string(name_in(kLanguageNames, language)) +
         "\">\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
         "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
         "<meta name=\"generator\" content=\"Headlight\">\n<title>" +
         in_markup(study.question.title) +
         "</title>\n<style>body { margin: 2em auto; max-width: 60em; padding: 0 1em; font: 15px/1.4 sans-serif }\n"
         "svg { width: 100%; height: auto } table { border-collapse: collapse }\n"
         "td, th { padding: 0 .6em; text-align: right; font-variant-numeric: tabular-nums }</style>\n<figure>\n" +
         svg.substr(std::min(svg.find("<svg"), svg.size())) + "<figcaption>" + in_markup(drawing.caption) +
         "</figcaption>\n</figure>\n<table>\n" + rows +
         "</table>\n<script type=\"application/json\" id=\"headlight-data\">"
         R"({"schema":"headlight.study/1","study":)" +
         in_markup(statement_json(study.statement) + ",\"answer\":" + std::get<Value>(answer_in("json")).json(), true) +
         "}</script>\n</html>\n";
}

Result<int> write_study_figure(const QuestionCommand& command, FigureOptions options, const std::string& file,
                               const std::string& font) {
  const bool is_page = command.parser().name() == "page";
  const std::vector<std::string> taken{"--view", "--output",     "--width",      "--theme",  "--language",
                                       "--font", "--no-caption", "--colour-map", "--threads"};
  for (const std::string& word : command.parser().given_words(taken))
    if (word.starts_with("-")) return bad_input(word, "", "no such option beside a study", "one");
  const auto fonts = TRY(PaperFonts::open(font, options.language));
  std::vector<Error> problems;
  const RequestOptions& request = command.request();
  const auto study = TRY(read_study(request.source(), request.threads(), problems));
  options.caption = options.caption && !is_page;
  const Drawing drawing = drawing_of_study(study, options, fonts->measure());
  if (is_page) {
    const auto page = TRY(study_page(study, drawing, options.language, *fonts));
    if (file == "-") TRY(print(page));
    else TRY(write_file(file, page));
  } else {
    TRY(write_figure(drawing, file, *fonts));
    if (!options.caption)
      TRY(write_file(std::filesystem::path(file).replace_extension(".txt"), drawing.caption + "\n"));
  }
  print_warnings(problems);
  return 0;
}

}  // namespace

std::optional<Result<int>> figure_of_study(const QuestionCommand& command, const FigureOptions& options,
                                           const std::string& file, const std::string& font) {
  const Parser& parser = command.parser();
  const bool asked = parser.given("--view") ? parser.value("--view") == "study" : is_study(command.request().source());
  return asked ? std::optional(write_study_figure(command, options, file, font)) : std::nullopt;
}

}  // namespace headlight
