#include "training/first_weights.h"

#include <algorithm>

#include "document/open_model.h"

namespace headlight {

Status begin_with_weights(const std::filesystem::path& source, const Corpus& corpus, Training& training) {
  const auto opened = open_model(source);
  if (!opened) return opened.error();
  const auto& model = opened->document.model;
  const auto differs = [&](std::string_view what, std::string_view expected, std::string_view found) {
    return bad_input("--from " + source.string(), what, expected, found);
  };
  if (!model || !model->vocabulary || !model->output) return differs("model", "one that Headlight trained", "another");
  auto network = network_of(*model);
  if (!network) return network.error();
  const Network& fresh = training.network;
  network->config.seed = fresh.config.seed;
  if (network->config != fresh.config) return differs("shape", "that of this training", "another");
  if (model->vocabulary->words != trained_model(training, corpus, "")->vocabulary->words)
    return differs("words", "those of this training", "others");
  const auto same = [](const Parameter& a, const Parameter& b) { return a.name == b.name && a.size() == b.size(); };
  if (!std::equal(network->parameters.begin(), network->parameters.end(), fresh.parameters.begin(),
                  fresh.parameters.end(), same))
    return differs("shape", "that of this training", "another");
  training.network.values = std::move(network->values);
  return Done{};
}

}  // namespace headlight
