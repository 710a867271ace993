#include "figure/page.h"

#include <limits>

#include "base/utf8.h"
#include "figure/difference_words.h"
#include "figure/map_kinds.h"
#include "figure/map_scene.h"
#include "names/sentence_facts.h"
#include "words/enum_words.h"
#include "words/figure_words.h"

namespace headlight {
namespace {

constexpr std::size_t kLongestQuote = 160;  // characters of the sentence in a caption
constexpr float kSlideAspect = 9.0f / 16, kColumnAspect = 1.25f;
constexpr float kWidestColumn = 150 * kPointsInMm;

/// Keys of a grid by its size, numbers in place of words by how many they are.
std::string quoted(Language language, const Tokens& tokens) {
  if (tokens.picture && is_bare(tokens.picture->grid)) {
    const PatchGrid& grid = tokens.picture->grid;
    const std::string before = joined_texts(grid.leading, ", ");
    return before + (before.empty() ? "" : " + ") + std::to_string(grid.rows) + " × " + std::to_string(grid.cols);
  }
  bool numbers = !tokens.tokens.empty();
  for (std::size_t i = 0; i < tokens.size(); ++i) numbers = numbers && tokens.tokens[i].text == std::to_string(i);
  if (numbers) return counted(language, tokens.size(), kFigureWords.tokens);
  if (tokens.second > 0) {  // encode_pair (text/tokenizer.h) has a line break between the two
    std::string pair = tokens.text;
    return pair.replace(pair.find('\n'), 1, " / ");
  }
  if (!tokens.text.empty()) return tokens.text;
  std::string text;
  for (const Token& token : tokens.tokens) text += (text.empty() ? "" : " ") + token.text;
  return text;
}

std::string sentence_of(Language language, const Trace& trace, Stack stack) {
  const std::string queries = beginning_of(quoted(language, trace.query_tokens(stack)), kLongestQuote);
  const std::string keys = beginning_of(quoted(language, trace.key_tokens(stack)), kLongestQuote);
  return queries == keys ? queries : queries + " → " + keys;
}

/// The layers whose heads a figure shows.
std::set<Index> shown_layers(const FigureSubject& subject, const FigureOptions& options) {
  std::set<Index> layers;
  for (const HeadRef& head : options.heads) layers.insert(head.layer);
  const bool all_of_text = options.kind == FigureKind::text && options.shades.heads == ShadeHeads::all;
  const bool all_of_stack = all_of_text || options.kind == FigureKind::sentence || options.kind == FigureKind::lens;
  if (all_of_stack || (shows_all_heads(options.kind) && options.heads.empty()))
    for (const Index layer : layers_of(subject, options)) layers.insert(layer);
  if (layers.empty()) layers.insert(options.head.layer);
  return layers;
}

std::string caption_of(const FigureSubject& subject, const FigureOptions& options,
                       const std::vector<std::string>& remarks) {
  const Language language = options.language;
  const HeadRef& head = options.head;
  std::vector<std::string> parts = question_in_words(language, subject, head, shown_layers(subject, options));
  if (const FoldedStack* folded = folded_stack(subject, head.stack)) {
    if (folded->fold.done.special) parts.push_back(words(language, kFigureWords.special_left_out));
    if (folded->fold.done.words) parts.push_back(words(language, kFigureWords.words_merged));
    if (const PairPart part = folded->fold.done.pair; part != PairPart::all)
      parts.push_back(filled(words(language, kFigureWords.only_part), {words(language, pair_words(part).name)}));
  }
  if (options.kind != FigureKind::flow && options.kind != FigureKind::text)
    if (const DerivedMaps* other = other_maps_of(subject, head.stack)) {
      const auto& reduced = other->reduced[static_cast<std::size_t>(head.stack)];
      parts.push_back(reduced ? reduction_caption(language, *reduced) : kind_caption(language, other->kind));
      if (reduced && reduced->of.by.sentences)  // the sentence is one of them
        parts[1] = counted(language, reduced->of.traces.size(), kReduceWords.sentences);
    }
  if (options.order.by != HeadOrder::By::layer)
    parts.push_back(
        filled(words(language, kFigureWords.sorted_by), {words(language, order_words(options.order).name)}) +
        (options.order.ascending ? words(language, kFigureWords.smallest_first) : ""));
  parts.insert(parts.end(), remarks.begin(), remarks.end());
  return in_a_line(parts);
}

bool is_among(char32_t c, std::u32string_view all) { return all.find(c) != std::u32string_view::npos; }

}  // namespace

std::vector<std::string> question_in_words(Language language, const FigureSubject& subject, const HeadRef& head,
                                           const std::set<Index>& layers) {
  const Trace& trace = subject.trace;
  std::vector<std::string> parts{model_title(language, subject.document), sentence_of(language, trace, head.stack)};
  const SentenceFacts facts = sentence_facts(trace.key_tokens(head.stack), nullptr);
  if (facts.unknown > 0)
    parts.push_back(counted(language, static_cast<std::size_t>(facts.unknown), kFigureWords.unknown_words));
  else if (!facts.measured_kind) parts.push_back(words(language, kFigureWords.no_measured_kind));
  if (trace.encoder) parts.push_back(stack_title(language, head.stack));
  const auto differ = [&](const auto& text_of) {
    return std::ranges::any_of(layers, [&](Index layer) { return text_of(layer) != text_of(*layers.begin()); });
  };
  const auto mask = [&](Index layer) { return mask_title(language, trace.mask(head.stack, layer).kind()); };
  const auto scale = [&](Index layer) { return tick_number(trace.attention(head.stack, layer).scale); };
  parts.push_back(differ(mask) ? words(language, kFigureWords.masks_differ)
                               : filled(words(language, kAspectWords.mask), {mask(*layers.begin())}));
  if (!trace.attention(head.stack, head.layer).patterns)
    parts.push_back(differ(scale) ? words(language, kFigureWords.scales_differ)
                                  : filled(words(language, kFigureWords.scores_times), {scale(*layers.begin())}));
  if (trace.attention(head.stack, *layers.begin()).sinks.size() > 0)
    parts.push_back(words(language, kFigureWords.sink));
  for (std::string& edit : edit_words(language, {trace, subject.document})) parts.push_back(std::move(edit));
  return parts;
}

float Page::fair_height() const {
  return drawing.width * (drawing.width > kWidestColumn ? kSlideAspect : kColumnAspect);
}

float Page::most_height() const {
  constexpr float kBarAndCaption = 8.5f;  // ems of a label
  if (drawing.width <= kWidestColumn) return std::numeric_limits<float>::infinity();
  return drawing.width * kSlideAspect - y - margin - kBarAndCaption * label;
}

Page new_page(const FigureOptions& options, const TextWidth& measure) {
  const bool narrow = options.width < kNarrowPage;
  const float least = narrow ? 4.5f : kLeastType;
  const float label = std::clamp(4 + options.width / 144, narrow ? 5.5f : kLeastType, 10.0f);
  Page page{.drawing = {.width = options.width,
                        .background = options.theme == Theme::light ? Rgb{255, 255, 255} : background_of(Theme::dark)},
            .measure = measure,
            .ink = ink_colours(options.theme),
            .title = 1.2f * label,
            .label = label,
            .least_label = least,
            .value = std::max(least, 0.9f * label),
            .margin = label,
            .y = label,
            .captioned = options.caption};
  return page;
}

const Text& add_text(Page& page, Point at, const std::string& text, float size, Rgb colour, Role role, Anchor anchor,
                     TextRotation turn) {
  page.drawing.add(text_of(at, text, size, colour, page.measure, anchor, role, turn));
  return std::get<Text>(page.drawing.items.back());
}

void add_title(Page& page, const std::string& title, const std::string& beside, bool quiet) {
  const float size = page.title, gap = 0.8f * size;
  const Rgb of_beside = quiet ? page.ink.dim : page.ink.accent;
  float x = page.left();
  x += add_text(page, {x, page.y + 0.5f * size}, title, size, page.ink.text, Role::title).width;
  x += gap;
  for (const std::string& line : wrapped(beside, size, page.room(), page.measure)) {
    if (line.empty()) continue;
    if (x + page.measure(beside, size) > page.right()) x = page.left(), page.y += kLineOfText * size;
    add_text(page, {x, page.y + 0.5f * size}, line, size, of_beside, Role::title);
  }
  page.y += 1.8f * size;
}

bool may_break(char32_t before, char32_t after) {
  if (is_among(after, U"，。、；：？！）》」』”’…—％,.;:?!)]%") || is_among(before, U"（《「『“‘([")) return false;
  std::string neighbours;
  const auto is_chinese = [&](char32_t c) {
    neighbours.clear();
    append_utf8(neighbours, c);
    return stands_upright(neighbours);
  };
  return before == U' ' || is_chinese(before) || is_chinese(after);
}

std::vector<std::string> wrapped(std::string_view text, float size, float room, const TextWidth& measure) {
  std::vector<std::string> lines(1);
  float width = 0, width_at_break = 0;
  std::size_t break_at = 0;  // bytes of the line before which it may be broken
  char32_t previous = U' ';
  for (const char32_t c : code_points(text)) {
    std::string character;
    append_utf8(character, c);
    const float advance = measure(character, size);
    if (!lines.back().empty() && may_break(previous, c)) break_at = lines.back().size(), width_at_break = width;
    previous = c;
    if (width + advance > room && !lines.back().empty() && c != U' ') {
      const bool broken = break_at > 0;
      std::string rest = broken ? lines.back().substr(break_at) : "";
      if (broken) lines.back().resize(break_at);
      width = broken ? width - width_at_break : 0;
      while (!lines.back().empty() && lines.back().back() == ' ') lines.back().pop_back();
      lines.push_back(std::move(rest));
      break_at = 0, width_at_break = 0;
    }
    lines.back() += character;
    width += advance;
  }
  return lines;
}

void add_colour_bar(Page& page, const ColourScale& scale, const std::string& numbers, Language language, bool blocks,
                    const Words& hatched) {
  page.y += 0.9f * page.label;
  const float height = 0.8f * page.label;
  const char* blocked = words(language, hatched);
  const float marked = blocks ? 3.1f * page.label + page.measure(blocked, page.label) : 0;
  const bool beside = page.measure(numbers, page.label) + marked < 0.55f * page.room() - page.label;
  if (!beside) {
    add_lines(page, numbers, page.label, Role::label, page.ink.dim);
    page.y += 0.3f * page.label;
  }
  const Ramp ramp{{page.left(), page.y, std::min(0.45f * page.room(), 20 * page.label), height}, scale};
  add_ramp(page.drawing, ramp, page.label, page.ink, {}, page.measure);
  float x = ramp.box.right() + 0.8f * page.label;
  const float middle = page.y + height / 2;
  if (beside) x += add_text(page, {x, middle}, numbers, page.label, page.ink.dim).width + 1.2f * page.label;
  if (blocks) {
    const float side = 1.1f * page.label;
    const Box cell{x, middle - side / 2, side, side};
    page.drawing.add(Cells{cell, shared(Matrix::Constant(1, 1, blocked_number(scale))), scale});
    page.drawing.add(Pen{}.frame(cell, page.ink.line));
    add_text(page, {x + side + 0.4f * page.label, middle}, blocked, page.label, page.ink.dim);
  }
  page.y += height + 1.5f * page.label;
}

const FoldedStack* folded_stack(const FigureSubject& subject, Stack stack) {
  if (!subject.folded || other_maps_of(subject, stack)) return nullptr;
  const auto& folded = subject.folded->stacks[static_cast<std::size_t>(stack)];
  return folded ? &*folded : nullptr;
}

const std::vector<Token>& axis_tokens(const FigureSubject& subject, Stack stack, bool of_queries) {
  if (const FoldedStack* folded = folded_stack(subject, stack))
    return (of_queries ? folded->fold.queries : folded->fold.keys).tokens;
  return (of_queries ? subject.trace.query_tokens(stack) : subject.trace.key_tokens(stack)).tokens;
}

/// A square of its colour before each name, in as many lines as they take.
void add_head_legend(Page& page, const std::vector<std::string>& names, Theme theme) {
  const float em = page.label, side = 1.1f * em;
  page.y += 0.9f * em;
  float x = page.left();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const float width = side + 0.4f * em + page.measure(names[i], em);
    if (x + width > page.right() && x > page.left()) x = page.left(), page.y += 1.5f * em;
    page.drawing.add(Rectangle{.box = {x, page.y, side, side}, .fill = head_colour(theme, i)});
    add_text(page, {x + side + 0.4f * em, page.y + side / 2}, names[i], em, page.ink.dim);
    x += width + em;
  }
  page.y += 2.2f * em;
}

namespace {

/// What hatched cells are: blocked, or of another program's numbers NaN.
const Words& hatched_words(const Trace& trace) {
  bool missing = false, masks = false;
  if (trace.model->given)
    for (const auto& [stack, given] : trace.model->given->stacks)
      for (std::size_t layer = 0; layer < given.patterns.size(); ++layer) {
        masks = masks || !trace.mask(stack, static_cast<Index>(layer)).is_open();
        for (const Matrix& numbers : given.patterns[layer]) missing = missing || numbers.hasNaN();
      }
  return !missing ? kFigureWords.blocked : masks ? kFigureWords.blocked_or_missing : kFigureWords.missing;
}

}  // namespace

Drawing finished(Page page, const FigureSubject& subject, const FigureOptions& options,
                 const std::optional<ColourScale>& bar, bool blocks, const std::vector<std::string>& remarks) {
  const std::string numbers = number_title(options.language, kind_of(subject, options.head.stack));
  const DerivedMaps* other = other_maps_of(subject, options.head.stack);
  if (bar && other && other->kind == MapKind::strongest) {
    add_head_legend(page, coloured_head_names(options.language, *other, options.head.stack), options.theme);
  } else if (bar) {
    ColourScale scale = *bar;
    // Many maps, and a range for each.
    const bool of_each =
        options.own_range && !options.range && options.kind != FigureKind::head && options.kind != FigureKind::text;
    if (of_each) scale.top = 1;
    const char* of = of_each ? words(options.language, kFigureWords.own_range) : "";
    add_colour_bar(page, scale, numbers + of, options.language, blocks, hatched_words(subject.trace));
  }
  std::vector<std::string> all = remarks;
  if (bar && options.range)
    all.push_back(filled(words(options.language, kFigureWords.range),
                         {tick_number(bar->diverging ? -bar->top : bar->bottom), tick_number(bar->top)}));
  if (subject.trace.is_signed) all.emplace_back(words(options.language, kFigureWords.signed_numbers));
  return with_caption(std::move(page), caption_of(subject, options, all));
}

void add_lines(Page& page, std::string_view text, float size, Role role, Rgb colour) {
  // The lines of the interface run from left to right, whatever word they begin with: U+200E marks that. The letters of
  // words from right to left begin with one of these bytes.
  const auto is_of_such = [](char byte) {
    const auto first = static_cast<unsigned char>(byte);
    return (first >= 0xD6 && first <= 0xE0) || first == 0xEF;
  };
  for (const std::string& line : wrapped(text, size, page.room(), page.measure)) {
    add_text(page, {page.left(), page.y + 0.5f * size}, (std::ranges::any_of(line, is_of_such) ? "\u200E" : "") + line,
             size, colour, role);
    page.y += kLineOfText * size;
  }
}

Drawing with_caption(Page page, const std::string& caption) {
  page.drawing.caption = caption;
  if (page.captioned) {
    page.y += 0.6f * page.label;
    add_lines(page, caption, page.label, Role::caption, page.ink.dim);
  }
  page.drawing.height = page.y + page.margin - 0.3f * page.label;
  return std::move(page.drawing);
}

}  // namespace headlight
