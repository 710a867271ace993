#include "question/tokenizers.h"

#include <algorithm>
#include <iterator>

#include "assets/assets.h"
#include "base/file.h"
#include "base/folders.h"
#include "base/utf8.h"
#include "read/gguf/gguf_tokenizer.h"
#include "read/hub/config_file.h"
#include "read/json/json_document.h"
#include "read/tokenizer/tokenizer_file.h"
#include "text/characters.h"

namespace headlight {
namespace {

/// A token that is in no typed text.
Token special_token(std::int64_t id, const Tokenizer& tokenizer) {
  Token token;
  token.id = id;
  token.special = true;
  token.text = visible(bytes_of_id(tokenizer, id));
  if (token.text.empty()) token.text = std::to_string(id);
  token.raw = token.text;
  return token;
}

/// An id, or a list of ids, under a key of one of the folder's files; empty where the file has none.
std::vector<std::int64_t> ids_at(const std::filesystem::path& file, const char* key) {
  constexpr std::size_t kMostBytes = std::size_t{16} << 20;
  std::vector<std::int64_t> ids;
  const auto text = read_file(file, kMostBytes);
  if (!text) return ids;
  const auto object = parse_json(file.filename().string(), *text);
  if (!object || !object->is_object()) return ids;
  const auto value = object->find(key);
  if (value == object->end()) return ids;
  const auto add = [&](const nlohmann::json& id) {
    if (id.is_number_unsigned() && id.get<std::uint64_t>() < kMaxVocabulary) ids.push_back(id.get<std::int64_t>());
  };
  if (value->is_array()) std::for_each(value->begin(), value->end(), add);
  else add(*value);
  return ids;
}

/// generation_config.json goes before config.json, as in transformers' generate; nothing where neither has it.
std::optional<std::int64_t> decoder_start(const std::filesystem::path& folder) {
  if (const auto ids = ids_at(folder / "generation_config.json", "decoder_start_token_id"); !ids.empty())
    return ids.front();
  const auto hub = read_hub_config(folder / "config.json");
  return hub ? hub->decoder_start : std::nullopt;
}

/// The text of the program that writes conversations, of several the first; empty where there is none, or none that can
/// be read.
std::string chat_template_of(const std::filesystem::path& folder) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 24;
  if (auto own = read_file(folder / "chat_template.jinja", kMostBytes)) return *std::move(own);
  const auto text = read_file(folder / "tokenizer_config.json", kMostBytes);
  if (!text) return {};
  const auto object = parse_json("tokenizer_config.json", *text);
  if (!object || !object->is_object()) return {};
  nlohmann::json value = object->value("chat_template", nlohmann::json());
  if (value.is_array() && !value.empty() && value.front().is_object())
    value = value.front().value("template", nlohmann::json());
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::vector<std::int64_t> ends_of(const std::filesystem::path& folder) {
  const auto ids = ids_at(folder / "generation_config.json", "eos_token_id");
  return ids.empty() ? ids_at(folder / "config.json", "eos_token_id") : ids;
}

/// What a folder or a GGUF file says of texts.
struct TextsOfModel {
  Result<TokenizerFile> file;
  std::vector<std::int64_t> ends = {};
  std::string chat_template = {};
};

TextsOfModel texts_of_model(const std::filesystem::path& path, ClassRules rules) {
  if (!is_gguf(path)) return {read_tokenizer(path, rules), ends_of(path), chat_template_of(path)};
  const auto file = map_gguf(path);
  if (!file) return {file.error()};
  return {gguf_tokenizer(*file), gguf_ends(*file), gguf_chat_template(*file)};
}

/// The token that the vocabulary names as padding, of the id 0 where it names none: it is masked.
Token padding_of(const Tokenizer& tokenizer) {
  for (const char* word : {"<pad>", "[PAD]", "<|pad|>"}) {
    for (const AddedToken& added : tokenizer.added.tokens())
      if (added.content == word) return {.id = added.id, .text = word, .raw = word, .special = true, .pad = true};
    if (const auto id = words_of(tokenizer).id(word))
      return {.id = *id, .text = word, .raw = word, .special = true, .pad = true};
  }
  return {.id = 0, .text = "<pad>", .raw = "<pad>", .special = true, .pad = true};
}

void check_size(const std::string& where, const Vocabulary& vocabulary, const Embeddings& embeddings,
                std::vector<Error>& warnings) {
  const auto ids = static_cast<Index>(vocabulary.words.size());
  if (!embeddings.tokens || ids <= embeddings.tokens->outputs()) return;
  warnings.push_back(bad_input(
      where, "vocabulary",
      "at most " + std::to_string(embeddings.tokens->outputs()) + " ids, one for each row of the table of embeddings",
      std::to_string(ids)));
}

bool is_put_around(const Tokenizer& tokenizer, std::int64_t id) {
  for (const Template& around : tokenizer.templates)
    for (const Template::Part& part : around.parts)
      for (const auto& [special, word] : part.specials)
        if (special == id) return true;
  return false;
}

/// An Error for a sentence of no token or too many, and for an id that the table of embeddings does not have.
Status check_tokens(std::string_view where, const Tokens& tokens, Index rows, std::size_t most) {
  if (tokens.size() == 0) return bad_input(where, "tokens", "at least one", "none", ErrorCode::no_tokens);
  if (tokens.size() > most)
    return bad_input(where, "tokens", "at most " + std::to_string(most), std::to_string(tokens.size()),
                     ErrorCode::too_many_tokens);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& token = tokens.tokens[i];
    if (token.id >= rows)
      return bad_input(where, "token " + std::to_string(i) + " '" + token.text + "'",
                       "an id below " + std::to_string(rows) + ", the rows of the table of embeddings",
                       std::to_string(token.id), ErrorCode::unknown_token_id);
  }
  return Done{};
}

bool is_chinese(std::string_view word) {
  const std::vector<char32_t> characters = code_points(word);
  return std::all_of(characters.begin(), characters.end(), is_chinese_character);
}

/// Words are cut the same whatever model reads them.
std::shared_ptr<const Tokenizer> cut_as_the_program(std::shared_ptr<const Tokenizer> tokenizer) {
  const Lexicon* lexicon = kept_lexicon();
  if (!lexicon || !finds_words(*tokenizer)) return tokenizer;
  Tokenizer changed = *tokenizer;
  cut_by(changed, *lexicon);
  return std::make_shared<const Tokenizer>(std::move(changed));
}

}  // namespace

std::shared_ptr<const Tokenizers> read_tokenizers(const std::filesystem::path& folder, Model& model,
                                                  std::vector<Error>& warnings, ClassRules rules) {
  auto result = std::make_shared<Tokenizers>();
  auto [file, ends, chat_template] = texts_of_model(folder, rules);
  result->ends = std::move(ends);
  if (!file) {
    result->problem = file.error();
    if (file.error().code != ErrorCode::no_tokenizer) warnings.push_back(file.error());
    return result;
  }
  warnings.insert(warnings.end(), file->warnings.begin(), file->warnings.end());
  result->source = cut_as_the_program(std::move(file->tokenizer));
  result->target = file->target ? cut_as_the_program(std::move(file->target)) : result->source;
  result->rules = std::move(file->rules);
  result->padding = padding_of(*result->source);
  if (!model.encoder) result->chat = chat_family(*result->source, chat_template);
  model.vocabulary = vocabulary_of(*result->target);
  const std::string where = file->file.string();
  check_size(where, *model.vocabulary, model.embeddings, warnings);
  if (!model.encoder) return result;
  if (result->target != result->source)
    check_size(where, *vocabulary_of(*result->source), model.encoder->embeddings, warnings);
  if (const auto id = decoder_start(folder)) result->start = special_token(*id, *result->target);
  return result;
}

Result<Lexicon> read_lexicon() {
  const auto folder = TRY(asset_folder());
  const auto path = folder / "assets" / "lexicon.txt";
  const auto text = TRY(read_file(path, kLargestAsset));
  auto lexicon = parse_lexicon(path.string(), text);
  if (!lexicon) return lexicon;
  // Text is cut the same whether weights are trained or fresh: the words of the trained models count here too.
  const std::filesystem::path models = folder / "assets" / "models";
  if (const auto trained = read_tokenizer(models / "encoder"))
    *lexicon = with_words(*std::move(lexicon), vocabulary_of(*trained->tokenizer)->words);
  if (path_exists(models / "any-sentence" / "tokenizer.json")) {
    std::vector<std::string> own;
    std::copy_if(lexicon->words.begin(), lexicon->words.end(), std::back_inserter(own), is_chinese);
    lexicon->likely = std::make_shared<const LikelyWords>([folder = models / "any-sentence", own = std::move(own)] {
      // As likely as the most frequent words there are, so that a path of known words is preferred.
      constexpr double kOwnCost = 4;
      auto read = read_word_costs(folder);
      std::vector<LikelyWords::Word> costs = read ? *std::move(read) : std::vector<LikelyWords::Word>{};
      for (const std::string& word : own) costs.push_back({word, kOwnCost});
      return costs;
    });
  }
  return lexicon;
}

const Lexicon* kept_lexicon() {
  static const Result<Lexicon> kept = read_lexicon();
  return kept ? &*kept : nullptr;
}

bool is_end(const Tokenizers* tokenizers, std::int64_t id) {
  return tokenizers && std::find(tokenizers->ends.begin(), tokenizers->ends.end(), id) != tokenizers->ends.end();
}

Result<std::vector<Tokens>> encoded_lines(std::string_view where, const TextInput& input, const Tokenizer& tokenizer,
                                          Index rows, std::size_t most, std::string_view second) {
  TRY(check_text(where, input.text));
  TRY(check_text("text_pair", second));
  std::vector<Tokens> lines;
  for (const Line line : sentences(input.text)) {
    const TextInput one = text_input_of(input, line);
    const std::string beside = line_of_text_pair(second, lines.size());
    auto tokens = TRY(!beside.empty() ? encode_pair(tokenizer, one.text, beside)
                      : one.hand_cuts ? encode_pieces(tokenizer, one.text, *one.hand_cuts, true)
                                      : encode(tokenizer, one.text, true));
    TRY(check_tokens(where, tokens, rows, most));
    lines.push_back(std::move(tokens));
  }
  return lines;
}

Result<Tokens> encoded_text(std::string_view where, const std::string& text, const Tokenizer& tokenizer, Index rows,
                            std::size_t most) {
  TRY(check_text(where, text));
  auto tokens = encode(tokenizer, text, true);
  if (!tokens) return tokens;
  TRY(check_tokens(where, *tokens, rows, most));
  return tokens;
}

std::string line_of_text_pair(std::string_view second, std::size_t number) {
  const auto lines = split_at('\n', second);
  std::string line(number < lines.size() ? lines[number] : "");
  if (line.ends_with('\r')) line.pop_back();
  return line;
}

Tokens shifted_right(Tokens tokens, const std::optional<Token>& start) {
  std::vector<Token>& list = tokens.tokens;
  while (!list.empty() && list.back().special) list.pop_back();
  if (start) list.insert(list.begin(), *start);
  return tokens;
}

Tokens tokens_of_ids(const std::vector<std::int64_t>& ids, const Tokenizer& tokenizer,
                     const std::optional<Token>& start) {
  Tokens tokens;
  const auto add = [&](const std::string& bytes) {
    Token& token = tokens.tokens.emplace_back();
    token.begin = tokens.text.size();
    tokens.text += bytes;
    token.end = tokens.text.size();
    return &token;
  };
  bool whole = true;  // whether the bytes of the words make a text
  for (const bool as_shown : {false, true}) {
    if (as_shown && whole) break;
    tokens = {};
    for (const std::int64_t id : ids) {
      const std::string bytes = bytes_of_id(tokenizer, id);
      const std::string shown = bytes.empty() ? std::to_string(id) : visible(bytes);
      Token& token = *add(as_shown || bytes.empty() ? shown : bytes);
      token.id = id;
      token.text = without_leading_space(shown);
      token.raw = bytes.empty() ? shown : bytes;
      token.known = !bytes.empty();
      token.special = is_put_around(tokenizer, id) || (start && tokens.size() == 1 && start->id == id);
    }
    whole = !first_invalid_utf8(tokens.text);
  }
  return tokens;
}

void set_hand_cuts(TextInput& input, const Tokenizer& tokenizer) {
  if (input.hand_cuts || !check_text("", input.text)) return;
  std::vector<std::size_t> cuts;
  for (const Line line : sentences(input.text)) {
    const std::string_view sentence = std::string_view(input.text).substr(line.begin, line.end - line.begin);
    const auto tokens = encode(tokenizer, sentence, false);
    if (!tokens) return;
    for (const Token& token : tokens->tokens)
      if (!token.continues && token.begin > 0 && (cuts.empty() || line.begin + token.begin > cuts.back()))
        cuts.push_back(line.begin + token.begin);
  }
  input.hand_cuts = std::move(cuts);
}

}  // namespace headlight
