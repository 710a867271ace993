// What was computed of the answer besides its weights, as tables: the lens, the map of Take from A.
#include <nlohmann/json.hpp>

#include "figure/figure.h"
#include "figure/labels.h"
#include "page/page_data.h"
#include "session/shown.h"
#include "views/inside/inside_labels.h"
#include "words/compare_words.h"

namespace headlight {
namespace {

using nlohmann::json;

json labels_of(const std::vector<Token>& tokens) {
  json labels = json::array();
  for (const Token& token : tokens) labels.push_back(axis_label(token));
  return labels;
}

/// A text in each language.
template <class TextOf>
json in_both(const TextOf& text_of) {
  return {{"en", text_of(Language::en)}, {"zh", text_of(Language::zh)}};
}

/// Cells with a number each.
json table_object(json rows, json columns, const Matrix& values, const ColourScale& scale) {
  json object{{"rows", std::move(rows)},
              {"columns", std::move(columns)},
              {"values", json::array()},
              {"top", scale.top},
              {"diverging", scale.diverging}};
  for (Index row = 0; row < values.rows(); ++row)
    object["values"].push_back(std::vector<float>(values.row(row).data(), values.row(row).data() + values.cols()));
  return object;
}

json lens_object(const LayerLens& lens) {
  const std::vector<Token>& tokens = lens.trace->query_tokens().tokens;
  json rows = json::array(), columns = json::array();
  for (std::size_t layer = 0; layer < lens.cells.size(); ++layer) rows.push_back("L" + std::to_string(layer));
  for (Index column = 0; column < lens.probabilities.cols(); ++column)
    columns.push_back(lens.ranks ? std::to_string(column + 1)
                                 : axis_label(tokens[static_cast<std::size_t>(lens.first + column)]));
  json object = table_object(std::move(rows), std::move(columns), lens.probabilities, {.top = 1});
  object["kind"] = "lens";
  for (const auto& row : lens.cells) {
    json& words = object["words"].emplace_back(json::array());
    for (const Candidate& word : row) words.push_back(word.text);
  }
  object["title"] = in_both([&](Language language) { return lens_title(language, lens); });
  if (lens.split) object["note"] = in_both([&](Language language) { return logit_line(language, lens); });
  return object;
}

json patch_object(const PatchMap& map, const Trace& b) {
  json object = table_object(labels_of(patch_rows(map)), labels_of(patch_columns(map, b)), map.restored,
                             patch_scale(Theme::light, map));
  object["kind"] = "patch";
  object["title"] = in_both([&](Language language) {
    return words(language, kCompareWords.take_from_a) + std::string(": ") + patch_line(language, map);
  });
  object["note"] = in_both([](Language language) { return words(language, kCompareWords.patch_hint); });
  return object;
}

}  // namespace

Result<std::string> answer_tables(const PageContent& content, Progress& progress, int threads) {
  const ViewState& view = content.session.view;
  json tables = json::array();
  if (view.view == View::inside && view.tab == InsideTab::lens) {
    const Index read = content.trace->answering;
    const bool pinned = view.pinned && view.chosen.stack != Stack::encoder && !classifies(*content.trace->model);
    const Index query = pinned ? view.pinned->query : read;
    const auto lens = TRY(look_through_layers({content.trace, query, view.lens}, progress));
    if (!lens) return cancelled("lens");
    tables.push_back(lens_object(*lens));
  }
  if (view.view == View::compare && view.patch.on) {
    if (!content.against) return bad_input("--view patch", "", "--against", "none");
    const auto map =
        TRY(patch_map(*content.against->trace, *content.trace,
                      patch_choice(view.patch.form, view.chosen, view.alignment, patch_measure(view, *content.trace)),
                      progress, threads));
    tables.push_back(patch_object(map, *content.trace));
  }
  return page_json(tables);
}

}  // namespace headlight
