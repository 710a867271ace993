#include "cli/options/text_options.h"

#include <charconv>

#include "base/file.h"
#include "base/names.h"
#include "base/utf8.h"
#include "document/tokenizers.h"
#include "read/external/own_numbers.h"
#include "read/external/page_text.h"

namespace headlight {
namespace {

template <class Enum>
Status choose(const char* option, const std::string& found, Enum& value, std::initializer_list<Enum> choices) {
  std::string expected;
  for (const Enum choice : choices) {
    if (name(choice) == found) {
      value = choice;
      return Done{};
    }
    expected.append(expected.empty() ? "" : " or ").append(name(choice));
  }
  return bad_input(option, "", expected, found);
}

constexpr const char* kTextOptions[] = {"--text", "--text-pair", "--tokens", "--target", "--target-tokens", "--split"};
constexpr const char* kIdOptions[] = {"--ids", "--decoder-ids", "--token-type-ids"};

Status take_text(const char* option, const std::string& found, TextInput& input) {
  input.text = found;
  input.hand_cuts.reset();
  if (found == "-") {
    auto text = read_standard_input();
    if (!text) return text.error();
    input.text = std::move(*text);
    while (input.text.ends_with('\n') || input.text.ends_with('\r')) input.text.pop_back();
  }
  return check_utf8(option, input.text);
}

Status take_marked(const char* option, const std::string& found, TextInput& input) {
  auto marked = parse_marked_tokens(option, found);
  if (!marked) return marked.error();
  input.text = std::move(marked->text);
  input.hand_cuts = std::move(marked->cuts);
  return Done{};
}

/// "1,2,3"; CLI11 itself would leave out what is missing in "1,,3".
template <class Number>
std::string take_numbers(const std::string& found, std::vector<Number>& numbers) {
  numbers.clear();
  const char* at = found.data();
  const char* const end = at + found.size();
  for (;;) {
    const auto [next, error] = std::from_chars(at, end, numbers.emplace_back());
    if (error != std::errc() || (next != end && *next != ','))
      return "expected whole numbers with a comma between them, found '" + found + "'";
    if (next == end) return {};
    at = next + 1;
  }
}

Status check_numbers(const char* option, const auto& numbers) {
  for (const auto number : numbers)
    if (number < 0) return bad_input(option, "", "whole numbers, 0 or more", std::to_string(number));
  return Done{};
}

}  // namespace

std::string inputs_in_words(const Document& document) {
  if (names_own_numbers(document.model_path)) return "numbers of one's own";
  return names_page(document.model_path) ? "a page whose model is not there" : "a tensors file";
}

std::string source_in_words(const Document& document) {
  return document.model_path.starts_with(kNumbersSource) ? std::string(kNumbersSource) + " …" : document.model_path;
}

void TextOptions::add(Parser& command) {
  command_ = command;
  command.section("What is asked", kRequestTopic);
  command.option("--text", text_, "The sentence; '-' reads standard input; several lines are a batch");
  command.option("--tokens", tokens_, "The sentence with its token boundaries set by hand: 'A|B|C'")
      .excludes({"--text"});
  command.option("--text-pair", second_,
                 "Sentence B beside it, a line for each of the text's, of a checkpoint whose tokenizer takes pairs");
  command.option("--target", target_, "What the decoder of an encoder-decoder reads, a line for each of the text's");
  command.option("--target-tokens", target_tokens_, "The same with its token boundaries set by hand")
      .excludes({"--target"});
  command.option("--split", split_, "words (default) or characters").excludes({"--tokens", "--target-tokens"});
  const auto add_list = [&](const char* option, auto& list, const char* help) {
    return command.option(option, TakeWord([&list](const std::string& found) { return take_numbers(found, list); }),
                          help, "N,N,…");
  };
  add_list("--ids", ids_, "Token ids in place of text, for a checkpoint; no special tokens are added")
      .excludes({"--text", "--tokens", "--text-pair"});
  add_list("--decoder-ids", decoder_ids_, "The ids that the decoder of an encoder-decoder reads")
      .excludes({"--target", "--target-tokens"});
  command
      .option("--chat", chat_,
              "A turn of a conversation with an instruct model: system:TEXT, user:TEXT or assistant:TEXT, several "
              "times; the special tokens of its family are put around",
              "ROLE:TEXT")
      .repeated()
      .excludes({"--text", "--tokens", "--ids", "--text-pair"});
  command.option("--chat-open", chat_open_, "The last turn, the assistant's, is left without an end: it goes on")
      .needs("--chat");
  add_list("--token-type-ids", token_types_, "A type for each id, where the model has types");
  command.option("--pad", pad_, "The last N tokens are padding", "N").not_negative();
  command.section();
}

Status TextOptions::apply(Document& document, const std::string& source, bool reads_text) const {
  for (const Status& status :
       {apply_text(document, reads_text), apply_ids(document, source), apply_chat(document, source)})
    if (!status) return status;
  return Done{};
}

Status TextOptions::check_text_option(const char* option, const Document& document) const {
  if (has_own_inputs(document))
    return bad_input(option, "", "no such option beside " + inputs_in_words(document), source_in_words(document));
  if (!can_read_text(document))
    return bad_input(option, "", "--ids beside a checkpoint without a tokenizer",
                     document.tokenizers ? message_of(document.tokenizers->problem) : document.model_path);
  if (is_checkpoint(document) && std::string_view(option) == "--split")
    return bad_input(option, "", "no such option beside a checkpoint, which has its own tokenizer",
                     document.model_path);
  if (std::string_view(option) == "--text-pair" && !takes_pairs(document))
    return bad_input(option, "", "a checkpoint, no decoder, whose tokenizer has a template for pairs",
                     reads_ids(document) ? "ids in place of text"
                     : document.model    ? document.model_path
                                         : "fresh weights");
  const bool of_target = std::string_view(option).starts_with("--target");
  const Arch arch = config_of(document).arch;
  if (of_target && arch != Arch::encoder_decoder)
    return bad_input(option, "", document.model ? "an encoder-decoder" : "--arch encoder-decoder",
                     (document.model ? "" : "--arch ") + std::string(name(arch)));
  return Done{};
}

Status TextOptions::apply_text(Document& document, bool reads_text) const {
  if ((given("--text") || given("--tokens")) && can_read_text(document)) {
    document.source.ids.clear();
    document.token_types.clear();
    document.chat = {};
  }
  for (const char* option : kTextOptions)
    if (given(option))
      if (const auto valid = check_text_option(option, document); !valid) return valid;
  if (given("--target") || given("--target-tokens")) document.target.ids.clear();
  if (given("--text-pair")) {
    if (const auto valid = check_utf8("--text-pair", second_); !valid) return valid;
    document.text_pair = second_;
  }
  if (given("--text")) {
    const std::string& text = reads_text || text_ != "-" ? text_ : std::string();
    if (const auto taken = take_text("--text", text, document.source); !taken) return taken;
  }
  if (given("--tokens"))
    if (const auto taken = take_marked("--tokens", tokens_, document.source); !taken) return taken;
  if (given("--target"))
    if (const auto taken = take_text("--target", target_, document.target); !taken) return taken;
  if (given("--target-tokens"))
    if (const auto taken = take_marked("--target-tokens", target_tokens_, document.target); !taken) return taken;
  // The target that a document begins with belongs to the text that it begins with.
  const bool new_text = given("--text") || given("--tokens") || command_->name() == "generate";
  const bool begins = document.tokenizers && document.tokenizers->start && document.target == Document{}.target;
  if (new_text && begins && !given("--target") && !given("--target-tokens") && !given("--decoder-ids"))
    document.target = {};
  if (given("--split")) {
    for (TextInput* input : {&document.source, &document.target}) {
      input->hand_cuts.reset();
      if (const auto chosen = choose("--split", split_, input->split, {Split::words, Split::characters}); !chosen)
        return chosen;
    }
  }
  if (!given("--pad")) return Done{};
  if (has_own_inputs(document))
    return bad_input("--pad", "", "no such option beside " + inputs_in_words(document), source_in_words(document));
  document.pad = pad_;
  return Done{};
}

Status TextOptions::apply_chat(Document& document, const std::string& source) const {
  if (!given("--chat")) return Done{};
  if (!is_checkpoint(document) || !can_read_text(document))
    return bad_input("--chat", "", "an instruct model with a tokenizer as SOURCE",
                     source.empty()            ? "none"
                     : is_checkpoint(document) ? "no tokenizer in " + source
                                               : source);
  if (!takes_chat(document))
    return bad_input(
        "--chat", "",
        "an instruct model of a family whose marks are known (" + chat_families() + "); --text takes a whole prompt",
        "none of their marks in the tokenizer of " + source);
  Chat chat{.open = chat_open_};
  for (const std::string& text : chat_) {
    auto turn = parse_chat_turn(text);
    if (!turn) return turn.error();
    chat.turns.push_back(std::move(*turn));
  }
  if (chat.open && chat.turns.back().role != ChatRole::assistant)
    return bad_input("--chat-open", "", "assistant: as the last --chat",
                     std::string(name_in(kChatRoles, chat.turns.back().role)));
  if (const auto text = chat_text(*document.tokenizers->chat, chat); !text) return text.error();
  document.chat = std::move(chat);
  document.source.ids.clear();
  document.token_types.clear();
  return Done{};
}

Status TextOptions::apply_ids(Document& document, const std::string& source) const {
  for (const char* option : kIdOptions)
    if (given(option) && !is_checkpoint(document))
      return bad_input(option, "", "a checkpoint folder as SOURCE", source.empty() ? "none" : source);
  if (given("--decoder-ids") && config_of(document).arch != Arch::encoder_decoder)
    return bad_input("--decoder-ids", "", "an encoder-decoder", name(config_of(document).arch).data());
  for (const Status& status : {check_numbers("--ids", ids_), check_numbers("--decoder-ids", decoder_ids_),
                               check_numbers("--token-type-ids", token_types_)})
    if (!status) return status;
  if (given("--ids")) {
    document.source.ids = ids_;
    document.token_types.clear();
    document.chat = {};
  }
  if (given("--decoder-ids")) document.target.ids = decoder_ids_;
  if (given("--ids") && config_of(document).arch == Arch::encoder_decoder && document.target.ids.empty() &&
      can_read_text(document) && !given("--target") && !given("--target-tokens"))
    return bad_input("--decoder-ids", "", "ids, or a --target, beside --ids of an encoder-decoder", "none");
  if (given("--token-type-ids") && document.source.ids.empty())
    return bad_input("--token-type-ids", "", "--ids beside it", "none");
  if (given("--token-type-ids")) document.token_types = token_types_;
  return Done{};
}

}  // namespace headlight
