#include "cli/options/model_options.h"

#include <algorithm>
#include <type_traits>

#include "model/config_fields.h"
#include "write/number.h"

namespace headlight {
namespace {

std::vector<const char*> options_of(const auto& field) {
  if constexpr (std::is_same_v<decltype(field), const BiasField&>) return {field.option, "--no-bias"};
  return {field.option};
}

Status take_bias(const std::vector<std::string>& names, Biases& bias) {
  bias = {false, false, false, false, false};
  for (const std::string& one : names) {
    const auto at = std::find_if(std::begin(kBiasNames), std::end(kBiasNames),
                                 [&](const BiasName& bias_name) { return one == bias_name.name; });
    if (at == std::end(kBiasNames)) return bad_input("--bias", "", "query, key, value, output or ffn", one);
    bias.*at->value = true;
  }
  return Done{};
}

/// The value of a field in a config, for messages.
struct FieldText {
  const Config& config;

  std::string operator()(const SizeField& field) const { return std::to_string(field.used_by(config)); }
  std::string operator()(const NumberField& field) const {
    std::string text;
    return append_number(text, config.*field.value) ? text : "none";
  }
  template <class Enum>
  std::string operator()(const ChoiceField<Enum>& field) const {
    return std::string(name(config.*field.value));
  }
  std::string operator()(const FlagField& field) const { return config.*field.value ? field.yes : field.no; }
  std::string operator()(const BiasField& field) const {
    std::string text;
    for (const BiasName& one : kBiasNames)
      if (config.*field.value.*one.value) text.append(text.empty() ? "" : ",").append(one.name);
    return text.empty() ? "no bias" : text;
  }
  std::string operator()(const SeedField& field) const { return std::to_string(config.*field.value); }
};

}  // namespace

std::vector<const char*> model_options() {
  std::vector<const char*> options;
  for_each_field([&](const auto& field) {
    for (const char* option : options_of(field)) options.push_back(option);
  });
  return options;
}
Status agree(const Parser& command, const Config& asked, const Config& model) {
  Status same = Done{};
  for_each_field([&](const auto& field) {
    const std::string wanted = FieldText{asked}(field), there = FieldText{model}(field);
    for (const char* option : options_of(field))
      if (same && command.given(option) && wanted != there)
        same = bad_input(option, "", there + ", as the checkpoint has it", wanted);
  });
  return same;
}

void ModelOptions::add(Parser& command) {
  command.section("The model", kRequestTopic);
  command.option("--random", random_, "Fresh weights, shaped by the options below");
  for_each_field([&](const auto& field) {
    using Kind = std::remove_cvref_t<decltype(field)>;
    if constexpr (std::is_same_v<Kind, SizeField>) {
      command.option(field.option, config_.*field.value, field.help, "N");
    } else if constexpr (std::is_same_v<Kind, NumberField>) {
      command.option(field.option, config_.*field.value, field.help, "X");
    } else if constexpr (std::is_same_v<Kind, SeedField>) {
      command.option(field.option, config_.*field.value, field.help, "N").not_negative();
    } else if constexpr (std::is_same_v<Kind, FlagField>) {
      command.option(field.option, flags_[field.option], field.help);
    } else if constexpr (std::is_same_v<Kind, BiasField>) {
      command.option(field.option, bias_, field.help, "LIST").list();
      command.option("--no-bias", no_bias_, "No layer has a bias").excludes({field.option});
    } else {
      command.option(field.option, choices_[field.option], field.help);
    }
  });
  command.section();
}

Status ModelOptions::take(const Parser& command, Config& config) const {
  const auto given = [&](const char* option) { return command.given(option); };
  Status taken = Done{};
  for_each_field([&](const auto& field) {
    using Kind = std::remove_cvref_t<decltype(field)>;
    if constexpr (std::is_same_v<Kind, SizeField> || std::is_same_v<Kind, SeedField> ||
                  std::is_same_v<Kind, NumberField>) {
      if (given(field.option)) config.*field.value = config_.*field.value;
    } else if constexpr (std::is_same_v<Kind, FlagField>) {
      if (flags_.at(field.option)) config.*field.value = !(Config{}.*field.value);
    } else if constexpr (std::is_same_v<Kind, BiasField>) {
      if (no_bias_) config.*field.value = {false, false, false, false, false};
      if (given(field.option) && taken) taken = take_bias(bias_, config.*field.value);
    } else if (given(field.option)) {
      using Enum = std::remove_reference_t<decltype(config.*field.value)>;
      const std::string& word = choices_.at(field.option);
      if (const auto value = value_named<Enum>(field.names, word)) config.*field.value = *value;
      else if (taken) taken = bad_input(field.option, "", listed(field.names, " or "), word);
    }
  });
  return taken;
}

}  // namespace headlight
