// Attention as JSON: what a file may make the reader do before it is found wrong.
#include "read/external/tensors_file.h"

#include <gtest/gtest.h>

#include <string>

namespace headlight {
namespace {

/// [0,0,…], `count` numbers.
std::string zeros(std::size_t count) {
  std::string list = "[";
  for (std::size_t i = 0; i < count; ++i) list += i == 0 ? "0" : ",0";
  return list + "]";
}

std::string attention(const std::string& pattern) { return "{\"attention\":[{\"attn\":[[" + pattern + "]]}]}"; }

// 100,000 × 100,000 weights are 40 GB: the file that names them by one row and 99,999 numbers has 400 KB.
TEST(AttentionJson, TakesNoMemoryForRowsThatAreNotThere) {
  constexpr std::size_t kCount = 100'000;
  std::string pattern = "[" + zeros(kCount);
  for (std::size_t i = 1; i < kCount; ++i) pattern += ",0";
  const auto file = parse_attention_json("f", attention(pattern + "]"));
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().message(),
            "f: attention[0].attn[0][0][1]: expected 100000 entries, as the first has, found number");
}

TEST(AttentionJson, RaggedRowsAreNamed) {
  const auto file = parse_attention_json("f", attention("[[1,0],[1]]"));
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().message(), "f: attention[0].attn[0][0][1]: expected 2 entries, as the first has, found 1");
}

}  // namespace
}  // namespace headlight
