#include <algorithm>
#include <limits>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/formatted.h"
#include "base/names.h"
#include "base/utf8.h"
#include "question/question_fields.h"
#include "question/side_tokens.h"
#include "question/tokenizers.h"
#include "read/external/own_numbers.h"
#include "read/external/page_text.h"
#include "words/question_words.h"

namespace headlight {
namespace {

using nlohmann::json;

/// The keys and options of a side.
struct SideNames {
  TextSide side;
  const char *text, *split, *cuts, *ids;
  const char *text_option, *tokens_option, *ids_option;
};
const std::string kCuts = "_cuts";  // behind the key of ids: where further sentences begin
constexpr SideNames kSource{TextSide::source, "text", "split", "cuts", "ids", "--text", "--tokens", "--ids"};
constexpr SideNames kTarget{TextSide::target, "target",   "target_split",    "target_cuts",
                            "decoder_ids",    "--target", "--target-tokens", "--decoder-ids"};

/// An Error where a text cannot be asked with this option.
Status check_text_option(const char* option, const Document& document) {
  if (has_own_inputs(document))
    return bad_input(option, "", "no such option beside " + inputs_in_words(document), source_in_words(document));
  if (reads_picture(document))
    return bad_input(option, "", "--picture FILE, as the model reads pictures", "a text", ErrorCode::needs_picture);
  if (!can_read_text(document))
    return bad_input(option, "", "--ids beside a checkpoint without a tokenizer",
                     document.tokenizers ? message_of(document.tokenizers->problem) : document.model_path);
  return Done{};
}

/// The same with an option of the decoder's side, where there is no decoder.
Status check_side(const SideNames& names, const char* option, const Document& document) {
  if (const auto valid = check_text_option(option, document); !valid) return valid;
  const Arch arch = config_of(document).arch;
  if (names.side == TextSide::source || arch == Arch::encoder_decoder) return Done{};
  return bad_input(option, "", document.model ? "an encoder-decoder" : "--arch encoder-decoder",
                   (document.model ? "" : "--arch ") + std::string(name(arch)));
}

Status take_text(const char* option, const GivenOptions& given, TextInput& input) {
  input.text = given.word(option);
  input.hand_cuts.reset();
  if (given.has_standard_input && input.text == "-") {
    auto text = TRY(read_standard_input(kMaxTextBytes));
    input.text = std::move(text);
    while (input.text.ends_with('\n') || input.text.ends_with('\r')) input.text.pop_back();
  }
  return check_utf8(option, input.text);
}

Status take_marked(const char* option, const std::string& found, TextInput& input) {
  auto marked = TRY(parse_marked_tokens(option, found));
  input.text = std::move(marked.text);
  input.hand_cuts = std::move(marked.cuts);
  return Done{};
}

Status take_side(const SideNames& names, Document& document, const GivenOptions& given) {
  TextInput& input = text_input(document, names.side);
  if (names.side == TextSide::target || can_read_text(document)) input.ids.clear(), input.id_cuts.clear();
  if (names.side == TextSide::source && can_read_text(document)) {
    document.token_types.clear();
    document.chat = {};
  }
  for (const char* option : {names.text_option, names.tokens_option}) {
    if (!given.has(option)) continue;
    if (const auto valid = check_side(names, option, document); !valid) return valid;
    const bool marked = option == names.tokens_option;
    const auto taken = marked ? take_marked(option, given.word(option), input) : take_text(option, given, input);
    if (!taken) return taken;
  }
  return Done{};
}

bool reads_side(const SideNames& names, const Document& document) {
  return !has_own_inputs(document) && !reads_picture(document) &&
         (names.side == TextSide::source || config_of(document).arch == Arch::encoder_decoder);
}

bool is_asked_by_ids(const SideNames& names, const Document& document) {
  return reads_side(names, document) && reads_ids(document, names.side);
}

void put_side(const SideNames& names, const Document& document, OptionWords& words) {
  const TextInput& input = text_input(document, names.side);
  if (is_asked_by_ids(names, document)) return words.add(names.ids_option, ids_text(input, "\n"));
  if (!reads_side(names, document) || (names.side == TextSide::source && reads_chat(document))) return;
  if (input.hand_cuts) words.add(names.tokens_option, mark_tokens(input.text, *input.hand_cuts));
  else words.add(names.text_option, input.text);
}

void read_utf8(const JsonField& fields, const char* key, std::string& text) {
  fields.read(key, text);
  if (first_invalid_utf8(text)) fields.at(key).problem("UTF-8");
}

constexpr std::string_view kSplits[] = {"words", "characters"};

void write_side(const SideNames& names, const Document& document, json& object) {
  const TextInput& input = text_input(document, names.side);
  if (is_asked_by_ids(names, document)) {
    object[names.ids] = input.ids;
    if (!input.id_cuts.empty()) object[names.ids + kCuts] = input.id_cuts;
  } else if (reads_side(names, document)) {
    object[names.text] = input.text;
    object[names.split] = name_in(kSplits, input.split);
    if (input.hand_cuts) object[names.cuts] = *input.hand_cuts;
  }
}

void read_side(const SideNames& names, const JsonField& fields, Document& document) {
  TextInput& input = text_input(document, names.side);
  fields.read_list(names.ids, input.ids, 0, std::numeric_limits<std::int32_t>::max());
  fields.read_list((names.ids + kCuts).c_str(), input.id_cuts, 1, input.ids.size());
  std::sort(input.id_cuts.begin(), input.id_cuts.end());
  read_utf8(fields, names.text, input.text);
  fields.read_choice(names.split, input.split, kSplits);
  if (!fields.contains(names.cuts)) return;
  const json& cuts = fields.at(names.cuts).value();
  std::vector<std::size_t> offsets;
  bool valid = cuts.is_array();
  for (const json& cut : valid ? cuts : json::array()) {
    valid = valid && cut.is_number_unsigned();
    if (valid) offsets.push_back(cut.get<std::size_t>());
  }
  if (!valid || !are_cuts(input.text, offsets)) return fields.at(names.cuts).problem("byte offsets inside the text");
  input.hand_cuts = std::move(offsets);
}

/// The ids of a side; of several lines a bad one is noted, and the others are taken, where `goes_on`.
Status take_id_lines(const SideNames& names, Document& document, const GivenOptions& given, bool goes_on) {
  TextInput lines;
  if (const Status read = take_text(names.ids_option, given, lines); !read) return read;
  return set_ids(names.ids_option, document, names.side, lines.text, goes_on ? given.notes : nullptr);
}

Status check_checkpoint_option(const char* option, const Document& document, const GivenOptions& given) {
  if (reads_picture(document)) return check_text_option(option, document);
  if (is_checkpoint(document)) return Done{};
  return bad_input(option, "", "a checkpoint folder as SOURCE", given.source.empty() ? "none" : given.source);
}

Status take_source_ids(Document& document, const GivenOptions& given) {
  if (const auto valid = check_checkpoint_option("--ids", document, given); !valid) return valid;
  const bool has_target = given.has("--decoder-ids") || given.has("--target") || given.has("--target-tokens");
  const bool alone = !has_target && !given.has("--token-type-ids");  // no lines beside those of ids
  if (const Status taken = take_id_lines(kSource, document, given, alone); !taken) return taken;
  document.token_types.clear();
  document.chat = {};
  if (config_of(document).arch == Arch::encoder_decoder && document.target.ids.empty() && can_read_text(document) &&
      !has_target)
    return bad_input("--decoder-ids", "", "ids, or a --target, beside --ids of an encoder-decoder", "none");
  return Done{};
}

Status take_target_ids(Document& document, const GivenOptions& given) {
  if (const auto valid = check_checkpoint_option("--decoder-ids", document, given); !valid) return valid;
  if (config_of(document).arch != Arch::encoder_decoder)
    return bad_input("--decoder-ids", "", "an encoder-decoder", name(config_of(document).arch));
  return take_id_lines(kTarget, document, given, false);
}

/// A text with its cuts, or the ids that replace it.
QuestionField side_field(const SideNames& names, const char* text, const char* tokens, const char* ids,
                         Status (*take_ids)(Document&, const GivenOptions&)) {
  QuestionField row{FieldPart::text, names.text, kQuestionWords.sentence};
  row.options = {FieldOption(names.text_option, OptionKind::word, "", text, {names.tokens_option, names.ids_option}),
                 FieldOption(names.tokens_option, OptionKind::word, "", tokens, {names.ids_option}),
                 FieldOption(names.ids_option, OptionKind::numbers, "N,N,…", ids)};
  row.is_same = [names](const Document& a, const Document& b) {
    return text_input(a, names.side).text == text_input(b, names.side).text;
  };
  row.take = [names, take_ids](Document& document, const GivenOptions& given) {
    return given.has(names.ids_option) ? take_ids(document, given) : take_side(names, document, given);
  };
  row.put = [names](const Document& d, OptionWords& words) { put_side(names, d, words); };
  row.write = [names](const Document& d, json& object) { write_side(names, d, object); };
  row.read = [names](const JsonField& fields, Document& d) { read_side(names, fields, d); };
  return row;
}

Status take_chat(Document& document, const GivenOptions& given) {
  if (!is_checkpoint(document) || !can_read_text(document))
    return bad_input("--chat", "", "an instruct model with a tokenizer as SOURCE",
                     given.source.empty()      ? "none"
                     : is_checkpoint(document) ? "no tokenizer in " + given.source
                                               : given.source);
  if (!takes_chat(document))
    return bad_input(
        "--chat", "",
        "an instruct model of a family whose marks are known (" + chat_families() + "); --text takes a whole prompt",
        "none of their marks in the tokenizer of " + given.source);
  Chat chat{.open = given.has("--chat-open")};
  for (const std::string& text : given.all("--chat")) chat.turns.push_back(TRY(parse_chat_turn(text)));
  if (chat.open && chat.turns.back().role != ChatRole::assistant)
    return bad_input("--chat-open", "", "assistant: as the last --chat",
                     std::string(name_in(kChatRoles, chat.turns.back().role)));
  TRY(chat_text(*document.tokenizers->chat, chat));
  document.chat = std::move(chat);
  document.source.ids.clear();
  document.token_types.clear();
  return Done{};
}

void put_chat(const Document& document, OptionWords& words) {
  if (!reads_chat(document)) return;
  for (const ChatTurn& turn : document.chat.turns)
    words.add("--chat", std::string(name_in(kChatRoles, turn.role)) + ":" + turn.text);
  if (document.chat.open) words.add("--chat-open");
}

/// As transformers' apply_chat_template takes them.
void write_chat(const Document& document, json& object) {
  if (has_own_inputs(document)) return;
  for (const ChatTurn& turn : document.chat.turns)
    object["chat"].push_back({{"role", name_in(kChatRoles, turn.role)}, {"content", turn.text}});
  if (document.chat.open) object["chat_open"] = true;
}

void read_chat(const JsonField& fields, Document& document) {
  fields.read("chat_open", document.chat.open);
  if (!fields.has("chat")) return;
  for (const JsonField& turn : fields.at("chat").items()) {
    ChatTurn one{.role = ChatRole::none};
    turn.read_choice("role", one.role, kChatRoles);
    one.text = turn.text("content");
    if (one.role == ChatRole::none) turn.at("role").problem(listed(kChatRoles));
    if (first_invalid_utf8(one.text)) turn.at("content").problem("UTF-8");
    if (!fields.is_good()) return;
    document.chat.turns.push_back(std::move(one));
  }
}

QuestionField chat_field() {
  QuestionField row{FieldPart::text, "chat", kQuestionWords.sentence};
  row.options = {
      FieldOption("--chat", OptionKind::repeated, "ROLE:TEXT",
                  "A turn of a conversation with an instruct model: system:TEXT, user:TEXT or assistant:TEXT, several "
                  "times; the special tokens of its family are put around",
                  {"--text", "--tokens", "--ids", "--text-pair"}),
      FieldOption("--chat-open", OptionKind::flag, "",
                  "The last turn, the assistant's, is left without an end: it goes on", {}, "--chat")};
  row.is_same = same_by([](const Document& d) -> const Chat& { return d.chat; });
  row.take = take_chat;
  row.put = put_chat;
  row.write = write_chat;
  row.read = read_chat;
  return row;
}

Status take_pair(Document& document, const GivenOptions& given) {
  if (const auto valid = check_text_option("--text-pair", document); !valid) return valid;
  if (!takes_pairs(document))
    return bad_input("--text-pair", "", "a checkpoint, no decoder, whose tokenizer has a template for pairs",
                     reads_ids(document) ? "ids in place of text"
                     : document.model    ? document.model_path
                                         : "fresh weights");
  document.text_pair = given.word("--text-pair");
  return check_utf8("--text-pair", document.text_pair);
}

QuestionField pair_field() {
  QuestionField row{FieldPart::text, "text_pair", kQuestionWords.sentence};
  row.options = {FieldOption(
      "--text-pair", OptionKind::word, "",
      "Sentence B beside it, a line for each of the text's, of a checkpoint whose tokenizer takes pairs", {"--ids"})};
  row.is_same = same_by([](const Document& d) -> const std::string& { return d.text_pair; });
  row.take = take_pair;
  row.put = [](const Document& d, OptionWords& words) {
    if (takes_pairs(d) && !d.text_pair.empty()) words.add("--text-pair", d.text_pair);
  };
  row.write = [](const Document& d, json& object) {
    if (!has_own_inputs(d) && !d.text_pair.empty()) object["text_pair"] = d.text_pair;
  };
  row.read = [](const JsonField& fields, Document& d) { read_utf8(fields, "text_pair", d.text_pair); };
  return row;
}

Status take_types(Document& document, const GivenOptions& given) {
  if (const auto valid = check_checkpoint_option("--token-type-ids", document, given); !valid) return valid;
  if (document.source.ids.empty()) return bad_input("--token-type-ids", "", "--ids beside it", "none");
  std::string lines = given.word("--token-type-ids");
  std::replace(lines.begin(), lines.end(), '\n', ',');
  const auto types = TRY(parse_ids("--token-type-ids", lines));
  const Model& model = *document.model;
  const bool has_types = (model.encoder ? model.encoder->embeddings : model.embeddings).token_types.size() > 0;
  if (!has_types && std::ranges::any_of(types, [](std::int64_t type) { return type != 0; }))
    return bad_input("--token-type-ids", "", "0 alone, as the model has no types", lines);
  document.token_types.clear();
  for (const std::int64_t type : types)
    document.token_types.push_back(static_cast<int>(std::min<std::int64_t>(type, std::numeric_limits<int>::max())));
  return Done{};
}

QuestionField types_field() {
  const auto is_shown = [](const Document& d) { return is_asked_by_ids(kSource, d) && !d.token_types.empty(); };
  QuestionField row{FieldPart::text, "token_type_ids", kQuestionWords.cut};
  row.options = {
      FieldOption("--token-type-ids", OptionKind::numbers, "N,N,…", "A type for each id, where the model has types")};
  row.is_same = same_by([](const Document& d) -> const std::vector<int>& { return d.token_types; });
  row.take = take_types;
  row.put = [is_shown](const Document& d, OptionWords& words) {
    if (is_shown(d)) words.add("--token-type-ids", joined_numbers(d.token_types));
  };
  row.write = [is_shown](const Document& d, json& object) {
    if (is_shown(d)) object["token_type_ids"] = d.token_types;
  };
  row.read = [](const JsonField& fields, Document& d) {
    fields.read_list("token_type_ids", d.token_types, 0, std::numeric_limits<std::int32_t>::max());
  };
  return row;
}

Status take_split(Document& document, const GivenOptions& given) {
  const auto split = value_named<Split>(kSplits, given.word("--split"));
  if (const auto valid = check_text_option("--split", document); !valid) return valid;
  if (is_checkpoint(document))
    return bad_input("--split", "", "no such option beside a checkpoint, which has its own tokenizer",
                     document.model_path);
  if (!split) return bad_input("--split", "", listed(kSplits, " or "), given.word("--split"));
  for (TextInput* input : {&document.source, &document.target}) {
    input->hand_cuts.reset();
    input->split = *split;
  }
  return Done{};
}

/// How both sides are cut. In JSON it stands beside each text.
QuestionField split_field() {
  QuestionField row{FieldPart::text, "split", kQuestionWords.cut};
  row.options = {
      FieldOption("--split", OptionKind::word, "", "words (default) or characters", {"--tokens", "--target-tokens"})};
  row.is_same = [](const Document& a, const Document& b) { return a.source == b.source && a.target == b.target; };
  row.take = take_split;
  row.put = [](const Document& d, OptionWords& words) {
    const bool two_sides = config_of(d).arch == Arch::encoder_decoder;
    const bool cuts = !d.source.hand_cuts || (two_sides && !d.target.hand_cuts);
    if (!d.model && cuts && d.source.split != Split::words)
      words.add("--split", std::string(name_in(kSplits, d.source.split)));
  };
  return row;
}

}  // namespace

std::string inputs_in_words(const Document& document) {
  if (names_own_numbers(document.model_path)) return "numbers of one's own";
  return names_page(document.model_path) ? "a page whose model is not there" : "a tensors file";
}

std::string source_in_words(const Document& document) {
  return document.model_path.starts_with(kNumbersSource) ? std::string(kNumbersSource) + " …" : document.model_path;
}

QuestionFields text_fields() {
  return {picture_field(),
          side_field(kSource, "The sentence; '-' reads standard input; several lines are a batch",
                     "The sentence with its token boundaries set by hand: 'A|B|C'",
                     "Token ids in place of text, no special tokens added; of several lines, or of '-', a bad one is "
                     "named, and the others are answered",
                     take_source_ids),
          chat_field(),
          pair_field(),
          types_field(),
          side_field(kTarget, "What the decoder of an encoder-decoder reads, a line for each of the text's",
                     "The same with its token boundaries set by hand",
                     "The ids that the decoder of an encoder-decoder reads", take_target_ids),
          split_field(),
          padding_field()};
}

}  // namespace headlight
