// Conversations with instruct models: turns between the special tokens of each family, known by its vocabulary alone.
#include "read/tokenizer/chat.h"

#include "app/program.h"
#include "read/tokenizer/tokenizer_file.h"

namespace headlight {
namespace {

using namespace program;

/// Byte-level BPE without merges: a token a byte, small letters alone, and the special tokens; <s> before a text.
std::string letters_json(const Strings& specials) {
  json vocabulary{{"<s>", 0}, {"Ċ", 1}, {"Ġ", 2}};
  for (char letter = 'a'; letter <= 'z'; ++letter) vocabulary[std::string(1, letter)] = vocabulary.size();
  json added = json::array();
  const auto add = [&](const std::string& content, std::size_t id) {
    added.push_back({{"id", id}, {"content", content}, {"special", true}, {"normalized", false}});
  };
  add("<s>", 0);
  for (const std::string& content : specials) add(content, 28 + added.size());
  const json start = {{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}};
  const json text = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  return json{{"version", "1.0"},
              {"added_tokens", added},
              {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}},
              {"post_processor",
               {{"type", "TemplateProcessing"},
                {"single", {start, text}},
                {"pair", json::array()},
                {"special_tokens", {{"<s>", {{"id", "<s>"}, {"ids", {0}}, {"tokens", {"<s>"}}}}}}}},
              {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", json::array()}}}}
      .dump();
}

Tokenizer letters(const Strings& specials) {
  const Folder folder;
  folder.with("tokenizer.json", letters_json(specials));
  auto read = read_tokenizer(folder.path());
  EXPECT_TRUE(read) << read.error().message;
  return read ? *read->tokenizer : Tokenizer{};
}

/// The tokens of the conversation as the vocabulary spells them, beside each other.
std::string spelled(const Tokenizer& tokenizer, const std::vector<ChatTurn>& turns) {
  const auto ids = chat_ids(tokenizer, turns);
  EXPECT_TRUE(ids) << ids.error().message;
  std::string text;
  for (const std::int64_t id : ids ? *ids : std::vector<std::int64_t>{}) {
    const std::string bytes = bytes_of_id(tokenizer, id);
    text += bytes;
  }
  return text;
}

constexpr ChatRole kSystem = ChatRole::system, kUser = ChatRole::user, kAssistant = ChatRole::assistant;

TEST(Chat, EachFamilyHasItsOwnMarks) {
  const std::vector<ChatTurn> asked{{kUser, "hi"}}, answered{{kUser, "hi"}, {kAssistant, "yes"}, {kUser, "why"}};
  const Tokenizer chatml = letters({"<|im_start|>", "<|im_end|>"});
  EXPECT_EQ(spelled(chatml, asked), "<s><|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(spelled(chatml, {{kSystem, "be kind"}, {kUser, "hi"}, {kAssistant, "yes"}}),
            "<s><|im_start|>system\nbe kind<|im_end|>\n<|im_start|>user\nhi<|im_end|>\n"
            "<|im_start|>assistant\nyes<|im_end|>\n")
      << "an answer that is there is not begun again";
  EXPECT_EQ(chat_ids(chatml, asked)->at(1), 29) << "a mark is one token";
  const Tokenizer llama = letters({"<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"});
  EXPECT_EQ(spelled(llama, asked),
            "<s><|start_header_id|>user<|end_header_id|>\n\nhi<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\n");
  const Tokenizer gemma = letters({"<start_of_turn>", "<end_of_turn>"});
  EXPECT_EQ(spelled(gemma, answered),
            "<s><start_of_turn>user\nhi<end_of_turn>\n<start_of_turn>model\nyes<end_of_turn>\n"
            "<start_of_turn>user\nwhy<end_of_turn>\n<start_of_turn>model\n");
  const Tokenizer phi = letters({"<|system|>", "<|user|>", "<|assistant|>", "<|end|>"});
  EXPECT_EQ(spelled(phi, asked), "<s><|user|>\nhi<|end|>\n<|assistant|>\n");
  const Tokenizer mistral = letters({"[INST]", "[/INST]", "</s>"});
  EXPECT_EQ(spelled(mistral, answered), "<s>[INST] hi[/INST] yes</s>[INST] why[/INST]");
}

TEST(Chat, WhatIsNotKnownIsOneLine) {
  const std::vector<ChatTurn> asked{{kUser, "hi"}};
  const auto base = chat_ids(letters({}), asked);
  ASSERT_FALSE(base);
  EXPECT_TRUE(contains(base.error().message, "special tokens of ChatML, Llama 3, Gemma, Phi-3, Mistral"));
  EXPECT_FALSE(chat_ids(letters({"<|im_start|>"}), asked)) << "half of a family";
  const auto system = chat_ids(letters({"<start_of_turn>", "<end_of_turn>"}), {{kSystem, "be kind"}, {kUser, "hi"}});
  ASSERT_FALSE(system);
  EXPECT_TRUE(contains(system.error().message, "Gemma has: user, assistant, found system"));
  EXPECT_EQ(parse_chat_turn("user:a: b")->text, "a: b");
  for (const char* wrong : {"hi", "tool:hi", "User:hi", ":", "user:\xff"})
    EXPECT_FALSE(parse_chat_turn(wrong)) << wrong;
}

TEST(Chat, TheCommandLineAsksAConversation) {
  const Folder folder;
  for (const char* file : {"config.json", "model.safetensors"})
    std::filesystem::copy_file(HEADLIGHT_TEST_DATA "/golden/bert/" + std::string(file), folder.path() / file);
  folder.with("tokenizer.json", letters_json({"<|im_start|>", "<|im_end|>"}));
  const std::string model = folder.path().string();
  const Ran ran = run({"export", model, "--chat", "user:hi", "--chat", "assistant:yes"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json answer = json::parse(ran.out);
  std::string text;
  for (const json& token : answer["tokens"]) text += token["raw"].get<std::string>();
  EXPECT_EQ(text, "<s><|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\nyes<|im_end|>\n");
  EXPECT_TRUE(contains(refused({"export", model, "--chat", "hi"}), "--chat: expected system:TEXT, user:TEXT or "));
  EXPECT_TRUE(contains(refused({"export", "--chat", "user:hi"}), "--chat: expected an instruct model"));
  EXPECT_TRUE(contains(refused({"export", model, "--chat", "user:hi", "--text", "hi"}), "--chat"));
}

}  // namespace
}  // namespace headlight
