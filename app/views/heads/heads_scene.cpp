#include "views/heads/heads_scene.h"

#include <algorithm>
#include <cmath>

#include "model/head_text.h"

namespace headlight {
namespace {

constexpr float kBesideNumber = 6;  // pixels of the design between a head's number and its name

}  // namespace

HeadTitle head_title(const HeadRef& head, const HeadName& name, const std::string& value, const HeadsLayout& layout,
                     float unit, const std::function<float(const std::string&)>& width_of) {
  if (layout.name_rows() == 0) return title_within(head, name, value, layout.title_width, width_of);
  HeadTitle title{.head = name.label.empty() ? head_label(head) : name.label, .value = value, .named = name.named};
  const float taken = layout.flows ? width_of(title.head + value) + kBesideNumber * unit : 0;
  title.below = name_in_lines(name, layout.title_width, static_cast<std::size_t>(layout.name_rows()), width_of, taken);
  if (!layout.flows || title.below.empty()) return title;
  title.beside = std::move(title.below.front());
  title.below.erase(title.below.begin());
  return title;
}

int longest_name(const HeadsLayout& layout, const std::vector<HeadTitle>& titles, Index group, Index head) {
  std::size_t longest = 0;
  const Index first = head - head % layout.columns, end = std::min(first + layout.columns, layout.content.heads);
  for (Index i = first; i < end; ++i)
    if (const auto at = static_cast<std::size_t>(group * layout.content.heads + i); at < titles.size())
      longest = std::max(longest, titles[at].below.size());
  return static_cast<int>(longest) + (layout.flows ? 1 : 0);
}

void add_head_title(Drawing& scene, const HeadTitle& title, Point at, float unit, const TitleInks& inks,
                    const MapStyle& style) {
  at.y += style.line / 2;
  const auto put = [&](Point to, const std::string& words, Rgb colour) {
    if (words.empty()) return 0.0f;
    const Text text = text_of(to, words, style.em, colour, style.measure, Anchor::left, Role::title);
    scene.add(text);
    return text.width;
  };
  float x = at.x;
  x += put(at, title.head, inks.head);
  x += put({x, at.y}, title.value, inks.value);
  if (!title.beside.empty()) {
    const bool spaced = title.beside.starts_with(' ');
    put({spaced ? x : x + kBesideNumber * unit, at.y}, title.beside, inks.beside);
  }
  for (const std::string& line : title.below) put({at.x, at.y += style.line}, line, inks.below);
}

void add_layer_names(Drawing& scene, const HeadsLayout& layout, Point origin, const std::vector<Index>& layers,
                     std::optional<Index> chosen, float unit, const MapStyle& style) {
  const auto put = [&](Point to, std::string words, Rgb colour, Anchor anchor) {
    scene.add(text_of(to, std::move(words), style.em, colour, style.measure, anchor));
  };
  const bool brackets = layout.titles && layout.content.groups > 1;
  const Index step = layout.titles ? Index{1} : label_step(style.line, layout.pitch_y);
  for (Index group = 0; group < layout.content.groups && (brackets || layout.named); group += step) {
    const Index layer = layers.empty() ? group : layers[static_cast<std::size_t>(group)];
    const Box bracket = moved(layout.bracket(group), origin);
    const Rgb colour = layer == chosen ? style.ink.text : style.ink.dim;
    if (!brackets) {
      put({bracket.x, bracket.y + layout.height / 2}, "L" + std::to_string(layer), colour, Anchor::left);
      continue;
    }
    const float tick = 2 * unit;
    for (const float y : {bracket.y, bracket.bottom()})
      scene.add(Stroke{{bracket.x, y}, {bracket.x + tick, y}, unit, colour});
    scene.add(Stroke{{bracket.x, bracket.y}, {bracket.x, bracket.bottom()}, unit, colour});
  }
  if (!layout.named) return;
  const float room = style.measure("H00", style.em) + 4 * unit;
  const auto every = std::max<Index>(1, static_cast<Index>(std::ceil(room / layout.pitch_x)));
  for (Index head = 0; head < layout.content.heads; head += every) {
    const Box box = moved(layout.map_of(0, head), origin);
    put({box.x + box.w / 2, origin.y + style.line / 2}, "H" + std::to_string(head), style.ink.dim, Anchor::middle);
  }
}

void add_row_words(Drawing& scene, const HeadsLayout& layout, Point origin, const AxisText& rows, const MapStyle& style,
                   const LabelInk& ink, std::optional<Index> lit) {
  if (layout.labels <= 0) return;
  for (Index group = 0; group < layout.content.groups; ++group)
    for (Index head = 0; head < layout.content.heads; head += layout.columns) {
      MapLayout map{.plot = moved(layout.map_of(group, head), origin), .rows = true};
      map.cell = map.plot.h / static_cast<float>(layout.content.rows);
      thin_labels(map, style.line);
      add_row_labels(scene, rows, map, style, ink, lit);
    }
}

std::string map_name(const HeadRef& head, bool of_layers) {
  return of_layers ? "layer " + std::to_string(head.layer) : "head " + head_text({head.layer, head.head});
}

}  // namespace headlight
