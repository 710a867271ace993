#include "session/loop/loop.h"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "app/session_fixture.h"
#include "derived/derived_maps.h"
#include "derived/head_stats.h"
#include "pictured.h"
#include "question/json/export.h"
#include "session/head_grid.h"
#include "session/loop/recovery.h"
#include "session/loop/startup.h"
#include "session/shown.h"

namespace headlight {
namespace {

using fixture::bytes;
using fixture::eventually;
using fixture::Folder;
using fixture::push;
using fixture::settle;
using fixture::small_state;

TEST(Loop, AnswersWhatTheDocumentAsks) {
  AppState state = small_state();
  Loop loop({}, {});
  EXPECT_TRUE(is_stale(state));
  loop.settle(state);
  ASSERT_FALSE(is_stale(state));
  EXPECT_EQ(state.trace->queries(), 10);
  EXPECT_EQ(state.trace.version(), 1u);
  loop.settle(state);
  EXPECT_EQ(state.trace.version(), 1u) << "and asks no more than once";
}

// The window draws when an answer arrives: without that event the answer would stay unseen until the pointer moves.
TEST(Loop, EveryKindOfAnswerIsSaidToHaveCome) {
  AppState state = small_state();
  Loop loop({}, {});
  loop.settle(state);
  const auto comes = [&](Commands said, const std::function<bool()>& is_there) -> bool {
    loop.step(state, said, 0);
    for (int i = 0; i < 3000 && !is_there(); ++i) {
      Commands none;
      const bool answered = loop.step(state, none, 0);
      if (is_there()) return answered;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  };
  HeadOrder order;
  order.by = HeadOrder::By::measure;
  order.measure = Measure::induction;
  ASSERT_TRUE(state.heads) << "heads are named by their measures";
  state.heads.reset();
  EXPECT_TRUE(comes({OrderHeads{order}}, [&] { return state.heads != nullptr; }));
  EXPECT_TRUE(order_value(state, {0, 0}));
  EXPECT_TRUE(comes({ShowMaps{MapKind::norms}}, [&] { return state.other_maps != nullptr; }));
  EXPECT_TRUE(comes({SwitchHead{{0, 1}, true}, EndGesture{}}, [&] { return !is_stale(state); }));
  loop.settle(state);
  Commands none;
  EXPECT_FALSE(loop.step(state, none, 0)) << "nothing came";
}

TEST(Loop, AViewThatIsAskedForOpensAsAClickOnItsTab) {
  AppState state = small_state();
  Loop loop({}, {});
  state.view.view = View::inside;
  loop.settle(state);
  ASSERT_FALSE(state.view.pinned);
  show_view(state, View::inside);
  loop.settle(state);
  EXPECT_EQ(state.view.view, View::inside);
  ASSERT_TRUE(state.view.pinned);
  EXPECT_EQ(state.view.pinned, brightest_of_last_row(*state.trace, state.view.chosen));
  EXPECT_EQ(state.view.look.matrix, matrix_id(Quantity::weights, state.view.chosen));
  EXPECT_EQ(state.view.look.cell, (MatrixCell{state.view.pinned->query, state.view.pinned->key}));

  ASSERT_EQ(state.view.chosen, HeadRef{});
  settle(loop, state, {KeepAnswer{}, SetWeight{{0, 1}, {2, 1}, 1.0f}, EndGesture{}});
  show_view(state, View::compare);
  loop.settle(state);
  EXPECT_EQ(state.view.view, View::compare);
  EXPECT_EQ(state.view.chosen, (HeadRef{0, 1})) << "the head that changed";
}

TEST(Loop, SixtyQuickEditsEndWithTheLast) {
  AppState state = small_state();
  Loop loop({}, {});
  std::string text = "x";
  for (int i = 0; i < 60; ++i) push(loop, state, {SetText{text += i % 7 ? "y" : " z"}});
  loop.settle(state);
  ASSERT_FALSE(is_stale(state));
  EXPECT_EQ(state.trace->request.tokens.text, text);
  EXPECT_LE(state.trace.version(), 60u);
}

TEST(Loop, TheOldAnswerStaysUntilTheNewOneComes) {
  AppState state = small_state();
  Loop loop({}, {});
  loop.settle(state);
  const auto old = state.trace;
  update(state, SetText{"我爱"});
  EXPECT_EQ(state.trace, old);
  EXPECT_TRUE(is_stale(state));
  loop.settle(state);
  EXPECT_NE(state.trace, old);
  EXPECT_FALSE(is_stale(state));
}

TEST(Loop, UndoAndRedoAskAgain) {
  AppState state = small_state();
  Loop loop({}, {});
  loop.settle(state);
  push(loop, state, {SetScale{3.0f}});
  push(loop, state, {Undo{}});
  push(loop, state, {Redo{}});
  loop.settle(state);
  ASSERT_FALSE(is_stale(state));
  EXPECT_EQ(state.trace->blocks[0].self.scale, 3.0f);
  settle(loop, state, {Undo{}});
  EXPECT_FALSE(is_stale(state));
  EXPECT_FALSE(state.trace->request.edits.scale);
}

TEST(Loop, UndoneWorkDoesNotComeBack) {
  AppState state = small_state();
  Loop loop({}, {});
  loop.settle(state);
  const auto right = state.trace;
  for (int i = 0; i < 20; ++i) {
    push(loop, state, {SetScale{static_cast<float>(i)}});
    push(loop, state, {Undo{}});
    EXPECT_EQ(state.trace, right);
    EXPECT_FALSE(is_stale(state));
    loop.settle(state);
    EXPECT_EQ(state.trace, right);
  }
}

TEST(Loop, ALongJobGivesWayToAShortOne) {
  AppState state = small_state("");
  state.document.config = {.d_model = 64, .num_heads = 8, .num_layers = 8, .ffn = 64};
  state.document.source.split = Split::characters;
  Loop loop({}, {});
  push(loop, state, {SetText{std::string(3000, 'x')}, EndGesture{}});
  ASSERT_TRUE(loop.computing());
  push(loop, state, {SetText{"我爱"}, EndGesture{}});
  ASSERT_TRUE(eventually(loop, state, [&] { return !is_stale(state); }));
  EXPECT_EQ(state.trace->queries(), 2);
}

TEST(Loop, TextThatCannotBeAskedStopsTheWork) {
  AppState state = small_state();
  Loop loop({}, {});
  loop.settle(state);
  const auto old = state.trace;
  settle(loop, state, {SetText{""}});
  EXPECT_EQ(state.trace, old);
  EXPECT_FALSE(loop.computing());
  EXPECT_NE(message_of(problem_of(state)), "");
  settle(loop, state, {SetText{"我爱"}});
  EXPECT_FALSE(is_stale(state));
  EXPECT_EQ(message_of(problem_of(state)), "");
}

TEST(Loop, AFailedRequestIsNotRetriedButAskedAfterAChange) {
  AppState state = small_state();
  Loop loop({}, {});
  loop.settle(state);
  settle(loop, state, {GiveMask{fixture::open_mask(9, 9)}});
  EXPECT_TRUE(is_stale(state));
  EXPECT_NE(message_of(problem_of(state)), "");
  for (int i = 0; i < 5; ++i) {
    push(loop, state, {});
    EXPECT_FALSE(loop.computing());
  }
  settle(loop, state, {GiveMask{fixture::open_mask(10, 10)}});
  EXPECT_FALSE(is_stale(state));
  EXPECT_EQ(message_of(problem_of(state)), "");
  settle(loop, state, {GiveMask{fixture::open_mask(9, 9)}});
  EXPECT_NE(message_of(problem_of(state)), "");
  settle(loop, state, {Undo{}});
  EXPECT_EQ(message_of(problem_of(state)), "");
  EXPECT_FALSE(is_stale(state));
}

TEST(Loop, EnlargedPartGetsItsWeights) {
  AppState state = small_state();
  Loop loop({}, {});
  loop.settle(state);
  EXPECT_FALSE(state.detail);
  settle(loop, state, {SetViewport{{2, 5, 1, 4}}, ChooseHead{{1, 0}}});
  ASSERT_TRUE(state.detail);
  EXPECT_EQ(state.detail->region, shown_region(state));
  EXPECT_EQ(state.detail->weights.rows(), 5);
  EXPECT_EQ(state.detail->weights.cols(), 4);
  EXPECT_TRUE(same(state.detail->weights, attention_rows(*state.trace, {1, 0}, 2, 5).middleCols(1, 4)));
  const auto version = state.detail.version();
  push(loop, state, {ChooseHead{{0, 0}}});
  settle(loop, state, {ChooseHead{{1, 0}}});
  EXPECT_EQ(state.detail->region, shown_region(state));
  EXPECT_GE(state.detail.version(), version);
  settle(loop, state, {SetScale{2.0f}});
  EXPECT_EQ(state.detail->trace, state.trace) << "a new answer asks for them again";
}

TEST(Loop, ExportFromTheWindowIsTheCommandLines) {
  const Folder folder;
  for (const char* name : {"a.json", "a.csv", "a.npz", "a.safetensors"}) {
    AppState state = small_state("我爱\nThe cat sat");
    Loop loop({}, {});
    loop.settle(state);
    settle(loop, state, {ExportTo{(folder / name).string()}});
    ASSERT_TRUE(state.notice) << name;
    EXPECT_EQ(state.notice->kind, Notice::Kind::exported) << state.notice->text;
    Progress progress;
    const auto direct = folder / (std::string("direct-") + name);
    const auto requests = requests_of(state.document, fixture::lexicon());
    ASSERT_TRUE(export_document(state.document, *requests, *format_for(direct), {}, direct, progress));
    EXPECT_EQ(bytes(folder / name), bytes(direct)) << name;
  }
  EXPECT_EQ(folder.names().size(), 8u) << "nothing else is left";
}

TEST(Loop, WhatIsSavedOpensAsItWas) {
  const Folder folder;
  const std::string path = (folder / "s.headlight.json").string();
  AppState state = small_state("我爱\nThe cat sat");
  Loop loop({}, {});
  settle(loop, state,
         {SetMask{true, false}, PaintCell{{2, 0}, true}, ToggleCut{3}, SetScale{0.1f}, Pin{CellRef{1, 1}},
          SetColourScale{Scale::log}, ChooseSentence{1}});
  settle(loop, state, {ChooseHead{{1, 1}}, SetViewport{{0, 2, 1, 2}}});
  settle(loop, state, {SaveSession{path}});
  ASSERT_TRUE(state.notice);
  EXPECT_EQ(state.notice->kind, Notice::Kind::saved) << state.notice->text;
  EXPECT_EQ(state.session_path, path);
  EXPECT_FALSE(has_unsaved_changes(state));

  AppState other = small_state("x");
  Loop other_loop({}, {});
  other_loop.settle(other);
  settle(other_loop, other, {OpenPath{path}});
  EXPECT_EQ(other.document, state.document);
  EXPECT_EQ(other.view, state.view);
  EXPECT_FALSE(is_stale(other));
  EXPECT_EQ(other.session_path, path);
  EXPECT_EQ(other.settings.recent.front(), path);
}

TEST(Loop, FilesThatCannotBeOpenedChangeNothing) {
  const Folder folder;
  const std::vector<std::string> paths{
      (folder / "missing.headlight.json").string(),
      folder.with("garbage.headlight.json", "\x01{{{"),
      folder.with("half.headlight.json", R"({"schema": "headlight.session/1", "requ)"),
      folder.with("garbage.safetensors", "not tensors"),
      folder.with("garbage.npz", "PK nothing"),
      folder.with("garbage.npy", "\x93NUMPY"),
      folder.with("garbage.json", "[1, 2"),
      folder.with("garbage.txt", "\xFF\xFE"),
      folder.with("picture.png", "png"),
      folder.path().string(),
  };
  AppState state = small_state();
  Loop loop({}, {});
  loop.settle(state);
  const Document before = state.document;
  for (const auto& path : paths) {
    state.notice.reset();
    settle(loop, state, {OpenPath{path}});
    ASSERT_TRUE(state.notice) << path;
    EXPECT_EQ(state.notice->kind, Notice::Kind::failed) << path;
    EXPECT_EQ(state.notice->text.find(path), 0u) << state.notice->text;
    EXPECT_EQ(state.notice->text.find('\n'), std::string::npos) << state.notice->text;
    EXPECT_EQ(state.document, before);
    EXPECT_TRUE(state.undo.empty() && state.settings.recent.empty());
  }
}

TEST(Loop, ATargetThatCannotBeWrittenFailsAndLeavesNothing) {
  const Folder folder;
  const std::string kept = folder.with("kept.json", "old");
  AppState state = small_state();
  Loop loop({}, {});
  loop.settle(state);
  const Commands attempts{ExportTo{(folder / "no/where.json").string()},
                          SaveSession{(folder / "no/where.headlight.json").string()}, ExportTo{"/dev/full/x.json"},
                          ExportTo{(folder / "picture.png").string()}, SaveSession{folder.path().string()}};
  for (const Command& attempt : attempts) {
    state.notice.reset();
    settle(loop, state, {attempt});
    ASSERT_TRUE(state.notice);
    EXPECT_EQ(state.notice->kind, Notice::Kind::failed) << state.notice->text;
  }
  settle(loop, state, {SetText{""}, ExportTo{kept}});
  EXPECT_EQ(state.notice->kind, Notice::Kind::failed);
  EXPECT_EQ(bytes(kept), "old");
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"kept.json"}));
  EXPECT_EQ(state.session_path, "");
}

TEST(Loop, CancelledExportLeavesNothing) {
  const Folder folder;
  AppState state = small_state("");
  state.document.source.split = Split::characters;
  state.document.config = {.d_model = 32, .num_heads = 8, .num_layers = 4, .ffn = 0};
  Loop loop({}, {});
  push(loop, state, {SetText{std::string(1500, 'x')}, ExportTo{(folder / "big.csv").string()}});
  ASSERT_TRUE(loop.writing());
  push(loop, state, {SetText{"x"}, CancelFileWork{}});
  ASSERT_TRUE(eventually(loop, state, [&] { return !loop.writing(); }));
  loop.settle(state);
  EXPECT_TRUE(folder.names().empty());
}

TEST(Loop, CancellingKeepsWhatWasAskedToBeSaved) {
  const Folder folder;
  AppState state = small_state();
  Loop loop({}, {});
  settle(
      loop, state,
      {ExportTo{(folder / "a.json").string()}, SaveSession{(folder / "s.headlight.json").string()}, CancelFileWork{}});
  EXPECT_TRUE(std::filesystem::exists(folder / "s.headlight.json"));
}

TEST(Loop, SavingIsFinishedBeforeTheEnd) {
  const Folder folder;
  AppState state = small_state();
  {
    Loop loop({}, {});
    push(loop, state,
         {ExportTo{(folder / "a.json").string()}, SaveSession{(folder / "1.headlight.json").string()},
          SaveSession{(folder / "2.headlight.json").string()}, Quit{}});
  }
  for (const char* name : {"1.headlight.json", "2.headlight.json"}) {
    const auto session = read_session(folder / name);
    ASSERT_TRUE(session) << session.error().message();
    EXPECT_EQ(session->document, state.document);
  }
}

TEST(Loop, FoldersAreListedFirstAndByName) {
  const Folder folder;
  for (const char* name : {"zeta", "Alpha"}) std::filesystem::create_directory(folder / name);
  for (const char* name : {"b.txt", "a.txt", ".hidden"}) folder.with(name, "");
  AppState state = small_state();
  Loop loop({}, {});
  settle(loop, state, {Browse{Browser::Purpose::open, folder.path().string()}});
  const std::vector<Browser::Entry> expected{
      {"Alpha", true}, {"zeta", true}, {"a.txt", false, true, "text"}, {"b.txt", false, true, "text"}};
  EXPECT_EQ(state.browser.entries, expected);
  settle(loop, state, {Browse{Browser::Purpose::open, (folder / "nowhere").string()}});
  EXPECT_TRUE(state.browser.entries.empty());
  ASSERT_TRUE(state.notice);
  EXPECT_EQ(state.notice->kind, Notice::Kind::failed);
}

TEST(Loop, APictureIsResizedBeforeTheWindowHasIt) {
  const std::string file = fixture::golden("pictures/0-16.png");
  AppState state = small_state();
  Loop loop({}, {});
  settle(loop, state, {OpenPath{file}});
  ASSERT_TRUE(state.notice) << "a model of text";
  EXPECT_TRUE(contains(state.notice->text, "a model that reads pictures, open before it")) << state.notice->text;
  EXPECT_FALSE(state.document.picture);
  state.document = picture_document();
  settle(loop, state, {OpenPath{file}});
  ASSERT_TRUE(state.document.picture && state.document.seen);
  EXPECT_EQ(state.document.picture->path, file);
  EXPECT_EQ(state.document.seen->seen.width, 16);
  FileOpened late{file, {}};
  late.opened.kind = OpenFile::Kind::picture;
  late.opened.picture = drawn_picture();
  update(state, std::move(late));
  EXPECT_EQ(state.document.picture->path, file) << "another model was open when it was asked for";
}

}  // namespace
}  // namespace headlight
