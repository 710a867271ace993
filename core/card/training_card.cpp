#include "card/training_card.h"

#include "base/file.h"
#include "base/folders.h"
#include "card/arc_labels_file.h"
#include "read/json/json_document.h"
#include "read/json/json_fields.h"

namespace headlight {

Result<TrainingCard> parse_card(std::string_view where, std::string_view text) {
  const auto json = parse_json(where, text);
  if (!json) return json.error();
  JsonProblems problems{std::string(where)};
  const JsonField root(*json, "", problems);
  if (root.text("schema") != kTrainingSchema) root.at("schema").problem(std::string(kTrainingSchema));
  TrainingCard card{.corpus = root.text("corpus"), .command = root.text("command")};
  card.step = root.integer("step", 0, std::int64_t{1} << 53);
  const JsonField tokens = root.at("tokens");
  if (tokens.value().is_number() && tokens.value().get<double>() >= 0) card.tokens = tokens.value().get<double>();
  else tokens.problem("a number from 0 on");
  card.plan = plan_from(root.at("plan"));
  if (root.has("treebanks"))
    for (const JsonField& item : root.at("treebanks").items()) card.treebanks.push_back(item.text());
  if (root.has("scores")) card.scores = relations_from(root.at("scores"));
  if (root.has("arcs")) {
    ArcLabels arcs;
    arcs.precisions = precisions_from(root.at("arcs"));
    card.arcs = std::make_shared<const ArcLabels>(std::move(arcs));
  }
  if (problems.first) return *problems.first;
  return card;
}

Result<std::optional<TrainingCard>> read_card(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "training.json";
  if (!path_exists(path)) return std::optional<TrainingCard>();
  constexpr std::size_t kMostBytes = std::size_t{16} << 20;
  const auto text = TRY(read_file(path, kMostBytes));
  auto card = TRY(parse_card(path.string(), text));
  if (card.arcs) {
    constexpr std::size_t kMostArcBytes = std::size_t{1} << 22;
    const std::filesystem::path arcs_path = folder / kArcLabelsFile;
    const auto bytes = TRY(read_file(arcs_path, kMostArcBytes));
    auto arcs = TRY(parse_arc_labels(arcs_path.string(), bytes));
    arcs.precisions = card.arcs->precisions;
    card.arcs = std::make_shared<const ArcLabels>(std::move(arcs));
  }
  return std::optional(std::move(card));
}

}  // namespace headlight
