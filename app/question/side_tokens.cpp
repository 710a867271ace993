#include "question/side_tokens.h"

#include <algorithm>

#include "base/utf8.h"
#include "question/tokenizers.h"

namespace headlight {
namespace {

const std::optional<Token>& start_of(const Document& document, TextSide side) {
  static const std::optional<Token> none;
  return side == TextSide::target && document.tokenizers ? document.tokenizers->start : none;
}

/// The rows of the table of embeddings that a checkpoint looks ids of this side up in.
Index rows_of(const Model& model, TextSide side) {
  const bool encoder = side == TextSide::source && model.encoder;
  return (encoder ? model.encoder->embeddings : model.embeddings).tokens->outputs();
}

/// The sentences of a side that is asked by ids.
Result<std::vector<Tokens>> tokens_of_side_ids(const Document& document, TextSide side) {
  const bool target = side == TextSide::target;
  const char* where = target ? "decoder ids" : "ids";
  const TextInput& input = text_input(document, side);
  const std::vector<std::int64_t>& ids = input.ids;
  const Tokenizers* known = document.tokenizers.get();
  if (ids.empty())
    return bad_input(where, "",
                     std::string("ids, as ") + (target ? "--decoder-ids" : "--ids") +
                         " 1,2,3 gives them (the checkpoint has no tokenizer that could read a text)",
                     "none", known && known->problem ? known->problem->code : ErrorCode::no_tokenizer);
  const std::vector<int>& types = document.token_types;
  if (!target && !types.empty() && types.size() != ids.size())
    return bad_input("token types", "", std::to_string(ids.size()) + ", as many as there are ids",
                     std::to_string(types.size()));
  const Tokenizer* tokenizer = tokenizer_of(document, side);
  std::vector<Tokens> lines;
  for (const Line& line : id_sentences(input)) {
    const auto at = [&](std::size_t i) { return ids.begin() + static_cast<std::ptrdiff_t>(i); };
    const std::vector<std::int64_t> own(at(line.begin), at(line.end));
    if (own.size() > kMaxTokens)
      return bad_input(where, "", "at most " + std::to_string(kMaxTokens), std::to_string(own.size()),
                       ErrorCode::too_many_tokens);
    Tokens tokens = tokenizer ? tokens_of_ids(own, *tokenizer, start_of(document, side)) : tokens_of_ids(own);
    if (!target && !types.empty())
      for (std::size_t i = 0; i < own.size(); ++i) tokens.tokens[i].type = types[line.begin + i];
    lines.push_back(std::move(tokens));
  }
  return lines;
}

/// The conversation as one sentence.
Result<std::vector<Tokens>> tokens_of_chat(const Document& document) {
  const Tokenizers& tokenizers = *document.tokenizers;
  const auto text = TRY(chat_text(*tokenizers.chat, document.chat));
  auto tokens =
      TRY(encoded_text("chat", text, *tokenizers.source, rows_of(*document.model, TextSide::source), kMaxTokens));
  return std::vector<Tokens>{std::move(tokens)};
}

/// The patches of the picture, as one sentence.
Result<std::vector<Tokens>> tokens_of_picture(const Document& document) {
  if (document.seen) return std::vector<Tokens>{picture_tokens(document.seen)};
  if (document.picture && document.picture->problem) return *document.picture->problem;
  return bad_input("picture", "", "--picture FILE, as the model reads pictures", "none", ErrorCode::needs_picture);
}

/// The sentences of one side, each with as many tokens as it has.
Result<std::vector<Tokens>> unmarked_lines(const Document& document, TextSide side, const Lexicon& lexicon) {
  if (reads_picture(document)) return tokens_of_picture(document);
  if (reads_ids(document, side)) return tokens_of_side_ids(document, side);
  if (side == TextSide::source && reads_chat(document)) return tokens_of_chat(document);
  const char* where = side == TextSide::target ? "target" : "text";
  const TextInput& read = text_input(document, side);
  const Tokenizer* tokenizer = tokenizer_of(document, side);
  if (!tokenizer) return tokens_of_lines(where, read, lexicon, kMaxTokens);
  const bool pairs = side == TextSide::source && !document.text_pair.empty() && takes_pairs(document);
  auto lines = encoded_lines(where, read, *tokenizer, rows_of(*document.model, side), kMaxTokens,
                             pairs ? document.text_pair : std::string{});
  if (lines && side == TextSide::target && says_nothing_yet(document)) lines->resize(count_sentences(document));
  if (lines && side == TextSide::target)
    for (Tokens& tokens : *lines) tokens = shifted_right(std::move(tokens), document.tokenizers->start);
  return lines;
}

}  // namespace

const Tokenizer* tokenizer_of(const Document& document, TextSide side) {
  if (!is_checkpoint(document) || !document.tokenizers) return nullptr;
  return (side == TextSide::target ? document.tokenizers->target : document.tokenizers->source).get();
}

bool says_nothing_yet(const Document& document) {
  return tokenizer_of(document, TextSide::target) && start_of(document, TextSide::target) &&
         document.target.ids.empty() && sentences(document.target.text).empty();
}

Status set_ids(const std::string& where, Document& document, TextSide side, std::string_view text,
               std::vector<Error>* notes) {
  TextInput& input = text_input(document, side);
  input.ids.clear(), input.id_cuts.clear();
  const std::vector<std::string_view> lines = split_at('\n', text);
  const Index rows = rows_of(*document.model, side);
  std::optional<Error> first;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines.size() > 1 && (lines[i].empty() || lines[i] == "\r")) continue;
    const std::string line = lines.size() > 1 ? where + ": line " + std::to_string(i + 1) : where;
    auto ids = parse_ids(line, lines[i]);
    const auto largest = ids ? *std::max_element(ids->begin(), ids->end()) : 0;
    if (ids && lines.size() > 1 && largest >= rows)
      ids = bad_input(line, "", "an id below " + std::to_string(rows) + ", the rows of the table of embeddings",
                      std::to_string(largest));
    if (!ids && notes) notes->push_back(ids.error());
    if (!ids && !first) first = ids.error();
    if (!ids) continue;
    if (!input.ids.empty()) input.id_cuts.push_back(input.ids.size());
    input.ids.insert(input.ids.end(), ids->begin(), ids->end());
  }
  return first && (!notes || input.ids.empty()) ? Status(*first) : Done{};
}

Result<std::vector<Tokens>> lines_of_side(const Document& document, TextSide side, const Lexicon& lexicon) {
  auto lines = unmarked_lines(document, side, lexicon);
  if (lines && takes_chat(document))
    for (Tokens& tokens : *lines) mark_roles(*document.tokenizers->chat, tokens);
  return lines;
}

}  // namespace headlight
