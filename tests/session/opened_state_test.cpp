// What opening and saving change in the state.
#include "app/session_fixture.h"
#include "session/file/open_file.h"
#include "session/loop/file_jobs.h"

namespace headlight {
namespace {

using fixture::answer;
using fixture::answered_state;
using fixture::small_state;

FileOpened opened_session(Session session, std::string path = "/x/s.headlight.json") {
  OpenFile opened;
  opened.kind = OpenFile::Kind::session;
  opened.session = std::move(session);
  return {std::move(path), std::move(opened)};
}

TEST(Opening, ASessionIsItsDocumentItsLookAndAPlaceToSave) {
  AppState state = answered_state();
  Session session;
  session.document = fixture::small_document("我爱你");
  session.view.scale = Scale::log;
  update(state, opened_session(session));
  EXPECT_EQ(state.document, session.document);
  EXPECT_EQ(state.view.scale, Scale::log);
  EXPECT_EQ(state.session_path, "/x/s.headlight.json");
  EXPECT_EQ(state.settings.recent, (std::vector<std::string>{"/x/s.headlight.json"}));
  EXPECT_FALSE(has_unsaved_changes(state));
  ASSERT_TRUE(state.notice);
  EXPECT_EQ(state.notice->kind, Notice::Kind::opened);
  update(state, Undo{});
  EXPECT_EQ(state.document.source.text, kDefaultSentence);
}

TEST(Opening, TheLookOfASessionWaitsForItsAnswer) {
  AppState state = small_state("我爱");
  update(state, answer(state));
  Session session;
  session.document = fixture::small_document("a b c d e f g h i j k l");
  session.document.config.num_layers = 5;
  session.view.chosen = {4, 1};
  session.view.pinned = CellRef{11, 3};
  session.view.viewport = {6, 5, 1, 5};
  update(state, opened_session(session));
  EXPECT_LT(state.view.chosen.layer, state.trace->num_layers()) << "the picture on the screen is the old one";
  EXPECT_FALSE(state.view.pinned);
  update(state, answer(state));
  EXPECT_EQ(state.view.chosen, session.view.chosen);
  EXPECT_EQ(state.view.pinned, session.view.pinned);
  EXPECT_EQ(state.view.viewport, session.view.viewport);
  update(state, ChooseHead{{0, 0}});
  update(state, SetScale{2.0f});
  update(state, answer(state));
  EXPECT_EQ(state.view.chosen, (HeadRef{0, 0})) << "only once";
}

TEST(Opening, AClickMeanwhileWins) {
  AppState state = answered_state();
  Session session;
  session.document = fixture::small_document("我爱你");
  session.view.chosen = {1, 1};
  update(state, opened_session(session));
  update(state, ChooseHead{{0, 1}});
  update(state, answer(state));
  EXPECT_EQ(state.view.chosen, (HeadRef{0, 1}));
}

TEST(Opening, AMaskATextAndTensorsAreEdits) {
  AppState state = answered_state();
  OpenFile file;
  file.kind = OpenFile::Kind::mask;
  file.mask.given = fixture::open_mask(10, 10);
  file.warnings = {Error(ErrorCode::bad_value, "m.npy", "something")};
  update(state, FileOpened{"/x/m.npy", file});
  EXPECT_EQ(state.document.mask.given, file.mask.given);
  EXPECT_EQ(state.session_path, "");
  EXPECT_EQ(state.notice->text, "/x/m.npy\nm.npy: something");
  EXPECT_TRUE(has_unsaved_changes(state));

  OpenFile text;
  text.kind = OpenFile::Kind::text;
  text.text = "我爱";
  update(state, FileOpened{"/x/t.txt", text});
  EXPECT_EQ(state.document.source.text, "我爱");

  const auto tensors = open_any(fixture::golden("tensors-cross-4x6/input.safetensors"));
  ASSERT_TRUE(tensors) << tensors.error().message();
  update(state, FileOpened{"/x/w.safetensors", *tensors});
  ASSERT_NE(wanted(state), nullptr);
  EXPECT_NE(wanted(state)->model, nullptr);
  ASSERT_NE(shown_tokens(state), nullptr);
  EXPECT_EQ(shown_tokens(state)->size(), 4u);
  EXPECT_EQ(state.settings.recent.size(), 3u);

  update(state, Undo{});
  EXPECT_EQ(state.document.source.text, "我爱");
  EXPECT_EQ(state.document.model, nullptr);
  update(state, Undo{});
  update(state, Undo{});
  EXPECT_FALSE(has_unsaved_changes(state));
}

TEST(Opening, ATypedPathMayBeginAtHome) {
  const fixture::Folder home;
  const fixture::Variable variable("HOME", home.path().c_str());
  home.with("t.txt", "我爱");
  const auto opened = open_job(OpenPath{"~/t.txt"}, Document{})(unwatched());
  ASSERT_TRUE(opened && opened->as<FileOpened>());
  EXPECT_EQ(opened->as<FileOpened>()->path, (home.path() / "t.txt").string());
  EXPECT_EQ(opened->as<FileOpened>()->opened.text, "我爱");
}

TEST(Saving, UnsavedChangesEndWithTheDocumentThatWasSaved) {
  AppState state = answered_state();
  EXPECT_FALSE(has_unsaved_changes(state));
  update(state, SetText{"我爱"});
  EXPECT_TRUE(has_unsaved_changes(state));
  update(state, SaveSession{"/x/s.headlight.json"});
  const Document saved = state.document;
  update(state, SetText{"我爱你"});
  update(state, FileSaved{"/x/s.headlight.json", saved});
  EXPECT_TRUE(has_unsaved_changes(state)) << "typed while it was written";
  EXPECT_EQ(state.session_path, "/x/s.headlight.json");
  EXPECT_EQ(state.notice->kind, Notice::Kind::saved);
  update(state, Undo{});
  EXPECT_FALSE(has_unsaved_changes(state));
}

}  // namespace
}  // namespace headlight
