// The parts that a page is made of, without a browser; tests/page/page_test.py has the whole.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/base64.h"
#include "base/random.h"
#include "math/forward.h"
#include "page/page.h"
#include "page/page_data.h"
#include "page/page_numbers.h"
#include "page/page_template.h"
#include "read/external/packed_planes.h"
#include "read/external/page_text.h"

namespace headlight {
namespace {

std::string random_bytes(std::size_t count) {
  Random random(7);
  std::string bytes;
  while (bytes.size() < count) bytes += static_cast<char>(random.next() & 0xFF);
  return bytes;
}

TEST(Base64, IsReadBackWhateverItsPartsAre) {
  for (std::size_t count = 0; count < 40; ++count) {
    const std::string bytes = random_bytes(count);
    std::string text;
    Base64Encoder encoder;
    for (std::size_t at = 0, size = 1; at < count; at += size, size = size % 5 + 1)
      encoder.add(bytes.substr(at, size), text);
    encoder.finish(text);
    EXPECT_EQ(text, encode_base64(bytes));
    EXPECT_EQ(text.size(), base64_size(count));
    ASSERT_TRUE(decode_base64(text));
    EXPECT_EQ(*decode_base64(text), bytes);
  }
  EXPECT_EQ(encode_base64("foobar"), "Zm9vYmFy");  // RFC 4648, section 10
  EXPECT_EQ(encode_base64("fooba"), "Zm9vYmE=");
}

TEST(PageNumbers, PackedPlanesAreTheSameBytes) {
  const std::string bytes = random_bytes(6000) + std::string(4000, 'x');
  const std::string packed = packed_planes(bytes);
  const auto planes = inflated(packed, bytes.size());
  ASSERT_TRUE(planes);
  for (std::size_t i = 0; i < bytes.size(); ++i) ASSERT_EQ((*planes)[i % 2 * bytes.size() / 2 + i / 2], bytes[i]) << i;
  EXPECT_FALSE(inflated(packed, bytes.size() + 2));
  EXPECT_FALSE(inflated(packed, bytes.size() - 2));
  EXPECT_FALSE(inflated(packed.substr(0, packed.size() / 2), bytes.size()));
}

TEST(PageNumbers, RoundingIsToTheNearestFloat16) {
  const Matrix numbers = (Matrix(1, 6) << 1.0f, 0.1f, -65504.0f, 1.00048828125f, 6e-8f, 0.0f).finished();
  const Matrix rounded = rounded_to_float16(numbers);
  EXPECT_EQ(rounded(0, 0), 1.0f);
  EXPECT_EQ(rounded(0, 1), 0.0999755859375f);
  EXPECT_EQ(rounded(0, 2), -65504.0f);
  EXPECT_EQ(rounded(0, 3), 1.0f);  // a tie goes to the even one
  EXPECT_EQ(rounded(0, 4), 0x1p-24f);
  std::string bytes;
  append_float16(numbers, bytes);
  ASSERT_EQ(bytes.size(), 12u);
  EXPECT_EQ(bytes.substr(0, 2), std::string("\x00\x3C", 2));
}

TEST(PageText, NoTextEndsTheElement) {
  EXPECT_EQ(without_markup(R"({"a":"</script><b>"})"), R"({"a":"\u003c/script>\u003cb>"})");
  for (const std::string& table : {without_markup(page_words_json()), page_colours_json()})
    EXPECT_EQ(table.find("<"), std::string::npos);
}

TEST(PageText, IsFoundInThePageAndNowhereElse) {
  std::string page;
  for (const std::string_view part : page_head()) page += part;
  page += R"({"schema":"headlight.page/1"})";
  const std::string cut = page;
  for (const std::string_view part : page_tail()) page += part;
  const auto data = data_of_page("a.html", page);
  ASSERT_TRUE(data) << data.error().message();
  EXPECT_EQ(*data, R"({"schema":"headlight.page/1"})");
  ASSERT_FALSE(data_of_page("a.html", cut));
  EXPECT_EQ(data_of_page("a.html", cut).error().message(),
            "a.html: headlight-data: expected its end, </script>, found the end of the file: the page was cut off");
  EXPECT_FALSE(data_of_page("a.html", "<p>hello</p>"));
}

TEST(PageTemplate, AllowsOnlyItsOwnScriptAndStyle) {
  std::string head;
  for (const std::string_view part : page_head()) head += part;
  EXPECT_NE(head.find("default-src 'none'; script-src 'sha256-"), std::string::npos);
  EXPECT_NE(head.find("style-src 'sha256-"), std::string::npos);
  EXPECT_NE(head.find("' 'wasm-unsafe-eval';"), std::string::npos);  // the core, and no other code
  EXPECT_EQ(head.find("unsafe"), head.rfind("unsafe"));
  EXPECT_EQ(head.find("http:"), std::string::npos);
  EXPECT_EQ(head.find("https:"), std::string::npos);
}

TEST(PageFile, ThatIsTooLargeIsRefusedBeforeItsAnswerIsComputed) {
  Document document;
  document.source.text = "the cat sat on the mat";
  const auto requests = requests_of(document, Lexicon{});
  ASSERT_TRUE(requests) << requests.error().message();
  // q and k of 2 layers, 6 tokens, d_model 64, two bytes each, in base64.
  const std::size_t least = 4 * 2 * 2 * 2 * 6 * 64 / 3;
  EXPECT_TRUE(check_size(requests->front(), least));
  const Status refused = check_size(requests->front(), least - 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(),
            "page: size: expected at most 4 kB (--only 1.4,2.* takes fewer heads), found 4 kB");
  const auto trace = forward(requests->front());
  ASSERT_TRUE(trace) << trace.error().message();
  PageContent content;
  content.session.document = document;
  content.trace = *trace;
  Progress progress;
  const auto plan = plan_page(content, {}, progress);
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_GE(plan->bytes, least);
}

TEST(PageFile, ThatIsCancelledIsNotWritten) {
  const auto folder = std::filesystem::temp_directory_path() / ("headlight-page-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const std::filesystem::path file = folder / "page.html";
  Document document;
  document.source.text = "the cat sat on the mat";
  const auto requests = requests_of(document, Lexicon{});
  ASSERT_TRUE(requests) << requests.error().message();
  const auto trace = forward(requests->front());
  ASSERT_TRUE(trace) << trace.error().message();
  FigureRequest order;
  order.trace = *trace;
  order.document = document;
  const DrawFigure draw = with_pages({});
  Progress progress;
  progress.stop = true;
  const Status cancelled = draw(order, file, progress);
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().message(), file.string() + ": cancelled, nothing was written");
  EXPECT_TRUE(std::filesystem::is_empty(folder));  // nor anything beside it
  progress.stop = false;
  const Status written = draw(order, file, progress);
  EXPECT_TRUE(written) << written.error().message();
  EXPECT_TRUE(std::filesystem::exists(file));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace headlight
