// A changed sentence is computed from the first change on: the same answer, to the bit, as from scratch.
#include "math/common_rows.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "drawn.h"

namespace headlight {
namespace {

using reference::ask;
using reference::counted;
using reference::draw;
using reference::Drawn;
using reference::drawn_edits;
using reference::drawn_mask;
using reference::drawn_request;
using reference::once_in;
using reference::same_answer;
using reference::side;

std::vector<Token>& words_of(Request& request) {
  return (request.config.arch == Arch::encoder_decoder ? request.target : request.tokens).tokens;
}

/// Appends, changes or removes words, or marks the last as padding.
void change(Random& random, Request& request) {
  auto& words = words_of(request);
  const auto count = static_cast<Index>(words.size());
  const auto any = [&] { return words[static_cast<std::size_t>(draw(random, 0, count - 1))]; };
  switch (draw(random, 0, 4)) {
    case 0:
      for (Index more = draw(random, 1, 3); more > 0; --more) words.push_back(any());
      break;
    case 1: words[static_cast<std::size_t>(draw(random, 0, count - 1))] = any(); break;
    case 2: words.resize(static_cast<std::size_t>(draw(random, 1, count))); break;
    case 3: words.back().pad = !words.back().pad; break;
    default: words.insert(words.begin() + draw(random, 0, count), any());
  }
}

/// How many rows of the first block were taken from `previous` rather than computed: those in which a number that was
/// tampered with comes back.
Index lent(const Request& request, const Trace& previous) {
  Trace tampered = previous;
  Matrix& values = tampered.blocks.front().output;
  for (Index row = 0; row < values.rows(); ++row) values(row, 0) += 0.5f;
  const auto trace = ask(request, &tampered);
  const Matrix& found = trace->blocks.front().output;
  Index rows = 0;
  while (rows < std::min(found.rows(), values.rows()) && found(rows, 0) == values(rows, 0)) ++rows;
  return rows;
}

TEST(CommonRows, GiveTheAnswerFromScratchInAnySetting) {
  Random random(61);
  int with_rows = 0;
  for (int round = 0; round < 400; ++round) {
    Request request = drawn_request(random, {.least_width = 3});
    if (request.config.arch == Arch::encoder) continue;
    if (!once_in(random, 8))
      request.mask = {.causal = true, .padding = request.mask.padding, .painted = request.mask.painted};
    if (!once_in(random, 3)) request.edits = {};
    if (!request.model) request.model = random_model(request.config, request.vocabulary);
    const auto before = ask(request);
    ASSERT_TRUE(before);
    Request changed = request;
    change(random, changed);
    if (once_in(random, 6)) paint(changed.mask.painted, {draw(random, 0, 9), draw(random, 0, 9), once_in(random, 2)});
    if (once_in(random, 9)) changed.edits = drawn_edits(random, changed, {});
    const auto result = forward(changed);
    if (!result) continue;  // a mask of the first sentence's size
    const auto after = ask(changed, before.get());
    ASSERT_TRUE(after);
    ASSERT_TRUE(same_answer(**result, *after)) << round;
    ASSERT_TRUE(same_answer(*before, *ask(request, after.get()))) << round << ": and back";
    if (lent(changed, *before) > 0) ++with_rows;
  }
  EXPECT_GT(with_rows, 40) << "else this tests nothing";
}

Request causal(Index words, Index layers = 2) {
  Request request{.config = {.arch = Arch::decoder,
                             .d_model = 32,
                             .num_heads = 4,
                             .num_kv_heads = 2,
                             .num_layers = layers,
                             .position = Position::rotary,
                             .norm = Norm::pre},
                  .tokens = counted(words)};
  request.mask.causal = true;
  request.model = random_model(request.config);
  return request;
}

TEST(CommonRows, AreThoseBeforeTheFirstChange) {
  const Request request = causal(20);
  const auto before = ask(request);
  Request changed = request;
  changed.tokens.tokens.push_back(changed.tokens.tokens[3]);
  EXPECT_EQ(lent(changed, *before), 20);
  changed = request;
  changed.tokens.tokens[7] = changed.tokens.tokens[3];
  EXPECT_EQ(lent(changed, *before), 7);
  changed = request;
  changed.tokens.tokens.resize(12);
  EXPECT_EQ(lent(changed, *before), 11) << "one row is always computed";
}

TEST(CommonRows, EndWhereAWordIsSeenThatChanged) {
  Request request = causal(20);
  paint(request.mask.painted, {5, 18, true});
  Request changed = request;
  changed.tokens.tokens[18] = changed.tokens.tokens[3];
  const auto before = ask(request);
  EXPECT_EQ(lent(changed, *before), 5);
  EXPECT_TRUE(same_answer(*ask(changed), *ask(changed, before.get())));
  request.mask.painted.clear();
  changed = request;
  changed.mask.causal = false;
  EXPECT_EQ(lent(changed, *ask(request)), 0) << "without a causal mask every word sees every other";
}

TEST(CommonRows, EndWhereTheMaskOfTheSourceChanged) {
  Request request{.config = {.arch = Arch::encoder_decoder, .d_model = 32, .num_heads = 4, .num_layers = 2},
                  .tokens = counted(6),
                  .target = counted(9)};
  request.mask.causal = true;
  request.model = random_model(request.config);
  const auto before = ask(request);
  Request changed = request;
  changed.target.tokens[7].text = "another";
  EXPECT_EQ(lent(changed, *before), 7);
  paint(changed.cross_mask.painted, {4, 2, false});
  EXPECT_EQ(lent(changed, *before), 4);
  EXPECT_TRUE(same_answer(*ask(changed), *ask(changed, before.get())));
}

TEST(CommonRows, OfLongTextsWhoseThumbnailsPoolSeveralWords) {
  Request request = causal(300, 1);
  const auto before = ask(request);
  for (const Index place : {299, 150, 64, 1}) {
    Request changed = request;
    changed.tokens.tokens[static_cast<std::size_t>(place)].text = "another";
    EXPECT_EQ(lent(changed, *before), place);
    EXPECT_TRUE(same_answer(*ask(changed), *ask(changed, before.get()))) << place;
  }
  for (const Index length : {301, 310, 128, 100}) {
    Request changed = request;
    changed.tokens = counted(length);
    EXPECT_EQ(lent(changed, *before), std::min<Index>(300, length - 1));
    EXPECT_TRUE(same_answer(*ask(changed), *ask(changed, before.get()))) << length;
  }
}

}  // namespace
}  // namespace headlight
