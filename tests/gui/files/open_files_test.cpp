// Opening through the browser, with real files.
#include <fstream>

#include "app/session_fixture.h"
#include "gui/files/files_fixture.h"
#include "pair_tokenizer.h"
#include "session/answer_state.h"
#include "words/failure_words.h"

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

TEST_F(FilesTest, WhatCannotBeReadIsOneLineAndChangesNothing) {
  put("bad.headlight.json", R"({"format": "headlight.session/1", "request": {"text": )");
  put("bad.safetensors", std::string("\xff\xff\xff\xff\xff\xff\xff\x7f{}", 10));
  put("bad.npz", "PK\x03\x04 this is no archive");
  put("bad.txt", "\xff\xfe\x41");
  put("bad.npy", "\x93NUMPY");
  const Document before = state().document;
  for (const char* name : {"bad.headlight.json", "bad.safetensors", "bad.npz", "bad.txt", "bad.npy", "absent.txt"}) {
    SCOPED_TRACE(name);
    browse("open");
    type_name(name);
    enter();
    ASSERT_TRUE(state().notice);
    EXPECT_EQ(notice(), Notice::Kind::failed);
    EXPECT_NE(state().notice->text.find(name), std::string::npos) << state().notice->text;
    EXPECT_EQ(state().notice->text.find('\n'), std::string::npos);
    EXPECT_TRUE(harness->says(state().notice->text));
    EXPECT_TRUE(state().document == before);
    EXPECT_TRUE(state().undo.empty());
    ASSERT_TRUE(harness->has("failure card")) << "never the maps of what was open before";
    EXPECT_FALSE(harness->says("sum =")) << "nor their numbers";
    harness->click("failure details");
    harness->frame(2);
    EXPECT_TRUE(harness->has("failure line"));
    harness->click("leave failure");
    harness->say(DismissNotice{});
    harness->probe.clear();
    harness->frame(2);
    EXPECT_FALSE(state().notice);
    EXPECT_FALSE(harness->has("failure card"));
  }
}

TEST_F(FilesTest, ACardSaysWhatIsWrongInPlainWordsAndWhatToDo) {
  const auto path = folder.path() / "cut";
  std::filesystem::copy(std::filesystem::path(HEADLIGHT_TEST_DATA) / "golden" / "bert", path,
                        std::filesystem::copy_options::recursive);
  const auto weights = path / "model.safetensors";
  ASSERT_TRUE(std::filesystem::exists(weights));
  std::filesystem::resize_file(weights, std::filesystem::file_size(weights) / 2);
  const Document before = state().document;
  harness->say(OpenPath{path});
  harness->settle();
  ASSERT_TRUE(state().open_failure);
  EXPECT_TRUE(harness->says(words(Language::en, kFailureWords.cannot_open)));
  EXPECT_TRUE(harness->says(words(Language::en, kFailureWords.too_short))) << state().open_failure->message;
  EXPECT_FALSE(harness->has("failure line")) << "the line of the reader is shown on request only";
  EXPECT_FALSE(harness->says("10 × 10")) << "nothing is said of an answer that is not seen";
  const Box card = harness->box("failure card"), stage = {0, 0, 1280, 800};
  EXPECT_TRUE(card.x >= stage.x && card.right() <= stage.right() && card.bottom() <= stage.bottom());
  harness->click("choose another");
  harness->settle();
  EXPECT_EQ(browsing(), Browser::Purpose::open);
  harness->say(Browse{});
  harness->click("leave failure");
  harness->settle();
  EXPECT_FALSE(state().open_failure);
  EXPECT_TRUE(state().document == before);
}

TEST_F(FilesTest, InChineseEveryErrorIsSaidInChineseFirst) {
  Settings chinese;
  chinese.language = Language::zh;
  chinese.folder = folder.path().string();
  start({}, {1280, 800}, chinese);
  Harness& h = *harness;
  put("cut.headlight.json", R"({"format": "headlight.session/1", "request": {"text": )");
  put("long.safetensors", std::string("\xff\xff\xff\xff\xff\xff\xff\x7f{}", 10));
  put("no.npz", "PK\x03\x04 this is no archive");
  put("no.txt", "\xff\xfe\x41");
  put("short.npy", "\x93NUMPY");
  put("empty.npy", "");
  put("other.lesson.json", R"({"schema": "another/1"})");
  put("two.json", "[[1, 0], [0, 2]]");
  put("picture.jpeg", "x");
  std::filesystem::create_directory(folder / "plain");
  const std::pair<const char*, const char*> bad[] = {{"cut.headlight.json", "文件已损坏"},
                                                     {"long.safetensors", "文件已损坏"},
                                                     {"no.npz", "文件已损坏"},
                                                     {"no.txt", "文件已损坏"},
                                                     {"short.npy", "文件已损坏"},
                                                     {"empty.npy", "文件是空的"},
                                                     {"absent.npy", "没有这个文件或文件夹"},
                                                     {"other.lesson.json", "种类或版本"},
                                                     {"two.json", "true、false、1 和 0"},
                                                     {"picture.jpeg", "不是能在这里打开的种类"},
                                                     {"plain", "文件夹里没有能读取的模型"}};
  for (const auto& [name, meaning] : bad) {
    h.say(OpenPath{folder.path() / name});
    h.settle();
    ASSERT_TRUE(state().notice && h.has("failure card")) << name;
    EXPECT_TRUE(h.says(meaning)) << state().notice->text;
    EXPECT_FALSE(h.says(state().notice->text)) << "neither on the card nor in the status line";
  }
  h.say(LeaveFailure{});
  put("small.json", "[[1, 0], [1, 1]]");
  h.say(OpenPath{folder.path() / "small.json"});
  h.settle();
  EXPECT_TRUE(h.says("掩码与句子对不上")) << problem_of(state());
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

TEST_F(FilesTest, AModelThatCannotBeAskedHasNoMapsOfAnother) {
  const auto path = folder.path() / "mute";
  std::filesystem::copy(std::filesystem::path(HEADLIGHT_TEST_DATA) / "golden" / "bert", path,
                        std::filesystem::copy_options::recursive);
  for (const char* name : {"tokenizer.json", "vocab.txt", "tokenizer_config.json", "special_tokens_map.json"})
    std::filesystem::remove(path / name);
  harness->say(OpenPath{path});
  harness->settle();
  ASSERT_EQ(state().document.model_path, path.string()) << (state().notice ? state().notice->text : "");
  if (problem_of(state()).empty()) GTEST_SKIP() << "this checkpoint needs no tokenizer";
  EXPECT_EQ(answer_state(state()).kind, AnswerState::Kind::cannot_ask);
  EXPECT_TRUE(harness->has("failure card"));
  EXPECT_TRUE(harness->says(words(Language::en, kFailureWords.no_tokenizer))) << problem_of(state());
  EXPECT_TRUE(harness->maps.drawn.empty()) << "no map of the model before";
  harness->click("leave failure");
  harness->settle();
  EXPECT_EQ(state().document.model_path, "");
  EXPECT_FALSE(harness->maps.drawn.empty());
}

TEST_F(FilesTest, ATextThatIsTooLongIsCutToWhatTheModelReads) {
  const auto path = folder.path() / "short";
  std::filesystem::create_directory(path);
  for (const char* file : {"config.json", "model.safetensors"})
    std::filesystem::copy_file(HEADLIGHT_TEST_DATA "/golden/bert/" + std::string(file), path / file);
  ASSERT_TRUE(write_file(path / "tokenizer.json", kPairTokenizer));
  std::string text;
  for (int i = 0; i < 60; ++i) text += i % 2 > 0 ? "cat " : "the ";
  harness->say(SetText{text}, EndGesture{}, OpenPath{path});
  harness->settle();
  ASSERT_EQ(state().document.model_path, path.string()) << (state().notice ? state().notice->text : "");
  const auto longer = too_long(state());
  ASSERT_TRUE(longer) << problem_of(state());
  EXPECT_TRUE(harness->has("failure card"));
  EXPECT_TRUE(harness->maps.drawn.empty()) << "no map of the model before";
  EXPECT_TRUE(harness->says(words(Language::en, kFailureWords.too_long)));
  const std::string label = "Read the first " + std::to_string(longer->most) + " tokens";
  EXPECT_TRUE(harness->says(label)) << harness->words_on_screen();
  harness->click("read first");
  harness->settle();
  EXPECT_EQ(problem_of(state()), "");
  EXPECT_EQ(state().trace->queries(Stack::self), longer->most);
  EXPECT_TRUE(state().trace->request.model == state().document.model);
  EXPECT_TRUE(text.starts_with(state().document.source.text));
  harness->click("undo");
  harness->settle();
  EXPECT_EQ(state().document.source.text, text) << "one step of undo";
  EXPECT_TRUE(too_long(state()));
  harness->say(SetText{"the cat"}, EndGesture{});
  harness->settle();
  harness->say(SetText{text}, EndGesture{});
  harness->settle();
  EXPECT_FALSE(harness->has("failure card")) << "the maps are of this model";
  harness->click("read first");
  harness->settle();
  EXPECT_EQ(state().trace->queries(Stack::self), longer->most);
  harness->say(SetIds{std::vector<std::int64_t>(60, 4)}, EndGesture{});
  harness->settle();
  harness->click("read first");
  harness->settle();
  EXPECT_EQ(static_cast<Index>(state().document.source.ids.size()), longer->most);
}

TEST_F(FilesTest, ASessionWhoseModelIsGoneKeepsItsSentence) {
  put("s.headlight.json",
      R"({"schema": "headlight.session/1", "request": {"source": "/nowhere/gpt2", "text": "饿坏了"}})");
  put("here.headlight.json", R"({"schema": "headlight.session/1", "request": {"text": "饿坏了", "pad": -1}})");
  const Document before = state().document;
  for (const char* name : {"here.headlight.json", "s.headlight.json"}) {
    harness->say(OpenPath{folder.path() / name});
    harness->settle();
    ASSERT_TRUE(harness->has("failure card")) << name;
    EXPECT_EQ(harness->has("where is model"), name[0] == 's') << "only where a model is missing";
    EXPECT_TRUE(state().document == before);
  }
  harness->click("where is model");
  harness->settle();
  EXPECT_EQ(browsing(), Browser::Purpose::open);
  EXPECT_EQ(state().document.source.text, "饿坏了") << "the sentence waits for the model";
  harness->say(Browse{}, Undo{});
  harness->settle();
  EXPECT_TRUE(state().document == before);
  EXPECT_TRUE(sentence_of_session(folder / "absent.headlight.json").empty());
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
  harness->say(SetText{"我"}, EndGesture{});
  harness->settle();
  EXPECT_TRUE(has_one_word(state()));
  EXPECT_TRUE(harness->says(words(Language::en, kFailureWords.one_word)));
}

TEST_F(FilesTest, TheListsOfWhatCanBeOpened) {
  std::filesystem::copy(std::filesystem::path(HEADLIGHT_TEST_DATA) / "golden" / "bert", folder.path() / "my-bert",
                        std::filesystem::copy_options::recursive);
  std::filesystem::create_directory(folder / "plain");
  put("picture.jpeg", "x");
  put("a.txt", "我爱");
  browse("open");
  EXPECT_TRUE(harness->has("entry my-bert"));
  EXPECT_TRUE(harness->says("BERT, ")) << "what it is, read on a worker";
  EXPECT_TRUE(harness->has("entry plain"));
  EXPECT_TRUE(harness->has("entry a.txt"));
  EXPECT_FALSE(harness->has("entry picture.jpeg")) << "it cannot be opened";
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
  harness->say(OpenPath{folder / "mask.json"});
  harness->settle();
  EXPECT_EQ(notice(), Notice::Kind::opened) << state().notice->text;
  ASSERT_TRUE(state().document.mask.given);
  EXPECT_EQ(weights_of(*state().trace, {0, 0}).col(9).maxCoeff(), 0);
  harness->click("remove mask");
  EXPECT_FALSE(state().document.mask.given);
}

TEST_F(FilesTest, ATensorsFileHasOnlyTheControlsThatMakeSense) {
  harness->say(OpenPath{HEADLIGHT_TEST_DATA "/golden/tensors-causal-7/input.safetensors"});
  harness->settle();
  ASSERT_TRUE(state().document.model) << (state().notice ? state().notice->text : "");
  EXPECT_FALSE(is_stale(state()));
  harness->resize({1440, 900});  // where the controls have a column
  harness->frame(2);
  harness->click("more controls");
  harness->frame();
  for (const char* gone : {"text", "samples", "split words", "d_model", "heads", "layers", "seed", "positions none",
                           "kind encoder", "norm after", "ffn", "bias Q", "pad", "gap 1", "write 1"})
    EXPECT_FALSE(harness->has(gone)) << gone;
  for (const char* there : {"causal", "paint", "scale", "chip 0", "head 0.0", "stage map"})
    EXPECT_TRUE(harness->has(there)) << there;
  for (const Key key : {Key::d, Key::h, Key::l, Key::s, Key::o, Key::w}) harness->key({Key::left_alt, key});
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
  harness->say(OpenPath{HEADLIGHT_TEST_DATA "/golden/tensors-cross-4x6/input.safetensors"});
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
  harness->say(OpenPath{folder / "a.txt"});
  harness->settle();
  harness->frame(3);
  EXPECT_EQ(state().document.source.text, "小猫");
}

TEST_F(FilesTest, RecentFilesAreOfferedAgain) {
  put("a.txt", "小猫");
  harness->say(OpenPath{folder / "a.txt"});
  harness->settle();
  EXPECT_EQ(state().settings.recent, (std::vector<std::string>{folder / "a.txt"}));
  browse("open");
  EXPECT_TRUE(harness->says("Recent"));
  harness->click("place recent");
  harness->frame(2);
  EXPECT_TRUE(harness->says(folder / "a.txt"));
  harness->say(SetText{"x"}, EndGesture{});
  harness->click("recent 0");
  harness->settle();
  EXPECT_EQ(state().document.source.text, "小猫");
}

TEST_F(FilesTest, ThePlaceThatIsListedIsMarked) {
  browse("open");
  const auto marked = [&](const char* place) {
    return harness->drew(harness->colours().selected, harness->box(place));
  };
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
