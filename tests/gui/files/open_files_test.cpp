// Opening through the browser, with real files.
#include <fstream>

#include "app/session_fixture.h"
#include "gui/files/files_fixture.h"
#include "session/answer_state.h"
#include "words/window_words.h"

namespace headlight {
namespace {

TEST_F(FilesTest, EnterActsOnTheLastKeysToo) {
  put("z.txt", "小猫饿坏了");
  put("z.tx", "我爱");
  browse("open");
  type_name("z.tx");
  harness->fonts.input(U't');  // in the frame of the Enter key
  enter();
  EXPECT_EQ(state().document.source.text, "小猫饿坏了");
}

TEST_F(FilesTest, OfALargeFolderOnlyWhatIsSeenIsLaidOut) {
  for (int i = 0; i < 900; ++i) put("f" + std::to_string(100000 + i) + ".txt", "");
  browse("open");
  ASSERT_GE(state().browser.entries.size(), 900u);
  int drawn = 0;
  for (const auto& [name, box] : harness->probe) drawn += name.starts_with("entry f");
  EXPECT_TRUE(harness->has("entry f100000.txt"));
  EXPECT_TRUE(drawn > 5 && drawn < 100) << drawn;
}

TEST_F(FilesTest, TheNameBoxHasTheKeyboardAgain) {
  std::filesystem::create_directory(folder / "inner");
  std::ofstream(folder.path() / "inner" / "b.txt") << "小猫饿坏了";
  put("a.txt", "我爱");
  browse("open");
  harness->type("inner");
  enter();
  harness->frame(3);
  harness->type("b.txt");
  enter();
  EXPECT_EQ(state().document.source.text, "小猫饿坏了");
  browse("open");
  harness->click("folder up");
  harness->settle();
  harness->click("entry a.txt");
  harness->frame(3);
  EXPECT_TRUE(ImGui::GetIO().WantTextInput) << "after a click into the list";
}

TEST_F(FilesTest, AllOfANameIsShown) {
  put("a##1.npz", "");
  put("a##2.npz", "");
  browse("open");
  EXPECT_TRUE(harness->says("a##1.npz")) << harness->words_on_screen();
  EXPECT_TRUE(harness->says("a##2.npz"));
}

TEST_F(FilesTest, ATypedNameAndEnterOpens) {
  put("a.txt", "小猫饿坏了");
  browse("open");
  EXPECT_TRUE(harness->has("entry a.txt"));
  harness->type("a.txt");  // the field has the keyboard at once
  enter();
  EXPECT_EQ(browsing(), Browser::Purpose::none);
  EXPECT_EQ(state().document.source.text, "小猫饿坏了");
  EXPECT_EQ(notice(), Notice::Kind::opened);
  EXPECT_TRUE(harness->says("Opened"));
  EXPECT_TRUE(harness->has("notice"));
  harness->click("dismiss");
  EXPECT_FALSE(harness->has("notice"));
  harness->click("undo");
  EXPECT_EQ(state().document.source.text, kDefaultSentence);
}

TEST_F(FilesTest, AClickChoosesAndADoubleClickOpens) {
  put("a.txt", "我爱");
  put("b.txt", "人人");
  browse("open");
  harness->click("entry b.txt");
  EXPECT_EQ(state().browser.name, "b.txt");
  EXPECT_EQ(browsing(), Browser::Purpose::open);
  harness->click("file action");
  harness->settle();
  EXPECT_EQ(state().document.source.text, "人人");
  browse("open");
  harness->double_click("entry a.txt");
  harness->settle();
  EXPECT_EQ(state().document.source.text, "我爱");
  EXPECT_EQ(browsing(), Browser::Purpose::none);
}

TEST_F(FilesTest, FoldersAreEnteredAndLeft) {
  std::filesystem::create_directory(folder / "sub");
  put("sub/inner.txt", "x");
  put(".hidden", "x");
  browse("open");
  EXPECT_FALSE(harness->has("entry .hidden"));
  harness->click("entry sub");
  harness->settle();
  EXPECT_TRUE(harness->has("entry inner.txt"));
  EXPECT_FALSE(harness->has("entry sub"));
  harness->click("folder up");
  harness->settle();
  EXPECT_TRUE(harness->has("entry sub"));
  for (const char* name : {"sub", "sub/"}) {
    SCOPED_TRACE(name);
    type_name(name);
    enter();
    EXPECT_TRUE(harness->has("entry inner.txt")) << "a typed folder is entered, not opened";
    EXPECT_EQ(state().browser.name, "");
    harness->click("folder up");
    harness->settle();
    EXPECT_TRUE(harness->has("entry sub"));
  }
  type_name("sub/..");
  enter();
  EXPECT_EQ(state().browser.folder, folder.path().string());
  harness->click("close browser");
  EXPECT_EQ(browsing(), Browser::Purpose::none);
}

TEST_F(FilesTest, ModelsOfTheCachesAreListedByNameAndOpened) {
  std::vector<std::unique_ptr<fixture::Variable>> caches;
  for (const char* variable : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "TRANSFORMERS_CACHE", "MODELSCOPE_CACHE",
                               "XDG_CACHE_HOME", "XDG_CONFIG_HOME"})
    caches.push_back(std::make_unique<fixture::Variable>(variable, nullptr));
  const fixture::Variable home("HOME", folder.path().c_str()), hub("HF_HOME", (folder / "hf").c_str());
  for (const char* name : {"small", "cut"}) {
    const auto snapshot = folder / "hf/hub" / ("models--org--" + std::string(name)) / "snapshots/0123abcd";
    std::filesystem::create_directories(snapshot.parent_path());
    std::filesystem::copy(std::filesystem::path(HEADLIGHT_TEST_DATA) / "golden" / "bert", snapshot,
                          std::filesystem::copy_options::recursive);
  }
  std::filesystem::resize_file(folder / "hf/hub/models--org--cut/snapshots/0123abcd/model.safetensors", 100);
  browse("open");
  harness->click("place disk");
  harness->settle();
  ASSERT_TRUE(harness->has("disk org/small"));
  EXPECT_FALSE(harness->has("disk org/cut")) << "only what opens is listed";
  EXPECT_TRUE(harness->says("BERT")) << "and what it is";
  harness->click("disk org/small");
  harness->settle();
  EXPECT_EQ(state().document.model_path, "org/small");
  EXPECT_EQ(browsing(), Browser::Purpose::none);
}

TEST_F(FilesTest, AnEmptyWindowOffersExamples) {
  harness->retype("");
  harness->settle();
  ASSERT_TRUE(harness->has("example 0"));
  const std::string text = harness->samples.front().text;
  harness->click("example 0");
  harness->settle();
  EXPECT_FALSE(state().document.source.text.empty());
  EXPECT_FALSE(nothing_asked(state()));
  harness->push(SetText{"我"}, EndGesture{});
  harness->settle();
  EXPECT_TRUE(has_one_word(state()));
  EXPECT_TRUE(harness->says(words(Language::en, kFailureWords.one_word)));
}

TEST_F(FilesTest, TheListsOfWhatCanBeOpened) {
  std::filesystem::copy(std::filesystem::path(HEADLIGHT_TEST_DATA) / "golden" / "bert", folder.path() / "my-bert",
                        std::filesystem::copy_options::recursive);
  std::filesystem::create_directory(folder / "plain");
  put("sheet.xlsx", "x");
  put("photo.JPEG", "x");
  put("a.txt", "我爱");
  browse("open");
  EXPECT_TRUE(harness->has("entry my-bert"));
  EXPECT_TRUE(harness->says("BERT, ")) << "what it is, read on a worker";
  EXPECT_TRUE(harness->has("entry plain"));
  EXPECT_TRUE(harness->has("entry a.txt"));
  EXPECT_FALSE(harness->has("entry sheet.xlsx")) << "it cannot be opened";
  EXPECT_TRUE(harness->has("entry photo.JPEG"));
  harness->click("entry my-bert");
  harness->settle();
  EXPECT_EQ(state().document.model_path, (folder.path() / "my-bert").string()) << "a folder with a model opens";
  EXPECT_EQ(browsing(), Browser::Purpose::none);
  harness->click("undo");
  browse("open");
  type_name("my-bert");
  enter();
  EXPECT_EQ(state().document.model_path, (folder.path() / "my-bert").string()) << "with Enter as well";
}

TEST_F(FilesTest, AMaskFileIsTaken) {
  std::string rows;
  for (int i = 0; i < 10; ++i)
    rows += std::string(i ? "," : "") + "[true,true,true,true,true,true,true,true,true,false]";
  put("mask.json", "[" + rows + "]");
  harness->push(OpenPath{folder / "mask.json"});
  harness->settle();
  EXPECT_EQ(notice(), Notice::Kind::opened) << state().notice->text;
  ASSERT_TRUE(state().document.mask.given);
  EXPECT_EQ(weights_of(*state().trace, {0, 0}).col(9).maxCoeff(), 0);
  harness->click("remove mask");
  EXPECT_FALSE(state().document.mask.given);
}

TEST_F(FilesTest, ATensorsFileHasOnlyTheControlsThatMakeSense) {
  harness->push(OpenPath{HEADLIGHT_TEST_DATA "/golden/tensors-causal-7/input.safetensors"});
  harness->settle();
  ASSERT_TRUE(state().document.model) << (state().notice ? state().notice->text : "");
  EXPECT_FALSE(is_stale(state()));
  harness->resize({1440, 900});
  harness->frame(2);
  harness->click("open controls");
  harness->frame();
  for (const char* gone : {"text", "samples", "split words", "d_model", "heads", "layers", "seed", "positions none",
                           "kind encoder", "norm after", "ffn", "bias Q", "pad", "gap 1", "write 1"})
    EXPECT_FALSE(harness->has(gone)) << gone;
  for (const char* there : {"causal", "paint", "scale", "chip 0", "head 0.0", "stage map"})
    EXPECT_TRUE(harness->has(there)) << there;
  for (const Key key : {Key{'D'}, Key{'H'}, Key{'L'}, Key{'S'}, Key{'O'}, Key{'W'}}) harness->key({Key::left_alt, key});
  EXPECT_EQ(state().undo.size(), 1u);
  harness->click("chip 0");
  harness->click("causal");
  harness->settle();
  EXPECT_EQ(weights_of(*state().trace, {0, 0})(0, 1), 0);
  harness->click("undo");
  harness->click("undo");
  harness->settle();
  EXPECT_TRUE(state().document == Document{});
  EXPECT_TRUE(harness->has("d_model"));
}

TEST_F(FilesTest, CrossAttentionHasTwoAxes) {
  harness->push(OpenPath{HEADLIGHT_TEST_DATA "/golden/tensors-cross-4x6/input.safetensors"});
  harness->settle();
  ASSERT_TRUE(state().document.model) << (state().notice ? state().notice->text : "");
  EXPECT_NE(state().trace->queries(), state().trace->keys());
  const Index last_query = state().trace->queries() - 1, last_key = state().trace->keys() - 1;
  harness->hover("stage map", {last_query, last_key});
  EXPECT_EQ(state().view.hovered, (CellRef{last_query, last_key}));
  EXPECT_TRUE(harness->has("row bars"));
  const std::size_t chips = shown_tokens(state())->size();
  for (std::size_t i = 0; i < chips; ++i) harness->point_at("chip " + std::to_string(i));
  EXPECT_TRUE(is_consistent(state()));
}

TEST_F(FilesTest, AFileDroppedWhileTypingWins) {
  put("a.txt", "小猫");
  harness->retype("abc");
  harness->push(OpenPath{folder / "a.txt"});
  harness->settle();
  harness->frame(3);
  EXPECT_EQ(state().document.source.text, "小猫");
}

TEST_F(FilesTest, RecentFilesAreOfferedAgain) {
  put("a.txt", "小猫");
  harness->push(OpenPath{folder / "a.txt"});
  harness->settle();
  EXPECT_EQ(state().settings.recent, (std::vector<std::string>{folder / "a.txt"}));
  browse("open");
  EXPECT_TRUE(harness->says("Recent"));
  harness->click("place recent");
  harness->frame(2);
  EXPECT_TRUE(harness->says(folder / "a.txt"));
  harness->push(SetText{"x"}, EndGesture{});
  harness->click("recent 0");
  harness->settle();
  EXPECT_EQ(state().document.source.text, "小猫");
}

TEST_F(FilesTest, ThePlaceThatIsListedIsMarked) {
  browse("open");
  const auto marked = [&](const char* name) { return harness->drew(harness->colours().selected, harness->box(name)); };
  for (const char* place : {"place shipped", "place recent"}) {
    harness->click(place);
    harness->point_away();
    harness->frame(2);
    EXPECT_TRUE(marked(place)) << place;
    EXPECT_FALSE(marked("place folders")) << place;
  }
}

}  // namespace
}  // namespace headlight
