#include "gui/actions/changes.h"

#include "figure/head_name.h"
#include "model/head_text.h"
#include "words/mask_words.h"
#include "words/model_words.h"
#include "words/window_words.h"

namespace headlight {
namespace {

/// A head that is off in the one and on in the other.
std::optional<HeadRef> switched_head(const Edits& a, const Edits& b) {
  for (const HeadRef& head : a.off)
    if (!is_off(b, head)) return head;
  return std::nullopt;
}

/// The weight that was set last, with its new value; empty: none was, but some are no longer set.
std::string changed_weight(Language language, const Edits& before, const Edits& now) {
  for (const WeightEdit& edit : now.weights)
    if (const WeightEdit* was = edited_weight(before, edit.head, edit.cell); !was || was->weight != edit.weight)
      return std::string(words(language, kChangeWords.weight)) + ": " + share_text(static_cast<double>(edit.weight));
  return {};
}

/// `norms, layer 1: off`: the first part that was switched; empty where the change is another.
std::string changed_part(Language language, const Edits& before, const Edits& now) {
  for (const Edits* edits : {&now, &before})
    for (const LayerEdit& edit : edits->layers)
      for (const BlockPart part : kBlockParts) {
        const bool off = is_off(now, edit.stack, edit.layer, part);
        if (off == is_off(before, edit.stack, edit.layer, part)) continue;
        return filled(words(language, off ? kChangeWords.part_off : kChangeWords.part_on),
                      {words(language, kMaskWords.parts[static_cast<std::size_t>(part)]), std::to_string(edit.layer)});
      }
  return {};
}

std::string changed_head(Language language, const Edits& before, const Edits& now) {
  if (now.off.empty() && before.off.size() > 1) return words(language, kChangeWords.all_on);
  if (const auto off = switched_head(now, before))
    return filled(words(language, kChangeWords.head_off), {head_label(*off)});
  const auto on = switched_head(before, now);
  return on ? filled(words(language, kChangeWords.head_on), {head_label(*on)}) : std::string();
}

/// What describes a change better than the name of its field; empty: nothing.
std::string detail(Language language, const QuestionField& field, const Document& before, const Document& now) {
  const std::string_view name = field.name;
  if (field.part == FieldPart::model && field.text) return changed_shape(language, before.config, now.config);
  if (name == "random") return words(language, now.model ? kChangeWords.trained : kChangeWords.random);
  if (name == "off") return changed_head(language, before.edits, now.edits);
  if (name == "weights") return changed_weight(language, before.edits, now.edits);
  if (name == "layer_edits") return changed_part(language, before.edits, now.edits);
  return {};
}

}  // namespace

std::string changed_shape(Language language, const Config& before, const Config& now) {
  std::string text;
  const auto add = [&](const Words& name, auto Config::*field) {
    if (before.*field != now.*field)
      text += (text.empty() ? "" : ", ") + std::string(words(language, name)) + " " + std::to_string(before.*field) +
              " → " + std::to_string(now.*field);
  };
  add(kModelWords.heads, &Config::num_heads);
  add(kModelWords.d_model, &Config::d_model);
  add(kModelWords.layers, &Config::num_layers);
  add(kModelWords.feed_forward, &Config::ffn);
  add(kModelWords.seed, &Config::seed);
  return text;
}

std::string change_in_words(Language language, const Document& before, const Document& now,
                            const QuestionFields& fields) {
  const bool shape = !(before.config == now.config);  // describes more than that the model is another one
  for (const FieldPart part : {FieldPart::model, FieldPart::text, FieldPart::edits, FieldPart::mask})
    for (const QuestionField& field : fields) {
      if (field.part != part || field.is_same(before, now) || (shape && std::string_view(field.name) == "random"))
        continue;
      const std::string more = detail(language, field, before, now);
      return more.empty() ? words(language, field.change) : more;
    }
  return words(language, kChangeWords.anything);
}

}  // namespace headlight
