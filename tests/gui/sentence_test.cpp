// The sentence box, the samples and the chips: typing, pasting, cutting; and unusual texts.
#include "app/shipped.h"
#include "gui/frame/draw.h"
#include "gui/frame/map_view.h"
#include "gui/harness.h"
#include "models/model_choice.h"
#include "words/sentence_words.h"

namespace headlight {
namespace {

constexpr const char* kTen = "我|请|李雷|帮|我|订了|去|北京|的|机票";

class SentenceTest : public GuiTest {
 protected:
  const std::string& text() const { return harness->state.document.source.text; }
};

TEST_F(SentenceTest, TheOldMapsStayUntilTheNewOnesCome) {
  Harness& h = *harness;
  EXPECT_EQ(h.tokens(), kTen);
  const auto before = h.state.trace;
  h.click("text");
  h.key(Key::end);
  h.fonts.input(U'吗');
  h.frame(2);  // the second one has the new text; its answer cannot be there before the third
  EXPECT_EQ(text(), "我请李雷帮我订了去北京的机票吗");
  EXPECT_EQ(h.tokens(), std::string(kTen) + "|吗");
  EXPECT_EQ(h.state.trace, before);
  EXPECT_TRUE(is_stale(h.state));
  EXPECT_EQ(h.map("head 0.0").opacity, kStaleOpacity);
  EXPECT_TRUE(same(h.map("head 0.0").weights, weights_of(*before, {0, 0})));
  h.settle();
  EXPECT_FALSE(is_stale(h.state));
  EXPECT_EQ(h.map("head 0.0").weights.rows(), 11);
  EXPECT_EQ(h.map("head 0.0").opacity, 1);
}

TEST_F(SentenceTest, TypingReplacesAndIsOneUndoStep) {
  Harness& h = *harness;
  h.retype("The cat sat.");
  EXPECT_EQ(text(), "The cat sat.");
  EXPECT_EQ(h.tokens(), "The| cat| sat|.");
  h.key(Key::backspace);
  EXPECT_EQ(text(), "The cat sat");
  h.key(Key::escape);
  EXPECT_EQ(text(), "The cat sat") << "leaving the box keeps what was typed";
  EXPECT_EQ(h.state.undo.size(), 1u);
  h.click("undo");
  EXPECT_EQ(text(), kDefaultSentence);
  h.click("redo");
  EXPECT_EQ(text(), "The cat sat");
}

TEST_F(SentenceTest, CharactersOfSlowFramesAreKeptWhileTheBoxTakesTheKeyboard) {
  Harness& h = *harness;
  for (int frames = 0; frames < 4; ++frames) {
    h.push(FocusText{true});
    h.frame(frames);
    for (const std::u32string_view in_one_frame : {U"The cat", U" sat"}) {
      for (const char32_t character : in_one_frame) h.fonts.input(character);
      h.frame();
    }
    h.settle();
    EXPECT_EQ(text(), "The cat sat") << "they came " << frames << " frames later";
    h.key(Key::escape);
  }
}

TEST_F(SentenceTest, AnEmptyBoxSaysWhatToType) {
  Harness& h = *harness;
  h.retype("");
  h.key(Key::escape);
  h.settle();
  EXPECT_TRUE(h.says(kSentenceWords.sentence_hint.en));
  // Nothing is filled over the hint: what is drawn later lies above.
  const Box box = h.box("text");
  const ImU32 fill = ImGui::GetColorU32(ImGuiCol_FrameBg), ink = h.colours().dim;
  std::optional<int> hint, over;
  int at = 0;
  const ImDrawData& data = *ImGui::GetDrawData();
  for (int i = 0; i < data.CmdListsCount; ++i)
    for (const ImDrawVert& vertex : data.CmdLists[i]->VtxBuffer) {
      ++at;
      if (!box.contains(vertex.pos.x, vertex.pos.y)) continue;
      if (vertex.col == ink && !hint) hint = at;
      if (vertex.col == fill) over = at;
    }
  ASSERT_TRUE(hint && over);
  EXPECT_LT(*over, *hint);
}

TEST_F(SentenceTest, EnterIsDoneWithTheSentence) {
  Harness& h = *harness;
  h.retype("The cat sat");
  h.key(Key::enter);
  h.settle();
  EXPECT_EQ(text(), "The cat sat") << "and no empty line";
  EXPECT_FALSE(ImGui::GetIO().WantTextInput);
  h.key(Key::right_bracket);
  EXPECT_EQ(h.state.view.chosen, (HeadRef{0, 1})) << "the window has its keys again";
  h.click("text");
  h.key(Key::end);
  h.key({Key::left_shift, Key::enter});
  h.type("It ran");
  EXPECT_EQ(text(), "The cat sat\nIt ran") << "the next line of a batch";
  h.key(Key::escape);
  h.settle();
  EXPECT_EQ(h.state.requests.size(), 2u);
}

TEST_F(SentenceTest, CharactersAboveTheFirstPlaneSurvive) {
  Harness& h = *harness;
  h.retype("𠮷野家😀 ok");
  EXPECT_EQ(text(), "𠮷野家😀 ok");
  h.type("🏽");
  EXPECT_EQ(text(), "𠮷野家😀 ok🏽");
  h.key({Key::left_ctrl, Key{'A'}});
  h.key({Key::left_ctrl, Key{'C'}});
  EXPECT_EQ(h.clipboard, "𠮷野家😀 ok🏽") << "copied out as they are";
  const std::string pasted = "👨‍👩‍👧 𪚥 \U000F0000 ꀀ é";
  h.paste(pasted);
  EXPECT_EQ(text(), pasted);
  h.settle();
  EXPECT_FALSE(is_stale(h.state));
  h.key({Key::left_ctrl, Key{'A'}});
  h.key({Key::left_ctrl, Key{'X'}});
  EXPECT_EQ(h.clipboard, pasted);
  EXPECT_EQ(text(), "");
}

TEST_F(SentenceTest, SeveralLinesAreABatch) {
  Harness& h = *harness;
  EXPECT_FALSE(h.has("sentence after"));
  const float low = h.box("text").h;
  h.retype("小猫饿坏了\n我爱你\n人人为我");
  EXPECT_EQ(h.state.requests.size(), 3u);
  EXPECT_GT(h.box("text").h, low) << "the box grows with its lines";
  EXPECT_TRUE(h.says("sentence 1 / 3"));
  h.click("sentence after");
  EXPECT_EQ(h.state.view.sentence, 1u);
  EXPECT_TRUE(h.says("sentence 2 / 3"));
  h.settle();
  EXPECT_EQ(h.state.trace->request.tokens, h.state.requests[1].tokens);
  EXPECT_EQ(h.state.requests[0].tokens.size(), h.state.requests[1].tokens.size()) << "padded to the longest";
  h.click("sentence after");
  h.click("sentence after");
  EXPECT_EQ(h.state.view.sentence, 0u) << "after the last comes the first";
  h.click("sentence before");
  EXPECT_EQ(h.state.view.sentence, 2u);
  h.key({Key::left_alt, Key{'N'}});
  EXPECT_EQ(h.state.view.sentence, 0u);
  h.key({Key::left_alt, Key::left_shift, Key{'N'}});
  EXPECT_EQ(h.state.view.sentence, 2u);
  h.retype("我爱");
  EXPECT_EQ(h.state.view.sentence, 0u);
  EXPECT_FALSE(h.has("sentence after"));
}

TEST_F(SentenceTest, EverySampleIsOneClickAway) {
  Harness& h = *harness;
  ASSERT_GE(h.samples.size(), 10u);
  for (std::size_t i = h.samples.size(); i-- > 0;) {
    if (!h.samples[i].file.empty()) continue;  // opens a tensors file, see samples_test
    const std::string before = text();
    h.click("samples");
    ASSERT_TRUE(h.has("sample " + std::to_string(i)));
    EXPECT_TRUE(h.says(h.samples[i].note_en));
    h.click("sample " + std::to_string(i));
    EXPECT_EQ(text(), h.samples[i].text);
    EXPECT_FALSE(h.has("sample 0")) << "the menu closes";
    if (before == text()) continue;
    h.click("undo");
    EXPECT_EQ(text(), before);
    h.click("redo");
  }
}

TEST_F(SentenceTest, EscapeClosesTheSamples) {
  Harness& h = *harness;
  h.click("samples");
  ASSERT_TRUE(h.has("sample 0"));
  h.key(Key::escape);
  EXPECT_FALSE(h.has("sample 0"));
}

TEST_F(SentenceTest, AClickInAGapJoins) {
  Harness& h = *harness;
  h.click("gap 3");
  EXPECT_EQ(h.tokens(), "我|请|李雷帮|我|订了|去|北京|的|机票");
  EXPECT_EQ(h.state.undo.size(), 1u);
  h.settle();
  EXPECT_EQ(h.state.trace->queries(), 9);
  h.click("split automatic");
  EXPECT_EQ(h.tokens(), kTen);
  EXPECT_FALSE(h.has("split automatic"));
  h.click("undo");
  h.click("undo");
  EXPECT_EQ(h.tokens(), kTen);
  EXPECT_FALSE(h.state.document.source.hand_cuts);
}

TEST_F(SentenceTest, AClickInsideCuts) {
  Harness& h = *harness;
  h.click("chip 7");
  EXPECT_EQ(h.tokens(), "我|请|李雷|帮|我|订了|去|北|京|的|机票");
  h.click("gap 8");
  EXPECT_EQ(h.tokens(), kTen) << "joined again";
  h.click("chip 0");
  EXPECT_EQ(h.tokens(), kTen) << "one character cannot be cut";
  h.retype("unbelievable");
  const Box chip = h.box("chip 0");
  const ImFont& font = *h.fonts.font(TextSize::body);
  const auto width = [&](const char* part) {
    return font.CalcTextSizeA(h.fonts.pixels(TextSize::body), 1e6f, 0, part).x;
  };
  h.click_at({chip.x + (chip.w - width("unbelievable")) / 2 + width("un"), chip.y + chip.h / 2});
  EXPECT_EQ(h.tokens(), "un|believable");
}

TEST_F(SentenceTest, DraggingAGapMovesTheBoundary) {
  Harness& h = *harness;
  const auto middle = [&](const std::string& name) {
    const Box box = h.box(name);
    return ImVec2{box.x + box.w / 2, box.y + box.h / 2};
  };
  ImVec2 from = middle("gap 3");
  h.drag(from, {from.x - 18, from.y});
  EXPECT_EQ(h.tokens(), "我|请|李|雷帮|我|订了|去|北京|的|机票");
  EXPECT_EQ(h.state.undo.size(), 1u) << "a drag is one step";
  from = middle("gap 3");
  h.drag(from, {from.x + 18, from.y});
  EXPECT_EQ(h.tokens(), kTen);
  from = middle("gap 1");
  h.drag(from, {from.x - 200, from.y});
  EXPECT_EQ(h.tokens(), kTen) << "never past its neighbours";
  EXPECT_TRUE(is_consistent(h.state));
}

TEST_F(SentenceTest, APieceOfOneCharacterIsCutNowhere) {
  start(default_document(fixture::shipped().get()));
  Harness& h = *harness;
  h.state.shipped = fixture::shipped();
  h.retype("The 😀𠮷 sat");
  h.settle();
  ASSERT_TRUE(is_any_sentence(h.state.document));
  const std::string before = h.tokens();
  int pieces = 0;
  for (std::size_t i = 1; i < h.state.trace->query_tokens().size(); ++i) {
    const Token &left = h.state.trace->query_tokens().tokens[i - 1], &right = h.state.trace->query_tokens().tokens[i];
    const std::string gap = "gap " + std::to_string(i);
    if (!right.continues || !h.has(gap) || left.special) continue;
    ++pieces;
    const Box box = h.box(gap);
    for (const float by : {-40.0f, 40.0f})
      h.drag({box.x + box.w / 2, box.y + box.h / 2}, {box.x + box.w / 2 + by, box.y + box.h / 2});
    EXPECT_EQ(h.tokens(), before) << gap;
  }
  EXPECT_GT(pieces, 0);
  EXPECT_TRUE(is_consistent(h.state));
}

TEST_F(SentenceTest, ARightClickPads) {
  Harness& h = *harness;
  h.click("chip 8", 1);
  EXPECT_EQ(h.state.document.pad, 2u);
  h.settle();
  const Matrix weights = weights_of(*h.state.trace, {0, 1});
  EXPECT_EQ(weights.rightCols(2).maxCoeff(), 0);
  EXPECT_EQ(h.state.trace->mask().kind(), "padding");
  EXPECT_EQ(h.map("head 0.1").weights(0, 9), -1);
  h.click("chip 8", 1);
  EXPECT_EQ(h.state.document.pad, 0u);
  EXPECT_EQ(h.state.undo.size(), 2u);
  EXPECT_EQ(h.tokens(), kTen) << "nothing was cut";
}

TEST_F(SentenceTest, WordsOrCharacters) {
  Harness& h = *harness;
  h.click("split characters");
  EXPECT_EQ(h.tokens(), "我|请|李|雷|帮|我|订|了|去|北|京|的|机|票");
  h.click("split words");
  EXPECT_EQ(h.tokens(), kTen);
  EXPECT_EQ(h.state.undo.size(), 2u);
}

TEST_F(SentenceTest, PointingAtAChipLightsItsCell) {
  Harness& h = *harness;
  h.point_at("chip 5");
  EXPECT_EQ(h.state.view.hovered, (CellRef{5, 5}));
}

TEST_F(SentenceTest, NoTextIsAStateOfItsOwn) {
  Harness& h = *harness;
  h.retype("");
  EXPECT_EQ(text(), "");
  EXPECT_TRUE(h.has("head 0.0")) << "the maps stay while somebody types";
  h.settle();
  EXPECT_TRUE(h.says("No sentence yet"));
  EXPECT_FALSE(h.has("head 0.0"));
  for (const DrawnMap& map : h.maps.drawn)
    EXPECT_EQ(map.opacity, kStaleOpacity) << "an old map is not shown as if current";
  EXPECT_TRUE(is_stale(h.state));
  h.settle();
  h.key(Key::escape);
  for (const Key key : {Key::right_bracket, Key::right, Key::equal}) h.key(key);
  for (const Key key : {Key{'D'}, Key{'N'}}) h.key({Key::left_alt, key});
  h.click("export");
  h.key(Key::escape);
  h.key(Key::escape);
  h.retype("我");
  h.settle();
  EXPECT_EQ(h.map("head 0.0").weights.rows(), 1);
  EXPECT_EQ(h.map("head 0.0").weights(0, 0), 1);
  h.hover("stage map", {0, 0});
  EXPECT_TRUE(h.says("我 looks at 我: 1.0000"));
}

TEST_F(SentenceTest, OnlySpacesAndOnlyLineBreaks) {
  Harness& h = *harness;
  h.retype("   ");
  EXPECT_EQ(text(), "   ");
  h.settle();
  EXPECT_FALSE(is_stale(h.state));
  EXPECT_EQ(h.tokens(), "   ");
  EXPECT_TRUE(h.says("No sentence yet"));
  EXPECT_FALSE(h.has("chip 0"));
  EXPECT_TRUE(is_consistent(h.state));
  h.retype("\n\n");
  h.settle();
  EXPECT_TRUE(h.state.requests.empty());
  EXPECT_TRUE(is_stale(h.state));
  EXPECT_TRUE(h.says("No sentence yet"));
  EXPECT_FALSE(h.has("head 0.0"));
  h.retype("\u3000x");
  h.settle();
  EXPECT_EQ(text(), "\u3000x");
  EXPECT_FALSE(is_stale(h.state));
}

TEST_F(SentenceTest, FiveThousandTokensPasted) {
  Document document;
  document.source.split = Split::characters;
  document.config = {.d_model = 4, .num_heads = 1, .num_layers = 1, .ffn = 0};
  start(document);
  Harness& h = *harness;
  std::string long_text;
  for (int i = 0; i < 5000; ++i) long_text += i % 7 ? "的" : "x";
  h.click("text");
  h.key({Key::left_ctrl, Key{'A'}});
  h.paste(long_text);
  EXPECT_EQ(text(), long_text);
  int frames = 0;
  bool computing = false;
  for (; is_stale(h.state) && frames < 100000; ++frames) {
    h.frame();
    computing = computing || h.loop->computing();
    EXPECT_FALSE(h.maps.drawn.empty()) << "the last maps stay";
  }
  EXPECT_TRUE(computing);
  EXPECT_GT(frames, 3) << "the window kept drawing";
  h.settle();
  EXPECT_EQ(h.state.trace->queries(), 5000);
  EXPECT_TRUE(h.says("5000 × 5000"));
  EXPECT_EQ(h.map("head 0.0").weights.rows(), kThumbnail);
  h.push(SetTextLook{{.form = StageForm::map}});
  h.settle();
  h.hover("stage map", {4000, 10});
  EXPECT_TRUE(h.state.view.hovered);
  EXPECT_TRUE(h.has("row bars"));
}

TEST_F(SentenceTest, AGivenMaskThatNoLongerFits) {
  Harness& h = *harness;
  h.push(GiveMask{std::make_shared<const Matrix>(Matrix::Zero(10, 10))}, EndGesture{});
  h.settle();
  EXPECT_FALSE(is_stale(h.state));
  h.click("open controls");
  EXPECT_TRUE(h.has("remove mask"));
  h.key(Key::escape);
  h.click("text");
  h.key(Key::end);
  h.type("了");
  h.settle();
  EXPECT_TRUE(is_stale(h.state));
  const std::string problem = message_of(problem_of(h.state));
  EXPECT_NE(problem.find("expected"), std::string::npos) << problem;
  EXPECT_EQ(problem.find('\n'), std::string::npos);
  EXPECT_TRUE(h.says(problem));
  EXPECT_EQ(h.map("head 0.0").opacity, kStaleOpacity);
  h.click("remove mask");
  h.settle();
  EXPECT_FALSE(is_stale(h.state));
  EXPECT_EQ(message_of(problem_of(h.state)), "");
  EXPECT_EQ(h.map("head 0.0").weights.rows(), static_cast<Index>(h.state.requests[0].tokens.size()));
}

}  // namespace
}  // namespace headlight
