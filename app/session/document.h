// What is asked, as the user sees it: the text and everything set around it. Undo is a vector of these; a Request is
// derived from one. The command line and the window fill the same Document, so they get the same answer.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/request.h"
#include "text/words.h"

namespace headlight {

inline constexpr std::string_view kDefaultSentence = "我请李雷帮我订了去北京的机票";

/// More tokens than this are refused: their patterns could be computed, but not waited for.
inline constexpr std::size_t kMaxTokens = 16384;
/// The limits of a text and of a batch: it is cut anew at every keystroke, and padded to its longest sentence.
inline constexpr std::size_t kMaxTextBytes = std::size_t{1} << 20;
inline constexpr std::size_t kMaxSentences = 4096;
inline constexpr std::size_t kMaxBatchTokens = std::size_t{1} << 18;

struct Document {
  std::string text{kDefaultSentence};       // UTF-8; each line that is not empty is a sentence of a batch
  Split split = Split::words;
  std::optional<std::vector<std::size_t>> hand_cuts;  // byte offsets into `text`, ascending; in place of `split`
  std::size_t pad = 0;                      // the last tokens of each sentence that count as padding
  Config config;                            // of fresh weights
  std::shared_ptr<const Model> model;       // in place of fresh weights: what a tensors file held
  std::string source;                       // the path `model` was read from
  MaskSpec mask;
  Edits edits;

  friend bool operator==(const Document&, const Document&) = default;
};

inline std::string_view name(Split split) { return split == Split::words ? "words" : "characters"; }

/// A sentence of the text: the bytes [begin, end).
struct Line {
  std::size_t begin = 0, end = 0;
};
std::vector<Line> sentences(std::string_view text);

/// The byte offsets at which the whole text is cut now, by hand or by `split`.
std::vector<std::size_t> current_cuts(const Document& document, const Lexicon& lexicon);

/// One Request a sentence, each padded to the longest. A tensors file gives exactly one.
Result<std::vector<Request>> requests_of(const Document& document, const Lexicon& lexicon);

/// Changes the text. Boundaries set by hand stay where the text did not change; new text is cut by `split`, also
/// from its neighbours where it was put between two tokens or at an end.
void set_text(Document& document, std::string text, const Lexicon& lexicon);

/// Cuts at `offset`, or joins there; from then on the boundaries are the user's.
void toggle_cut(Document& document, std::size_t offset, const Lexicon& lexicon);

}  // namespace headlight
