#include "figure/head_name.h"

#include <algorithm>
#include <map>

#include "base/formatted.h"
#include "base/utf8.h"
#include "document/bundled_models.h"
#include "figure/drawing/map_layout.h"
#include "figure/labels.h"
#include "figure/page.h"
#include "figure/taught.h"
#include "model/head_text.h"
#include "train/trained_checkpoint.h"
#include "words/relation_words.h"

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

bool has_relation(const SentenceFacts& facts, const std::string& relation) {
  return std::any_of(facts.relations.begin(), facts.relations.end(),
                     [&](const RelatedWords& one) { return one.relation == relation; });
}

constexpr const char* kBeforeName = "  ";
constexpr std::size_t kLeastOfName = 7;  // characters, the ellipsis one of them: fewer do not distinguish names

}  // namespace

bool is_of_grammar(const std::string& relation) {
  const Grammar* grammar = shipped_grammar();
  return grammar && std::any_of(grammar->relations.begin(), grammar->relations.end(),
                                [&](const Relation& one) { return one.name == relation; });
}

bool is_doubted(const RelationScore& relation, const SentenceFacts& facts) {
  if (facts.unknown > 0) return true;
  return is_of_grammar(relation.relation) ? !has_relation(facts, relation.relation) : facts.of_other_words;
}

HeadName head_name(Language language, const Document& document, const HeadRef& head, const HeadMeasures* measures,
                   const SentenceFacts& facts) {
  HeadName name;
  const auto is_better = [&](const RelationScore& a, const RelationScore& b) {
    const bool has_a = has_relation(facts, a.relation), has_b = has_relation(facts, b.relation);
    return has_a != has_b ? has_a : gain(a) > gain(b);
  };
  for (const RelationScore* one : relations_of(document, head))
    if (is_worn(*one) && (!name.relation || is_better(*one, *name.relation))) name.relation = one;
  const RelationScore* back = nullptr;
  for (const RelationScore* one : opposites_of(document, head))
    if (is_worn(*one) && (!back || is_better(*one, *back))) back = one;
  const auto is_here = [&](const RelationScore* one) { return one && has_relation(facts, one->relation); };
  if (!name.relation || (is_here(back) && !is_here(name.relation))) name.relation = back;
  if (name.relation) {
    const RelationScore& worn = *name.relation;
    name.words = relation_in_words(language, worn);
    name.score = worn.score.accuracy;
    name.alone = position_alone(worn);
    name.taught = taught_mark(language, document, worn);
    name.doubtful = is_doubted(worn, facts);
    return name;
  }
  if (!measures) return name;
  const Words* called = &kHeadNameWords.mixed;
  for (const NamedMeasure& one : kNamed) {
    const auto value = (*measures)[one.measure];
    if (!value || *value <= kLeastShare || *value <= name.share) continue;
    name.measure = one.measure;
    name.share = *value;
    called = &(kHeadNameWords.*one.words);
  }
  if (const auto spread = (*measures)[Measure::normalized]; !name.measure && spread && *spread > kLeastSpread) {
    name.measure = Measure::normalized;
    name.share = *spread;
    called = &kHeadNameWords.spread;
  }
  name.words = words(language, *called);
  return name;
}

std::vector<HeadName> names_of(Language language, const Document& document, const Trace& trace,
                               const std::vector<HeadRef>& heads) {
  MeasureSums sums{heads, std::vector<MeasureSums::OfHead>(heads.size())};
  Progress progress;
  if (!heads.empty()) add_sentence(sums, trace, progress);
  const std::vector<HeadMeasures> measures = measures_of(sums);
  std::vector<HeadName> names;
  std::map<Stack, SentenceFacts> facts;
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const auto [of_stack, fresh] = facts.try_emplace(heads[i].stack);
    if (fresh) of_stack->second = sentence_facts(trace.key_tokens(heads[i].stack), shipped_grammar());
    names.push_back(head_name(language, document, heads[i], &measures[i], of_stack->second));
  }
  return names;
}

std::string name_with_score(const HeadName& name) {
  return name.relation ? name.words + " " + share_text(name.score) + name.taught : name.words;
}

std::string name_within(const HeadName& name, float room, const std::function<float(const std::string&)>& width_of) {
  const std::string brief = brief_name(name.words), close = close_name(brief);
  for (const std::string& words : {name_with_score(name), name.words, brief, close})
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
      std::size_t end = words.find(' ', at);
      if (end != std::string::npos && words[end + 1] == '%') end = words.find(' ', end + 1);  // no line begins with it
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
  const std::string brief = brief_name(name.words), briefest = briefest_name(brief);
  for (const std::string& words : {name_with_score(name), name.words, brief, briefest}) {
    const std::vector<std::string> lines = lines_of(words);
    const auto fits = [&](const std::string& line) { return width_of(line) <= room; };
    if (lines.size() <= most && std::all_of(lines.begin(), lines.end(), fits)) return lines;
  }
  std::vector<std::string> lines = lines_of(briefest);
  if (taken > 0 && most == 1) return {cut_to(briefest, room - taken, width_of)};
  for (; lines.size() > most && lines.size() > 1; lines.pop_back()) lines[lines.size() - 2] += " " + lines.back();
  for (std::string& line : lines) line = cut_to(line, room, width_of);
  return lines;
}

MeasuredTitle measured_title(const HeadRef& head, const HeadName& name, const std::string& value, float room,
                             const std::function<float(const std::string&)>& width_of) {
  const std::string title = head_label(head);
  const std::string words =
      name_within(name, room, [&](const std::string& text) { return width_of(title + value + kBeforeName + text); });
  if (!words.empty()) return {title, value, kBeforeName + words, name.doubtful || !name.relation};
  return {title, width_of(title + value) <= room ? value : std::string(), {}, false};
}

std::string name_explained(Language language, const HeadName& name, const SentenceFacts& facts) {
  const auto word = [&](const Words& text) { return std::string(words(language, text)); };
  if (name.words.empty()) return {};
  if (!name.relation) {
    if (name.measure == Measure::normalized) return word(kHeadNameWords.tip_spread);
    if (!name.measure) return word(kHeadNameWords.tip_mixed);
    return filled(word(kHeadNameWords.tip_measure), {share_text(static_cast<double>(name.share))});
  }
  std::string text =
      filled(word(kHeadNameWords.tip_relation), {std::to_string(name.relation->sentences), share_text(name.score),
                                                 share_text(name.alone), share_text(name.relation->random)});
  if (name.doubtful)
    text += "\n" + word(facts.unknown > 0                        ? kHeadNameWords.tip_unknown_words
                        : is_of_grammar(name.relation->relation) ? kHeadNameWords.tip_other_kind
                                                                 : kHeadNameWords.tip_other_words);
  return text;
}

std::string share_text(double share) {
  const double part = 100 * share;
  if (part > 0 && part < 0.1) return "<0.1 %";
  return formatted(part >= 9.95 || part == 0 ? "%.0f %%" : "%.1f %%", part);
}

}  // namespace headlight
