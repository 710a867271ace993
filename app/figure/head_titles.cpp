#include "figure/head_titles.h"

#include <algorithm>

#include "figure/map_kinds.h"
#include "model/head_text.h"

namespace headlight {

float name_size(const Page& page) { return std::max(0.82f * page.label, page.least_label); }

std::vector<HeadTitle> titles_of(const Page& page, const FigureSubject& subject, const FigureOptions& options,
                                 const std::vector<HeadRef>& heads, float room, float below) {
  const auto width = [&](const std::string& text) { return page.measure(text, page.label); };
  const auto small = [&](const std::string& text) { return page.measure(text, name_size(page)); };
  const bool of_layers = kind_of(subject, options.head.stack) == MapKind::rollout;
  std::vector<HeadTitle> titles;
  std::vector<HeadName> names;
  if (!of_layers) names = names_of(options.language, subject.document, subject.trace, heads);
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const HeadRef& at = heads[i];
    if (of_layers) {
      titles.push_back({at, {layer_title(options.language, at.layer), {}, {}}});
      continue;
    }
    const auto number = i < options.numbers.size() ? options.numbers[i] : std::nullopt;
    const std::string value = number ? "  " + order_number_text(*number) : std::string();
    HeadTitle title{at, measured_title(at, names[i], value, room, width), is_off(subject.trace.request.edits, at)};
    if (title.off) title.words.relations = either(options.language, "  off", "  已关闭");
    else if (below > 0) {
      title.below = name_within(names[i], below, small);
      title.words.relations.clear();
      title.words.quiet = !names[i].named;
    }
    if (width(title.words.head + title.words.value + title.words.relations) > room) title.words.relations.clear();
    titles.push_back(std::move(title));
  }
  return titles;
}

void add_title_of_head(Page& page, const FigureSubject& subject, const FigureOptions& options, const HeadRef& head) {
  if (is_off(subject.trace.request.edits, head))
    return add_title(page, head_label(head), either(options.language, "off", "已关闭"), true);
  const HeadName name = names_of(options.language, subject.document, subject.trace, {head}).front();
  add_title(page, head_label(head), name.words, !name.named);
}

void add_head_title(Page& page, const HeadTitle& title, float x, float y) {
  const auto add = [&](const std::string& words, Rgb colour) {
    if (!words.empty()) x += add_text(page, {x, y}, words, page.label, colour, Role::title).width;
  };
  add(title.words.head, title.off ? page.ink.dim : page.ink.text);
  add(title.words.value, page.ink.dim);
  add(title.words.relations, title.off || title.words.quiet ? page.ink.dim : page.ink.accent);
}

void add_name_below(Page& page, const HeadTitle& title, float x, float right, float y) {
  if (title.below.empty()) return;
  const float size = name_size(page), width = page.measure(title.below, size);
  add_text(page, {std::min(x, right - width), y}, title.below, size, title.words.quiet ? page.ink.dim : page.ink.accent,
           Role::title);
}

}  // namespace headlight
