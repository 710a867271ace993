// Conversations with instruct models: turns between the marks of each family, the roles of the tokens, and the ways in
// which one is asked, kept and continued.
#include "read/tokenizer/chat.h"

#include "app/figures.h"
#include "app/program.h"
#include "chat_tokenizer.h"
#include "figure/drawing/map_layout.h"
#include "models/open_model.h"
#include "question/question_fields.h"
#include "question/tokenizers.h"
#include "read/tokenizer/tokenizer_file.h"
#include "session/file/session_file.h"
#include "session/loop/command_line_of.h"
#include "session/update.h"

namespace headlight {
namespace {

using namespace program;
using fixture::lexicon;

const Strings kChatMl{"<|im_start|>", "<|im_end|>"};
constexpr const char* kLlama2Template = "{{ bos_token + '[INST] ' + '<<SYS>>\n' + content + ' [/INST]' }}";

Tokenizer chat_tokenizer(const Strings& specials) {
  const Folder folder;
  folder.with("tokenizer.json", chat_tokenizer_json(specials));
  auto read = read_tokenizer(folder.path());
  EXPECT_TRUE(read) << read.error().message();
  return read ? *read->tokenizer : Tokenizer{};
}

/// The tokens of the conversation as the vocabulary spells them, beside each other.
std::string spelled(const Tokenizer& tokenizer, const Chat& chat, const char* chat_template = "") {
  const ChatFamily* family = chat_family(tokenizer, chat_template);
  if (!family) return "no family";
  const auto text = chat_text(*family, chat);
  if (!text) return text.error().message();
  const auto tokens = encode(tokenizer, *text, true);
  EXPECT_TRUE(tokens) << tokens.error().message();
  std::string spelt;
  for (const Token& token : tokens ? tokens->tokens : std::vector<Token>{}) spelt += bytes_of_id(tokenizer, token.id);
  return spelt;
}

/// golden/gpt2 as an instruct model.
class ChatFolder : public Folder {
 public:
  explicit ChatFolder(const Strings& specials = kChatMl, const std::string& model = "gpt2") {
    for (const char* file : {"config.json", "model.safetensors"})
      std::filesystem::copy_file(fixture::golden(model) / file, path() / file);
    with("tokenizer.json", chat_tokenizer_json(specials));
  }
  std::string folder() const { return path().string(); }
  Document document(Chat chat) const {
    auto opened = open_model(path());
    EXPECT_TRUE(opened) << opened.error().message();
    Document document = opened ? opened->document : Document{};
    document.chat = std::move(chat);
    return document;
  }
};

Tokens asked_tokens(const Document& document) {
  const auto requests = requests_of(document, lexicon());
  EXPECT_TRUE(requests) << requests.error().message();
  return requests ? requests->front().tokens : Tokens{};
}

std::string raw_of(const Tokens& tokens) {
  std::string text;
  for (const Token& token : tokens.tokens) text += token.raw;
  return text;
}

/// The first letter of the role of each token, - where it has none.
std::string roles_of(const Tokens& tokens) {
  std::string roles;
  for (const Token& token : tokens.tokens)
    roles += token.role == ChatRole::none ? '-' : name_in(kChatRoles, token.role).front();
  return roles;
}

std::string times(std::size_t count, char letter) { return std::string(count, letter); }

constexpr ChatRole kSystem = ChatRole::system, kUser = ChatRole::user, kAssistant = ChatRole::assistant;
const Chat kAsked{{{kUser, "hi"}}}, kAnswered{{{kUser, "hi"}, {kAssistant, "yes"}, {kUser, "why"}}};

TEST(Chat, EachFamilyHasItsOwnMarks) {
  const Tokenizer chatml = chat_tokenizer(kChatMl);
  EXPECT_EQ(spelled(chatml, kAsked), "<s><|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(spelled(chatml, {{{kSystem, "be kind"}, {kUser, "hi"}, {kAssistant, "yes"}}}),
            "<s><|im_start|>system\nbe kind<|im_end|>\n<|im_start|>user\nhi<|im_end|>\n"
            "<|im_start|>assistant\nyes<|im_end|>\n")
      << "an answer that is there is not begun again";
  EXPECT_EQ(spelled(chatml, {{{kUser, "hi"}, {kAssistant, "yes"}}, true}),
            "<s><|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\nyes")
      << "an open answer has no end";
  const Tokenizer llama = chat_tokenizer({"<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"});
  EXPECT_EQ(spelled(llama, {{{kUser, " hi\n"}}}),
            "<s><|start_header_id|>user<|end_header_id|>\n\nhi<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\n")
      << "its template trims";
  const Tokenizer gemma = chat_tokenizer({"<start_of_turn>", "<end_of_turn>"});
  EXPECT_EQ(spelled(gemma, kAnswered),
            "<s><start_of_turn>user\nhi<end_of_turn>\n<start_of_turn>model\nyes<end_of_turn>\n"
            "<start_of_turn>user\nwhy<end_of_turn>\n<start_of_turn>model\n");
  const Tokenizer phi = chat_tokenizer({"<|system|>", "<|user|>", "<|assistant|>", "<|end|>"});
  EXPECT_EQ(spelled(phi, kAsked), "<s><|user|>\nhi<|end|>\n<|assistant|>\n");
  const Tokenizer mistral = chat_tokenizer({"[INST]", "[/INST]", "</s>"});
  EXPECT_EQ(spelled(mistral, kAnswered), "<s>[INST] hi[/INST] yes</s>[INST] why[/INST]");
}

TEST(Chat, Llama2IsKnownByItsTemplate) {
  const Tokenizer llama = chat_tokenizer({"</s>"});
  EXPECT_EQ(spelled(llama, kAsked), "no family") << "its marks are ordinary text";
  EXPECT_EQ(spelled(llama, kAsked, kLlama2Template), "<s>[INST] hi [/INST]");
  EXPECT_EQ(
      spelled(llama, {{{kSystem, "be kind"}, {kUser, "hi"}, {kAssistant, "yes"}, {kUser, " why "}}}, kLlama2Template),
      "<s>[INST] <<SYS>>\nbe kind\n<</SYS>>\n\nhi [/INST] yes </s><s>[INST] why [/INST]");
  const Chat late{{{kUser, "hi"}, {kSystem, "be kind"}}}, alone{{{kSystem, "be kind"}}};
  EXPECT_TRUE(contains(spelled(llama, late, kLlama2Template), "expected the system's turn of Llama 2 first"));
  EXPECT_TRUE(contains(spelled(llama, alone, kLlama2Template), "expected the system's turn of Llama 2 first"));
}

TEST(Chat, ATemplateOfAnotherFormIsNotGuessedAt) {
  const Tokenizer phi = chat_tokenizer({"<|system|>", "<|user|>", "<|assistant|>", "<|end|>"});
  EXPECT_EQ(chat_family(phi, "{{ '<|' + message['role'] + '|>' + message['content'] + '<|end|>' }}"), nullptr);
  EXPECT_NE(chat_family(phi, "{{ '<|user|>\n' + message['content'] + '<|end|>\n' }}"), nullptr);
  EXPECT_EQ(chat_family(chat_tokenizer({"<|im_start|>"}), ""), nullptr) << "half of a family";
  EXPECT_EQ(chat_family(chat_tokenizer({}), ""), nullptr);
}

TEST(Chat, WhatIsNotKnownIsOneLine) {
  const Tokenizer gemma = chat_tokenizer({"<start_of_turn>", "<end_of_turn>"});
  EXPECT_TRUE(
      contains(spelled(gemma, {{{kSystem, "be kind"}, {kUser, "hi"}}}), "Gemma has: user, assistant, found system"));
  EXPECT_EQ(parse_chat_turn("user:a: b")->text, "a: b");
  for (const char* wrong : {"hi", "tool:hi", "User:hi", ":", "user:\xff"})
    EXPECT_FALSE(parse_chat_turn(wrong)) << wrong;
}

TEST(Chat, EachTokenKnowsItsRole) {
  const ChatFolder model;
  const Tokens tokens = asked_tokens(model.document(kAnswered));
  const std::string expected = "-" + times(10, 'u') + times(16, 'a') + times(11, 'u') + times(11, 'a');
  EXPECT_EQ(roles_of(tokens), expected) << raw_of(tokens);
  const std::vector<RoleRun> runs = role_runs(tokens.tokens, 0, static_cast<Index>(tokens.size()));
  ASSERT_EQ(runs.size(), 4u);
  EXPECT_EQ(runs[1], (RoleRun{11, 16, kAssistant}));
  EXPECT_EQ(role_runs(tokens.tokens, 20, 10).front(), (RoleRun{0, 7, kAssistant})) << "of a part";
  // The same tokens as ids and as text.
  Document by_ids = model.document({}), by_text = by_ids;
  for (const Token& token : tokens.tokens) by_ids.source.ids.push_back(token.id);
  EXPECT_EQ(roles_of(asked_tokens(by_ids)), expected);
  by_text.source.text = "<|im_start|>user hi<|im_end|><|im_start|>assistant";
  EXPECT_EQ(roles_of(asked_tokens(by_text)), "-" + times(9, 'u') + times(10, 'a'));
  by_text.source.text = "user hi";
  EXPECT_EQ(roles_of(asked_tokens(by_text)), times(8, '-'));
}

TEST(Chat, UnmarkedAnswersHaveTheirRoleToo) {
  const ChatFolder mistral({"[INST]", "[/INST]", "</s>"});
  EXPECT_EQ(roles_of(asked_tokens(mistral.document(kAnswered))),
            "-uuuuu"
            "aaaaa"
            "uuuuuu")
      << "[INST] hi[/INST] yes</s>";
  const ChatFolder llama({"</s>"});
  llama.with("tokenizer_config.json", json{{"chat_template", kLlama2Template}}.dump());
  const Tokens tokens = asked_tokens(llama.document({{{kSystem, "b"}, {kUser, "a"}, {kAssistant, "y"}}}));
  EXPECT_EQ(raw_of(tokens), "<s>[INST]Ġ<<SYS>>ĊbĊ<</SYS>>ĊĊaĠ[/INST]ĠyĠ</s>");
  // "[INST] <<SYS>>\nb\n<</SYS>>" is the system's, "\n\na [/INST]" the user's, " y </s>" the assistant's.
  EXPECT_EQ(roles_of(tokens), "-" + times(25, 's') + times(11, 'u') + times(4, 'a'));
}

TEST(Chat, EveryFigureOfMapsHasTheColoursOfTheRoles) {
  const ChatFolder model;
  const Document document = model.document({{{ChatRole::user, "hi"}, {ChatRole::assistant, "yes"}}});
  const auto trace = figures::answer_of(document);
  const auto heads = static_cast<std::size_t>(trace->num_layers() * trace->num_heads());
  for (const auto& [view, maps] :
       {std::pair{FigureKind::head, std::size_t{1}}, {FigureKind::grid, heads}, {FigureKind::layers, heads}}) {
    FigureOptions options;
    options.kind = view;
    const Drawing drawing = figures::drawn(document, *trace, options);
    for (const ChatRole role : {ChatRole::user, ChatRole::assistant}) {
      std::size_t strips = 0;
      for (const Rectangle& one : figures::all<Rectangle>(drawing)) {
        if (one.fill != role_colour(options.theme, role)) continue;
        ++strips;
        EXPECT_GE(one.box.x, 0.0f);
        EXPECT_LE(one.box.right(), drawing.width);
      }
      EXPECT_EQ(strips, 2 * maps) << "of rows and of columns";
    }
  }
}

TEST(Chat, TheCommandLineAsksAConversation) {
  const ChatFolder model;
  const Ran ran = run({"export", model.folder(), "--chat", "user:hi", "--chat", "assistant:yes"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json answer = json::parse(ran.out);
  std::string text;
  for (const json& token : answer["tokens"]) text += token["raw"].get<std::string>();
  EXPECT_EQ(text, "<s><|im_start|>userĊhi<|im_end|>Ċ<|im_start|>assistantĊyes<|im_end|>Ċ");
  EXPECT_FALSE(answer["tokens"][0].contains("role"));
  EXPECT_EQ(answer["tokens"][1]["role"], "user");
  EXPECT_EQ(answer["tokens"][11]["role"], "assistant");
  EXPECT_EQ(answer["request"]["chat"],
            (json{{{"role", "user"}, {"content", "hi"}}, {{"role", "assistant"}, {"content", "yes"}}}));
  const json open = exported({model.folder(), "--chat", "user:hi", "--chat", "assistant:yes", "--chat-open"});
  EXPECT_EQ(open["tokens"].size() + 2, answer["tokens"].size());
  EXPECT_TRUE(
      contains(refused({"export", model.folder(), "--chat", "hi"}), "--chat: expected system:TEXT, user:TEXT or "));
  EXPECT_TRUE(
      contains(refused({"export", model.folder(), "--chat", "user:hi", "--chat-open"}), "--chat-open: expected"));
  EXPECT_TRUE(contains(refused({"export", "--chat", "user:hi"}), "--chat: expected an instruct model"));
  EXPECT_TRUE(contains(refused({"export", model.folder(), "--chat", "user:hi", "--text", "hi"}), "--chat"));
  const ChatFolder base{Strings{}};
  EXPECT_TRUE(contains(refused({"export", base.folder(), "--chat", "user:hi"}),
                       "(ChatML, Llama 2, Llama 3, Gemma, Phi-3, Mistral)"));
  const std::string mute = fixture::golden("gpt2").string();
  EXPECT_TRUE(contains(refused({"export", mute, "--chat", "user:hi"}), ", found no tokenizer in " + mute));
}

TEST(Chat, GoesIntoSessionsCommandsAndUndo) {
  const ChatFolder model;
  const Document document = model.document({{{kUser, "it's\nhi"}, {kAssistant, "yes"}}, true});
  const auto session = session_from_json("s", to_json(Session{document, {}}));
  ASSERT_TRUE(session) << session.error().message();
  EXPECT_EQ(session->document.chat, document.chat);
  const auto words = request_words(document);
  ASSERT_TRUE(words);
  EXPECT_EQ(*words, (Strings{model.folder(), "--chat", "user:it's\nhi", "--chat", "assistant:yes", "--chat-open"}));
  for (const char* wrong : {R"([{"role": "tool", "content": "a"}])", R"([{"role": "user"}])", R"("hi")", R"([1])"}) {
    json changed = json::parse(to_json(Session{document, {}}));
    changed["request"]["chat"] = json::parse(wrong);
    EXPECT_FALSE(session_from_json("s", changed.dump())) << wrong;
  }
  AppState state = initial_state(lexicon(), model.document({}), Settings{});
  update(state, SetText{"a"});
  update(state, EndGesture{});
  update(state, SetChat{kAsked});
  EXPECT_EQ(raw_of(whole_request(state)->tokens), "<s><|im_start|>userĊhi<|im_end|>Ċ<|im_start|>assistantĊ");
  update(state, EndGesture{});
  update(state, SetText{"b"});
  EXPECT_EQ(raw_of(whole_request(state)->tokens), "<s>b") << "a text takes its place";
  update(state, Undo{});
  EXPECT_EQ(state.document.chat, kAsked);
  update(state, Undo{});
  EXPECT_EQ(raw_of(whole_request(state)->tokens), "<s>a");
}

TEST(Chat, AnAnswerGoesOnWithTheGuessedWord) {
  const ChatFolder model;
  Document document = model.document(kAsked);
  const Tokens before = asked_tokens(document);
  for (const char* letter : {"y", "e"}) {
    const std::int64_t id = letter[0] - 'a' + 3;
    append_word(document, 0, {.id = id, .text = letter}, lexicon());
  }
  EXPECT_EQ(document.chat, (Chat{{{kUser, "hi"}, {kAssistant, "ye"}}, true}));
  EXPECT_TRUE(document.source.ids.empty());
  const Tokens after = asked_tokens(document);
  EXPECT_EQ(after.size(), before.size() + 2);
  EXPECT_EQ(roles_of(after), roles_of(before) + "aa");
  // Behind the end of an answer no text of it goes on: the ids do, and they keep their roles.
  document.chat.open = false;
  const std::string closed = roles_of(asked_tokens(document));
  append_word(document, 0, {.id = 5, .text = "c"}, lexicon());
  EXPECT_FALSE(document.source.ids.empty());
  EXPECT_EQ(roles_of(asked_tokens(document)), closed + "-");
}

}  // namespace
}  // namespace headlight
