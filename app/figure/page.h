// Parts of each figure: a page with its sizes of type, a colour bar with numbers, and a caption that describes it.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "figure/figure.h"
#include "figure/labels.h"
#include "words/figure_words.h"

namespace headlight {

/// No text of a figure is smaller (points): what most journals ask for at least. On a page narrower than a column of
/// print type shrinks further, so that the picture has room.
inline constexpr float kLeastType = 7, kNarrowPage = 60 * kPointsInMm;

/// A line of text takes this many ems, so that two of them never touch.
inline constexpr float kLineOfText = 1.3f;

/// A figure while it is made: items are added from the top down, `y` is where the next begins.
struct Page {
  Drawing drawing;
  const TextWidth& measure;
  InkColours ink;
  float title, label, least_label, value;  // ems in points
  float margin, y;
  bool captioned;  // the caption is drawn

  float left() const { return margin; }
  float right() const { return drawing.width - margin; }
  float room() const { return drawing.width - 2 * margin; }
  /// How high the data of a figure should be at most: a page's column is higher than wide, a slide is not.
  float fair_height() const;
  /// How high the maps may be so that a slide is not higher than a screen; of a column any height.
  float most_height() const;
};

Page new_page(const FigureOptions& options, const TextWidth& measure);

/// Adds a text, measured.
const Text& add_text(Page& page, Point at, const std::string& text, float size, Rgb colour, Role role = Role::label,
                     Anchor anchor = Anchor::left, TextRotation turn = TextRotation::level);

/// The title of a figure, and `beside` in the accent's colour or, `quiet`, in grey; below it where it would be too
/// wide.
void add_title(Page& page, const std::string& title, const std::string& beside, bool quiet = false);

/// The title of a figure of a single head: its number, and its name with the score, or that it is off.
void add_title_of_head(Page& page, const FigureSubject& subject, const FigureOptions& options, const HeadRef& head);

/// Whether a line may end between these two: after a space, and beside a Chinese character; but no line begins with a
/// mark that closes, and none ends with one that opens (Requirements for Chinese Text Layout, W3C, 3.1.3).
bool may_break(char32_t before, char32_t after);

/// `text` in lines of at most `room`, broken at spaces and between Chinese characters, marks where they belong.
std::vector<std::string> wrapped(std::string_view text, float size, float room, const TextWidth& measure);

/// An Error names a stack, a layer or a head that the answer does not have.
Status check_head(const Trace& trace, const HeadRef& head);

/// The cell of the head in the options, else the default cell of the window. Errors: there is none.
Result<CellRef> asked_cell(const FigureSubject& subject, const FigureOptions& options);

/// The folded maps of a stack; null where its tokens are not folded.
const FoldedStack* folded_stack(const FigureSubject& subject, Stack stack);

/// The labels of the rows or columns of a stack: tokens, or groups of them.
const std::vector<Token>& axis_tokens(const FigureSubject& subject, Stack stack, bool of_queries);

/// Text as wide as the page, and as many lines as it takes, from `page.y` on.
void add_lines(Page& page, std::string_view text, float size, Role role, Rgb colour);

/// A term as a list has it: a number, what it is multiplied by, what that comes to, and the length of its bar.
struct TermWords {
  std::string from = {}, times = {}, addend = {};
  float length = 0;
};
/// Adds terms in columns of about the same height, a bar beside each where there is room.
void add_terms(Page& page, const std::vector<TermWords>& terms, Theme theme);
/// Which terms are not listed, and what they come to; empty where all are.
std::string others_of(Language language, std::size_t shown, std::size_t all, std::optional<double> rest);
/// Adds the largest terms of a ScoreSplit or a LogitSplit, whose order by size is `order`, and gives what others_of
/// does. `words_of` names what a term is of; its number and its bar are added.
template <class Split, class WordsOf>
std::string add_largest_terms(Page& page, const Split& split, const std::vector<std::size_t>& order,
                              const FigureOptions& options, const WordsOf& words_of) {
  constexpr std::size_t kMostTerms = 20;
  std::vector<TermWords> terms;
  for (std::size_t i = 0; i < std::min(order.size(), kMostTerms); ++i) {
    const auto& term = split.terms[order[i]];
    TermWords& words = terms.emplace_back(words_of(term));
    words.length = static_cast<float>(term.value);
    words.addend = signed_cell_number(words.length);
  }
  double rest = 0;
  for (std::size_t i = terms.size(); i < order.size(); ++i) rest += split.terms[order[i]].value;
  add_terms(page, terms, options.theme);
  return others_of(options.language, terms.size(), order.size(), rest);
}

/// Adds a colour bar with its numbers and what they are; `blocks`: and a hatched cell with what that is.
void add_colour_bar(Page& page, const ColourScale& scale, const std::string& numbers, Language language, bool blocks,
                    const Words& hatched = kFigureWords.blocked);
/// Adds the colours of heads with their names.
void add_head_legend(Page& page, const std::vector<std::string>& names, Theme theme);
/// What an answer was asked, as captions state it: model, sentence, the mask and the scale of these layers of the
/// head's stack, and each edit.
std::vector<std::string> question_in_words(Language language, const FigureSubject& subject, const HeadRef& head,
                                           const std::set<Index>& layers);
/// Ends the page with a caption.
Drawing with_caption(Page page, const std::string& caption);

/// Ends the page: the colour bar, where there is one (with a blocked cell where `blocks`), and the caption with
/// `remarks` at its end.
Drawing finished(Page page, const FigureSubject& subject, const FigureOptions& options,
                 const std::optional<ColourScale>& bar, bool blocks, const std::vector<std::string>& remarks);

// The figures, one a file.
Drawing draw_heads(const FigureSubject& subject, const FigureOptions& options, const TextWidth& measure);
/// Errors: more words than a window draws so, a cell that there is not.
Result<Drawing> draw_sentence(const FigureSubject& subject, const FigureOptions& options, const TextWidth& measure);
Drawing draw_head(const FigureSubject& subject, const FigureOptions& options, const TextWidth& measure);
Drawing draw_text(const FigureSubject& subject, const FigureOptions& options, const TextWidth& measure);
Drawing draw_flow(const FigureSubject& subject, const FigureOptions& options, const TextWidth& measure);
Drawing draw_diagram(const FigureSubject& subject, const FigureOptions& options, const TextWidth& measure);
/// Errors: a matrix or a cell that there is not.
Result<Drawing> draw_matrix(const FigureSubject& subject, const FigureOptions& options, const TextWidth& measure);
/// Errors: a cell that there is not, a score that is no sum of terms.
Result<Drawing> draw_writers(const FigureSubject& subject, const FigureOptions& options, const TextWidth& measure);
/// Errors: no output layer, a query that there is not, an unknown word.
Result<Drawing> draw_lens(const FigureSubject& subject, const FigureOptions& options, const TextWidth& measure);
Result<Drawing> draw_steps(const FigureSubject& subject, const FigureOptions& options, const TextWidth& measure);

}  // namespace headlight
