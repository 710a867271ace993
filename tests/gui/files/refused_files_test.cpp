// Files that cannot be opened or have no answer: what the window reports and keeps.
#include "app/session_fixture.h"
#include "gui/files/files_fixture.h"
#include "pair_tokenizer.h"
#include "session/answer_state.h"
#include "words/window_words.h"

namespace headlight {
namespace {

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
    harness->push(DismissNotice{});
    harness->probe.clear();
    harness->frame(2);
    EXPECT_FALSE(state().notice);
    EXPECT_FALSE(harness->has("failure card"));
  }
}

TEST_F(FilesTest, ACardStatesInPlainWordsWhatIsWrongAndTheNextStep) {
  const auto path = folder.path() / "cut";
  std::filesystem::copy(std::filesystem::path(HEADLIGHT_TEST_DATA) / "golden" / "bert", path,
                        std::filesystem::copy_options::recursive);
  const auto weights = path / "model.safetensors";
  ASSERT_TRUE(std::filesystem::exists(weights));
  std::filesystem::resize_file(weights, std::filesystem::file_size(weights) / 2);
  const Document before = state().document;
  harness->push(OpenPath{path});
  harness->settle();
  ASSERT_TRUE(state().open_failure);
  EXPECT_TRUE(harness->says(words(Language::en, kFailureWords.cannot_open)));
  EXPECT_TRUE(harness->says(words(Language::en, failure_words(ErrorCode::file_too_short))))
      << state().open_failure->error.message();
  EXPECT_FALSE(harness->has("failure line")) << "the line of the reader is shown on request only";
  EXPECT_FALSE(harness->says("10 × 10")) << "nothing is said of an answer that is not seen";
  const Box card = harness->box("failure card"), stage = {0, 0, 1280, 800};
  EXPECT_TRUE(card.x >= stage.x && card.right() <= stage.right() && card.bottom() <= stage.bottom());
  harness->click("choose another");
  harness->settle();
  EXPECT_EQ(browsing(), Browser::Purpose::open);
  harness->push(Browse{});
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
                                                     {"no.txt", "不是 UTF-8"},
                                                     {"short.npy", "文件已损坏"},
                                                     {"empty.npy", "文件是空的"},
                                                     {"absent.npy", "没有这个文件或文件夹"},
                                                     {"other.lesson.json", "种类或版本"},
                                                     {"two.json", "true、false、1 和 0"},
                                                     {"picture.jpeg", "不是能在这里打开的种类"},
                                                     {"plain", "文件夹里没有能读取的模型"}};
  for (const auto& [name, meaning] : bad) {
    h.push(OpenPath{folder.path() / name});
    h.settle();
    ASSERT_TRUE(state().notice && h.has("failure card")) << name;
    EXPECT_TRUE(h.says(meaning)) << state().notice->text;
    EXPECT_FALSE(h.says(state().notice->text)) << "neither on the card nor in the status line";
  }
  h.push(LeaveFailure{});
  put("small.json", "[[1, 0], [1, 1]]");
  h.push(OpenPath{folder.path() / "small.json"});
  h.settle();
  EXPECT_TRUE(h.says("掩码与句子对不上")) << message_of(problem_of(state()));
}

TEST_F(FilesTest, AModelThatCannotBeAskedHasNoMapsOfAnother) {
  const auto path = folder.path() / "mute";
  std::filesystem::copy(std::filesystem::path(HEADLIGHT_TEST_DATA) / "golden" / "bert", path,
                        std::filesystem::copy_options::recursive);
  for (const char* name : {"tokenizer.json", "vocab.txt", "tokenizer_config.json", "special_tokens_map.json"})
    std::filesystem::remove(path / name);
  harness->push(OpenPath{path});
  harness->settle();
  ASSERT_EQ(state().document.model_path, path.string()) << (state().notice ? state().notice->text : "");
  if (message_of(problem_of(state())).empty()) GTEST_SKIP() << "this checkpoint needs no tokenizer";
  EXPECT_EQ(answer_state(state()).kind, AnswerState::Kind::cannot_ask);
  EXPECT_TRUE(harness->has("failure card"));
  EXPECT_TRUE(harness->says(words(Language::en, failure_words(ErrorCode::no_tokenizer))))
      << message_of(problem_of(state()));
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
  harness->push(SetText{text}, EndGesture{}, OpenPath{path});
  harness->settle();
  ASSERT_EQ(state().document.model_path, path.string()) << (state().notice ? state().notice->text : "");
  const auto longer = too_long(state());
  ASSERT_TRUE(longer) << message_of(problem_of(state()));
  EXPECT_TRUE(harness->has("failure card"));
  EXPECT_TRUE(harness->maps.drawn.empty()) << "no map of the model before";
  EXPECT_TRUE(harness->says(words(Language::en, failure_words(ErrorCode::too_many_tokens))));
  const std::string label = "Read the first " + std::to_string(longer->most) + " tokens";
  EXPECT_TRUE(harness->says(label)) << harness->words_on_screen();
  harness->click("read first");
  harness->settle();
  EXPECT_EQ(message_of(problem_of(state())), "");
  EXPECT_EQ(state().trace->queries(Stack::self), longer->most);
  EXPECT_TRUE(state().trace->request.model == state().document.model);
  EXPECT_TRUE(text.starts_with(state().document.source.text));
  harness->click("undo");
  harness->settle();
  EXPECT_EQ(state().document.source.text, text) << "one step of undo";
  EXPECT_TRUE(too_long(state()));
  harness->push(SetText{"the cat"}, EndGesture{});
  harness->settle();
  harness->push(SetText{text}, EndGesture{});
  harness->settle();
  EXPECT_FALSE(harness->has("failure card")) << "the maps are of this model";
  harness->click("read first");
  harness->settle();
  EXPECT_EQ(state().trace->queries(Stack::self), longer->most);
  harness->push(SetIds{std::vector<std::int64_t>(60, 4)}, EndGesture{});
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
    harness->push(OpenPath{folder.path() / name});
    harness->settle();
    ASSERT_TRUE(harness->has("failure card")) << name;
    EXPECT_EQ(harness->has("where is model"), name[0] == 's') << "only where a model is missing";
    EXPECT_TRUE(state().document == before);
  }
  harness->click("where is model");
  harness->settle();
  EXPECT_EQ(browsing(), Browser::Purpose::open);
  EXPECT_EQ(state().document.source.text, "饿坏了") << "the sentence waits for the model";
  harness->push(Browse{}, Undo{});
  harness->settle();
  EXPECT_TRUE(state().document == before);
  EXPECT_TRUE(sentence_of_session(folder / "absent.headlight.json").empty());
}

}  // namespace
}  // namespace headlight
