// A study as a figure: what its cells, bars and points are is what its rows have in common.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "app/figures.h"
#include "app/program.h"
#include "read/json/json_document.h"
#include "study/app/patch_study.h"
#include "study/study_figure.h"

namespace headlight {
namespace {

using namespace program;
using fixture::golden;

/// Share `share` of each pair: of L0·H1, a tenth of it of the others.
StudyRow patch_row(Index number, double share, double clean) {
  CellKeys keys{{"clean", "", "", ""}, {"corrupt", "", "", ""}};
  StudyRow row{.row = number, .question = "q" + std::to_string(number), .study = "s", .values = {clean, 0}};
  for (int layer = 0; layer < 2; ++layer)
    for (int head = 0; head < 3; ++head) {
      keys.push_back({"restored", std::to_string(layer), std::to_string(head), ""});
      row.values.push_back(layer == 0 && head == 1 ? share : layer == 1 ? -share / 10 : share / 10);
    }
  row.keys = std::make_shared<const CellKeys>(keys);
  return row;
}

/// A file of these rows.
std::string written(const Folder& folder, const std::vector<StudyRow>& rows, const StudyStatement& of) {
  const std::string file = (folder / "rows.jsonl").string();
  std::vector<Error> problems;
  auto kept = StudyRows::open(file, {}, true, problems);
  EXPECT_TRUE(kept && problems.empty());
  for (const StudyRow& row : rows) EXPECT_TRUE(kept->add(row, of));
  return file;
}

Drawing drawing_of(const std::string& study, Language language = Language::en, std::size_t warnings = 0,
                   float width = FigureOptions().width) {
  std::vector<Error> problems;
  FigureOptions options;
  options.language = language;
  options.width = width;
  const auto read = read_study(study, 1, problems);
  EXPECT_TRUE(read) << read.error().message();
  EXPECT_EQ(problems.size(), warnings);
  return read ? drawing_of_study(*read, options, figures::roughly) : Drawing{};
}

std::string all_text(const Drawing& drawing) {
  std::string text;
  for (const Text& one : figures::all<Text>(drawing)) text += one.text + "\n";
  return text;
}

const Box* hit(const Drawing& drawing, const std::string& name) {
  for (const Hit& one : drawing.hits)
    if (one.name == name) return &one.box;
  return nullptr;
}

TEST(StudyFigure, HasAMapOfItsMeansAndTheLargestAsBars) {
  const Folder folder;
  // Shares .5 of 2, .75 of 4: the mean difference is 2, of all that could be restored 3.
  const Drawing drawing = drawing_of(written(folder, {patch_row(2, 0.75, 4), patch_row(1, 0.5, 2)}, kPatchStudy));
  const std::vector<Cells> cells = figures::all<Cells>(drawing);
  ASSERT_EQ(cells.size(), 1u);
  const Matrix& means = *cells[0].weights;
  ASSERT_EQ(means.rows(), 2);
  ASSERT_EQ(means.cols(), 3);
  EXPECT_NEAR(means(0, 1), 2.0 / 3, 1e-6);
  EXPECT_NEAR(means(0, 2), 0.2 / 3, 1e-6);
  EXPECT_NEAR(means(1, 1), -0.2 / 3, 1e-6);
  EXPECT_TRUE(cells[0].scale.diverging);
  EXPECT_FLOAT_EQ(cells[0].scale.top, 1);
  const Box *large = hit(drawing, "bar L0·H1"), *small = hit(drawing, "bar L0·H2"), *under = hit(drawing, "bar L1·H0");
  ASSERT_TRUE(large && small && under);
  EXPECT_NEAR(large->w / small->w, 10, 1e-2);
  EXPECT_NEAR(under->right(), large->x, 1e-3) << "bars below zero end where the others begin";
  EXPECT_LT(large->y, small->y) << "the largest first";
  const std::string text = all_text(drawing);
  for (const char* part : {"Activation patching", "2 of 3 pairs", "share restored", "0.667 ", "clean 3.00"})
    EXPECT_TRUE(contains(text, std::string(part).substr(0, std::string(part).find_last_not_of(' ') + 1)))
        << part << text;
  for (const char* part : {"patch MODEL --at heads", "0123456789abcdef", "2000 bootstrap", "over that of clean"})
    EXPECT_TRUE(contains(drawing.caption, part)) << drawing.caption;
}

TEST(StudyFigure, AnIntervalEndsWhereTheMeansOfSamplesDo) {
  const Folder folder;
  const Drawing drawing =
      drawing_of(written(folder, {patch_row(1, 0.25, 2), patch_row(2, 0.5, 2), patch_row(3, 0.75, 2)}, kPatchStudy));
  const Box bar = *hit(drawing, "bar L0·H1");
  float left = bar.right(), right = bar.right();
  for (const Stroke& line : figures::all<Stroke>(drawing))
    if (line.from.y == line.to.y && std::abs(line.from.y - (bar.y + bar.h / 2)) < 0.01f)
      left = std::min({left, line.from.x, line.to.x}), right = std::max({right, line.from.x, line.to.x});
  EXPECT_NEAR((left - bar.x) / bar.w, 0.5, 0.01) << "a sample that has the first pair alone is within 95 %";
  EXPECT_NEAR((right - bar.x) / bar.w, 1.5, 0.01);
}

TEST(StudyFigure, ThereAreNumbersBesideAnAxisWhereTheyHaveRoom) {
  const Folder folder;
  for (const float width : {160.0f, 500.0f}) {
    const std::string study = written(folder, {patch_row(1, -2, 2), patch_row(2, 10, 2)}, kPatchStudy);
    const Drawing drawing = drawing_of(study, Language::en, 0, width);
    const std::vector<Text> texts = figures::all<Text>(drawing);
    const auto last = std::ranges::find(texts.rbegin(), texts.rend(), "0", &Text::text);
    ASSERT_NE(last, texts.rend());
    for (const Text& one : texts) {
      if (&one == &*last || one.at.y != last->at.y) continue;
      EXPECT_GT(std::abs(one.at.x - last->at.x), figures::roughly(one.text + "0", one.size) / 2) << one.text << width;
    }
  }
}

TEST(StudyFigure, OfLayersAloneIsALine) {
  const Folder folder;
  StudyStatement lens = kPatchStudy;
  lens.columns = {"what", "layer", "from"}, lens.words[0] = "lens", lens.pairs = 1;
  StudyRow row{.row = 1, .question = "q", .study = "s", .values = {0.1, 0.3, 0.9, 2, -1}};
  row.keys = std::make_shared<const CellKeys>(CellKeys{{"probability", "0", ""},
                                                       {"probability", "1", ""},
                                                       {"probability", "2", ""},
                                                       {"logit", "", "L0·H1"},
                                                       {"logit", "", "embedding"}});
  const Drawing drawing = drawing_of(written(folder, {row}, lens));
  const Box *low = hit(drawing, "point L0"), *middle = hit(drawing, "point L1"), *high = hit(drawing, "point L2");
  ASSERT_TRUE(low && middle && high);
  EXPECT_NEAR((low->y - middle->y) / (low->y - high->y), 0.25, 1e-3);
  EXPECT_TRUE(hit(drawing, "bar embedding"));
  EXPECT_TRUE(figures::all<Cells>(drawing).empty());
  EXPECT_TRUE(contains(all_text(drawing), "1 pair"));
}

TEST(StudyFigure, IsInChineseWhereThatIsAsked) {
  const Folder folder;
  const Drawing drawing = drawing_of(written(folder, {patch_row(1, 0.5, 2)}, kPatchStudy), Language::zh);
  const std::string text = all_text(drawing);
  EXPECT_TRUE(contains(text, "恢复的份额"));
  for (const char* word : {"restored", "interval", "random places"}) EXPECT_FALSE(contains(text, word)) << word;
}

TEST(StudyFigure, NamesWhatItLeavesOut) {
  const Folder folder;
  StudyRow failed{.row = 3, .question = "f", .study = "s", .error = "clean: no such word"};
  drawing_of(written(folder, {patch_row(1, 0.5, 2), failed}, kPatchStudy), Language::en, 1);
  const Folder other;
  StudyStatement later = kPatchStudy;
  later.study = "t";
  StudyRow of_later = patch_row(1, 0.25, 2);
  of_later.study = "t", of_later.question = "later";
  const std::string file = written(other, {patch_row(1, 0.5, 2)}, kPatchStudy);
  std::vector<Error> problems;
  ASSERT_TRUE(StudyRows::open(file, {}, true, problems)->add(of_later, later));
  const Drawing drawing = drawing_of(file, Language::en, 1);
  EXPECT_TRUE(contains(all_text(drawing), "0.250")) << "the study that was stated last";
}

TEST(StudyFigure, IsDrawnByTheCommandWhereItsSourceIsAStudy) {
  const Folder folder;
  const std::string pairs = folder.with("p.csv", "clean,corrupt\n5 10 12 9,5 30 12 9\n5 11 12 9,5 31 12 9\n");
  const std::string rows = (folder / "rows").string(), svg = (folder / "x.svg").string();
  const std::string model = golden("gpt2").string();
  ASSERT_EQ(run({"patch", model, "--at", "heads", "--pairs", pairs, "--resume", rows}).status, 0);
  const Ran ran = run({"figure", rows, "-o", svg, "--no-caption", "--width", "170"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(read_file(svg)->starts_with("<?xml"));
  EXPECT_TRUE(contains(*read_file((folder / "x.txt").string()), "--at heads"));
  EXPECT_EQ(run({"figure", rows, "-o", (folder / "y.pdf").string(), "--view", "study"}).status, 0);
  EXPECT_TRUE(contains(refused({"figure", rows, "-o", svg, "--head", "0.1"}), "--head: expected no such option"));
  EXPECT_TRUE(contains(refused({"figure", model, "-o", svg, "--view", "study"}), "what --resume wrote"));
  EXPECT_TRUE(contains(refused({"figure", rows, "-o", svg, "--view", "heads"}), "rows"));
}

/// What is read from the rows is what the command that computed them printed, in every form.
TEST(StudyFigure, RowsAloneGiveTheTableAndAPage) {
  const Folder folder;
  const std::string pairs = folder.with("p.csv", "clean,corrupt\n5 10 12 9,5 30 12 9\n5 11 12 9,5 31 12 9\n");
  const std::string rows = (folder / "rows").string(), html = (folder / "x.html").string();
  for (const Strings& asked : {Strings{"patch", golden("gpt2").string(), "--at", "heads", "--pairs", pairs},
                               Strings{"patch", golden("gpt2").string(), "--at", "heads", "--pairs", pairs,
                                       "--normalise", "none", "--control", "random:2"},
                               Strings{"lens", golden("gpt2").string(), "--pairs", pairs}})
    for (const char* format : {"csv", "npz"}) {
      Strings all = asked;
      all.insert(all.end(), {"--resume", rows, "--format", format});
      const Ran computed = run(all), read = run({"study", rows, "--format", format});
      EXPECT_EQ(read.status, 0) << read.err;
      EXPECT_EQ(read.out, computed.out) << asked[0] << " as " << format;
      ASSERT_EQ(run({"page", rows, "-o", html, "--language", "zh"}).status, 0);
      const std::string page = *read_file(html);
      const std::size_t data = page.find("headlight-data\">") + 16;
      const json object = json::parse(page.substr(data, page.find("</script>", data) - data), nullptr, false);
      ASSERT_TRUE(object.is_object()) << page.substr(data, 200);
      EXPECT_EQ(object["schema"], "headlight.study/1");
      EXPECT_EQ(object["study"]["pairs"], 2);
      const std::ptrdiff_t lines = std::ranges::count(run({"study", rows, "--format", "csv"}).out, '\n');
      EXPECT_EQ(std::ssize(object["answer"]["cells"]), lines - 1);
      EXPECT_TRUE(contains(page, "lang=\"zh\"") && contains(page, "<svg") && contains(page, "<td>"));
      EXPECT_EQ(run({"page", rows, "-o", "-", "--language", "zh"}).out, page);
    }
  EXPECT_TRUE(contains(refused({"page", rows, "-o", html, "--live"}), "--live: expected no such option"));
  EXPECT_TRUE(contains(refused({"study", pairs, "--format", "csv"}), "what --resume wrote"));
}

/// The command that a study states is one that runs: a batch file has it.
TEST(StudyFigure, TheCommandIsOneThatRuns) {
  const Folder folder;
  const std::string pairs = folder.with("p.csv", "clean,corrupt\n5 10 12 9,5 30 12 9\n"),
                    rows = (folder / "r").string();
  const std::string model = golden("gpt2").string();
  for (const Strings& asked :
       {Strings{"heads", model, "--effect"}, Strings{"lens", model}, Strings{"patch", model, "--at", "q", "--estimate"},
        Strings{"patch", model, "--from-head", "0.1", "--to", "all"}}) {
    Strings all = asked;
    all.insert(all.end(), {"--pairs", pairs, "--resume", rows, "--format", "csv"});
    const Ran ran = run(all);
    ASSERT_EQ(ran.status, 0) << ran.err;
    const json states = json::parse(run({"study", rows, "--format", "json"}).out);
    Strings stated = states["studies"].back()["command"];
    stated.insert(stated.end(), {"--gather", rows, "--format", "csv"});
    EXPECT_EQ(run(stated).out, ran.out) << asked[0];
  }
  EXPECT_TRUE(contains(all_text(drawing_of(rows, Language::en, 1)), "L1·H0:k"));
  EXPECT_TRUE(contains(all_text(drawing_of(rows, Language::en, 1)), "output"));
}

/// Words of the file stand in the page as text.
TEST(StudyFigure, APageHoldsNoMarkupOfTheFile) {
  const Folder folder;
  StudyStatement evil = kPatchStudy;
  evil.title = "<script>alert(1)</script>", evil.words[1] = "</script><b>";
  const std::string file = written(folder, {patch_row(1, 0.5, 2)}, evil), page = run({"page", file, "-o", "-"}).out;
  ASSERT_TRUE(contains(page, "headlight-data"));
  EXPECT_FALSE(contains(page, "<script>alert") || contains(page, "<b>"));
  EXPECT_TRUE(contains(page, "&lt;script>alert"));
}

}  // namespace
}  // namespace headlight
