#include <limits>
#include <type_traits>

#include <nlohmann/json.hpp>

#include "base/formatted.h"
#include "model/config_fields.h"
#include "question/question_fields.h"
#include "words/question_words.h"

namespace headlight {
namespace {

using nlohmann::json;

template <class Field>
constexpr bool kIsChoice = false;
template <class Enum>
constexpr bool kIsChoice<ChoiceField<Enum>> = true;
template <class Field>
constexpr bool kIsFlag = std::is_same_v<Field, FlagField>;
template <class Field>
constexpr bool kIsBias = std::is_same_v<Field, BiasField>;
template <class Field>
constexpr bool kIsNumber = std::is_same_v<Field, NumberField>;

std::vector<std::string> names_of(const Biases& bias) {
  std::vector<std::string> names;
  for (const BiasName& one : kBiasNames)
    if (bias.*one.value) names.emplace_back(one.name);
  return names;
}

/// Sets one bias; false where none has this name.
bool set_bias(Biases& bias, const json& name) {
  for (const BiasName& one : kBiasNames)
    if (name == one.name) return bias.*one.value = true;
  return false;
}

/// A value as its option takes it.
template <class Field>
std::string word_of(const Field& field, const auto& value) {
  if constexpr (kIsChoice<Field>) return std::string(name_in(field.names, value));
  else if constexpr (kIsFlag<Field>) return value ? field.yes : field.no;
  else if constexpr (kIsBias<Field>) return value.any() ? joined_texts(names_of(value), ",") : "no bias";
  else if constexpr (kIsNumber<Field>) return shortest_text(value);
  else return std::to_string(value);
}

template <class Field>
std::vector<FieldOption> options_of(const Field& field) {
  if constexpr (kIsChoice<Field>) return {{field.option, OptionKind::word, "", field.help}};
  else if constexpr (kIsFlag<Field>) return {{field.option, OptionKind::flag, "", field.help}};
  else if constexpr (kIsNumber<Field>) return {{field.option, OptionKind::number, "X", field.help}};
  else if constexpr (kIsBias<Field>)
    return {{field.option, OptionKind::list, "LIST", field.help},
            {"--no-bias", OptionKind::flag, "", "No layer has a bias", {"--bias"}}};
  else
    return {
        {field.option, std::is_same_v<Field, SeedField> ? OptionKind::count : OptionKind::integer, "N", field.help}};
}

template <class Field>
Status take(const Field& field, const GivenOptions& given, auto& value) {
  if constexpr (kIsChoice<Field>) {
    const auto found = value_named<std::remove_reference_t<decltype(value)>>(field.names, given.word(field.option));
    if (!found) return bad_input(field.option, "", listed(field.names, " or "), given.word(field.option));
    value = *found;
  } else if constexpr (kIsFlag<Field>) {
    value = !(Config{}.*field.value);
  } else if constexpr (kIsBias<Field>) {
    value = {false, false, false, false, false};
    for (const std::string& name : given.all(field.option))
      if (!set_bias(value, name)) return bad_input(field.option, "", "query, key, value, output or ffn", name);
  } else {
    value = parse_number<std::remove_reference_t<decltype(value)>>(given.word(field.option)).value_or(0);
  }
  return Done{};
}

/// Where the value differs from that of the shape that the command line begins with.
template <class Field>
void put(const Field& field, const auto& value, OptionWords& words) {
  if (value == Config{}.*field.value) return;
  if constexpr (kIsFlag<Field>) return words.add(field.option);
  if constexpr (kIsBias<Field>)
    if (!value.any()) return words.add("--no-bias");
  words.add(field.option, word_of(field, value));
}

/// Sizes that follow from others are left out, and numbers of which 0 means none. A bias is true, false or a list.
template <class Field>
void write(const Field& field, const auto& value, json& object) {
  if constexpr (kIsChoice<Field>) object[field.name] = name_in(field.names, value);
  else if constexpr (kIsBias<Field>) {
    if (value == Biases{} || !value.any()) object[field.name] = value.any();
    else object[field.name] = names_of(value);
  } else if constexpr (std::is_same_v<Field, SizeField>) {
    if (!field.is_derived() || value > 0) object[field.name] = value;
  } else if (!kIsNumber<Field> || value != std::remove_cvref_t<decltype(value)>{}) object[field.name] = value;
}

void read_bias(const JsonField& field, Biases& bias) {
  if (field.is_missing()) return;
  const json& value = field.value();
  bool valid = value.is_boolean() || value.is_array();
  const bool all = value.is_boolean() && value.get<bool>();
  bias = {all, all, all, all, all};
  for (const json& item : value.is_array() ? value : json::array()) valid = set_bias(bias, item) && valid;
  if (!valid) field.problem("true, false or a list of query, key, value, output, ffn");
}

/// check() refuses sizes that are too small.
template <class Field>
void read(const Field& field, const JsonField& fields, auto& value) {
  if constexpr (kIsChoice<Field>) fields.read_choice(field.name, value, field.names);
  else if constexpr (kIsFlag<Field>) fields.read(field.name, value);
  else if constexpr (kIsBias<Field>) read_bias(fields.at(field.name), value);
  else if constexpr (std::is_same_v<Field, SeedField>)
    fields.read_integer(field.name, value, std::numeric_limits<std::uint64_t>::max());
  else if constexpr (std::is_same_v<Field, SizeField>)
    fields.read_integer(field.name, value, static_cast<std::uint64_t>(field.most));
  else {
    fields.read(field.name, value);
    if (!(value >= 0 && value <= field.most)) fields.at(field.name).problem("0 to 1000000");
  }
}

/// A field of a Config: of the loaded model, else of fresh weights.
template <class Field>
QuestionField config_field(const Field& field) {
  QuestionField row{FieldPart::model, field.name, kQuestionWords.shape, options_of(field)};
  row.is_same = [field](const Document& a, const Document& b) {
    return a.config.*field.value == b.config.*field.value;
  };
  row.take = [field](Document& d, const GivenOptions& given) { return take(field, given, d.config.*field.value); };
  row.put = [field](const Document& d, OptionWords& words) {
    if (!d.model) put(field, d.config.*field.value, words);
  };
  row.write = [field](const Document& d, json& object) {
    if (!d.model) write(field, d.config.*field.value, object);
  };
  row.read = [field](const JsonField& fields, Document& d) {
    if (!d.model) read(field, fields, d.config.*field.value);
  };
  row.text = [field](const Document& d) {
    if constexpr (std::is_same_v<Field, SizeField>) return std::to_string(field.used_by(config_of(d)));
    else return word_of(field, config_of(d).*field.value);
  };
  return row;
}

/// Which model answers. document_json.cpp opens the one that JSON names.
QuestionField model_field() {
  QuestionField row{FieldPart::model, "random"};
  row.options = {FieldOption("--random", OptionKind::flag, "", "Fresh weights, shaped by the options below")};
  row.is_same = same_by([](const Document& d) { return d.model; });
  row.put = [](const Document& d, OptionWords& words) {
    if (!d.model) words.add("--random");
  };
  row.write = [](const Document& d, json& object) {
    if (!d.model) object["random"] = true;
    if (!d.model && d.trained) object["trained"] = true;
  };
  row.read = [](const JsonField& fields, Document& d) {
    if (!d.model) fields.read("trained", d.trained);
  };
  return row;
}

}  // namespace

QuestionFields model_fields() {
  QuestionFields rows{model_field()};
  for_each_field([&](const auto& field) { rows.push_back(config_field(field)); });
  return rows;
}

}  // namespace headlight
