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

/// `heads 4 → 8`: a number of the model; empty where none differs.
std::string changed_shape(const Gui& gui, const Config& before, const Config& now) {
  const std::pair<const Words&, Index Config::*> numbers[] = {{kModelWords.d_model, &Config::d_model},
                                                              {kModelWords.heads, &Config::num_heads},
                                                              {kModelWords.layers, &Config::num_layers},
                                                              {kModelWords.feed_forward, &Config::ffn}};
  std::string text;
  for (const auto& [name, field] : numbers)
    if (before.*field != now.*field)
      text += (text.empty() ? "" : ", ") + std::string(gui.word(name)) + " " + std::to_string(before.*field) + " → " +
              std::to_string(now.*field);
  return text;
}

/// The weight that was set last, with its new value.
std::string changed_weight(const Gui& gui, const Edits& before, const Edits& now) {
  for (const WeightEdit& edit : now.weights)
    if (const WeightEdit* was = edited_weight(before, edit.head, edit.cell); !was || was->weight != edit.weight)
      return std::string(gui.word(kChangeWords.weight)) + ": " + share_text(static_cast<double>(edit.weight));
  return gui.word(kChangeWords.weights);
}

/// `norms, layer 1: off`: the first part that was switched; empty where the change is another.
std::string changed_part(const Gui& gui, const Edits& before, const Edits& now) {
  for (const Edits* edits : {&now, &before})
    for (const LayerEdit& edit : edits->layers)
      for (const BlockPart part : kBlockParts) {
        const bool off = is_off(now, edit.stack, edit.layer, part);
        if (off == is_off(before, edit.stack, edit.layer, part)) continue;
        return filled(gui.word(off ? kChangeWords.part_off : kChangeWords.part_on),
                      {gui.word(kMaskWords.parts[static_cast<std::size_t>(part)]), std::to_string(edit.layer)});
      }
  return {};
}

}  // namespace

std::string change_in_words(const Gui& gui, const Document& before, const Document& now) {
  const Edits &old = before.edits, &fresh = now.edits;
  if (!(before.config == now.config)) {
    const std::string shape = changed_shape(gui, before.config, now.config);
    return shape.empty() ? gui.word(kChangeWords.model) : shape;
  }
  if (before.model != now.model) return gui.word(now.model ? kChangeWords.trained : kChangeWords.random);
  if (before.source.text != now.source.text || before.target.text != now.target.text ||
      before.text_pair != now.text_pair || before.chat != now.chat)
    return gui.word(kChangeWords.sentence);
  if (!(before.source == now.source) || !(before.target == now.target)) return gui.word(kChangeWords.cut);
  if (before.pad != now.pad) return gui.word(kChangeWords.padding);
  if (old.off != fresh.off) {
    if (fresh.off.empty() && old.off.size() > 1) return gui.word(kChangeWords.all_on);
    const auto off = switched_head(fresh, old), on = switched_head(old, fresh);
    if (off) return filled(gui.word(kChangeWords.head_off), {head_label(*off)});
    if (on) return filled(gui.word(kChangeWords.head_on), {head_label(*on)});
  }
  if (old.off_as != fresh.off_as) return gui.word(kChangeWords.off_as);
  if (!(old.weights == fresh.weights)) return changed_weight(gui, old, fresh);
  if (old.scale != fresh.scale) return gui.word(kChangeWords.scale);
  if (old.dropout != fresh.dropout || old.dropout_seed != fresh.dropout_seed) return gui.word(kChangeWords.dropout);
  const auto masks_differ = [&](MaskSpec Document::*mask) { return !(before.*mask == now.*mask); };
  if (masks_differ(&Document::mask) || masks_differ(&Document::encoder_mask) || masks_differ(&Document::cross_mask))
    return gui.word(kChangeWords.mask);
  if (old.layers == fresh.layers) return gui.word(kChangeWords.anything);
  const std::string part = changed_part(gui, old, fresh);
  return part.empty() ? gui.word(kChangeWords.layer) : part;
}

}  // namespace headlight
