#include "study/kept/summary.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/parallel.h"
#include "base/random.h"

namespace headlight {
namespace {

constexpr std::size_t kDrawsAtOnce = 32, kPlacesAtOnce = 256;
constexpr std::size_t kMostExact = 50;

double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double weighted_sum(const std::vector<double>& values, const double* times) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += times[i] * values[i];
  return sum;
}

/// A place with the differences that its shares are, and what each draw gives.
struct Place {
  const Numbers* numbers;
  std::vector<double> differences = {};       // of shares
  std::vector<double> means = {}, unit = {};  // by draw
};

/// The mean, with every pair as often as `times` says, and its difference in the metric's unit.
void add_draw(Place& place, Normalise how, const double* times) {
  const auto count = static_cast<double>(place.numbers->values.size());
  const bool shares = !place.differences.empty();
  if (shares) place.unit.push_back(weighted_sum(place.differences, times) / count);
  if (shares && how == Normalise::total) {
    const double whole = weighted_sum(place.numbers->wholes, times) / count;
    place.means.push_back(place.unit.back() / whole);
  } else if (shares && how == Normalise::none) {
    place.means.push_back(place.unit.back());
  } else {
    place.means.push_back(weighted_sum(place.numbers->values, times) / count);
  }
}

Summary summary_of_place(Place& place, Normalise how) {
  std::vector<double> values =
      how == Normalise::none && !place.differences.empty() ? place.differences : place.numbers->values;
  Summary summary{.count = static_cast<Index>(values.size())};
  const std::vector<double> once(values.size(), 1.0);
  Place whole{.numbers = place.numbers, .differences = place.differences};
  add_draw(whole, how, once.data());
  summary.mean = whole.means.front();
  if (!whole.unit.empty()) summary.difference = whole.unit.front();
  if (values.size() > 1) {
    std::erase_if(place.means, [](double mean) { return !std::isfinite(mean); });  // of a draw whose wholes sum to 0
    std::ranges::sort(place.means);
    std::ranges::sort(place.unit);
    summary.low = quantile(place.means, 0.025), summary.high = quantile(place.means, 0.975);
    if (summary.difference)
      summary.difference_low = quantile(place.unit, 0.025), summary.difference_high = quantile(place.unit, 0.975);
  }
  std::ranges::sort(values);
  summary.median = quantile(values, 0.5);
  summary.lower_quartile = quantile(values, 0.25), summary.upper_quartile = quantile(values, 0.75);
  return summary;
}

/// How often each of `count` pairs is drawn, for the next draws one after another.
std::vector<double> next_draws(Random& random, std::size_t count, std::size_t draws) {
  std::vector<double> times(count * draws, 0.0);
  for (std::size_t draw = 0; draw < draws; ++draw)
    for (std::size_t i = 0; i < count; ++i) times[draw * count + random.next() % count] += 1;
  return times;
}

/// Summarises places of as many pairs each: they have the same draws.
void summarise(std::vector<Place>& places, Normalise how, int threads, std::vector<Summary>& summaries) {
  const std::size_t count = places.front().numbers->values.size();
  Random random(kDrawsSeed);
  for (std::size_t done = 0; done < kDraws; done += kDrawsAtOnce) {
    const std::size_t draws = std::min<std::size_t>(kDrawsAtOnce, kDraws - done);
    const std::vector<double> times = next_draws(random, count, draws);
    parallel_for(static_cast<Index>(places.size()), threads, [&](Index i) {
      for (std::size_t draw = 0; draw < draws; ++draw)
        add_draw(places[static_cast<std::size_t>(i)], how, times.data() + draw * count);
    });
  }
  summaries.resize(places.size());
  parallel_for(static_cast<Index>(places.size()), threads, [&](Index i) {
    const auto at = static_cast<std::size_t>(i);
    summaries[at] = summary_of_place(places[at], how);
  });
}

/// The share of all sign patterns whose positive ranks 1 … count sum to at most `sum`.
double exact_share(std::size_t count, std::size_t sum) {
  std::vector<double> ways(count * (count + 1) / 2 + 1, 0.0);
  ways[0] = 1;
  for (std::size_t rank = 1; rank <= count; ++rank)
    for (std::size_t total = ways.size(); total-- > 0;)
      ways[total] = (ways[total] + (total >= rank ? ways[total - rank] : 0)) / 2;
  double share = 0;
  for (std::size_t total = 0; total <= sum; ++total) share += ways[total];
  return share;
}

}  // namespace

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::vector<Summary> summaries_of(const std::vector<const Numbers*>& all, Normalise how, int threads,
                                  const std::atomic<bool>& stop) {
  std::vector<Summary> summaries(all.size());
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto size_of = [&](std::size_t at) { return all[at]->values.size(); };
  std::ranges::stable_sort(order, {}, size_of);
  for (std::size_t first = 0, end = 0; first < order.size() && !stop; first = end) {
    std::vector<Place> places;
    for (end = first; end < order.size() && end - first < kPlacesAtOnce && size_of(order[end]) == size_of(order[first]);
         ++end) {
      const Numbers& numbers = *all[order[end]];
      Place& place = places.emplace_back(Place{.numbers = &numbers});
      for (std::size_t i = 0; i < numbers.wholes.size(); ++i)
        place.differences.push_back(numbers.values[i] * numbers.wholes[i]);
    }
    std::vector<Summary> of_these;
    summarise(places, how, threads, of_these);
    for (std::size_t at = first; at < end; ++at) summaries[order[at]] = of_these[at - first];
  }
  return summaries;
}

Summary summary_of(std::vector<double> values) {
  const Numbers numbers{.values = std::move(values)};
  return summaries_of({&numbers}, Normalise::none, 1).front();
}

double signed_rank_p(std::vector<double> differences) {
  std::erase(differences, 0.0);
  const std::size_t count = differences.size();
  if (count == 0) return 1;
  std::ranges::sort(differences, {}, [](double one) { return std::abs(one); });
  double positive = 0, ties = 0;
  for (std::size_t first = 0, end = 0; first < count; first = end) {
    for (end = first; end < count && std::abs(differences[end]) == std::abs(differences[first]); ++end) {}
    const double rank = static_cast<double>(first + end + 1) / 2, equal = static_cast<double>(end - first);
    ties += equal * equal * equal - equal;
    for (std::size_t i = first; i < end; ++i) positive += differences[i] > 0 ? rank : 0;
  }
  const auto n = static_cast<double>(count);
  const double total = n * (n + 1) / 2, smaller = std::min(positive, total - positive);
  if (ties == 0 && count <= kMostExact) return std::min(1.0, 2 * exact_share(count, static_cast<std::size_t>(smaller)));
  const double spread = std::sqrt(n * (n + 1) * (2 * n + 1) / 24 - ties / 48);
  return std::min(1.0, std::erfc((total / 2 - smaller) / spread / std::sqrt(2.0)));
}

std::vector<double> holm(const std::vector<double>& p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t at) { return p[at]; });
  std::vector<double> corrected(p.size());
  double most = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    most = std::max(most, std::min(1.0, static_cast<double>(order.size() - i) * p[order[i]]));
    corrected[order[i]] = most;
  }
  return corrected;
}

}  // namespace headlight
