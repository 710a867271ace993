#include "lesson/lesson_goal.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <nlohmann/json.hpp>

#include "base/formatted.h"
#include "base/printable.h"
#include "derived/matrix_names.h"
#include "lesson/lesson.h"
#include "model/config_fields.h"
#include "model/head_text.h"
#include "view/view_names.h"

namespace headlight {
namespace {

using nlohmann::json;

enum class Takes { words, number };

/// A property: its name, what it takes, which words are possible (null: any), and whether it is so.
struct Property {
  const char* name;
  Takes takes;
  bool (*is_possible)(const std::string& word);
  const char* expected;
  bool (*is_there)(const std::string& word, double number, const GoalFacts& facts, const Scene* scene);
};

template <std::size_t N>
bool is_one_of(const char* const (&words)[N], const std::string& word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

constexpr const char* kMasks[] = {"causal", "not_causal", "padding", "not_padding", "painted"};
constexpr const char* kChanges[] = {"text", "target", "head", "pinned", "matrix", "cell", "flow", "seed", "scale"};

bool has_mask(const std::string& word, const GoalFacts& facts) {
  const MaskSpec& mask = mask_of(facts.document, facts.view.chosen.stack, facts.view.chosen.layer);
  if (word == "causal") return mask.causal;
  if (word == "padding") return mask.padding;
  if (word == "painted") return !mask.painted.empty();
  return word == "not_causal" ? !mask.causal : !mask.padding;
}

bool has_changed(const std::string& word, const GoalFacts& facts, const Scene* scene) {
  if (!scene) return false;
  const ViewState &now = facts.view, &then = scene->view;
  if (word == "text") return facts.document.source.text != scene->document.source.text;
  if (word == "target") return facts.document.target.text != scene->document.target.text;
  if (word == "head") return now.chosen != then.chosen;
  if (word == "pinned") return now.pinned && now.pinned != then.pinned;
  if (word == "matrix") return now.look.matrix.quantity != then.look.matrix.quantity;
  if (word == "cell") return now.look.cell && !(now.look == then.look);
  if (word == "flow") return !(now.flow == then.flow);
  if (word == "seed") return config_of(facts.document).seed != config_of(scene->document).seed;
  return facts.document.edits.scale != scene->document.edits.scale;
}

/// The token of the pinned cell that a word names: on the side of the queries, or of the keys.
bool is_pinned(const std::string& word, const GoalFacts& facts, bool query) {
  if (!facts.trace || !facts.view.pinned) return false;
  const Stack stack = facts.view.chosen.stack;
  const Tokens& tokens = query ? facts.trace->query_tokens(stack) : facts.trace->key_tokens(stack);
  const Index at = query ? facts.view.pinned->query : facts.view.pinned->key;
  if (word.find('#') != std::string::npos) return find_position(tokens, {word}) == at;
  return at < static_cast<Index>(tokens.size()) && tokens.tokens[static_cast<std::size_t>(at)].text == word;
}

double scale_of(const Document& document) {
  const Config& config = config_of(document);
  const Index d_k = config.head_dim > 0 ? config.head_dim : config.d_model / std::max<Index>(1, config.num_heads);
  if (document.edits.scale) return static_cast<double>(*document.edits.scale);
  return 1 / std::sqrt(static_cast<double>(std::max<Index>(1, d_k)));
}

bool has(const std::string& text, const std::string& word) { return text.find(word) != std::string::npos; }

bool is_head(const std::string& word) { return parse_head(word).has_value(); }
bool is_off_name(const std::string& word) { return word == "any" || is_head(word); }
bool is_word(const std::string& word) { return !word.empty(); }

constexpr Property kProperties[] = {
    {"mask", Takes::words, [](const std::string& w) { return is_one_of(kMasks, w); },
     "causal, not_causal, padding, not_padding or painted",
     [](const std::string& w, double, const GoalFacts& f, const Scene*) { return has_mask(w, f); }},
    {"text_contains", Takes::words, is_word, "a text",
     [](const std::string& w, double, const GoalFacts& f, const Scene*) { return has(f.document.source.text, w); }},
    {"target_contains", Takes::words, is_word, "a text",
     [](const std::string& w, double, const GoalFacts& f, const Scene*) { return has(f.document.target.text, w); }},
    {"pinned_query", Takes::words, is_word, "a word, or word#2",
     [](const std::string& w, double, const GoalFacts& f, const Scene*) { return is_pinned(w, f, true); }},
    {"pinned_key", Takes::words, is_word, "a word, or word#2",
     [](const std::string& w, double, const GoalFacts& f, const Scene*) { return is_pinned(w, f, false); }},
    {"chosen_head", Takes::words, is_head, "a head such as 0.3 or cross:0.3",
     [](const std::string& w, double, const GoalFacts& f, const Scene*) { return parse_head(w) == f.view.chosen; }},
    {"head_off", Takes::words, is_off_name, "any, or a head such as 0.3",
     [](const std::string& w, double, const GoalFacts& f, const Scene*) {
       const auto head = parse_head(w);
       return head ? is_off(f.document.edits, *head) : !f.document.edits.off.empty();
     }},
    {"view", Takes::words, [](const std::string& w) { return parse_view(w).has_value(); },
     "heads, inside, flow, train, compare or code",
     [](const std::string& w, double, const GoalFacts& f, const Scene*) { return parse_view(w) == f.view.view; }},
    {"matrix", Takes::words, [](const std::string& w) { return parse_matrix_name(w).has_value(); },
     "a matrix such as head.query",
     [](const std::string& w, double, const GoalFacts& f, const Scene*) {
       return looks_at_matrices(f.view.view) && parse_matrix_name(w) == f.view.look.matrix.quantity;
     }},
    {"stack", Takes::words, [](const std::string& w) { return parse_stack(w).has_value(); }, "self, encoder or cross",
     [](const std::string& w, double, const GoalFacts& f, const Scene*) {
       return parse_stack(w) == f.view.chosen.stack;
     }},
    {"position", Takes::words,
     [](const std::string& w) { return value_named<Position>(kPositionNames, w).has_value(); },
     "none, sinusoidal, sinusoidal-halves, learned or rotary",
     [](const std::string& w, double, const GoalFacts& f, const Scene*) {
       return name(config_of(f.document).position) == w;
     }},
    {"arch", Takes::words, [](const std::string& w) { return value_named<Arch>(kArchNames, w).has_value(); },
     "encoder, decoder or encoder-decoder",
     [](const std::string& w, double, const GoalFacts& f, const Scene*) {
       return name(config_of(f.document).arch) == w;
     }},
    {"changed", Takes::words, [](const std::string& w) { return is_one_of(kChanges, w); },
     "text, target, head, pinned, matrix, cell, flow, seed or scale",
     [](const std::string& w, double, const GoalFacts& f, const Scene* scene) { return has_changed(w, f, scene); }},
    {"heads_at_most", Takes::number, nullptr, "a number",
     [](const std::string&, double n, const GoalFacts& f, const Scene*) {
       return static_cast<double>(config_of(f.document).num_heads) <= n;
     }},
    {"heads_at_least", Takes::number, nullptr, "a number",
     [](const std::string&, double n, const GoalFacts& f, const Scene*) {
       return static_cast<double>(config_of(f.document).num_heads) >= n;
     }},
    {"layers_at_least", Takes::number, nullptr, "a number",
     [](const std::string&, double n, const GoalFacts& f, const Scene*) {
       return static_cast<double>(config_of(f.document).num_layers) >= n;
     }},
    {"d_model_at_least", Takes::number, nullptr, "a number",
     [](const std::string&, double n, const GoalFacts& f, const Scene*) {
       return static_cast<double>(config_of(f.document).d_model) >= n;
     }},
    {"heads_off_at_most", Takes::number, nullptr, "a number",
     [](const std::string&, double n, const GoalFacts& f, const Scene*) {
       return static_cast<double>(f.document.edits.off.size()) <= n;
     }},
    {"scale_at_least", Takes::number, nullptr, "a number",
     [](const std::string&, double n, const GoalFacts& f, const Scene*) { return scale_of(f.document) >= n; }},
    {"scale_at_most", Takes::number, nullptr, "a number",
     [](const std::string&, double n, const GoalFacts& f, const Scene*) { return scale_of(f.document) <= n; }},
    {"trained_steps", Takes::number, nullptr, "a number",
     [](const std::string&, double n, const GoalFacts& f, const Scene*) {
       return f.trained_steps && static_cast<double>(*f.trained_steps) >= n;
     }},
    {"shown_step_at_most", Takes::number, nullptr, "a number",
     [](const std::string&, double n, const GoalFacts& f, const Scene*) {
       return f.shown_step && static_cast<double>(*f.shown_step) <= n;
     }},
    {"weights_by_hand_at_least", Takes::number, nullptr, "a number",
     [](const std::string&, double n, const GoalFacts& f, const Scene*) {
       return static_cast<double>(f.document.edits.weights.size()) >= n;
     }},
};

std::string all_names() { return joined_texts(kProperties, ", ", &Property::name); }

Result<Goal> goal_from_json(const std::string& where, const std::string& key, const json& value) {
  const auto found = std::find_if(std::begin(kProperties), std::end(kProperties),
                                  [&](const Property& property) { return key == property.name; });
  if (found == std::end(kProperties)) return bad_input(where, "done", all_names(), printable(key));
  Goal goal{static_cast<std::size_t>(found - std::begin(kProperties)), {}, 0};
  const auto wrong = [&] { return bad_input(where, "done: " + key, found->expected, printable(value.dump())); };
  if (found->takes == Takes::number) {
    if (!value.is_number()) return wrong();
    goal.number = value.get<double>();
    return goal;
  }
  for (const json& word : value.is_array() ? value : json::array({value})) {
    if (!word.is_string() || !found->is_possible(word.get<std::string>())) return wrong();
    goal.words.push_back(word.get<std::string>());
  }
  if (goal.words.empty()) return wrong();
  return goal;
}

}  // namespace

Result<std::vector<Goal>> goals_from_json(const std::string& where, const json& object) {
  if (!object.is_object()) return bad_input(where, "done", "an object", object.type_name());
  std::vector<Goal> goals;
  for (const auto& [key, value] : object.items()) {
    auto goal = goal_from_json(where, key, value);
    if (!goal) return goal.error();
    goals.push_back(std::move(*goal));
  }
  return goals;
}

bool is_reached(const Goal& goal, const GoalFacts& facts, const Scene* scene) {
  const Property& property = kProperties[goal.kind];
  if (property.takes == Takes::number) return property.is_there({}, goal.number, facts, scene);
  return std::any_of(goal.words.begin(), goal.words.end(),
                     [&](const std::string& word) { return property.is_there(word, 0, facts, scene); });
}

}  // namespace headlight
