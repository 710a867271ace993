// What the numbers of many pairs have in common: means with bootstrap intervals, quartiles, shares of mean differences,
// and a paired test against random places.
#pragma once

#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "base/index.h"
#include "base/progress.h"
#include "cli/frame/study.h"

namespace headlight {

inline constexpr std::string_view kNormaliseNames[] = {"total", "pairs", "none"};

/// Of every interval: how many samples of the pairs, with replacement, and the seed that draws them.
inline constexpr int kDraws = 2000;
inline constexpr int kDrawsSeed = 0;

struct Summary {
  double mean = 0, median = 0;
  double lower_quartile = 0, upper_quartile = 0;
  std::optional<double> low = {}, high = {};  // the 95 % bootstrap interval of the mean: of two values and more
  Index count = 0;
  std::optional<double> difference = {}, difference_low = {}, difference_high = {};  // of shares: in the metric's unit
  std::optional<double> p = {}, p_holm = {};  // against random places, one test, and corrected for all of them
};

/// The numbers of one place, one a pair. Of shares `wholes` are what each is a share of; else it is empty.
struct Numbers {
  std::vector<double> values = {}, wholes = {};
};

double mean_of(const std::vector<double>& values);

/// By which summaries are ordered; a share of nothing is none and comes last.
inline double size_of(const Summary& one) { return std::isnan(one.mean) ? -1 : std::abs(one.mean); }

/// Quartiles between two values are interpolated; those of shares are of the pairs' own shares, but for
/// Normalise::none. The interval is that of kDraws samples, always the same ones. There is a value in each. Stopped:
/// some are empty.
std::vector<Summary> summaries_of(const std::vector<const Numbers*>& all, Normalise how, int threads = 0,
                                  const std::atomic<bool>& stop = kNeverStops);
Summary summary_of(std::vector<double> values);

/// The two-sided p of Wilcoxon's signed-rank test (1945) that the differences are symmetric about 0: exact for up to 50
/// without ties, else by the normal approximation with ties corrected. Zeros are left out; of none p is 1.
double signed_rank_p(std::vector<double> differences);
/// Each p corrected for all of them (Holm 1979).
std::vector<double> holm(const std::vector<double>& p);

}  // namespace headlight
