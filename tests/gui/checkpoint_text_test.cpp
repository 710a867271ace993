// A checkpoint with a tokenizer in the window: its text box and chips, words that it does not know, ids instead of
// text.
#include "base/file.h"
#include "gui/frame/draw.h"
#include "gui/harness.h"
#include "gui/theme/theme.h"

namespace headlight {
namespace {

using Ids = std::vector<std::int64_t>;

/// A word-level tokenizer, <s> before every text; `pre_tokenizer` is how it cuts.
std::string tokenizer_json(const std::string& pre_tokenizer) {
  return R"({"version": "1.0", "added_tokens": [], "pre_tokenizer": {"type": ")" + pre_tokenizer + R"("},
    "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>"}},
                     {"Sequence": {"id": "A"}}],
                       "special_tokens": {"<s>": {"ids": [0], "tokens": ["<s>"]}}},
    "model": {"type": "WordLevel", "unk_token": "<unk>",
              "vocab": {"<s>": 0, "<unk>": 1, "the": 2, "cat": 3, "我": 4, "请": 5}}})";
}

class CheckpointTextTest : public GuiTest {
 protected:
  void open(const std::string& pre_tokenizer, const std::string& tokenizer = {}) {
    for (const char* file : {"config.json", "model.safetensors"})
      std::filesystem::copy_file(HEADLIGHT_TEST_DATA "/golden/gpt2/" + std::string(file), folder.path() / file);
    ASSERT_TRUE(
        write_file(folder.path() / "tokenizer.json", tokenizer.empty() ? tokenizer_json(pre_tokenizer) : tokenizer));
    harness->push(OpenPath{folder.path().string()});
    harness->settle();
    ASSERT_TRUE(harness->state.document.model) << (harness->state.notice ? harness->state.notice->text : "");
  }
  Ids ids() const {
    Ids ids;
    for (const Token& token : wanted(harness->state)->tokens.tokens) ids.push_back(token.id);
    return ids;
  }

  TemporaryFolder folder;
};

TEST_F(CheckpointTextTest, IsTypedAndCutByHand) {
  open("Words");
  Harness& h = *harness;
  for (const char* there : {"text", "samples", "ask by ids", "chip 1"}) EXPECT_TRUE(h.has(there)) << there;
  for (const char* gone : {"ids", "split words", "d_model"}) EXPECT_FALSE(h.has(gone)) << gone;
  h.retype("我请 the dog");
  h.settle();
  EXPECT_EQ(ids(), (Ids{0, 4, 5, 2, 1}));
  const ImU32 mark = palette(h.state.settings.theme).caution;
  EXPECT_TRUE(h.drew(mark, h.box("chip 4"))) << "unknown";
  EXPECT_FALSE(h.drew(mark, h.box("chip 3")));
  h.key(Key::escape);
  h.click("gap 2");
  h.settle();
  EXPECT_EQ(ids(), (Ids{0, 1, 2, 1})) << "我请 is no word";
  h.click("split automatic");
  h.settle();
  EXPECT_EQ(ids(), (Ids{0, 4, 5, 2, 1}));
}

TEST_F(CheckpointTextTest, AGuessedLineBreakIsSeen) {
  std::string words = R"("vocab": {"<s>": 0, "<unk>": 1, "the": 2)", breaks = "\\n";
  for (int id = 3; id < 12; ++id, breaks += "\\n") words += ", \"" + breaks + "\": " + std::to_string(id);
  std::string text = tokenizer_json("Whitespace");
  const std::size_t at = text.find("\"vocab\"");
  open("Whitespace", text.substr(0, at) + words + "}}}");
  Harness& h = *harness;
  h.retype("the");
  h.settle();
  ASSERT_TRUE(h.has("ghost 2"));
  std::size_t breaks_seen = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string& word = h.state.guess->words[i].word.text;
    if (word.find('\n') == std::string::npos) continue;
    ++breaks_seen;
    std::string shown;
    for (std::size_t n = 0; n < word.size(); ++n) shown += "⏎";
    EXPECT_TRUE(h.says(shown)) << word.size();
  }
  EXPECT_GT(breaks_seen, 0u);
}

TEST_F(CheckpointTextTest, IsAskedByItsIdsAndBack) {
  open("Words");
  Harness& h = *harness;
  h.retype("the cat");
  h.key(Key::escape);
  h.settle();
  const auto trace = h.state.trace;
  h.click("ask by ids");
  h.settle();
  EXPECT_TRUE(h.has("ids") && h.has("ask by text") && !h.has("text"));
  EXPECT_EQ(h.state.document.source.ids, (Ids{0, 2, 3}));
  EXPECT_EQ(h.state.trace->last_hidden_state(), trace->last_hidden_state());
  EXPECT_EQ(h.state.trace->query_tokens().tokens[2].text, "cat");
  h.click("ask by text");
  h.settle();
  EXPECT_TRUE(h.has("text"));
  EXPECT_EQ(h.state.document.source.text, "the cat");
  EXPECT_EQ(ids(), (Ids{0, 2, 3}));
  h.click("undo");
  h.click("undo");
  h.settle();
  EXPECT_TRUE(h.has("text"));
}

TEST_F(CheckpointTextTest, CtrlLTypesIdsWhereIdsAreAsked) {
  open("Words");
  Harness& h = *harness;
  h.click("ask by ids");
  h.settle();
  h.key({Key::left_ctrl, Key{'L'}});
  h.frame(3);
  EXPECT_TRUE(ImGui::GetIO().WantTextInput);
  h.type("0, 3, 2");
  h.settle();
  EXPECT_EQ(h.state.document.source.ids, (Ids{0, 3, 2}));
  h.key(Key::enter);
  h.key(Key::right_bracket);
  EXPECT_EQ(h.state.view.chosen, (HeadRef{0, 1})) << "the window has its keys again";
}

TEST_F(CheckpointTextTest, PiecesThatWereLearnedAreNotMoved) {
  open("Whitespace");
  Harness& h = *harness;
  h.retype("the cat");
  h.key(Key::escape);
  h.settle();
  EXPECT_EQ(ids(), (Ids{0, 2, 3}));
  EXPECT_FALSE(h.has("gap 2"));
  h.click("chip 1");
  h.settle();
  EXPECT_FALSE(h.state.document.source.hand_cuts);
}

}  // namespace
}  // namespace headlight
