// The scene of a sentence, drawn for everyday sentences: how much of it carries ink, which arcs stand, where they
// stand.
#include "views/sentence/sentence_scene.h"

#include <cairo.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "app/figures.h"
#include "base/file.h"
#include "base/utf8.h"
#include "gui/sentence/own_sentence.h"
#include "paper/fonts.h"
#include "view/start_cell.h"

namespace headlight {
namespace {

/// One sentence with its answer, as the window has it: special tokens folded, pieces of words merged.
struct AskedScene {
  Document document;
  std::shared_ptr<const Trace> trace;
  std::shared_ptr<const FoldedMaps> folded;
  SentenceArcs arcs;
  StartCell start;
  SentenceContent content;
};

AskedScene asked(const std::string& text, const std::string& source = "") {
  AskedScene one{fixture::sentence_document(text, source), {}, {}, {}, {}, {}};
  one.trace = figures::answer_of(one.document);
  one.folded = folded_maps(one.trace, {.special = true, .words = true});
  one.arcs = named_arcs(one.document, *one.trace);
  if (const auto start = start_cell(one.document, *one.trace, one.arcs)) one.start = *start;
  const auto& stack = one.folded->stacks[0];
  auto content = sentence_content(*one.trace, stack ? &*stack : nullptr, one.arcs, one.start.head, one.start.cell);
  EXPECT_TRUE(content) << text;
  if (content) one.content = *std::move(content);
  return one;
}

/// Of the row that is read the heads that look at no other word, by what has more of the rest: from the whole rows.
std::pair<int, int> resting_heads(const AskedScene& one) {
  const auto& tokens = one.trace->key_tokens().tokens;
  const FoldedStack& folded = *one.folded->stacks[0];
  std::pair<int, int> found;
  for (const HeadRef& head : heads_of(*one.trace, Stack::self)) {
    double special = 0, own = 0, others = 0;
    for (Index query = 0; query < one.trace->queries(); ++query) {
      if (folded.fold.queries.group(query) != one.content.query) continue;
      const Matrix row = attention_rows(*one.trace, head, query, 1);
      for (Index key = 0; key < row.cols(); ++key) {
        const bool is_special = tokens[static_cast<std::size_t>(key)].special;
        const bool is_own = folded.fold.keys.group(key) == one.content.query;
        (is_special ? special : is_own ? own : others) += static_cast<double>(std::max(0.0f, row(0, key)));
      }
    }
    const bool named = std::ranges::any_of(
        one.content.named, [&](const SentenceArc& arc) { return arc.query == one.content.query && arc.head == head; });
    if (named || (one.content.pinned && one.content.pinned->head == head) || others >= 0.5 * (special + own + others))
      continue;
    ++(special >= own ? found.first : found.second);
  }
  return found;
}

/// The scene of a window of 1440 × 900 pixels.
const SentenceFrame kFrame = sentence_frame({16, 215, 788, 541}, 1440, 900);

PaperFonts& fonts() {
  static const auto opened = PaperFonts::open();
  return **opened;
}

struct Painted {
  Drawing drawing;
  DrawnSentence drawn;
};

Painted painted(const SentenceContent& content, const SentenceWishes& wishes = {},
                const SentenceFrame& frame = kFrame) {
  Painted scene;
  scene.drawing.background = background_of(Theme::light);
  scene.drawn = add_sentence(scene.drawing, content, frame, wishes, 1, fonts().measure());
  return scene;
}

/// The share of its pixels that differ from the ground by more than 12 of 255.
double ink_of(const Drawing& drawing, const Box& box) {
  const int width = static_cast<int>(box.right()) + 1, height = static_cast<int>(box.bottom()) + 1;
  cairo_surface_t* surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
  cairo_t* cairo = cairo_create(surface);
  paint(cairo, drawing, fonts());
  cairo_destroy(cairo);
  cairo_surface_flush(surface);
  int ink = 0, all = 0;
  for (int y = static_cast<int>(box.y); y < static_cast<int>(box.bottom()); ++y)
    for (int x = static_cast<int>(box.x); x < static_cast<int>(box.right()); ++x, ++all) {
      std::uint32_t argb = 0;
      std::memcpy(&argb, cairo_image_surface_get_data(surface) + y * cairo_image_surface_get_stride(surface) + 4 * x,
                  4);
      const auto away = [&](int shift, int ground) {
        return std::abs(static_cast<int>(argb >> shift & 0xFF) - ground) > 12;
      };
      ink += away(16, drawing.background.r) || away(8, drawing.background.g) || away(0, drawing.background.b);
    }
  cairo_surface_destroy(surface);
  return static_cast<double>(ink) / all;
}

std::vector<std::string> everyday_sentences() {
  const auto text = read_file(std::filesystem::path(HEADLIGHT_TEST_DATA) / "gui/sentence/sentences.txt");
  EXPECT_TRUE(text);
  std::vector<std::string> lines;
  for (const std::string_view line : split_at('\n', *text))
    if (!line.empty()) lines.emplace_back(line);
  return lines;
}

TEST(SentenceScene, EverydaySentencesFillTheStage) {
  std::vector<double> shares;
  for (const std::string& text : everyday_sentences()) {
    const AskedScene one = asked(text);
    const Painted scene = painted(one.content);
    shares.push_back(ink_of(scene.drawing, kFrame.box));
    EXPECT_GE(shares.back(), 0.08) << text;
    if (std::getenv("HEADLIGHT_INK"))
      std::cout << formatted("%.3f", shares.back()) << "\t" << scene.drawn.lines << "\t" << scene.drawn.type << "\t"
                << one.content.named.size() << "\t" << scene.drawn.threshold << "\t" << text << "\n";
  }
  ASSERT_EQ(shares.size(), 50u);
  std::ranges::sort(shares);
  EXPECT_GE(shares[25], 0.2);
}

TEST(SentenceScene, EveryNameIsAnArcAndThinOnesAreFew) {
  for (const std::string& text : everyday_sentences()) {
    SCOPED_TRACE(text);
    const AskedScene one = asked(text);
    const Painted scene = painted(one.content);
    for (const SentenceArc& arc : one.content.named)
      EXPECT_TRUE(std::ranges::any_of(scene.drawn.arcs, [&](const DrawnSentence::Arc& drawn) {
        return drawn.arc.query == arc.query && drawn.arc.key == arc.key;
      }));
    EXPECT_LE(scene.drawn.arcs.size(), 2 * (one.content.named.size() + 1) + kMostThinArcs) << "halves count twice";
    for (const DrawnSentence::Arc& arc : scene.drawn.arcs) {
      EXPECT_NE(arc.arc.query, arc.arc.key);
      const Box box = arc.box();
      EXPECT_GE(box.x, kFrame.box.x - 1);
      EXPECT_LE(box.right(), kFrame.box.right() + 1);
      EXPECT_GE(box.y, kFrame.box.y - 12) << "the name of the highest may stand over the scene's edge";
    }
  }
}

TEST(SentenceScene, StaysInItsBoxAtEverySizeAndLength) {
  const std::string words = "the old man saw a dog that ran to his house when it was cold and dark in the long night ";
  for (const std::string& text :
       {std::string("Hello"), words + "and he went home", words + words, std::string("我喜欢你。")})
    for (const auto& [width, height, box] :
         {std::tuple(960.0f, 600.0f, Box{16, 185, 549, 329}), std::tuple(1280.0f, 800.0f, Box{16, 215, 741, 448}),
          std::tuple(2560.0f, 1600.0f, Box{16, 230, 1420, 1240})}) {
      SCOPED_TRACE(text + " " + std::to_string(width));
      const AskedScene one = asked(text);
      const SentenceFrame frame = sentence_frame(box, width, height);
      const Painted scene = painted(one.content, {}, frame);
      for (const Box& word : scene.drawn.words) {
        EXPECT_GE(word.x, box.x - 0.5f);
        EXPECT_LE(word.right(), box.right() + 0.5f);
        EXPECT_LE(word.bottom(), box.bottom());
      }
      for (const DrawnSentence::Row& row : scene.drawn.rows) EXPECT_LE(row.box.bottom(), box.bottom() + 1);
      for (std::size_t i = 0; i < scene.drawn.words.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) {
          const Box &a = scene.drawn.words[i], &b = scene.drawn.words[j];
          EXPECT_FALSE(a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom()) << i << " " << j;
        }
    }
}

TEST(SentenceScene, PointingChangesNoPlace) {
  const AskedScene one = asked("The trophy does not fit in the suitcase because it is too big.");
  const Painted still = painted(one.content);
  const Painted pointed = painted(one.content, {.word = Index{4}});
  EXPECT_EQ(still.drawn.words, pointed.drawn.words);
  EXPECT_EQ(still.drawn.columns, pointed.drawn.columns);
  EXPECT_EQ(still.drawn.rows.size(), pointed.drawn.rows.size());
  EXPECT_GT(pointed.drawing.items.size(), still.drawing.items.size()) << "weights stand on the arcs of the word";
}

TEST(SentenceScene, TheRowIsNamedBesideItsBars) {
  const AskedScene own = asked("The trophy does not fit in the suitcase because it is too big.");
  const Painted scene = painted(own.content);
  EXPECT_TRUE(std::ranges::any_of(scene.drawing.items, [](const Item& item) {
    const Text* text = std::get_if<Text>(&item);
    return text && text->text == "“it” looks at";
  }));
}

/// From right to left everything is mirrored, but for the words themselves.
TEST(SentenceScene, FromRightToLeftItIsTheMirrorImage) {
  const AskedScene own = asked("The old man the boat.");
  SentenceContent content = own.content;
  const Painted one = painted(content);
  content.queries.front().label = "אבג";
  const Painted other = painted(content);
  ASSERT_EQ(one.drawn.words.size(), other.drawn.words.size());
  for (std::size_t i = 1; i < other.drawn.words.size(); ++i) {
    EXPECT_GT(one.drawn.words[i].x, one.drawn.words[i - 1].right());
    EXPECT_LT(other.drawn.words[i].right(), other.drawn.words[i - 1].x);
  }
  for (const Box& word : other.drawn.words) EXPECT_GE(word.x, kFrame.box.x - 0.5f);
  EXPECT_NEAR(other.drawn.bars.right(), kFrame.box.right() - kFrame.gutter, 1) << "the gutter is at the right";
}

TEST(SentenceScene, DenseAnswersRaiseTheThreshold) {
  const AskedScene dense = asked("The animal didn't cross the street because it was tired", "shipped:encoder");
  const Painted scene = painted(dense.content);
  EXPECT_GT(scene.drawn.threshold, kLeastArc);
  const Painted wished = painted(dense.content, {.threshold = kLeastArc});
  EXPECT_EQ(wished.drawn.threshold, kLeastArc);
  EXPECT_GT(wished.drawn.above, scene.drawn.above);
  EXPECT_GT(wished.drawn.arcs.size(), kMostThinArcs);
}

TEST(SentenceScene, HeadsThatLookNowhereElseRestOnSpecialTokensOrLookAtTheWordItself) {
  for (const char* text :
       {"Ich habe gestern meiner Großmutter einen Brief geschrieben.", "The cat sat on the mat", "Hello world"}) {
    const AskedScene one = asked(text);
    const auto [rest, itself] = resting_heads(one);
    ASSERT_GT(rest + itself, 0) << text;
    const Painted scene = painted(one.content);
    const auto says = [&](const std::string& words) {
      return std::ranges::any_of(figures::all<Text>(scene.drawing),
                                 [&](const Text& line) { return line.text.find(words) != std::string::npos; });
    };
    if (rest > 0) { EXPECT_TRUE(says(std::to_string(rest) + (rest == 1 ? " head rests" : " heads rest"))) << text; }
    if (itself > 0) {
      EXPECT_TRUE(says(std::to_string(itself) + (itself == 1 ? " looks" : " look") + " at the word itself")) << text;
    }
  }
}

}  // namespace
}  // namespace headlight
