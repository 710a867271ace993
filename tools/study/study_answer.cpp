#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "cli/options/print.h"
#include "model/head_text.h"
#include "study/study.h"

namespace headlight {
namespace {

constexpr Index kMostShown = 20;     // cells for people
constexpr double kSmallWhole = 0.1;  // of the median of all, and below it a pair's share is named

/// A column of numbers of a summary.
struct Statistic {
  const char* name;
  std::optional<double> (*of)(const Summary&);
};

constexpr Statistic kMean{"mean", [](const Summary& one) { return std::optional(one.mean); }};
constexpr Statistic kDifference{"difference", [](const Summary& one) { return one.difference; }};
constexpr Statistic kSpread[] = {
    {"median", [](const Summary& one) { return std::optional(one.median); }},
    {"lower_quartile", [](const Summary& one) { return std::optional(one.lower_quartile); }},
    {"upper_quartile", [](const Summary& one) { return std::optional(one.upper_quartile); }},
    {"low", [](const Summary& one) { return one.low; }},
    {"high", [](const Summary& one) { return one.high; }}};
constexpr Statistic kMore[] = {{"difference_low", [](const Summary& one) { return one.difference_low; }},
                               {"difference_high", [](const Summary& one) { return one.difference_high; }}};
constexpr Statistic kTests[] = {{"p", [](const Summary& one) { return one.p; }},
                                {"p_holm", [](const Summary& one) { return one.p_holm; }}};

bool is_random(const std::vector<std::string>& key) {
  return key.front() == kRandomCell || key.front() == kRandomLostCell;
}

bool is_tested(const std::vector<Summary>& summaries) {
  return std::ranges::any_of(summaries, [](const Summary& one) { return one.p.has_value(); });
}

/// Those that a study has, but for n: `before` it, and behind it.
std::vector<Statistic> statistics_before(const StudyQuestion& question) {
  std::vector<Statistic> all{kMean};
  if (question.normalise) all.push_back(kDifference);
  all.insert(all.end(), std::begin(kSpread), std::end(kSpread));
  return all;
}
std::vector<Statistic> statistics_behind(const StudyQuestion& question, const std::vector<Summary>& summaries) {
  std::vector<Statistic> all;
  if (question.normalise) all.insert(all.end(), std::begin(kMore), std::end(kMore));
  if (is_tested(summaries)) all.insert(all.end(), std::begin(kTests), std::end(kTests));
  return all;
}

Table table_of(const StudyQuestion& question, const StudyValues& gathered, const std::vector<Summary>& summaries) {
  const std::vector<Statistic> before = statistics_before(question), behind = statistics_behind(question, summaries);
  Table table{question.columns};
  for (const Statistic& one : before) table.columns.emplace_back(one.name);
  table.columns.emplace_back("n");
  for (const Statistic& one : behind) table.columns.emplace_back(one.name);
  for (std::size_t i = 0; i < gathered.keys.size(); ++i) {
    std::vector<Value>& row = table.rows.emplace_back();
    for (const std::string& field : gathered.keys[i]) {  // a number, a word, or nothing
      const auto number = parse_index(field);
      row.push_back(field.empty() ? Value() : number ? Value(*number) : Value(field));
    }
    for (const Statistic& one : before) row.emplace_back(one.of(summaries[i]));
    row.emplace_back(summaries[i].count);
    for (const Statistic& one : behind) row.emplace_back(one.of(summaries[i]));
  }
  return table;
}

/// The metric of both answers first, then the largest means.
std::vector<std::size_t> order_of(const StudyQuestion& question, const StudyValues& gathered,
                                  const std::vector<Summary>& summaries) {
  std::vector<std::size_t> order(summaries.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto is_end = [&](std::size_t i) {
    const std::string& what = gathered.keys[i].front();
    return question.normalise && (what == kCleanCell || what == kCorruptCell);
  };
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    if (is_end(a) || is_end(b)) return is_end(a) && !is_end(b);
    return size_of(summaries[a]) > size_of(summaries[b]);
  });
  return order;
}

std::string p_text(double p) { return formatted(p < 0.001 ? "%.1e" : "%.3f", p); }

/// What the columns are, below the table.
std::string notes_of(const StudyQuestion& question, bool tested) {
  std::string text;
  if (question.normalise == Normalise::total)
    text += "mean: the mean difference over that of clean and corrupt; quartiles: of the pairs' own shares\n";
  if (question.normalise == Normalise::pairs) text += "mean: of the pairs' own shares\n";
  if (question.normalise == Normalise::none) text += "mean: of the differences, in the metric's unit\n";
  text += "intervals: " + std::to_string(kDraws) + " bootstrap samples of the pairs, seed " +
          std::to_string(kDrawsSeed) + "\n";
  if (tested) text += "Holm: p of the paired signed-rank test against random places, corrected for all places\n";
  return text;
}

std::string text_of(const StudyQuestion& question, const StudyValues& gathered, const std::vector<Summary>& summaries) {
  const bool tested = is_tested(summaries), shares = question.normalise && *question.normalise != Normalise::none;
  const auto order = order_of(question, gathered, summaries);
  std::vector<std::vector<std::string>> lines{question.columns};
  for (const char* name : {"mean", "95 % interval"}) lines[0].emplace_back(name);
  if (shares) lines[0].insert(lines[0].end(), {"difference", "95 % interval"});
  for (const char* name : {"median", "quartiles", "n"}) lines[0].emplace_back(name);
  if (tested) lines[0].emplace_back("Holm");
  const auto range = [](const std::optional<double>& low, const std::optional<double>& high) {
    return low ? formatted("%.4f … %.4f", *low, *high) : std::string("—");
  };
  for (std::size_t i = 0; i < std::min<std::size_t>(order.size(), kMostShown); ++i) {
    const Summary& one = summaries[order[i]];
    std::vector<std::string>& line = lines.emplace_back();
    for (const std::string& field : gathered.keys[order[i]]) line.push_back(word_in_table(field));
    line.insert(line.end(), {std::isfinite(one.mean) ? formatted("%.4f", one.mean) : "—", range(one.low, one.high)});
    if (shares && one.difference)
      line.insert(line.end(), {formatted("%+.4f", *one.difference), range(one.difference_low, one.difference_high)});
    else if (shares) line.insert(line.end(), {"", ""});
    line.insert(line.end(), {formatted("%.4f", one.median), range(one.lower_quartile, one.upper_quartile),
                             std::to_string(one.count)});
    if (tested) line.push_back(one.p_holm ? p_text(*one.p_holm) : "");
  }
  std::vector<bool> right(lines[0].size(), true);
  std::fill_n(right.begin(), question.columns.size(), false);
  std::string text =
      question.title + ", " + counted(std::ssize(gathered.rows), "pair") + "\n" + aligned_text(lines, right);
  if (order.size() > kMostShown) text += "and " + std::to_string(order.size() - kMostShown) + " more (--format csv)\n";
  return text + notes_of(question, tested);
}

/// (keys, pairs): the numbers that are averaged where all keys have one of each pair.
void add_values(const StudyQuestion& question, const StudyValues& gathered, Arrays& arrays) {
  std::vector<float> all;
  const std::size_t pairs = gathered.rows.size();
  for (const Numbers& numbers : gathered.numbers) {
    if (numbers.values.size() != pairs) return;
    for (std::size_t i = 0; i < pairs; ++i) {
      const bool as_difference = question.normalise == Normalise::none && !numbers.wholes.empty();
      all.push_back(static_cast<float>(numbers.values[i] * (as_difference ? numbers.wholes[i] : 1)));
    }
  }
  arrays.push_back(array_of("values", {std::ssize(gathered.keys), static_cast<Index>(pairs)}, std::move(all)));
}

/// The columns of keys as numbers (-1 where there is none) or texts, the summaries, which rows of the file they
/// are of, and every value: (cells, pairs).
Arrays arrays_of(const StudyQuestion& question, const StudyValues& gathered, const std::vector<Summary>& summaries) {
  const auto count = static_cast<Index>(gathered.keys.size());
  Arrays arrays;
  for (std::size_t column = 0; column < question.columns.size(); ++column) {
    std::vector<std::string> texts;
    std::vector<float> numbers;
    for (const auto& key : gathered.keys) {
      texts.push_back(key[column]);
      const auto number = parse_index(key[column]);
      if (number || key[column].empty()) numbers.push_back(static_cast<float>(number.value_or(-1)));
    }
    arrays.push_back(numbers.size() == texts.size() ? array_of(question.columns[column], {count}, std::move(numbers))
                                                    : array_of_texts(question.columns[column], texts));
  }
  std::vector<Statistic> statistics = statistics_before(question);
  const std::vector<Statistic> behind = statistics_behind(question, summaries);
  statistics.insert(statistics.end(), behind.begin(), behind.end());
  std::vector<std::string> names;
  std::vector<float> numbers, counts;
  for (const Statistic& one : statistics) names.emplace_back(one.name);
  for (const Summary& one : summaries) {
    for (const Statistic& statistic : statistics) {
      const double number = statistic.of(one).value_or(std::nan(""));
      numbers.push_back(std::isfinite(number) ? static_cast<float>(number) : std::nanf(""));
    }
    counts.push_back(static_cast<float>(one.count));
  }
  arrays.push_back(array_of_texts("statistics", names));
  arrays.push_back(array_of("summary", {count, std::ssize(names)}, std::move(numbers)));
  arrays.back().has_gaps = true;
  arrays.push_back(array_of("n", {count}, std::move(counts)));
  arrays.push_back(array_of_texts("metric", {question.title}));
  arrays.push_back(array_of("rows", {std::ssize(gathered.rows)}, {gathered.rows.begin(), gathered.rows.end()}));
  add_values(question, gathered, arrays);
  return arrays;
}

Value json_of(const StudyQuestion& question, const StudyValues& gathered, const std::vector<Summary>& summaries) {
  Members members{{"metric", question.title}, {"pairs", gathered.rows.size()}};
  if (question.normalise) members.emplace_back("normalise", name_in(kNormaliseNames, *question.normalise));
  members.insert(members.end(), question.more.begin(), question.more.end());
  members.insert(members.end(), {{"draws", kDraws}, {"seed", kDrawsSeed}});
  const Table table = table_of(question, gathered, summaries);
  for (std::size_t i = 0; i < gathered.keys.size(); ++i) {
    if (!is_random(gathered.keys[i])) continue;
    Members control;
    for (std::size_t column = question.columns.size(); column < table.columns.size(); ++column)
      control.emplace_back(table.columns[column], table.rows[i][column]);
    if (is_tested(summaries)) control.emplace_back("test", "signed-rank, paired, Holm over all places");
    members.emplace_back(gathered.keys[i].front() == kRandomCell ? "control" : "control_lost", json_object(control));
  }
  members.emplace_back("cells", json_rows(table));
  return json_object(members);
}

/// The differences between a place and random places of the same pairs, in the metric's unit, or of shares.
std::vector<double> against(const Numbers& place, const Numbers& random, const std::vector<Index>& of_place,
                            const std::vector<Index>& of_random, Normalise how) {
  std::vector<double> apart;
  for (std::size_t i = 0, at = 0; i < of_place.size(); ++i) {
    while (at < of_random.size() && of_random[at] < of_place[i]) ++at;
    if (at == of_random.size() || of_random[at] != of_place[i]) continue;
    apart.push_back((place.values[i] - random.values[at]) * (how == Normalise::pairs ? 1 : place.wholes[i]));
  }
  return apart;
}

/// Chosen places were patched together, and each draw is of as many: single places are no match for it.
bool has_together(const StudyValues& gathered) {
  return std::ranges::any_of(gathered.keys, [](const auto& key) { return key.front().starts_with(kTogetherCell); });
}

void add_tests(const StudyValues& gathered, Normalise how, std::vector<Summary>& summaries) {
  const bool together = has_together(gathered);
  std::vector<std::size_t> tested;
  std::vector<double> p;
  for (std::size_t random = 0; random < gathered.keys.size(); ++random) {
    if (!is_random(gathered.keys[random])) continue;
    const bool of_lost = gathered.keys[random].front() == kRandomLostCell;
    for (std::size_t at = 0; at < gathered.keys.size(); ++at) {
      const std::string& what = gathered.keys[at].front();
      if (gathered.numbers[at].wholes.empty() || is_random(gathered.keys[at]) || what.ends_with(kLost) != of_lost ||
          what.starts_with(kTogetherCell) != together)
        continue;
      tested.push_back(at);
      p.push_back(signed_rank_p(
          against(gathered.numbers[at], gathered.numbers[random], gathered.pairs[at], gathered.pairs[random], how)));
    }
  }
  const std::vector<double> corrected = holm(p);
  for (std::size_t i = 0; i < tested.size(); ++i)
    summaries[tested[i]].p = p[i], summaries[tested[i]].p_holm = corrected[i];
}

}  // namespace

std::vector<Summary> summaries_of(const StudyQuestion& question, const StudyValues& gathered, int threads,
                                  const std::atomic<bool>& stop) {
  std::vector<const Numbers*> all;
  for (const Numbers& one : gathered.numbers) all.push_back(&one);
  const Normalise how = question.normalise.value_or(Normalise::none);
  std::vector<Summary> summaries = summaries_of(all, how, threads, stop);
  if (question.normalise && !stop) add_tests(gathered, how, summaries);
  return summaries;
}

void warn_of_small_wholes(const std::string& file, const StudyQuestion& question, const StudyValues& gathered,
                          std::vector<Error>& problems) {
  if (!question.normalise || *question.normalise == Normalise::none || gathered.rows.empty()) return;
  Numbers wholes;
  std::vector<double> sizes;
  for (std::size_t i = 0; i < gathered.rows.size(); ++i) {
    wholes.values.push_back(gathered.clean[i] - gathered.corrupt[i]);
    sizes.push_back(std::abs(wholes.values.back()));
  }
  std::vector<double> sorted = sizes;
  std::ranges::sort(sorted);
  const double median = sorted[sorted.size() / 2];
  std::vector<Index> small;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] < kSmallWhole * median) small.push_back(gathered.rows[i]);
  if (!small.empty()) {
    problems.push_back(bad_input(file, named_rows(small) + ": clean − corrupt",
                                 "more than a tenth of the median, " + formatted("%.4g", median),
                                 small.size() == 1 ? "less: its own share is of almost nothing"
                                                   : "less: their own shares are of almost nothing"));
  }
  const Summary whole = summary_of(wholes.values);
  if (*question.normalise == Normalise::total && whole.low && *whole.low <= 0 && *whole.high >= 0)
    problems.push_back(bad_input(
        file, "the mean of clean − corrupt", "a difference that the pairs share",
        formatted("%.4g, 95 %% interval %.4g … %.4g: shares of it mean little", whole.mean, *whole.low, *whole.high)));
}

Answer study_answer(const std::string& format, const StudyQuestion& question, const StudyValues& gathered,
                    const std::vector<Summary>& summaries) {
  if (format == "csv") return table_of(question, gathered, summaries);
  if (format == "npz") return arrays_of(question, gathered, summaries);
  if (format == "json") return json_of(question, gathered, summaries);
  return text_of(question, gathered, summaries);
}

std::string control_text(const PatchControl& control) {
  std::string text;
  const Summary random = summary_of(control.restored);
  if (control.together)
    text += formatted(control.cells == 1 ? "the %ld alone: %.6f\n" : "the %ld together: %.6f\n",
                      static_cast<long>(control.cells), *control.together);
  return text + counted(std::ssize(control.restored), "time") +
         formatted(" %ld at random: mean %.6f, quartiles %.6f … %.6f\n", static_cast<long>(control.cells), random.mean,
                   random.lower_quartile, random.upper_quartile);
}

Value control_json(const PatchControl& control) {
  return json_object(
      {{"places", control.cells}, {"together", control.together}, {"random", json_list(control.restored)}});
}

void add_control(const PatchControl& control, Arrays& arrays) {
  const auto one = [](const char* of, double number) { return array_of(of, {1}, {static_cast<float>(number)}); };
  arrays.push_back(one("control_places", static_cast<double>(control.cells)));
  if (control.together) arrays.push_back(one("together", *control.together));
  const std::vector<float> random(control.restored.begin(), control.restored.end());
  arrays.push_back(array_of("control", {static_cast<Index>(random.size())}, random));
}

void add_control(const PatchControl& control, std::vector<StudyCell>& cells, bool lost) {
  const auto add = [&](const char* what, double value) {
    std::vector<std::string> key(cells.front().key.size());
    key.front() = what;
    cells.push_back({std::move(key), value});
  };
  if (control.together) add(lost ? kTogetherLostCell : kTogetherCell, *control.together);
  add(lost ? kRandomLostCell : kRandomCell, mean_of(control.restored));
}

}  // namespace headlight
