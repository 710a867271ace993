#include "views/sentence/sentence_lanes.h"

#include <algorithm>
#include <cmath>

#include "figure/head_name.h"
#include "figure/labels.h"
#include "words/text_words.h"

namespace headlight {

bool is_lit_arc(const SentenceWishes& wishes, const SentenceArc& arc) {
  const bool pointed = wishes.arc && wishes.arc->query == arc.query && wishes.arc->key == arc.key;
  return pointed || wishes.word == arc.query;
}
bool is_faint_arc(const SentenceWishes& wishes, const SentenceArc& arc) {
  if (is_lit_arc(wishes, arc) || (arc.pinned && !wishes.head)) return false;
  return wishes.word || wishes.arc || (wishes.head && !(*wishes.head == arc.head));
}

float type_of_name(const SentenceArc& arc, float size) { return size + (arc.pinned ? 1 : 0); }

std::string name_of_arc(const SentenceCanvas& canvas, const SentenceArc& arc, float span, float size) {
  const Language language = canvas.wishes.language;
  const auto fits = [&](const std::string& text) { return canvas.width(text, type_of_name(arc, size)) < span - 6; };
  if (arc.change) {
    const std::string number = signed_cell_number(*arc.change);
    return arc.pinned || is_lit_arc(canvas.wishes, arc) || fits(number) ? number : "";
  }
  std::string name = arc.relation.empty() ? "" : arc_name(language, arc.relation, arc.reversed);
  // A verb at which its subject is looked at is no name of what the arc shows.
  const std::string whole = arc.reversed ? arc_name(language, arc.relation, true, false) : name;
  if (fits(whole)) name = whole;
  const std::string share = share_text(static_cast<double>(arc.weight));
  if (arc.pinned) {
    const std::string what = arc.off ? words(language, kTextWords.off) : share;
    if (name.empty()) return what;
    return fits(name + " " + what) ? name + " " + what : what;
  }
  if (is_lit_arc(canvas.wishes, arc))
    return name.empty() ? share : fits(name + " " + share) ? name + " " + share : share;
  return name;
}

float width_of_arc(const SentenceArc& arc) { return arc.pinned ? 2 + 3.5f * arc.weight : 1.2f + 2.6f * arc.weight; }

Ports ports_of(const WordLines& words, const std::vector<SentenceArc>& arcs) {
  struct End {
    const SentenceArc* arc;
    Index other;
    bool looks;
  };
  std::map<Index, std::vector<End>> ends;
  for (const SentenceArc& arc : arcs) {
    ends[arc.query].push_back({&arc, arc.key, true});
    ends[arc.key].push_back({&arc, arc.query, false});
  }
  Ports ports;
  for (auto& [word, at] : ends) {
    const auto rank = [&, word = word](const End& end) {
      const bool left = end.other < word;
      return std::tuple(!left, left ? word - end.other : word - end.other, end.looks);
    };
    std::ranges::stable_sort(at, [&](const End& a, const End& b) { return rank(a) < rank(b); });
    const WordPlace& place = words.places[static_cast<std::size_t>(word)];
    const auto count = static_cast<float>(at.size());
    const float step = at.size() > 1 ? std::min(11.0f, std::max(2.0f, (place.w - 8) / (count - 1))) : 0;
    for (std::size_t i = 0; i < at.size(); ++i)
      ports[{at[i].arc, word}] = place.middle() + (static_cast<float>(i) - (count - 1) / 2) * step;
  }
  return ports;
}

std::vector<LaidArc> laid_out(const SentenceCanvas& canvas, const WordLines& words,
                              const std::vector<SentenceArc>& arcs, const Ports& ports, std::size_t line, float size) {
  std::vector<LaidArc> laid;
  const float left = canvas.left(), right = canvas.right();
  for (const SentenceArc& arc : arcs) {
    const auto line_of = [&](Index word) { return words.places[static_cast<std::size_t>(word)].line; };
    const std::size_t of_query = line_of(arc.query), of_key = line_of(arc.key);
    if (of_query != line && of_key != line) continue;
    LaidArc one{&arc, 0, 0, 0, 0};
    const auto end = [&](Index word, std::size_t of) {
      if (of == line) return ports.at({&arc, word});
      one.away = word;
      one.onwards = of > line;
      return of > line ? right : left;
    };
    one.from = end(arc.query, of_query);
    one.to = end(arc.key, of_key);
    one.x0 = std::min(one.from, one.to), one.x1 = std::max(one.from, one.to);
    one.name = name_of_arc(canvas, arc, one.span(), size);
    if (one.away) {
      const std::string& word = canvas.content.queries[static_cast<std::size_t>(*one.away)].label;
      const auto tied = [&](const std::string& text) { return one.onwards ? text + " ▸" : "◂ " + text; };
      std::vector<std::string> names{one.name.empty() ? word : one.name + " · " + word};
      if (!arc.pinned) names.push_back(word);
      names.push_back("");
      const auto fits = [&](const std::string& text) {
        return canvas.width(tied(text), type_of_name(arc, size)) + 10 <= one.span();
      };
      const auto found = std::ranges::find_if(names, fits);
      one.name = tied(found == names.end() ? std::string() : *found);
    }
    if (!one.name.empty()) one.label = canvas.width(one.name, type_of_name(arc, size)) + 8;
    laid.push_back(std::move(one));
  }
  std::ranges::stable_sort(laid, [](const LaidArc& a, const LaidArc& b) {
    const auto rank = [](const LaidArc& one) {
      return std::tuple(one.away.has_value(), std::abs(one.arc->query - one.arc->key), one.span());
    };
    return rank(a) < rank(b);
  });
  struct Taken {
    float x0, x1, low, high;
  };
  std::vector<std::vector<Taken>> lanes;
  for (LaidArc& one : laid) {
    one.middle = std::clamp((one.x0 + one.x1) / 2, left + one.label / 2, std::max(left, right) - one.label / 2);
    const float low = std::min(one.x0, one.middle - one.label / 2), high = std::max(one.x1, one.middle + one.label / 2);
    for (std::size_t i = 0; i < lanes.size(); ++i)
      for (const Taken& taken : lanes[i])
        if (taken.x1 > one.x0 + 0.5f && taken.x0 < one.x1 - 0.5f) one.lane = i + 1;
    const auto is_taken = [&](const Taken& taken) { return taken.high > low - 2 && taken.low < high + 2; };
    while (one.lane < lanes.size() && std::ranges::any_of(lanes[one.lane], is_taken)) ++one.lane;
    lanes.resize(std::max(lanes.size(), one.lane + 1));
    lanes[one.lane].push_back({one.x0, one.x1, low, high});
  }
  return laid;
}

std::size_t count_of(const std::vector<LaidArc>& laid) {
  std::size_t lanes = 0;
  for (const LaidArc& one : laid) lanes = std::max(lanes, one.lane + 1);
  return lanes;
}

bool raise_arcs(const SentenceCanvas& canvas, std::vector<LaidArc>& laid, float area, float size) {
  const std::size_t lanes = count_of(laid);
  std::vector<bool> named(lanes);
  std::vector<float> lowest;
  bool pinned = false;
  for (const LaidArc& one : laid) {
    named[one.lane] = named[one.lane] || !one.name.empty();
    pinned |= one.arc->pinned;
    if (one.lane == 0) lowest.push_back(one.span());
  }
  float shares = 0;
  for (const bool has : named) shares += has ? 1.0f : 0.55f;
  float unit = std::min((area - 8) / shares, (lanes < 4 ? 64 : 58) * canvas.frame.k);
  const bool shows = unit >= (canvas.frame.low ? 12.5f : 15);
  if (pinned && !shows) unit *= (area - 24) / (area - 8);
  std::ranges::sort(lowest);
  const float low = std::max(24.0f, 0.85f * lowest[lowest.size() / 2] + (shows ? size + 4 : 0));
  std::vector<float> tops(lanes);
  float y = 8;
  for (std::size_t i = 0; i < lanes; ++i)
    tops[i] = y += i == 0 ? std::min(unit, low) : unit * (named[i] ? 1.0f : 0.55f);
  for (LaidArc& one : laid) one.height = std::max(10.0f, tops[one.lane] - (shows && named[one.lane] ? size + 4 : 2));
  std::vector<LaidArc*> order;
  for (LaidArc& one : laid) order.push_back(&one);
  std::ranges::stable_sort(order, [](const LaidArc* a, const LaidArc* b) { return a->lane > b->lane; });
  for (LaidArc* one : order) {
    if (one->away) continue;
    float most = (area - size - 6) * 0.86f * std::min(1.0f, std::pow(one->span() / canvas.frame.box.w, 0.6f));
    for (const LaidArc& other : laid)
      if (other.lane > one->lane && other.x0 < one->x1 && other.x1 > one->x0)
        most = std::min(most, other.height - (one->name.empty() ? 8 : size + 6));
    one->height = std::max(one->height, most);
  }
  for (LaidArc& one : laid)
    if (one.arc->pinned && !shows) one.height = std::max(10.0f, std::min(one.height, area - 20));
  return shows;
}

}  // namespace headlight
