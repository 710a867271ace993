// Saving and exporting through the browser, with real files.
#include "gui/files/files_fixture.h"
#include "question/json/export.h"

namespace headlight {
namespace {

TEST_F(FilesTest, SavingAndOpeningASession) {
  harness->retype("我爱北京");
  harness->click("kind decoder");
  harness->settle();
  harness->push(ChooseHead{{1, 3}}, Pin{CellRef{1, 0}}, SetColourScale{Scale::log});
  harness->settle();
  const Document saved = state().document;
  EXPECT_TRUE(has_unsaved_changes(state()));
  browse("save");
  EXPECT_FALSE(harness->says("Replace"));
  type_name("mine");
  enter();
  EXPECT_EQ(notice(), Notice::Kind::saved);
  EXPECT_EQ(state().session_path, folder / "mine.headlight.json");
  EXPECT_FALSE(has_unsaved_changes(state()));
  EXPECT_EQ(get("mine.headlight.json"), to_json(Session{state().document, state().view}));

  // With a name, Save and Ctrl-S ask no more.
  harness->click("causal");
  harness->point_away();
  harness->key({Key::left_ctrl, Key{'S'}});
  harness->settle();
  EXPECT_EQ(browsing(), Browser::Purpose::none);
  EXPECT_FALSE(has_unsaved_changes(state()));
  EXPECT_EQ(get("mine.headlight.json"), to_json(Session{state().document, state().view}));
  harness->click("causal");
  harness->click("save");
  harness->settle();
  EXPECT_FALSE(has_unsaved_changes(state()));

  harness->click("reset");
  harness->push(ChooseHead{}, Pin{}, SetColourScale{});
  browse("open");
  harness->double_click("entry mine.headlight.json");
  harness->point_away();
  harness->settle();
  EXPECT_TRUE(state().document == saved);
  EXPECT_EQ(state().view.chosen, (HeadRef{1, 3}));
  EXPECT_EQ(state().view.pinned, (CellRef{1, 0}));
  EXPECT_EQ(state().view.scale, Scale::log);
  EXPECT_FALSE(has_unsaved_changes(state()));
}

TEST_F(FilesTest, ASessionsViewIsNotCutDownToTheAnswerBefore) {
  Session session;
  session.document.config.num_layers = 5;
  session.document.config.num_heads = 8;
  session.view.chosen = {4, 7};
  session.view.pinned = CellRef{9, 8};
  put("large.headlight.json", to_json(session));
  harness->push(SetText{"我"}, EndGesture{});
  harness->settle();
  harness->push(OpenPath{folder / "large.headlight.json"});
  harness->settle();
  EXPECT_EQ(state().view.chosen, (HeadRef{4, 7}));
  EXPECT_EQ(state().view.pinned, (CellRef{9, 8}));
}

TEST_F(FilesTest, ReplacingIsSaid) {
  put("old.headlight.json", "{}");
  browse("save as");
  harness->click("entry old.headlight.json");
  EXPECT_TRUE(harness->says("Replace"));
  type_name("old");
  EXPECT_TRUE(harness->says("Replace")) << "the ending is added, so it is the same file";
  type_name("new");
  EXPECT_FALSE(harness->says("Replace"));
  type_name("old");
  harness->click("file action");
  harness->settle();
  EXPECT_EQ(notice(), Notice::Kind::saved);
  EXPECT_NE(get("old.headlight.json"), "{}");
}

TEST_F(FilesTest, ExportGivesTheBytesOfTheCommandLine) {
  for (const char* name : {"out.json", "out.npz", "out.safetensors", "out.csv"}) {
    SCOPED_TRACE(name);
    browse("export");
    type_name(name);
    enter();
    EXPECT_EQ(notice(), Notice::Kind::exported);
    Progress progress;
    const auto format = format_for(name);
    ASSERT_TRUE(format);
    const std::string expected = std::string("expected-") + name;
    ASSERT_TRUE(export_document(state().document, state().requests, *format, {}, folder / expected, progress));
    EXPECT_EQ(get(name), get(expected));
  }
}

TEST_F(FilesTest, ABatchIsExportedWhole) {
  harness->retype("我爱\n我爱北京");
  harness->settle();
  browse("export");
  EXPECT_EQ(state().browser.name, "attention.json");
  enter();
  Progress progress;
  ASSERT_TRUE(export_document(state().document, state().requests, Format::json, {}, folder / "expected", progress));
  EXPECT_EQ(get("attention.json"), get("expected"));
  EXPECT_EQ(state().requests.size(), 2u);
}

TEST_F(FilesTest, AnEndingThatNamesNoFormatCannotBeExported) {
  browse("export");
  type_name("out.docx");
  harness->click("file action");
  EXPECT_EQ(browsing(), Browser::Purpose::export_to);
  enter();
  EXPECT_EQ(browsing(), Browser::Purpose::export_to) << "Enter does no more than the button";
  EXPECT_FALSE(std::filesystem::exists(folder / "out.docx"));
  EXPECT_TRUE(harness->says("The ending says the format"));
  type_name("");
  harness->click("file action");
  EXPECT_EQ(browsing(), Browser::Purpose::export_to);
}

TEST_F(FilesTest, WhatCannotBeWrittenIsOneLine) {
  for (const char* button : {"save as", "export"}) {
    SCOPED_TRACE(button);
    browse(button);
    type_name("absent/file.json");
    enter();
    ASSERT_TRUE(state().notice);
    EXPECT_EQ(notice(), Notice::Kind::failed);
    EXPECT_NE(state().notice->text.find("absent"), std::string::npos) << state().notice->text;
  }
  EXPECT_EQ(state().session_path, "");
}

}  // namespace
}  // namespace headlight
