#include "read/hub/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "read/array/array.h"

namespace headlight {
namespace {

constexpr double kLeastTheta = 1e-3, kMostTheta = 1e15;
constexpr double kMostFactor = 1e6;

/// The keys that a kind of scaling reads, and the frequencies that it changes.
struct Scaling {
  Keyed& inside;
  double theta;
  double trained;  // the length of text that the model was trained on before it was stretched
  std::vector<double> frequencies;
  double factor = 1;  // of sines and cosines
};

double stretch(Scaling& scaling) { return scaling.inside.number({"factor"}, 1, kMostFactor); }

void scale_linearly(Scaling& scaling) {
  const double factor = stretch(scaling);
  for (double& frequency : scaling.frequencies) frequency /= factor;
}

/// Waves longer than the text are stretched, those that fit into it many times are not, and there is a passage.
void scale_as_llama3(Scaling& scaling) {
  const double factor = stretch(scaling);
  const double low = scaling.inside.number({"low_freq_factor"}, 1e-6, kMostFactor);
  const double high = scaling.inside.number({"high_freq_factor"}, 1e-6, kMostFactor);
  if (high <= low) {
    scaling.inside.fail({"high_freq_factor"}, "more than low_freq_factor", std::to_string(high));
    return;
  }
  for (double& frequency : scaling.frequencies) {
    const double waves = scaling.trained * frequency / (2 * std::numbers::pi);  // in a text of the trained length
    const double kept = std::clamp((waves - low) / (high - low), 0.0, 1.0);
    frequency *= kept + (1 - kept) / factor;
  }
}

/// Peng et al. 2023, section 3.2 (which pairs are stretched) and 3.4 (the temperature).
void scale_as_yarn(Scaling& scaling) {
  Keyed& inside = scaling.inside;
  const double factor = stretch(scaling);
  const double fast = inside.number({"beta_fast"}, 1e-3, 1e6, 32), slow = inside.number({"beta_slow"}, 1e-3, 1e6, 1);
  const bool whole = inside.flag({"truncate"}, true);
  const auto pairs = static_cast<double>(scaling.frequencies.size()), columns = 2 * pairs;
  if (scaling.theta <= 1) inside.fail({"rope_theta"}, "more than 1", std::to_string(scaling.theta));
  if (inside.error()) return;
  // The pair that turns `turns` times within the trained length.
  const auto pair_turning = [&](double turns) {
    return columns * std::log(scaling.trained / (turns * 2 * std::numbers::pi)) / (2 * std::log(scaling.theta));
  };
  double first = pair_turning(fast), last = pair_turning(slow);
  if (whole) first = std::floor(first), last = std::ceil(last);
  first = std::max(first, 0.0);
  last = std::min(last, columns - 1);
  if (first == last) last += 0.001;
  for (std::size_t i = 0; i < scaling.frequencies.size(); ++i) {
    const double stretched = std::clamp((static_cast<double>(i) - first) / (last - first), 0.0, 1.0);
    scaling.frequencies[i] *= stretched / factor + (1 - stretched);
  }
  const auto temperature = [factor](double scale) { return factor <= 1 ? 1.0 : 0.1 * scale * std::log(factor) + 1.0; };
  const double scale = inside.number({"mscale"}, 0, 1e3, 0), scale_all = inside.number({"mscale_all_dim"}, 0, 1e3, 0);
  const double usual = scale > 0 && scale_all > 0 ? temperature(scale) / temperature(scale_all) : temperature(1);
  scaling.factor = inside.number({"attention_factor"}, 0, 1e3, usual);
}

}  // namespace

Rotary plain_rotary(Index columns, double theta, bool interleaved) {
  Rotary rotary{.frequencies = Vector(columns / 2), .interleaved = interleaved};
  for (Index i = 0; i < columns / 2; ++i)
    rotary.frequencies(i) =
        static_cast<float>(std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(columns)));
  return rotary;
}

double read_theta(Keyed& keyed, const char* key, double unsaid) {
  return keyed.number({key}, kLeastTheta, kMostTheta, unsaid);
}

void read_rope(Keyed& keyed, HubConfig& hub, double unsaid_theta, std::optional<double> unsaid_share) {
  double theta = keyed.number({"rope_theta", "rotary_emb_base"}, kLeastTheta, kMostTheta, unsaid_theta);
  const double trained = static_cast<double>(keyed.size({"max_position_embeddings"}, kMaxPositions * 16, 2048));
  double share = keyed.number({"partial_rotary_factor", "rotary_pct"}, 0, 1, unsaid_share.value_or(1));
  std::string type = "default";
  const nlohmann::json* object = nullptr;
  const char* key = "rope_scaling";
  for (const char* spelling : {"rope_scaling", "rope_parameters"}) {
    if (const nlohmann::json* found = keyed.find({spelling})) object = found, key = spelling;
  }
  if (object && !object->is_object()) return keyed.fail({key}, "an object or null", found_text(*object));
  if (object && std::any_of(object->begin(), object->end(), [](const auto& one) { return one.is_object(); }))
    return keyed.fail({key}, "one rotation for all layers", "one for each kind of layer");
  const nlohmann::json none = nlohmann::json::object();
  Keyed inside("", object ? *object : none);
  type = inside.word({"rope_type", "type"}, "default");
  theta = inside.number({"rope_theta"}, kLeastTheta, kMostTheta, theta);
  share = inside.number({"partial_rotary_factor"}, 0, 1, share);
  if (share != 1 && !unsaid_share) keyed.fail({"partial_rotary_factor"}, "1", "less");
  const auto columns = static_cast<Index>(static_cast<double>(hub.config.d_k()) * share);
  if (share != 1 && (columns < 2 || columns % 2 != 0))
    keyed.fail({"partial_rotary_factor"}, "an even number of a head's columns", std::to_string(columns));
  const Index pairs = std::max<Index>(columns / 2, 1);
  if (columns != hub.config.d_k()) hub.config.rotary_columns = columns;
  Scaling scaling{.inside = inside,
                  .theta = theta,
                  .trained = inside.number({"original_max_position_embeddings"}, 1, 1e9, trained),
                  .frequencies = {}};
  for (Index i = 0; i < pairs; ++i)
    scaling.frequencies.push_back(std::pow(theta, -static_cast<double>(i) / static_cast<double>(pairs)));

  if (type == "linear") scale_linearly(scaling);
  else if (type == "llama3") scale_as_llama3(scaling);
  else if (type == "yarn") scale_as_yarn(scaling);
  else if (type == "dynamic")
    hub.longest = LongestText{static_cast<Index>(trained), "as longer ones change the rotation"};
  else if (type != "default")
    inside.fail({"rope_type"}, "default, linear, dynamic, llama3 or yarn", "'" + printable(type) + "'");
  if (inside.error()) {
    const Error& error = *inside.error();
    return keyed.fail({(std::string(key) + "." + error.what).c_str()}, error.expected, error.found);
  }
  hub.rotary = Rotary{.frequencies = Vector(pairs), .factor = static_cast<float>(scaling.factor)};
  for (Index i = 0; i < pairs; ++i)
    hub.rotary->frequencies(i) = static_cast<float>(scaling.frequencies[static_cast<std::size_t>(i)]);
}

}  // namespace headlight
