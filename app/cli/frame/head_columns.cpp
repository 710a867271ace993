#include "cli/frame/head_columns.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "model/head_text.h"

namespace headlight {
namespace {

constexpr const char* kComposed[] = {"q_composition", "k_composition", "v_composition"};

}  // namespace

std::vector<HeadColumn> head_columns(const HeadTable& table, bool scripts) {
  std::vector<HeadColumn> all;
  const auto add = [&](std::string name, auto value, bool always = false) {
    all.push_back({std::move(name), std::move(value), always});
  };
  const auto effect = [](auto field) {
    return
        [field](const HeadRow& row) { return row.effect ? std::optional<float>((*row.effect).*field) : std::nullopt; };
  };
  const auto norm = [](double ValueNorms::*sum, Index ValueNorms::*count) {
    return [=](const HeadRow& row) {
      if (!row.values || (*row.values).*count == 0) return std::optional<float>{};
      return std::optional(static_cast<float>((*row.values).*sum / static_cast<double>((*row.values).*count)));
    };
  };
  for (const Measure measure : kMeasures)
    add(
        std::string(name(measure)), [measure](const HeadRow& row) { return row.measures[measure]; }, true);
  add("effect", effect(&HeadEffect::change), true);
  add("top_word", effect(&HeadEffect::top_word), true);
  add(
      "found", [](const HeadRow& row) { return row.found ? std::optional(row.found->weight) : std::nullopt; }, true);
  add("metric", effect(&HeadEffect::metric));
  add("spread", effect(&HeadEffect::spread));
  const auto moved = [](double MovedHead::*mean) {
    return [mean](const HeadRow& row) {
      return row.moved ? std::optional(static_cast<float>((*row.moved).*mean)) : std::nullopt;
    };
  };
  add("moved", moved(&MovedHead::distance));
  add("key_changed", moved(&MovedHead::changed));
  add("value_first", norm(&ValueNorms::first, &ValueNorms::num_first));
  add("value_others", norm(&ValueNorms::others, &ValueNorms::num_others));
  add("value_sink", [](const HeadRow& row) { return row.values ? row.measures.sink.value : std::nullopt; });
  for (std::size_t which = 0; which < std::size(kProbed); ++which)
    add(std::string(name(kProbed[which])) + "_z", [which](const HeadRow& row) { return row.above_others[which]; });
  const auto weights = [&](const char* name, auto value) {
    add(name, [value](const HeadRow& row) { return value(row.weights); });
  };
  const auto change = [](float CircuitChange::*of_norm) {
    return [of_norm](const HeadWeights& of) { return of.change ? std::optional((*of.change).*of_norm) : std::nullopt; };
  };
  weights("copying", [](const HeadWeights& of) { return of.copying; });
  for (std::size_t part = 0; part < std::size(kComposed); ++part)
    weights(kComposed[part], [part](const HeadWeights& of) { return of.composition.most[part]; });
  weights("qk_change", change(&CircuitChange::qk));
  weights("ov_change", change(&CircuitChange::ov));
  std::erase_if(all, [&](const HeadColumn& column) {
    return !(scripts && column.always) &&
           std::ranges::none_of(table.rows, [&](const HeadRow& row) { return column.value(row).has_value(); });
  });
  return all;
}

std::string composes_with(const HeadRow& row, bool for_people) {
  const auto part = row.weights.composition.strongest();
  if (!part) return "";
  const HeadRef& from = row.weights.composition.from[*part];
  const std::string letter(1, *kComposed[*part]);
  return for_people ? letter + " of " + head_label(from) : head_text(from) + ":" + letter;
}

bool composes(const HeadTable& table) {
  return std::ranges::any_of(table.rows, [](const HeadRow& row) { return !composes_with(row).empty(); });
}

}  // namespace headlight
