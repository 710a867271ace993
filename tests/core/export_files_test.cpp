// The files of an export: the same bytes every time, or one line and nothing at all.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <limits>

#include "exported.h"
#include "read/json/json_document.h"

namespace headlight {
namespace {

using namespace exported;

constexpr Format kEveryFormat[] = {Format::json, Format::npz, Format::safetensors, Format::csv};

TEST(Export, TheSameTracesGiveTheSameBytes) {
  const Request request = encoder_decoder_request({"a", "b"}, {"x"});
  const auto first = answered(request), again = answered(request);
  for (const Format format : kEveryFormat) {
    ASSERT_EQ(setenv("TZ", "Asia/Shanghai", 1), 0);
    const std::string bytes = bytes_written({first}, format);
    ASSERT_EQ(setenv("TZ", "America/New_York", 1), 0);
    EXPECT_EQ(bytes, bytes_written({again}, format)) << name(format);
    unsetenv("TZ");
  }
}

TEST(Export, NumbersThatAreNotFiniteAreRefusedWithTheirPlace) {
  const auto sound = trace_of({"a", "b"});
  auto broken = std::make_shared<Trace>(*sound);
  broken->blocks[1].self.query(1, 4) = std::numeric_limits<float>::quiet_NaN();
  for (const Format format : kEveryFormat) {
    const Folder folder;
    const auto status = write({broken}, format, folder / "x");
    ASSERT_FALSE(status) << name(format);
    EXPECT_EQ(status.error().message(),
              "attentions: layer 1 head 1 query 1 key 0: expected a finite number, found nan");
    EXPECT_TRUE(folder.empty());
    const auto batch = write({sound, broken}, format, folder / "x");
    ASSERT_FALSE(batch);
    const bool numbered = format == Format::npz || format == Format::safetensors;
    EXPECT_EQ(batch.error().message(), std::string(numbered ? "1." : "sentence 1: ") + status.error().message());
    EXPECT_TRUE(folder.empty());
  }
  broken = std::make_shared<Trace>(*sound);
  broken->normed = broken->last_hidden_state();
  broken->normed(0, 11) = -std::numeric_limits<float>::infinity();
  const Folder folder;
  const auto status = write({broken}, Format::npz, folder / "x");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message(), "last_hidden_state: token 0 dimension 11: expected a finite number, found -inf");
  EXPECT_TRUE(folder.empty());
}

TEST(Export, LeavesNothingWhenStoppedAndWhatWasThereWhenItFails) {
  for (const Format format : kEveryFormat) {
    const Folder folder;
    ASSERT_TRUE(write_file(folder / "x", "what was there"));
    Progress progress;
    progress.stop = true;
    const auto status = write_export({trace_of({"a"})}, {""}, format, {}, folder / "x", progress);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().message(), "export: cancelled");
    EXPECT_EQ(*read_file(folder / "x"), "what was there");
    std::filesystem::remove(folder / "x");
    EXPECT_TRUE(folder.empty());
  }
}

TEST(Export, WhatCannotBeWrittenIsNamed) {
  for (const Format format : kEveryFormat) {
    const Folder folder;
    const auto missing = write({trace_of({"a"})}, format, folder / "missing/x");
    ASSERT_FALSE(missing) << name(format);
    EXPECT_NE(missing.error().message().find("missing/x: write: expected a writable folder"), std::string::npos)
        << missing.error().message();
    const auto full = write({trace_of({"a"})}, format, "/dev/full");
    ASSERT_FALSE(full) << name(format);
    EXPECT_EQ(full.error().message(), "/dev/full: write: expected room to write, found No space left on device");
    EXPECT_TRUE(write({trace_of({"a"})}, format, "/dev/null")) << name(format);
  }
}

TEST(Export, FormatsAreNamed) {
  for (const Format format : kEveryFormat) {
    EXPECT_EQ(*parse_format(name(format)), format);
    EXPECT_EQ(format_of("a/b." + std::string(name(format))), format);
  }
  const auto unknown = parse_format("xml");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message(), "--format: expected json, npz, safetensors or csv, found 'xml'");
  EXPECT_FALSE(format_of("x.xml"));
  EXPECT_FALSE(format_of("json"));
}

TEST(Export, ARequestMayBeLeftOut) {
  const Folder folder;
  Progress progress;
  ASSERT_TRUE(write_export({trace_of({"a"})}, {""}, Format::json, {}, folder / "x", progress));
  EXPECT_FALSE(parse_json("f", *read_file(folder / "x"))->contains("request"));
}

}  // namespace
}  // namespace headlight
