#include "question/samples.h"

#include <gtest/gtest.h>

#include "app/session_fixture.h"
#include "session/file/open_file.h"

namespace headlight {
namespace {

TEST(Samples, TheShippedOnesCanAllBeAsked) {
  const auto text = read_file(fixture::assets() / "samples.json");
  ASSERT_TRUE(text);
  const auto samples = parse_samples("samples.json", *text);
  ASSERT_TRUE(samples) << samples.error().message();
  ASSERT_GE(samples->size(), 3u);
  EXPECT_EQ(samples->front().text, kDefaultSentence);
  for (const Sample& sample : *samples) {
    EXPECT_NE(sample.note_en, sample.note_zh);
    if (!sample.file.empty()) {
      EXPECT_TRUE(open_any(fixture::assets() / sample.file)) << sample.file;
      continue;
    }
    Document document;
    document.source.text = sample.text;
    EXPECT_TRUE(requests_of(document, fixture::lexicon())) << sample.text;
  }
}

TEST(Samples, WhatIsMissingIsNamed) {
  const auto complaint = [](const char* text) {
    const auto samples = parse_samples("samples.json", text);
    EXPECT_FALSE(samples) << text;
    return samples ? std::string{} : samples.error().message();
  };
  EXPECT_EQ(complaint("{}"), "samples.json: samples: expected a list, found object");
  EXPECT_EQ(complaint("[").find("samples.json"), 0u);
  EXPECT_EQ(complaint("[5]"), "samples.json: sample 0: expected an object with a text, found number");
  EXPECT_EQ(complaint(R"([{"text": "a", "note": {"en": "b", "zh": "c"}}, {"note": {}}])"),
            "samples.json: sample 1: expected an object with a text, found object");
  EXPECT_EQ(complaint(R"([{"text": "a"}])"), "samples.json: sample 0: expected a note in en and zh, found none");
  EXPECT_EQ(complaint(R"([{"text": "a", "note": {"en": "b"}}])").find("samples.json: sample 0: "), 0u);
  EXPECT_EQ(complaint(R"([{"text": 5, "note": "b"}])").find("samples.json: sample 0: "), 0u);
  EXPECT_TRUE(parse_samples("samples.json", "[]"));
}

}  // namespace
}  // namespace headlight
