#include "card/arc_labels_file.h"

#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "base/utf8.h"
#include "card/universal_relations.h"
#include "model/head_text.h"
#include "read/array/safetensors.h"
#include "read/json/json_fields.h"

namespace headlight {
namespace {

constexpr std::size_t kMostHeads = 256;
constexpr Index kMostFeatures = Index{1} << 16;

/// An array of these rows and columns (nothing: up to kMostFeatures), of finite numbers.
Result<Matrix> matrix_in(std::string_view where, const ArrayFile& file, const std::string& name, Index rows,
                         std::optional<Index> columns) {
  const Array* found = find_array(file.arrays, name);
  if (!found) return bad_input(where, name, "an array", "none");
  const Array& array = *found;
  const bool fits = array.shape.size() == 2 && array.shape[0] == rows && array.shape[1] >= 1 &&
                    (columns ? array.shape[1] == *columns : array.shape[1] <= kMostFeatures);
  if (!fits)
    return bad_input(where, name,
                     "(" + std::to_string(rows) + ", " + (columns ? std::to_string(*columns) : "features") + ")",
                     shape_text(array.shape));
  if (!std::all_of(array.values.begin(), array.values.end(), [](float value) { return std::isfinite(value); }))
    return bad_input(where, name, "finite numbers", "others");
  return Matrix(Eigen::Map<const Matrix>(array.values.data(), array.shape[0], array.shape[1]));
}

Status read_language(std::string_view where, const ArrayFile& file, ArcLanguage language, ArcLabels& labels) {
  const std::string name = name_of(language);
  if (!file.arrays.contains(name + ".weights")) return Done{};
  ArcLabels::OfLanguage& own = labels.languages[static_cast<std::size_t>(language)];
  const auto relations = static_cast<Index>(labels.relations.size());
  auto weights = TRY(matrix_in(where, file, name + ".weights", relations + 1, {}));
  auto calibration = TRY(matrix_in(where, file, name + ".calibration", relations, 3));
  const auto least = metadata_text(file, name + ".least");
  const auto value = least ? parse_number<float>(*least) : std::nullopt;
  if (!value || !(*value >= 0 && *value <= 1))
    return bad_input(where, name + ".least", "a number from 0 to 1", least ? "another text" : "none");
  own = {std::move(weights), std::move(calibration), *value};
  if (!file.arrays.contains(name + ".order")) return Done{};
  own.order = TRY(matrix_in(where, file, name + ".order", 1, {}));
  return Done{};
}

}  // namespace

Result<ArcLabels> parse_arc_labels(std::string_view where, std::string_view bytes) {
  const auto file = TRY(parse_safetensors(where, bytes));
  if (metadata_text(file, "format") != kArcLabelsFormat)
    return bad_input(where, "format", std::string(kArcLabelsFormat), "another");
  ArcLabels labels;
  const std::string heads = metadata_text(file, "heads").value_or("");
  const std::string relations = metadata_text(file, "relations").value_or("");
  for (const std::string_view one : split_at(',', heads)) {
    const auto head = parse_head(one);
    if (!head || head->stack != Stack::self || labels.heads.size() == kMostHeads)
      return bad_input(where, "heads", "LAYER.HEAD,… of one stack, at most " + std::to_string(kMostHeads), "others");
    labels.heads.push_back(*head);
  }
  for (const std::string_view one : split_at(',', relations)) {
    if (universal_name(one) != one || std::count(labels.relations.begin(), labels.relations.end(), one) > 0)
      return bad_input(where, "relations", "names of Universal Dependencies, each once", "others");
    labels.relations.emplace_back(one);
  }
  for (const ArcLanguage language : kLabelledLanguages) TRY(read_language(where, file, language, labels));
  const auto& [english, chinese] = labels.languages;
  if (english.weights.size() > 0 && chinese.weights.size() > 0 && english.weights.cols() != chinese.weights.cols())
    return bad_input(where, "zh.weights", std::to_string(english.weights.cols()) + " features",
                     std::to_string(chinese.weights.cols()));
  return labels;
}

std::vector<ArcPrecision> precisions_from(const JsonField& field) {
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  std::vector<ArcPrecision> precisions;
  for (const JsonField& item : field.items()) {
    const auto head = parse_head(item.text("head"));
    const std::string language = item.text("language");
    const auto known = std::find(std::begin(kArcLanguages), std::end(kArcLanguages), language);
    if (!head) item.at("head").problem("LAYER.HEAD");
    if (known == std::end(kArcLanguages)) item.at("language").problem("en, zh or grammar");
    const auto named = item.integer("named", 0, kMost),
               right = item.integer("right", 0, std::max<std::int64_t>(0, named));
    if (!field.is_good()) break;
    precisions.push_back(
        {*head, item.text("relation"), static_cast<ArcLanguage>(known - std::begin(kArcLanguages)), named, right});
  }
  return precisions;
}

}  // namespace headlight
