#include "figure/head_name.h"

#include <algorithm>

#include "base/formatted.h"
#include "base/utf8.h"
#include "figure/drawing/map_layout.h"
#include "figure/labels.h"
#include "figure/map_kinds.h"
#include "figure/page.h"
#include "math/attention.h"
#include "model/head_text.h"
#include "text/characters.h"
#include "words/grid_words.h"
#include "words/head_name_words.h"
#include "words/relation_words.h"
#include "words/words.h"

namespace headlight {
namespace {

struct NamedMeasure {
  Measure measure;
  Words HeadNameWords::*words;
};
/// Of equal shares the first one names the head: the weight of a first token that is special is that of special tokens.
constexpr NamedMeasure kNamed[] = {
    {Measure::previous, &HeadNameWords::previous}, {Measure::next, &HeadNameWords::next},
    {Measure::same, &HeadNameWords::same},         {Measure::special, &HeadNameWords::special},
    {Measure::first, &HeadNameWords::first},       {Measure::duplicate, &HeadNameWords::duplicate},
};

/// The relations of a head in this sentence, the most frequent first; of equally frequent ones the first one.
std::vector<std::vector<const NamedArc*>> by_relation(const std::vector<const NamedArc*>& arcs) {
  std::vector<std::vector<const NamedArc*>> relations;
  for (const NamedArc* arc : arcs) {
    const auto known = std::ranges::find_if(relations, [&](const auto& those) {
      return those.front()->relation == arc->relation && those.front()->reversed == arc->reversed;
    });
    if (known == relations.end()) relations.push_back({arc});
    else known->push_back(arc);
  }
  std::ranges::stable_sort(relations, [](const auto& a, const auto& b) { return a.size() > b.size(); });
  return relations;
}

constexpr const char* kBeforeName = "  ";
constexpr std::size_t kLeastOfName = 7;  // characters, the ellipsis one of them: fewer do not distinguish names

/// Whether it is a word, no mark.
bool has_letters(const Token& token) { return std::ranges::any_of(code_points(token.text), is_word_character); }

}  // namespace

HeadName head_name(Language language, const SentenceArcs& arcs, const HeadRef& head, const HeadMeasures* measures) {
  HeadName name{.arcs = arcs.of(head)};
  const auto rest = std::ranges::find(arcs.resting, head, &SentenceArcs::Resting::head);
  const Index resting = rest == arcs.resting.end() ? 0 : rest->words;
  const std::string rests = resting == 1
                                ? filled(words(language, kHeadNameWords.resting_one), {arcs.rest})
                                : filled(words(language, kHeadNameWords.resting), {std::to_string(resting), arcs.rest});
  if (!name.arcs.empty()) {
    name.named = true;
    const auto relations = by_relation(name.arcs);
    for (const auto& those : relations) {
      name.words += name.words.empty() ? "" : words(language, kHeadNameWords.comma);
      name.words += counted_relation(language, those.front()->relation, those.front()->reversed, those.size());
      if (name.brief.empty()) name.brief = name.words;
    }
    if (resting == 0) return name;
    name.words += words(language, kHeadNameWords.semicolon) + rests;
    return name;
  }
  if (!measures || !measures->of_word(Measure::confidence)) return name;  // or there is no word
  const Words* called = &kHeadNameWords.mixed;
  const float spread = measures->of_word(Measure::normalized).value_or(0);
  for (const NamedMeasure& one : kNamed) {
    const auto value = measures->of_word(one.measure);
    if (spread > kEven || !value || *value <= kLeastShare || *value <= name.share) continue;
    name.measure = one.measure;
    name.share = *value;
    called = &(kHeadNameWords.*one.words);
  }
  if (!name.measure && spread > kLeastSpread) {
    name.measure = Measure::normalized;
    name.share = spread;
    called = &kHeadNameWords.spread;
  } else if (!name.measure && rests_on_one(*measures)) {
    name.measure = Measure::sink;
    name.share = *measures->of_word(Measure::sink);
    name.brief = name.words = words(language, kHeadNameWords.sink);
    Token token;
    token.text = measures->sink_of_words.text;
    if (!token.text.empty()) name.words += words(language, kHeadNameWords.colon) + axis_label(token);
    return name;
  }
  const bool rests_mostly = name.measure == Measure::special && resting > 0;
  if (rests_mostly && rest->all) called = &kHeadNameWords.rests;
  name.words = name.brief = rests_mostly && !rest->all ? rests : words(language, *called);
  return name;
}

std::string map_label(Language language, const Trace& trace, const HeadRef& head) {
  if (!trace.model->given || !trace.model->given->summed_up) return head_label(head);
  const auto by = parse_reduction(trace.model->given->summed_up->by);
  return by ? summed_title(language, *by, head) : head_label(head);
}

std::vector<HeadName> names_of(Language language, const Document& document, const Trace& trace,
                               const std::vector<HeadRef>& heads) {
  MeasureSums sums{heads, std::vector<MeasureSums::OfHead>(heads.size())};
  if (!heads.empty()) add_sentence(sums, trace, unwatched());
  const std::vector<HeadMeasures> measures = measures_of(sums);
  const SentenceArcs arcs = named_arcs(document, trace);
  std::vector<HeadName> names;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    names.push_back(head_name(language, arcs, heads[i], &measures[i]));
    names.back().arcs.clear();
    names.back().label = map_label(language, trace, heads[i]);
  }
  return names;
}

CellInWords cell_of(const Trace& trace, const HeadRef& head, const CellRef& cell, const FoldedStack* folded) {
  const Index row = folded ? folded->fold.queries.group(cell.query).value_or(-1) : -1;
  const Index column = folded && row >= 0 ? folded->fold.keys.group(cell.key).value_or(-1) : -1;
  const Token& query =
      row >= 0 ? folded->fold.queries.tokens[at(row)] : trace.query_tokens(head.stack).tokens[at(cell.query)];
  const Token& key =
      column >= 0 ? folded->fold.keys.tokens[at(column)] : trace.key_tokens(head.stack).tokens[at(cell.key)];
  const bool by_hand = edited_weight(trace.request.edits, head, cell) != nullptr;
  const bool open = by_hand || trace.mask_of(head).allowed(cell.query, cell.key);
  const auto rows = row >= 0 ? folded->fold.queries.tokens_of(row) : FoldedAxis::Group{cell.query, 1};  // of a word
  return {.query = axis_label(query),
          .key = axis_label(key),
          .weight = column >= 0 ? folded->map(head)(row, column)
                    : open      ? attention_rows(trace, head, rows.first, rows.count).col(cell.key).mean()
                                : -1,
          .itself = (column >= 0 ? row == column : cell.query == cell.key) && is_one_sequence(trace, head.stack),
          .rests = key.special && !query.special,
          .by_hand = by_hand,
          .only = (column >= 0 ? folded->map(head).size() : trace.queries(head.stack) * trace.keys(head.stack)) == 1,
          .between_words = !is_of_picture(trace) && has_letters(query) && has_letters(key),
          .share = !trace.is_signed || !open};
}

std::vector<std::string> lines_of_cell(Language language, const CellInWords& cell, const NamedArc* arc, bool chosen) {
  const auto weight = static_cast<double>(cell.weight);
  const std::string share = cell.share ? share_text(weight) : formatted("%.4g", weight),
                    stop = words(language, kStageWords.full_stop);
  if (cell.share && cell.weight < 0)
    return {filled(words(language, kStageWords.cannot_look), {cell.query, cell.key}) + stop};
  const auto in_words = [&](const Words& looks) {
    const Words& strongest = cell.between_words ? kStageWords.strongest : kStageWords.strongest_cell;
    std::string line = chosen || cell.only ? "" : words(language, strongest);
    line += cell.itself ? filled(words(language, kStageWords.looks_at_itself), {cell.query, share})
                        : filled(words(language, looks), {cell.query, cell.key, share});
    return cell.by_hand ? line + words(language, kStageWords.by_hand) : line;
  };
  const std::string whole = in_words(cell.rests ? kStageWords.rests : kStageWords.looks_at);
  if (!arc) return {whole + stop};
  const std::string close = in_words(kStageWords.points_at), right = formatted("%.0f", 100 * arc->precision);
  const std::string relation = relation_in_words(language, arc->relation, arc->reversed), brief = brief_name(relation);
  const std::string measured = filled(words(language, kStageWords.relation_close), {brief, right + " %"});
  return {whole + filled(words(language, kStageWords.relation), {relation, right}) + stop, whole + measured + stop,
          close + measured + stop, close + filled(words(language, kStageWords.relation_alone), {brief}) + stop,
          whole + stop};
}

std::string name_within(const HeadName& name, float room, const std::function<float(const std::string&)>& width_of) {
  const std::string brief = brief_name(name.brief), close = close_name(brief);
  for (const std::string& words : {name.words, name.brief, brief, close})
    if (words.empty() || width_of(words) <= room) return words;
  const std::string cut = cut_to(close, room, width_of);
  return code_points(cut).size() < kLeastOfName ? std::string() : cut;
}

std::vector<std::string> name_in_lines(const HeadName& name, float room, std::size_t most,
                                       const std::function<float(const std::string&)>& width_of, float taken) {
  const TextWidth measure = [&](std::string_view part, float) { return width_of(std::string(part)); };
  const auto lines_of = [&](const std::string& words) {
    std::vector<std::string> lines;
    if (taken > 0) lines.emplace_back();
    const auto longer = [&](const std::string& word) {
      return (lines.back().empty() ? "" : lines.back() + " ") + word;
    };
    for (std::size_t at = 0; at < words.size();) {
      const std::size_t end = words.find(' ', at);
      const std::string word = words.substr(at, end - at);
      at = end == std::string::npos ? words.size() : end + 1;
      if (!lines.empty() && width_of(longer(word)) <= (lines.size() == 1 ? room - taken : room))
        lines.back() = longer(word);
      else if (!stands_upright(word)) lines.push_back(word);
      else
        for (std::string& part : wrapped(word, 0, room, measure)) lines.push_back(std::move(part));
    }
    return lines;
  };
  const std::string brief = brief_name(name.brief), briefest = briefest_name(brief);
  for (const std::string& words : {name.brief, brief, briefest}) {
    const std::vector<std::string> lines = lines_of(words);
    const auto fits = [&](const std::string& line) { return width_of(line) <= room; };
    if (lines.size() <= most && std::ranges::all_of(lines, fits)) return lines;
  }
  std::vector<std::string> lines = lines_of(briefest);
  if (taken > 0 && most == 1) {
    const std::string line = cut_to(briefest, room - taken, width_of);
    return {line == "…" ? std::string() : line};
  }
  for (; lines.size() > most && lines.size() > 1; lines.pop_back()) lines[lines.size() - 2] += " " + lines.back();
  for (std::string& line : lines) line = cut_to(line, room, width_of);
  return lines;
}

HeadTitle title_within(const HeadRef& head, const HeadName& name, const std::string& value, float room,
                       const std::function<float(const std::string&)>& width_of) {
  HeadTitle title{.head = name.label.empty() ? head_label(head) : name.label, .value = value, .named = name.named};
  const std::string words = name_within(
      name, room, [&](const std::string& text) { return width_of(title.head + value + kBeforeName + text); });
  if (!words.empty()) title.beside = kBeforeName + words;
  else if (width_of(title.head + value) > room) title.value.clear();
  return title;
}

std::string name_explained(Language language, const HeadName& name) {
  if (name.words.empty()) return {};
  if (!name.named) {
    if (name.measure == Measure::normalized) return words(language, kHeadNameWords.tip_spread);
    if (!name.measure) return words(language, kHeadNameWords.tip_mixed);
    return filled(words(language, name.measure == Measure::sink ? kHeadNameWords.tip_sink : kHeadNameWords.tip_measure),
                  {share_text(static_cast<double>(name.share))});
  }
  std::string text = name.words;
  for (const auto& those : by_relation(name.arcs))
    text += "\n" + filled(words(language, kHeadNameWords.tip_arcs),
                          {relation_in_words(language, those.front()->relation, those.front()->reversed),
                           std::to_string(those.size()), formatted("%.0f", 100 * those.front()->precision)});
  return text;
}

std::string measured_in_words(Language language, const Words& sentence, const NamedArc& arc) {
  return filled(words(language, sentence), {relation_in_words(language, arc.relation, arc.reversed),
                                            formatted("%.0f", 100 * arc.precision), std::to_string(arc.measured)});
}

std::string share_text(double share) {
  const double part = 100 * share;
  if (part > 0 && part < 0.1) return "<0.1 %";
  return formatted(part >= 9.95 || part == 0 ? "%.0f %%" : "%.1f %%", part);
}

}  // namespace headlight
