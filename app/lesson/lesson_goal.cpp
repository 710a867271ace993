#include "lesson/lesson.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <nlohmann/json.hpp>

#include "base/formatted.h"
#include "base/utf8.h"
#include "derived/inside.h"
#include "model/config_fields.h"
#include "model/head_text.h"
#include "question/question_fields.h"
#include "view/view_names.h"

namespace headlight {
namespace {

using nlohmann::json;

/// What a goal asks for, and the state that is looked at.
struct Asked {
  const std::string& word;
  double number;
  const GoalFacts& facts;
  const Scene* scene;

  const Document& document() const { return facts.document; }
  const Config& config() const { return config_of(facts.document); }
  const ViewState& view() const { return facts.view; }
};

/// A property: its name, which words are possible (null: it takes a number), and whether it is so.
struct Property {
  const char* name;
  bool (*is_possible)(const std::string& word);
  std::string expected;
  bool (*is_there)(const Asked& asked);
};

constexpr const char* kMasks[] = {"causal", "not_causal", "padding", "not_padding", "painted"};
constexpr const char* kOfTheView[] = {"head", "pinned", "matrix", "cell", "flow"};

bool is_listed(const auto& words, const std::string& word) { return std::ranges::find(words, word) != std::end(words); }

const QuestionField* field_named(const std::string& name) {
  const QuestionFields& fields = question_fields();
  const auto found = std::ranges::find_if(fields, [&](const QuestionField& f) { return name == f.name; });
  return found == fields.end() ? nullptr : &*found;
}

bool has_mask(const Asked& asked) {
  const MaskSpec& mask = mask_of(asked.document(), asked.view().chosen.stack, asked.view().chosen.layer);
  if (asked.word == "causal") return mask.causal;
  if (asked.word == "padding") return mask.padding;
  if (asked.word == "painted") return !mask.painted.empty();
  return asked.word == "not_causal" ? !mask.causal : !mask.padding;
}

/// A field of the question, or a part of the view, is another than the scene had.
bool has_changed(const Asked& asked) {
  if (!asked.scene) return false;
  const ViewState &now = asked.view(), &then = asked.scene->view;
  const std::string& word = asked.word;
  if (word == "head") return now.chosen != then.chosen;
  if (word == "pinned") return now.pinned && now.pinned != then.pinned;
  if (word == "matrix") return now.look.matrix.quantity != then.look.matrix.quantity;
  if (word == "cell") return now.look.cell && !(now.look == then.look);
  if (word == "flow") return !(now.flow == then.flow);
  return !field_named(word)->is_same(asked.document(), asked.scene->document);
}

/// The token of the pinned cell that a word names: on the side of the queries, or of the keys.
bool is_pinned(const Asked& asked, bool query) {
  if (!asked.facts.trace || !asked.view().pinned) return false;
  const Stack stack = asked.view().chosen.stack;
  const Tokens& tokens = query ? asked.facts.trace->query_tokens(stack) : asked.facts.trace->key_tokens(stack);
  const Index at = query ? asked.view().pinned->query : asked.view().pinned->key;
  if (asked.word.find('#') != std::string::npos) return find_position(tokens, {asked.word}) == at;
  return at < static_cast<Index>(tokens.size()) && tokens.tokens[static_cast<std::size_t>(at)].text == asked.word;
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

template <const auto& names>
bool is_name(const std::string& word) {
  return is_listed(names, word);
}

/// `a, b or c`.
std::string alternatives(const auto& words) {
  std::string text;
  for (std::size_t i = 0; i < std::size(words); ++i)
    text.append(i == 0 ? "" : i + 1 < std::size(words) ? ", " : " or ").append(words[i]);
  return text;
}

std::string field_names() {
  return joined_texts(question_fields(), ", ", [](const QuestionField& field) { return field.name; });
}

/// `count` is at most or at least the number of the goal.
bool at_most(const Asked& asked, auto count) { return static_cast<double>(count) <= asked.number; }
bool at_least(const Asked& asked, auto count) { return static_cast<double>(count) >= asked.number; }

const std::vector<Property>& properties() {
  static const std::vector<Property> all = {
      {"mask", is_name<kMasks>, alternatives(kMasks), has_mask},
      {"text_contains", is_word, "a text", [](const Asked& a) { return has(a.document().source.text, a.word); }},
      {"target_contains", is_word, "a text", [](const Asked& a) { return has(a.document().target.text, a.word); }},
      {"pinned_query", is_word, "a word, or word#2", [](const Asked& a) { return is_pinned(a, true); }},
      {"pinned_key", is_word, "a word, or word#2", [](const Asked& a) { return is_pinned(a, false); }},
      {"chosen_head", is_head, "a head such as 0.3 or cross:0.3",
       [](const Asked& a) { return parse_head(a.word) == a.view().chosen; }},
      {"head_off", is_off_name, "any, or a head such as 0.3",
       [](const Asked& a) {
         const auto head = parse_head(a.word);
         return head ? is_off(a.document().edits, *head) : !a.document().edits.off.empty();
       }},
      {"view", is_name<kViewNames>, alternatives(kViewNames),
       [](const Asked& a) { return name(a.view().view) == a.word; }},
      {"matrix", [](const std::string& word) { return parse_matrix_name(word).has_value(); },
       "a matrix such as head.query",
       [](const Asked& a) {
         return looks_at_matrices(a.view().view) && parse_matrix_name(a.word) == a.view().look.matrix.quantity;
       }},
      {"stack", [](const std::string& word) { return parse_stack(word).has_value(); }, "self, encoder or cross",
       [](const Asked& a) { return parse_stack(a.word) == a.view().chosen.stack; }},
      {"position", is_name<kPositionNames>, alternatives(kPositionNames),
       [](const Asked& a) { return name(a.config().position) == a.word; }},
      {"arch", is_name<kArchNames>, alternatives(kArchNames),
       [](const Asked& a) { return name(a.config().arch) == a.word; }},
      {"changed", [](const std::string& word) { return is_name<kOfTheView>(word) || field_named(word); },
       joined_texts(kOfTheView, ", ") + ", or a field of the question: " + field_names(), has_changed},
      {"heads_at_most", nullptr, "a number", [](const Asked& a) { return at_most(a, a.config().num_heads); }},
      {"heads_at_least", nullptr, "a number", [](const Asked& a) { return at_least(a, a.config().num_heads); }},
      {"layers_at_least", nullptr, "a number", [](const Asked& a) { return at_least(a, a.config().num_layers); }},
      {"d_model_at_least", nullptr, "a number", [](const Asked& a) { return at_least(a, a.config().d_model); }},
      {"heads_off_at_most", nullptr, "a number",
       [](const Asked& a) { return at_most(a, a.document().edits.off.size()); }},
      {"scale_at_least", nullptr, "a number", [](const Asked& a) { return at_least(a, scale_of(a.document())); }},
      {"scale_at_most", nullptr, "a number", [](const Asked& a) { return at_most(a, scale_of(a.document())); }},
      {"trained_steps", nullptr, "a number",
       [](const Asked& a) { return a.facts.trained_steps && at_least(a, *a.facts.trained_steps); }},
      {"shown_step_at_most", nullptr, "a number",
       [](const Asked& a) { return a.facts.shown_step && at_most(a, *a.facts.shown_step); }},
      {"weights_by_hand_at_least", nullptr, "a number",
       [](const Asked& a) { return at_least(a, a.document().edits.weights.size()); }}};
  return all;
}

std::string all_names() { return joined_texts(properties(), ", ", &Property::name); }

Result<Goal> goal_from_json(const std::string& where, const std::string& key, const json& value) {
  const auto found = std::ranges::find_if(properties(), [&](const Property& property) { return key == property.name; });
  if (found == properties().end()) return bad_input(where, "done", all_names(), printable(key));
  Goal goal{static_cast<std::size_t>(found - properties().begin()), {}, 0};
  const auto wrong = [&] { return bad_input(where, "done: " + key, found->expected, printable(value.dump())); };
  if (!found->is_possible) {
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
  for (const auto& [key, value] : object.items()) goals.push_back(TRY(goal_from_json(where, key, value)));
  return goals;
}

bool is_reached(const Goal& goal, const GoalFacts& facts, const Scene* scene) {
  const Property& property = properties()[goal.kind];
  if (!property.is_possible) return property.is_there({std::string(), goal.number, facts, scene});
  return std::ranges::any_of(goal.words, [&](const std::string& word) {
    return property.is_there({word, 0, facts, scene});
  });
}

}  // namespace headlight
