#include "question/document.h"

#include <algorithm>

#include "base/utf8.h"
#include "math/block.h"
#include "model/batch_mask.h"
#include "question/question_fields.h"
#include "question/side_tokens.h"
#include "question/tokenizers.h"

namespace headlight {
namespace {

/// The sentences of a side, each as long as the longest.
Result<std::vector<Tokens>> padded_sentences(const Document& document, TextSide side, const Lexicon& lexicon) {
  const char* where = side == TextSide::target ? "target" : "text";
  auto lines = lines_of_side(document, side, lexicon);
  if (!lines) return lines;
  if (lines->empty()) return bad_input(where, "tokens", "at least one", "none", ErrorCode::no_tokens);
  std::size_t longest = 0;
  for (Tokens& tokens : *lines) {
    if (tokens.size() == 0) return bad_input(where, "tokens", "at least one", "none", ErrorCode::no_tokens);
    tokens = with_padding_marked(std::move(tokens), side == TextSide::source ? document.pad : 0);
    longest = std::max(longest, tokens.size());
  }
  if (lines->size() > 1 && lines->size() * longest > kMaxBatchTokens)
    return bad_input(where, "tokens of the batch, every sentence as long as the longest",
                     "at most " + std::to_string(kMaxBatchTokens), std::to_string(lines->size() * longest),
                     ErrorCode::batch_too_long);
  for (Tokens& tokens : *lines) {
    const std::size_t own = tokens.size();
    tokens = padded(std::move(tokens), longest);
    if (!tokenizer_of(document, side)) continue;
    for (std::size_t i = own; i < longest; ++i) {
      Token padding = document.tokenizers->padding;
      padding.begin = padding.end = tokens.text.size();
      tokens.tokens[i] = std::move(padding);
    }
  }
  return lines;
}

Error unpaired_lines(std::size_t sources, std::size_t targets) {
  return bad_input("target", "sentences", std::to_string(sources) + ", a line for each line of the text",
                   std::to_string(targets), ErrorCode::lines_differ);
}

MaskSpec Document::*mask_field(Stack stack) {
  switch (stack) {
    case Stack::encoder: return &Document::encoder_mask;
    case Stack::cross: return &Document::cross_mask;
    case Stack::self: break;
  }
  return &Document::mask;
}

/// The first rows and columns of a given mask, where it has more.
void shrink(MaskSpec& mask, Index queries, Index keys) {
  std::erase_if(mask.painted, [&](const PaintedCell& cell) { return cell.query >= queries || cell.key >= keys; });
  mask.batch = nullptr;  // `given` is of one sentence
  const Index own = mask.given ? mask.given->rows() / mask.heads : 0;
  if (!mask.given || (own <= queries && mask.given->cols() <= keys)) return;
  const Index rows = std::min(queries, own);
  Matrix kept(mask.heads * rows, std::min(keys, mask.given->cols()));
  for (Index head = 0; head < mask.heads; ++head)
    kept.middleRows(head * rows, rows) = mask.given->block(head * own, 0, rows, kept.cols());
  mask.given = std::make_shared<const Matrix>(std::move(kept));
}

/// Splits a mask with an axis for sentences or for heads into a mask for each sentence.
Status part_masks(const Document& document, std::vector<Request>& requests) {
  const auto sentences = static_cast<Index>(requests.size());
  for (Index i = 0; i < sentences; ++i) {
    Request& request = requests[static_cast<std::size_t>(i)];
    for (const Stack stack : kStacks) {
      if (!has_stack(request, stack)) continue;
      const auto queries = static_cast<Index>(query_tokens(request, stack).size());
      const auto keys = static_cast<Index>(key_tokens(request, stack).size());
      const Index heads = attention_size(document, stack)->heads;
      MaskSpec& mask = stack == Stack::encoder ? request.encoder_mask
                       : stack == Stack::cross ? request.cross_mask
                                               : request.mask;
      if (const auto own = give_own_mask(mask_name(stack), mask, queries, keys, sentences, i, heads); !own) return own;
      for (LayerEdit& edit : request.edits.layers) {
        if (edit.stack != stack || !edit.mask) continue;
        const std::string where = mask_name(stack, edit.layer);
        if (const auto own = give_own_mask(where, *edit.mask, queries, keys, sentences, i, heads); !own) return own;
      }
    }
  }
  return Done{};
}

Result<std::vector<Request>> parted(const Document& document, std::vector<Request> requests) {
  TRY(part_masks(document, requests));
  return requests;
}

/// Reduces the document to one sentence.
void keep_sentence(Document& document, std::size_t sentence) {
  for (const TextSide side : {TextSide::source, TextSide::target}) {
    TextInput& input = text_input(document, side);
    const bool by_ids = reads_ids(document, side);
    const auto lines = by_ids ? id_sentences(input) : sentences(input.text);
    if (sentence >= lines.size() || (side == TextSide::source && reads_chat(document))) continue;
    const auto keep = [&, line = lines[sentence]](auto& values) {
      values.resize(line.end), values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(line.begin));
    };
    if (by_ids) {
      keep(input.ids), input.id_cuts.clear();
      if (side == TextSide::source && !document.token_types.empty()) keep(document.token_types);
      continue;
    }
    input = text_input_of(input, lines[sentence]);
    if (side == TextSide::source) document.text_pair = line_of_text_pair(document.text_pair, sentence);
  }
}

/// The texts that may come to the sentence with one more word: cut by the model itself, and with the word cut by hand.
std::vector<TextInput> continued(const Document& document, TextSide side, std::size_t sentence, std::size_t pad,
                                 const Candidate& word, const Lexicon& lexicon) {
  const Tokenizer& tokenizer = *tokenizer_of(document, side);
  const TextInput& before = text_input(document, side);
  const std::string bytes = bytes_of_id(tokenizer, word.id);
  if (bytes.empty() || !check_utf8("", bytes)) return {};
  TextInput whole = before;
  if (sentences(before.text).size() <= sentence) {  // the first word behind a start token
    whole.text = bytes;
    whole.hand_cuts.reset();
    return {whole};
  }
  if (finds_words(tokenizer)) {
    TextInput by_hand = before;
    set_hand_cuts(by_hand, tokenizer);
    insert_word(by_hand, sentence, pad, bytes, lexicon_of(document, side, lexicon));
    if (before.hand_cuts) return {by_hand};
    whole.text = by_hand.text;
    return {whole, by_hand};
  }
  const std::size_t at = sentences(before.text)[sentence].end;
  whole.text.insert(at, bytes);
  if (whole.hand_cuts) {
    std::vector<std::size_t>& cuts = *whole.hand_cuts;
    const auto behind = std::upper_bound(cuts.begin(), cuts.end(), at);
    for (auto cut = behind; cut != cuts.end(); ++cut) *cut += bytes.size();
    cuts.insert(behind, at);
  }
  return {whole};
}

std::vector<std::int64_t> ids_of(const Tokens& tokens) {
  std::vector<std::int64_t> ids;
  for (const Token& token : tokens.tokens) ids.push_back(token.id);
  return ids;
}

/// Reduces the document to the sentence, with the written side as `ids`.
void ask_by_ids(Document& document, TextSide side, std::size_t sentence, std::vector<std::int64_t> ids) {
  keep_sentence(document, sentence);
  text_input(document, side).ids = std::move(ids);
  if (side == TextSide::source) document.token_types.clear();
}

/// The conversations that may come to this one with one more word: the answer begins with it, or goes on.
std::vector<Chat> continued_chats(const Chat& chat, const std::string& bytes) {
  if (bytes.empty() || !check_utf8("", bytes)) return {};
  std::vector<Chat> longer;
  Chat one = chat;
  one.open = true;
  if (chat.turns.back().role != ChatRole::assistant) {
    one.turns.push_back({ChatRole::assistant, bytes});
    longer.push_back(one);
    if (bytes.starts_with(' ')) one.turns.back().text.erase(0, 1);  // where a space stands before every answer
  } else if (chat.open) {
    one.turns.back().text += bytes;
  } else {
    return {};
  }
  longer.push_back(std::move(one));
  return longer;
}

}  // namespace

TextInput& text_input(Document& document, TextSide side) {
  return side == TextSide::target ? document.target : document.source;
}

const TextInput& text_input(const Document& document, TextSide side) {
  return side == TextSide::target ? document.target : document.source;
}

TextSide main_side(const Document& document) {
  return config_of(document).arch == Arch::encoder_decoder ? TextSide::target : TextSide::source;
}

const Config& config_of(const Document& document) { return document.model ? document.model->config : document.config; }

bool has_own_inputs(const Document& document) { return document.model && document.model->given; }

bool is_checkpoint(const Document& document) { return document.model && !document.model->given; }

bool takes_shape(const Document& document) { return !document.model || document.trained; }

bool can_read_text(const Document& document) {
  return !document.model || tokenizer_of(document, TextSide::source) != nullptr;
}

bool reads_ids(const Document& document, TextSide side) {
  return is_checkpoint(document) && !reads_picture(document) &&
         (!text_input(document, side).ids.empty() || !tokenizer_of(document, side));
}

bool takes_chat(const Document& document) {
  return is_checkpoint(document) && document.tokenizers && document.tokenizers->source && document.tokenizers->chat;
}

bool reads_chat(const Document& document) {
  return takes_chat(document) && !document.chat.turns.empty() && document.source.ids.empty();
}

bool reads_text(const Document& document, TextSide side) {
  return !has_own_inputs(document) && !reads_ids(document, side) && !reads_chat(document) && !reads_picture(document);
}

bool takes_pairs(const Document& document) {
  if (!is_checkpoint(document) || !reads_text(document) || config_of(document).arch == Arch::decoder) return false;
  return takes_pairs(*tokenizer_of(document, TextSide::source));
}

bool reads_sentences(const Document& document) {
  if (!reads_text(document)) return false;
  return config_of(document).arch != Arch::encoder_decoder || !reads_ids(document, TextSide::target);
}

std::size_t count_sentences(const Document& document) {
  if (reads_ids(document)) return std::max<std::size_t>(1, id_sentences(document.source).size());
  return reads_text(document) ? sentences(document.source.text).size() : 1;
}

bool cuts_words(const Document& document, TextSide side) {
  if (!reads_text(document, side)) return false;
  const Tokenizer* tokenizer = tokenizer_of(document, side);
  return !tokenizer || finds_words(*tokenizer);
}

const Lexicon& lexicon_of(const Document& document, TextSide side, const Lexicon& lexicon) {
  const Tokenizer* tokenizer = tokenizer_of(document, side);
  const Lexicon* own = tokenizer ? lexicon_of(*tokenizer) : nullptr;
  return own ? *own : lexicon;
}

void set_text(Document& document, TextSide side, std::string text, const Lexicon& lexicon) {
  TextInput& changed = text_input(document, side);
  set_text(changed, std::move(text), lexicon_of(document, side, lexicon));
  if (!can_read_text(document)) return;
  changed.ids.clear(), changed.id_cuts.clear();
  if (side == TextSide::target) return;
  document.token_types.clear();
  document.chat = {};
}

void toggle_cut(Document& document, TextSide side, std::size_t offset, const Lexicon& lexicon) {
  TextInput& changed = text_input(document, side);
  if (const Tokenizer* tokenizer = tokenizer_of(document, side)) set_hand_cuts(changed, *tokenizer);
  toggle_cut(changed, offset, lexicon_of(document, side, lexicon));
}

MaskSpec& mask_of(Document& document, Stack stack) { return document.*mask_field(stack); }
const MaskSpec& mask_of(const Document& document, Stack stack) { return document.*mask_field(stack); }

const MaskSpec& mask_of(const Document& document, Stack stack, Index layer) {
  const LayerEdit* edit = layer_edit(document.edits, stack, layer);
  return edit && edit->mask ? *edit->mask : mask_of(document, stack);
}

Result<std::vector<Request>> requests_of(const Document& document, const Lexicon& lexicon) {
  Request common{.model = document.model,
                 .config = config_of(document),
                 .vocabulary = document.model ? nullptr : lexicon.vocabulary,
                 .tokens = {},
                 .target = {},
                 .mask = document.mask,
                 .encoder_mask = document.encoder_mask,
                 .cross_mask = document.cross_mask,
                 .edits = document.edits};
  if (has_own_inputs(document)) return parted(document, {common});
  if (!document.model) TRY(check(document.config));

  auto sources = TRY(padded_sentences(document, TextSide::source, lexicon));
  std::vector<Request> requests(sources.size(), common);
  for (std::size_t i = 0; i < requests.size(); ++i) requests[i].tokens = std::move(sources[i]);
  if (common.config.arch != Arch::encoder_decoder) return parted(document, std::move(requests));

  auto targets = TRY(padded_sentences(document, TextSide::target, lexicon));
  if (targets.size() != requests.size()) return unpaired_lines(requests.size(), targets.size());
  for (std::size_t i = 0; i < requests.size(); ++i) requests[i].target = std::move(targets[i]);
  return parted(document, std::move(requests));
}

Result<std::vector<Document>> documents_of_lines(const Document& document) {
  if (!reads_sentences(document)) {
    std::vector<Document> all(count_sentences(document), document);
    for (std::size_t i = 0; all.size() > 1 && i < all.size(); ++i) keep_sentence(all[i], i);
    return all;
  }
  const bool two_texts = config_of(document).arch == Arch::encoder_decoder;
  const auto sources = sentences(document.source.text), targets = sentences(document.target.text);
  if (sources.empty()) return bad_input("text", "tokens", "at least one", "none", ErrorCode::no_tokens);
  const bool alone = two_texts && says_nothing_yet(document);
  if (two_texts && !alone && targets.size() != sources.size()) return unpaired_lines(sources.size(), targets.size());
  std::vector<Document> documents;
  Document without_text = document;  // of which copies do not carry the text of all sentences
  without_text.source = {};
  if (two_texts && !alone) without_text.target = {};
  without_text.text_pair.clear();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    Document one = without_text;
    one.source = text_input_of(document.source, sources[i]);
    if (!document.text_pair.empty()) one.text_pair = line_of_text_pair(document.text_pair, i);
    if (two_texts && !alone) one.target = text_input_of(document.target, targets[i]);
    documents.push_back(std::move(one));
  }
  return documents;
}

void append_word(Document& document, std::size_t sentence, const Candidate& word, const Lexicon& lexicon) {
  const TextSide side = main_side(document);
  TextInput& written = text_input(document, side);
  const std::size_t pad = side == TextSide::source ? document.pad : 0;
  if (!is_checkpoint(document)) return insert_word(written, sentence, pad, word.text, lexicon);
  const auto lines = lines_of_side(document, side, lexicon);
  if (!lines || sentence >= lines->size()) return;
  std::vector<std::int64_t> ids = ids_of((*lines)[sentence]);
  const std::size_t at = ids.size() - std::min(pad, ids.size());
  ids.insert(ids.begin() + static_cast<std::ptrdiff_t>(at), word.id);
  if (reads_ids(document, side)) {
    const auto offset = static_cast<std::ptrdiff_t>(at + id_sentences(written)[sentence].begin);
    written.ids.insert(written.ids.begin() + offset, word.id);
    for (std::size_t i = sentence; i < written.id_cuts.size(); ++i) ++written.id_cuts[i];
    if (auto& types = document.token_types; side == TextSide::source && !types.empty())
      types.insert(types.begin() + offset, at > 0 ? types[static_cast<std::size_t>(offset) - 1] : 0);
    return;
  }
  const bool chat = side == TextSide::source && reads_chat(document);
  for (Chat& longer : chat ? continued_chats(document.chat, bytes_of_id(*document.tokenizers->source, word.id))
                           : std::vector<Chat>{}) {
    Document trial = document;
    trial.chat = std::move(longer);
    const auto found = lines_of_side(trial, side, lexicon);
    if (!found || ids_of(found->front()) != ids) continue;
    document = std::move(trial);
    return;
  }
  if (chat) return ask_by_ids(document, side, sentence, std::move(ids));
  for (TextInput& longer : continued(document, side, sentence, pad, word, lexicon)) {
    Document trial = document;
    text_input(trial, side) = std::move(longer);
    const auto found = lines_of_side(trial, side, lexicon);
    if (!found || found->size() != lines->size() || ids_of((*found)[sentence]) != ids) continue;
    document = std::move(trial);
    return;
  }
  ask_by_ids(document, side, sentence, std::move(ids));
}

Request prefix_of(Request request, std::size_t count) {
  const bool has_decoder = request.config.arch != Arch::encoder && !(request.model && request.model->given);
  const bool writes_target = request.config.arch == Arch::encoder_decoder;
  Tokens& tokens = writes_target ? request.target : request.tokens;
  if (!has_decoder || count == 0 || count >= tokens.size()) return request;
  tokens.tokens.resize(count);
  tokens.text.resize(tokens.tokens.back().end);
  const auto queries = static_cast<Index>(count);
  const Index keys = static_cast<Index>(writes_target ? request.tokens.size() : count);
  shrink(request.mask, queries, queries);
  shrink(request.cross_mask, queries, keys);
  for (LayerEdit& layer : request.edits.layers)
    if (layer.mask && layer.stack != Stack::encoder)
      shrink(*layer.mask, queries, layer.stack == Stack::cross ? keys : queries);
  std::erase_if(request.edits.weights, [&](const WeightEdit& edit) {
    const Index all_keys = edit.head.stack == Stack::cross ? keys : queries;
    return edit.head.stack != Stack::encoder && (edit.cell.query >= queries || edit.cell.key >= all_keys);
  });
  return request;
}

}  // namespace headlight
