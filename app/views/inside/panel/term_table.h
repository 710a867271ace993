// The terms of a sum as a list: what each is made of, its number, and a bar beside it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "explain/writers.h"
#include "gui/frame/gui.h"

namespace headlight {

/// Finds the target of a click, only when it comes: this may read a row of a pattern. Empty: no target.
using Way = std::function<LookAt()>;

/// To the head that the writer is, at the strongest cell of this token's row; empty where the writer is no head. The
/// trace must outlive it.
Way way_to_writer(const Trace& trace, const Writer& writer, Index token, std::optional<InsideTab> tab = {});

/// A part of a term: a click on it goes where it was computed.
struct TermPart {
  std::string text;
  Way leads_to = {};
  bool as_link = false;  // in the colour of links, beside parts that lead nowhere
};
struct TermLine {
  TermPart from;
  TermPart times = {};      // what it is multiplied by; an empty text: nothing
  std::string addend = {};  // the product
};

/// The columns of such a list besides `from` and the bar.
struct TermColumns {
  bool times = false, addends = false;
};

/// Whether there is room for exact numbers and bars; else numbers are brief, and a sum has no bars.
bool has_room_for_terms(const Gui& gui);

/// `line` gives term 0 … count − 1 when it is in sight, and `length` the number that its bar shows. The parts are named
/// `term 3` and `times 3`. `heading` stays above them where it has texts.
void term_table(Gui& gui, std::size_t count, TermColumns columns, const std::function<float(std::size_t)>& length,
                const std::function<TermLine(std::size_t)>& line, const TermLine& heading = {});

}  // namespace headlight
