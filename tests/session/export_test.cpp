#include "question/json/export.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/session_fixture.h"
#include "question/json/document_json.h"
#include "session/file/session_file.h"

namespace headlight {
namespace {

using fixture::Folder;
using nlohmann::json;

std::vector<Request> asked(const Document& document) { return *requests_of(document, fixture::lexicon()); }

std::string exported(const Document& document, const std::shared_ptr<const Trace>& known = nullptr, int threads = 0) {
  const Folder folder;
  Progress progress;
  const auto written = export_document(document, asked(document), Format::json, {}, folder / "a.json", progress, known,
                                       nullptr, threads);
  EXPECT_TRUE(written) << written.error().message();
  return *read_file(folder / "a.json");
}

TEST(ExportDocument, FormatFollowsTheEnding) {
  EXPECT_EQ(*format_for("a.json"), Format::json);
  EXPECT_EQ(*format_for("/x.y/a.npz"), Format::npz);
  EXPECT_EQ(*format_for("a.safetensors"), Format::safetensors);
  EXPECT_EQ(*format_for("a.b.csv"), Format::csv);
  EXPECT_EQ(format_for("a.png").error().message(),
            "a.png: ending: expected .json, .npz, .safetensors or .csv, found .png");
  EXPECT_EQ(format_for("a").error().message(), "a: ending: expected .json, .npz, .safetensors or .csv, found none");
}

TEST(ExportDocument, AKnownAnswerAndThreadsDoNotChangeTheBytes) {
  const Document document = fixture::small_document("我爱\nThe cat sat");
  const std::string bytes = exported(document);
  const auto known = forward(asked(document)[1]);
  ASSERT_TRUE(known);
  EXPECT_EQ(exported(document, *known), bytes);
  const auto other = forward(asked(fixture::small_document("x y z"))[0]);
  EXPECT_EQ(exported(document, *other), bytes);
  EXPECT_EQ(exported(document, nullptr, 1), bytes);
  EXPECT_EQ(exported(document, nullptr, 3), bytes);
}

TEST(ExportDocument, CarriesTheRequestThatComputesItAgain) {
  Document document = fixture::small_document();
  document.mask.painted = {{1, 2, false}};
  document.edits.scale = 0.7f;
  const json request = json::parse(exported(document))["request"];
  EXPECT_EQ(request, json::parse(request_json(document)));
  const json session{{"schema", "headlight.session/1"}, {"request", request}};
  const auto read = session_from_json("s", session.dump());
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->document, document);
  EXPECT_EQ(exported(read->document), exported(document));
}

TEST(ExportDocument, ABatchNumbersItsSentences) {
  const json batch = json::parse(exported(fixture::small_document("a\nb c")))["batch"];
  ASSERT_EQ(batch.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(batch[i]["request"]["sentence"], i);
}

TEST(ExportDocument, StoppedOrWithoutAQuestionNothingIsWritten) {
  const Folder folder;
  const Document document = fixture::small_document();
  Progress progress;
  EXPECT_FALSE(export_document(document, {}, Format::json, {}, folder / "a.json", progress));
  progress.stop = true;
  EXPECT_FALSE(export_document(document, asked(document), Format::json, {}, folder / "a.json", progress));
  const auto known = forward(asked(document)[0]);
  EXPECT_FALSE(export_document(document, asked(document), Format::csv, {}, folder / "a.csv", progress, *known));
  EXPECT_TRUE(folder.names().empty());
}

TEST(ExportDocument, WarningsAreHandedOn) {
  const Folder folder;
  Document document = fixture::small_document();
  document.pad = 10;
  Progress progress;
  std::vector<Error> warnings;
  ASSERT_TRUE(
      export_document(document, asked(document), Format::csv, {}, folder / "a.csv", progress, nullptr, &warnings));
  EXPECT_FALSE(warnings.empty()) << "no query may attend to anything";
}

}  // namespace
}  // namespace headlight
