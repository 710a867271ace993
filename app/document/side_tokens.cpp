#include "document/side_tokens.h"

#include "document/tokenizers.h"

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

/// `missing`: the code of the error of no ids.
Status check_ids(std::string_view where, std::string_view option, const std::vector<std::int64_t>& ids,
                 ErrorCode missing) {
  if (ids.empty())
    return bad_input(where, "",
                     "ids, as " + std::string(option) +
                         " 1,2,3 gives them (the checkpoint has no tokenizer "
                         "that could read a text)",
                     "none", missing);
  if (ids.size() > kMaxTokens)
    return bad_input(where, "", "at most " + std::to_string(kMaxTokens), std::to_string(ids.size()),
                     ErrorCode::too_many_tokens);
  return Done{};
}

/// The one sentence of a side that is asked by ids.
Result<std::vector<Tokens>> tokens_of_side_ids(const Document& document, TextSide side) {
  const bool target = side == TextSide::target;
  const std::vector<std::int64_t>& ids = text_input(document, side).ids;
  const Tokenizers* known = document.tokenizers.get();
  const ErrorCode missing = known && known->problem ? known->problem->code : ErrorCode::no_tokenizer;
  if (const auto valid = check_ids(target ? "decoder ids" : "ids", target ? "--decoder-ids" : "--ids", ids, missing);
      !valid)
    return valid.error();
  const std::vector<int>& types = document.token_types;
  if (!target && !types.empty() && types.size() != ids.size())
    return bad_input("token types", "", std::to_string(ids.size()) + ", as many as there are ids",
                     std::to_string(types.size()));
  const Tokenizer* tokenizer = tokenizer_of(document, side);
  Tokens tokens = tokenizer ? tokens_of_ids(ids, *tokenizer, start_of(document, side)) : tokens_of_ids(ids);
  if (!target)
    for (std::size_t i = 0; i < types.size(); ++i) tokens.tokens[i].type = types[i];
  return std::vector<Tokens>{std::move(tokens)};
}

/// The conversation as one sentence.
Result<std::vector<Tokens>> tokens_of_chat(const Document& document) {
  const Tokenizers& tokenizers = *document.tokenizers;
  const auto text = chat_text(*tokenizers.chat, document.chat);
  if (!text) return text.error();
  auto tokens = encoded_text("chat", *text, *tokenizers.source, rows_of(*document.model, TextSide::source), kMaxTokens);
  if (!tokens) return tokens.error();
  return std::vector<Tokens>{*std::move(tokens)};
}

/// The sentences of one side, each with as many tokens as it has.
Result<std::vector<Tokens>> unmarked_lines(const Document& document, TextSide side, const Lexicon& lexicon) {
  if (reads_ids(document, side)) return tokens_of_side_ids(document, side);
  if (side == TextSide::source && reads_chat(document)) return tokens_of_chat(document);
  const char* where = side == TextSide::target ? "target" : "text";
  const TextInput& read = text_input(document, side);
  const Tokenizer* tokenizer = tokenizer_of(document, side);
  if (!tokenizer) return tokens_of_lines(where, read, lexicon, kMaxTokens);
  const bool pairs = side == TextSide::source && !document.text_pair.empty() && takes_pairs(document);
  auto lines = encoded_lines(where, read, *tokenizer, rows_of(*document.model, side), kMaxTokens,
                             pairs ? document.text_pair : std::string{});
  if (lines && side == TextSide::target && says_nothing_yet(document))
    lines->resize(reads_ids(document, TextSide::source) ? 1 : sentences(document.source.text).size());
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

Result<std::vector<Tokens>> lines_of_side(const Document& document, TextSide side, const Lexicon& lexicon) {
  auto lines = unmarked_lines(document, side, lexicon);
  if (lines && takes_chat(document))
    for (Tokens& tokens : *lines) mark_roles(*document.tokenizers->chat, tokens);
  return lines;
}

}  // namespace headlight
