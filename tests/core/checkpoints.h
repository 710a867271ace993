// Checkpoints for the tests: golden cases in memory, to be changed, and requests by ids.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "model/request.h"
#include "read/array/safetensors.h"
#include "read/hub/checkpoint.h"
#include "read/json/json_document.h"

namespace headlight::checkpoints {

inline const std::filesystem::path kGolden = std::filesystem::path(HEADLIGHT_TEST_DATA) / "golden";

inline Tokens tokens_of_ids(const std::vector<std::int64_t>& ids, const std::vector<int>& types = {}) {
  Tokens tokens;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::string text = std::to_string(ids[i]);
    const std::size_t begin = tokens.text.size();
    tokens.text += text;
    tokens.tokens.push_back({.id = ids[i],
                             .text = text,
                             .raw = text,
                             .begin = begin,
                             .end = tokens.text.size(),
                             .type = types.empty() ? 0 : types[i]});
  }
  return tokens;
}

inline Request request_for(const std::shared_ptr<const Model>& model, Tokens tokens, Tokens target = {}) {
  return {.model = model,
          .config = model->config,
          .tokens = std::move(tokens),
          .target = std::move(target),
          .mask = {.causal = model->config.arch != Arch::encoder}};
}

/// A golden case in memory, to be changed.
struct Parts {
  nlohmann::json config;
  ArrayFile file;

  explicit Parts(const std::string& name) {
    config = *parse_json("config.json", *read_file(kGolden / name / "config.json"));
    file = *read_safetensors(kGolden / name / "model.safetensors");
  }

  Result<Checkpoint> load() const {
    const auto hub = parse_hub_config("config.json", config.dump());
    if (!hub) return hub.error();
    return checkpoint_from("some/m/model.safetensors", *hub, file);
  }

  std::string refusal() const {
    const auto checkpoint = load();
    return checkpoint ? std::string{} : checkpoint.error().message();
  }

  /// Without the prefix, as a bare model is stored.
  void strip(const std::string& prefix) {
    std::map<std::string, Array> bare;
    for (auto& [name, array] : file.arrays)
      bare.emplace(name.substr(0, prefix.size()) == prefix ? name.substr(prefix.size()) : name, std::move(array));
    file.arrays = std::move(bare);
  }

  void rename(const std::string& from, const std::string& to) {
    std::map<std::string, Array> renamed;
    for (auto& [name, array] : file.arrays) {
      std::string other = name;
      if (const auto at = other.find(from); at != std::string::npos) other.replace(at, from.size(), to);
      renamed.emplace(other, std::move(array));
    }
    file.arrays = std::move(renamed);
  }
};

/// Numbers in a pattern that repeats nowhere soon.
inline Array filled(std::vector<Index> shape, float start) {
  Array array{.dtype = Dtype::f32, .shape = std::move(shape), .values = {}};
  for (std::size_t i = 0; i < *num_elements(array.shape); ++i)
    array.values.push_back(std::sin(start + static_cast<float>(i) * 0.7f));
  return array;
}

}  // namespace headlight::checkpoints
