// The question as the user sees it: the text and all its settings. Undo is a vector of these; a Request is
// derived from one. The command line and the window fill the same Document, so they get the same answer.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "math/output.h"
#include "model/request.h"
#include "question/picture_input.h"
#include "question/text_input.h"
#include "read/tokenizer/chat.h"

namespace headlight {

struct Tokenizers;
struct TrainingCard;

inline constexpr std::string_view kDefaultSentence = "我请李雷帮我订了去北京的机票";
/// … and what it is in English, which the decoder of an encoder-decoder reads.
inline constexpr std::string_view kDefaultTarget = "I asked Li Lei to book me a ticket to Beijing";

/// Of a batch, whose sentences are padded to the longest; one sentence has at most kMaxTokens.
inline constexpr std::size_t kMaxBatchTokens = std::size_t{1} << 18;

/// The texts of a document: what the first stack reads, and in an encoder-decoder what the decoder reads.
enum class TextSide { source, target };

struct OwnNumbers;  // read/external/own_numbers.h

struct Document {
  TextInput source{.text = std::string(kDefaultSentence)};
  TextInput target{.text = std::string(kDefaultTarget)};  // read where the model is an encoder-decoder
  std::string text_pair;         // sentence B of a pair, a line for each line of the text; empty: no pair.
                                 // Read where takes_pairs()
  Chat chat;                     // a conversation, read instead of the text; no turns: none. Read where reads_chat()
  std::vector<int> token_types;  // of `ids`; empty: all 0
  std::shared_ptr<const PictureInput> picture;   // instead of a text, where reads_picture(); null: none is given
  std::shared_ptr<const PatchedPicture> seen;    // … and what the model sees of it: set_picture()
  std::size_t pad = 0;                           // the last tokens of each sentence of the source that count as padding
  Config config;                                 // of fresh weights
  std::shared_ptr<const Model> model;            // instead of fresh weights: a checkpoint, or what a tensors file held
  std::shared_ptr<const Tokenizers> tokenizers;  // of a checkpoint (document/tokenizers.h); null: it has none
  std::shared_ptr<const TrainingCard> card;      // how the model was made and what was measured; null: unknown
  std::shared_ptr<const OwnNumbers> numbers;     // entered by the user, the source of `model`; null: none
  std::string model_path;  // the path `model` was read from, or a shipped model (document/bundled_models.h)
  bool trained = false;    // of a model: `config` is its shape; without: shapes that a shipped model
                           // has are answered by it, others by fresh weights
  MaskSpec mask;           // of Stack::self
  MaskSpec encoder_mask;
  MaskSpec cross_mask;
  Edits edits;

  friend bool operator==(const Document&, const Document&) = default;
};

/// document.source or document.target.
TextInput& text_input(Document& document, TextSide side);
const TextInput& text_input(const Document& document, TextSide side);

/// The text that the main stack reads, to which generated words are appended.
TextSide main_side(const Document& document);

/// The configuration of the model, else `document.config`.
const Config& config_of(const Document& document);

/// Whether the model came with inputs instead of a text: a tensors file.
bool has_own_inputs(const Document& document);
/// Whether the model is a checkpoint, which reads ids, and texts where it has a tokenizer.
bool is_checkpoint(const Document& document);
/// Whether the controls of the shape act on it: fresh weights, a shipped model, one that was trained here.
bool takes_shape(const Document& document);
/// Whether a text can be the input: with fresh weights always, of a checkpoint where it has a tokenizer.
bool can_read_text(const Document& document);
/// Whether ids are the input of a checkpoint on this side: where there are some, or no tokenizer.
bool reads_ids(const Document& document, TextSide side = TextSide::source);
/// Whether a conversation can be the input: a checkpoint of a family whose marks are known (read/tokenizer/chat.h).
bool takes_chat(const Document& document);
/// Whether a conversation is the input: the model takes it, there is one, and no ids replace it.
bool reads_chat(const Document& document);
/// Whether a side's text is what the model reads: no ids, conversation, picture or inputs of a tensors file replace it.
bool reads_text(const Document& document, TextSide side = TextSide::source);
/// Whether sentences may be pairs: the model is no decoder, reads text, and its tokenizer has a template for pairs.
bool takes_pairs(const Document& document);
/// Whether each sentence of the text gives a Request.
bool reads_sentences(const Document& document);
/// How many sentences the document has.
std::size_t count_sentences(const Document& document);
/// Whether the user may set the boundaries of tokens: they are words, not subwords of a tokenizer.
bool cuts_words(const Document& document, TextSide side = TextSide::source);
/// The lexicon that cuts a text without cuts by hand: the vocabulary of a word-level model, or `lexicon`.
const Lexicon& lexicon_of(const Document& document, TextSide side, const Lexicon& lexicon);

/// Changes a text as set_text of text_input.h does, and removes the ids or the conversation that replaced it.
void set_text(Document& document, TextSide side, std::string text, const Lexicon& lexicon);
/// Adds or removes a cut at a byte offset. Precondition: cuts_words.
void toggle_cut(Document& document, TextSide side, std::size_t offset, const Lexicon& lexicon);

/// Whether `Stack::self` is causal by default.
inline bool is_causal_by_default(Arch arch) { return arch != Arch::encoder; }

/// The mask of a stack.
MaskSpec& mask_of(Document& document, Stack stack);
const MaskSpec& mask_of(const Document& document, Stack stack);
/// The mask of one layer: that of its edit where there is one, else its stack's.
const MaskSpec& mask_of(const Document& document, Stack stack, Index layer);

/// One Request a sentence, each padded to the longest; an encoder-decoder takes the lines of both texts in pairs, each
/// side padded to its longest. A tensors file gives exactly one. A checkpoint's tokenizer encodes its text,
/// with special tokens; its decoder reads the target shifted right (document/tokenizers.h), so for an empty target the
/// start token alone.
Result<std::vector<Request>> requests_of(const Document& document, const Lexicon& lexicon);

/// Each sentence, with its target, as a separate document; a tensors file has one.
Result<std::vector<Document>> documents_of_lines(const Document& document);

/// Appends a word to what the main stack reads in one sentence, before any padding: as one token, whatever the split
/// would make of it. A checkpoint then reads exactly the ids that it read before, and the new one: where no text is
/// encoded as those, the document continues as the ids of this sentence alone.
void append_word(Document& document, std::size_t sentence, const Candidate& word, const Lexicon& lexicon);

/// The same question about the first `count` tokens of what the decoder reads; given masks are cut to fit. An encoder
/// and a tensors file have no decoder: theirs is returned as it is, and so is one of `count` tokens or fewer.
Request prefix_of(Request request, std::size_t count);

}  // namespace headlight
