#include "figure/head_titles.h"

#include "figure/map_kinds.h"

namespace headlight {

std::vector<HeadTitle> titles_of(const Page& page, const FigureSubject& subject, const FigureOptions& options,
                                 const std::vector<HeadRef>& heads, float room) {
  const auto width = [&](const std::string& text) { return page.measure(text, page.label); };
  const bool of_layers = kind_of(subject, options.head.stack) == MapKind::rollout;
  std::vector<HeadTitle> titles;
  for (const HeadRef& at : heads) {
    if (of_layers) {
      titles.push_back({at, {layer_title(options.language, at.layer), {}, {}}});
      continue;
    }
    HeadTitle title{at, measured_title(options.language, subject.document, at, {}, room, width),
                    is_off(subject.trace.request.edits, at)};
    if (title.off) title.words.relations = either(options.language, "  off", "  已关闭");
    if (width(title.words.head + title.words.relations) > room) title.words.relations.clear();
    titles.push_back(std::move(title));
  }
  return titles;
}

std::vector<std::string> explained(const std::vector<HeadTitle>& titles, const FigureSubject& subject,
                                   Language language) {
  std::vector<std::string> remarks;
  if (kind_of(subject, titles.front().head.stack) == MapKind::rollout) return remarks;
  for (const HeadTitle& title : titles) {
    if (title.off || title.words.relations.empty()) continue;
    for (const RelationScore* one : relations_of(subject.document, title.head)) {
      const std::string& label = relation_title(language, *one);
      if (title.words.relations.find(label) == std::string::npos) remarks.push_back(one->relation + " " + label);
    }
  }
  return remarks;
}

void add_head_title(Page& page, const HeadTitle& title, float x, float y) {
  const Text text = add_text(page, {.at = {x, y},
                                    .text = title.words.head,
                                    .size = page.label,
                                    .role = Role::title,
                                    .colour = title.off ? page.ink.dim : page.ink.text});
  x += text.width;
  const auto add = [&](const std::string& words, Rgb colour) {
    if (!words.empty())
      x += add_text(page, {.at = {x, y}, .text = words, .size = page.label, .role = Role::title, .colour = colour})
               .width;
  };
  add(title.words.value, page.ink.dim);
  add(title.words.relations, title.off ? page.ink.dim : page.ink.accent);
}

}  // namespace headlight
