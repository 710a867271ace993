// The boxes in which sentences are typed, or ids.
#pragma once

#include "gui/frame/gui.h"

namespace headlight {

/// Controls of the target's side have its name before theirs.
std::string named(TextSide side, const std::string& name);

/// The text of a side; gives where its cursor is, in bytes, while it has the keyboard.
std::optional<std::size_t> side_box(Gui& gui, TextSide side, float width);
/// The text of the box that takes the keyboard: the sentence, or a turn of the conversation.
const std::string& text_of_keyboard(const Document& document);
/// Sentence B of a pair.
void second_box(Gui& gui, float width);
/// A turn of a conversation.
void turn_box(Gui& gui, std::size_t turn, float width);
/// The input of a checkpoint without a tokenizer: numbers between commas or spaces.
void ids_box(Gui& gui, TextSide side, float width);

}  // namespace headlight
