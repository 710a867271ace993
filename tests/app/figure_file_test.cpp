// Figures as files: that others can read them, that they are small, and that the same figure is the same bytes.
#include "paper/figure_file.h"

#include <cairo.h>

#include <cmath>
#include <cstring>

#include <filesystem>
#include <iterator>

#include "app/figures.h"
#include "core/checkpoints.h"

namespace headlight {
namespace {

using namespace figures;

PaperFonts& fonts() {
  static const auto opened = PaperFonts::open();
  EXPECT_TRUE(opened) << opened.error().message();
  return **opened;
}

std::string bytes_of(const Drawing& drawing, FigureFormat format) {
  const auto bytes = figure_bytes(drawing, format, fonts());
  EXPECT_TRUE(bytes) << bytes.error().message();
  return bytes ? *bytes : std::string();
}

Drawing figure_of(const Document& document, const FigureOptions& options) {
  const auto trace = answer_of(document);
  auto drawing = draw_figure({*trace, document}, options, fonts().measure());
  EXPECT_TRUE(drawing) << drawing.error().message();
  return std::move(*drawing);
}

/// A PNG's pixels, read back.
struct Decoded {
  int width = 0, height = 0;
  std::vector<std::uint32_t> rgb;

  std::uint32_t at(int x, int y) const {
    return rgb[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)];
  }
};

Decoded decoded(const std::string& png) {
  struct Rest {
    const std::string& bytes;
    std::size_t at = 0;
  } rest{png};
  cairo_surface_t* surface = cairo_image_surface_create_from_png_stream(
      [](void* from, unsigned char* data, unsigned length) {
        Rest& left = *static_cast<Rest*>(from);
        if (left.bytes.size() - left.at < length) return CAIRO_STATUS_READ_ERROR;
        std::memcpy(data, left.bytes.data() + left.at, length);
        left.at += length;
        return CAIRO_STATUS_SUCCESS;
      },
      &rest);
  Decoded pixels;
  EXPECT_EQ(cairo_surface_status(surface), CAIRO_STATUS_SUCCESS);
  pixels.width = cairo_image_surface_get_width(surface), pixels.height = cairo_image_surface_get_height(surface);
  for (int y = 0; y < pixels.height; ++y)
    for (int x = 0; x < pixels.width; ++x) {
      std::uint32_t argb = 0;
      std::memcpy(&argb, cairo_image_surface_get_data(surface) + y * cairo_image_surface_get_stride(surface) + 4 * x,
                  4);
      pixels.rgb.push_back(argb & 0xFFFFFF);
    }
  cairo_surface_destroy(surface);
  return pixels;
}

std::uint32_t number_of(Rgb colour) {
  return static_cast<std::uint32_t>(colour.r) << 16 | static_cast<std::uint32_t>(colour.g) << 8 | colour.b;
}

/// Whether every tag is closed, in order, and every attribute quoted: enough of XML for what cairo writes.
testing::AssertionResult is_well_formed(const std::string& xml) {
  std::vector<std::string> open;
  for (std::size_t at = xml.find('<'); at != std::string::npos; at = xml.find('<', at + 1)) {
    const std::size_t end = xml.find('>', at);
    if (end == std::string::npos) return testing::AssertionFailure() << "a tag without an end";
    const std::string tag = xml.substr(at + 1, end - at - 1);
    if (tag.find('<') != std::string::npos)
      return testing::AssertionFailure() << "a tag in a tag: " << tag.substr(0, 80);
    if (std::count(tag.begin(), tag.end(), '"') % 2)
      return testing::AssertionFailure() << "a quote left open: " << tag.substr(0, 80);
    if (tag.starts_with("?") || tag.starts_with("!")) continue;
    const std::string name =
        tag.substr(tag.starts_with("/") ? 1 : 0, tag.find_first_of(" /\n", 1) - (tag.starts_with("/") ? 1 : 0));
    if (tag.starts_with("/")) {
      if (open.empty() || open.back() != name) return testing::AssertionFailure() << "</" << name << "> closes nothing";
      open.pop_back();
    } else if (!tag.ends_with("/")) {
      open.push_back(name);
    }
  }
  if (!open.empty()) return testing::AssertionFailure() << "<" << open.back() << "> stays open";
  return testing::AssertionSuccess();
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(FigureFile, EveryFormatIsWhatItSays) {
  for (const Index words : {1, 10, 50}) {
    Document document = document_of(words);
    document.mask.causal = words == 10;
    for (const FigureKind kind : {FigureKind::grid, FigureKind::head, FigureKind::flow, FigureKind::layers}) {
      SCOPED_TRACE(std::to_string(words) + " words, kind " + std::to_string(static_cast<int>(kind)));
      const Drawing drawing = figure_of(document, {.kind = kind});
      expect_tidy(drawing);

      const std::string svg = bytes_of(drawing, FigureFormat::svg);
      EXPECT_TRUE(is_well_formed(svg));
      EXPECT_EQ(count_of(svg, "<image "), count_of(svg, "image-rendering:pixelated"));
      for (std::size_t at = svg.find("#i"); at != std::string::npos; at = svg.find("#i", at + 1)) {
        const std::string id = svg.substr(at + 1, svg.find_first_of("\")", at) - at - 1);
        ASSERT_EQ(count_of(svg, "id=\"" + id + "\""), 1u) << id;
        if (at > 40000) break;  // the rest is more of the same
      }

      const std::string pdf = bytes_of(drawing, FigureFormat::pdf);
      EXPECT_TRUE(pdf.starts_with("%PDF-1.4"));
      EXPECT_TRUE(pdf.ends_with("%%EOF\n"));
      EXPECT_EQ(pdf.find("CreationDate"), std::string::npos);
      const std::size_t box = pdf.find("/MediaBox [ 0 0 ");
      ASSERT_NE(box, std::string::npos);
      EXPECT_NEAR(std::stof(pdf.substr(box + 16)), drawing.width, 0.01f);

      const std::string png = bytes_of(drawing, FigureFormat::png);
      const Decoded pixels = decoded(png);
      EXPECT_EQ(pixels.width, std::lround(drawing.width * kFigureDpi / 72));
      EXPECT_EQ(pixels.height, std::lround(drawing.height * kFigureDpi / 72));
      EXPECT_EQ(pixels.at(0, 0), 0xFFFFFFu);
      const std::size_t dots = png.find("pHYs");
      ASSERT_NE(dots, std::string::npos);
      std::uint32_t a_metre = 0;  // the most significant byte first
      for (std::size_t i = 0; i < 4; ++i) a_metre = a_metre << 8 | static_cast<unsigned char>(png[dots + 4 + i]);
      EXPECT_NEAR(pixels.width / static_cast<double>(a_metre) / 0.0254 * 72, drawing.width, 0.2) << "printed as large";
    }
  }
}

TEST(FigureFile, APngHasEachCellInItsColour) {
  Document document = small_document();
  document.mask.causal = true;
  for (const Theme theme : {Theme::light, Theme::dark}) {
    const Drawing drawing = figure_of(document, {.theme = theme});
    const Decoded pixels = decoded(bytes_of(drawing, FigureFormat::png));
    const float scale = kFigureDpi / 72;
    for (const Cells& cells : all<Cells>(drawing)) {
      const float side = cells.box.w / static_cast<float>(cells.weights->cols()) * scale;
      std::size_t hatched = 0;
      for (Index i = 0; i < cells.weights->rows(); ++i)
        for (Index j = 0; j < cells.weights->cols(); ++j) {
          const float weight = (*cells.weights)(i, j);
          const int x = static_cast<int>(cells.box.x * scale + (static_cast<float>(j) + 0.5f) * side);
          const int y = static_cast<int>(cells.box.y * scale + (static_cast<float>(i) + 0.5f) * side);
          if (weight >= 0) {
            ASSERT_EQ(pixels.at(x, y), number_of(colour_of(cells.scale, weight))) << i << ", " << j;
            continue;
          }
          const int reach = static_cast<int>(side * 0.4f);
          bool line = false;
          for (int d = -reach; d <= reach; ++d) line = line || pixels.at(x + d, y) != pixels.at(x - reach, y);
          hatched += line;
        }
      EXPECT_EQ(static_cast<Index>(hatched), (cells.weights->array() < 0).count())
          << "lines through every blocked cell";
    }
  }
}

TEST(FigureFile, SmallMapsAreShapesAndLargeOnesImages) {
  const std::string small = bytes_of(figure_of(document_of(10), {}), FigureFormat::svg);
  EXPECT_GE(count_of(small, "<path"), 400u) << "four heads of ten by ten";
  const std::string large = bytes_of(figure_of(document_of(60), {}), FigureFormat::svg);
  EXPECT_GE(count_of(large, "<image "), 4u);
  EXPECT_LT(large.size(), 1000000u);
}

TEST(FigureFile, AnImageHasEachCellInItsPlaceAndARampRunsToTheRight) {
  Matrix weights(80, 80);
  for (Index i = 0; i < weights.size(); ++i) weights.data()[i] = static_cast<float>(i) / 6400;
  ASSERT_GT(weights.size(), kMostShapes);
  const ColourScale scale;
  Drawing drawing{.width = 100, .height = 100, .background = {255, 255, 255}};
  drawing.add(Cells{{10, 5, 80, 80}, shared(weights), scale});
  drawing.add(Ramp{{10, 90, 80, 4}, scale});
  const Decoded pixels = decoded(bytes_of(drawing, FigureFormat::png));
  const auto at = [&](float x, float y) {
    return pixels.at(static_cast<int>(x * kFigureDpi / 72), static_cast<int>(y * kFigureDpi / 72));
  };
  for (Index i = 0; i < 80; i += 7)
    for (Index j = 0; j < 80; j += 9)
      EXPECT_EQ(at(10.5f + static_cast<float>(j), 5.5f + static_cast<float>(i)),
                number_of(colour_of(scale, weights(i, j))))
          << i << ", " << j;
  const auto& map = colour_map(scale.theme, scale.colours);
  EXPECT_EQ(at(10.1f, 92), number_of(map.front()));
  EXPECT_EQ(at(89.9f, 92), number_of(map.back()));
}

TEST(FigureFile, ManyHeadsOfALongSentenceStaySmall) {
  Document document = document_of(128);
  document.config = {.d_model = 144, .num_heads = 12, .num_layers = 12, .ffn = 0};
  const float slide = kSlideMm * kPointsInMm;
  for (const FigureKind kind : {FigureKind::grid, FigureKind::layers}) {
    const Drawing drawing = figure_of(document, {.kind = kind, .width = slide});
    expect_tidy(drawing);
    for (const FigureFormat format : {FigureFormat::svg, FigureFormat::pdf, FigureFormat::png}) {
      const std::string bytes = bytes_of(drawing, format);
      EXPECT_LT(bytes.size(), 3000000u) << static_cast<int>(kind) << " " << static_cast<int>(format);
    }
  }
}

TEST(FigureFile, TheSameFigureIsTheSameBytes) {
  Document document = small_document();
  document.mask.causal = true;
  for (const FigureKind kind : {FigureKind::grid, FigureKind::flow, FigureKind::layers}) {
    const Drawing drawing = figure_of(document, {.kind = kind});
    for (const FigureFormat format : {FigureFormat::svg, FigureFormat::pdf, FigureFormat::png})
      EXPECT_TRUE(bytes_of(drawing, format) == bytes_of(drawing, format))
          << static_cast<int>(kind) << static_cast<int>(format);
  }
}

/// What a text looks like: which pixels of a small page have ink.
std::vector<bool> ink_of(const std::string& text) {
  Drawing drawing{.width = 24, .height = 24, .background = {255, 255, 255}};
  drawing.items.push_back(Text{.at = {2, 12}, .text = text, .size = 18, .width = 18, .colour = {0, 0, 0}});
  const Decoded pixels = decoded(bytes_of(drawing, FigureFormat::png));
  std::vector<bool> ink;
  for (const std::uint32_t rgb : pixels.rgb) ink.push_back((rgb & 0xFF) < 128);
  return ink;
}

/// Two sentences as the tokenizers of all families give them: marks of spaces and line breaks, pieces of words, bytes,
/// and characters that no font of this machine has.
Request tricky_request(const std::shared_ptr<const Model>& model) {
  constexpr std::pair<const char*, const char*> kTokens[] = {{"Ġcat", "cat"},
                                                             {"▁cat", "cat"},
                                                             {"##ing", "ing"},
                                                             {"Ċ", "\n"},
                                                             {"Ġ", " "},
                                                             {"<0x00>", "\x01"},
                                                             {"\u0706", "\u0706"},
                                                             {"\u3000", "\u3000"},
                                                             {"é", "é"},
                                                             {"🙂", "🙂"},
                                                             {"\U0010FFFD", "\U0010FFFD"}};
  Tokens tokens = checkpoints::tokens_of_ids({5, 3, 7, 5, 3, 7, 5, 3, 7, 5, 3});
  for (std::size_t i = 0; i < std::size(kTokens); ++i)
    tokens.tokens[i].raw = kTokens[i].first, tokens.tokens[i].text = kTokens[i].second;
  return checkpoints::request_for(model, tokens, model->encoder ? tokens : Tokens{});
}

TEST(FigureFile, NothingIsDrawnThatNoFontHas) {
  const int before = fonts().num_missing();
  Index families = 0;
  for (const auto& entry : std::filesystem::directory_iterator(checkpoints::kGolden)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("family-") || !std::filesystem::exists(entry.path() / "model.safetensors")) continue;
    const auto checkpoint = checkpoints::Parts(name).load();
    ASSERT_TRUE(checkpoint) << name << ": " << checkpoint.error().message();
    const auto trace = forward(tricky_request(checkpoint->model));
    if (!trace) continue;  // of fewer positions, or another kind of token
    ++families;
    Document document;
    for (const FigureKind kind : {FigureKind::head, FigureKind::flow, FigureKind::text}) {
      const auto drawing = draw_figure({**trace, document}, {.kind = kind}, fonts().measure());
      ASSERT_TRUE(drawing) << name << ": " << drawing.error().message();
      for (const FigureFormat format : {FigureFormat::svg, FigureFormat::pdf, FigureFormat::png})
        EXPECT_FALSE(bytes_of(*drawing, format).empty());
    }
    EXPECT_EQ(fonts().num_missing(), before) << name;
  }
  EXPECT_GT(families, 30);
}

TEST(FigureFile, MarksThatFontsLackAreDrawn) {
  const auto count = [](const std::vector<bool>& ink) { return std::count(ink.begin(), ink.end(), true); };
  EXPECT_GT(count(ink_of("␣")), 10);
  EXPECT_GT(count(ink_of("⏎")), 10);
  EXPECT_NE(ink_of("␣"), ink_of("⏎"));
  EXPECT_FLOAT_EQ(fonts().width("␣cat", 10), fonts().width("␣", 10) + fonts().width("cat", 10));
  EXPECT_FLOAT_EQ(fonts().width("\U0010FFFD", 10), fonts().width("U+10FFFD", 10)) << "which no font has";
}

TEST(FigureFile, ChineseIsDrawnAndNotABox) {
  const auto unknown = ink_of("\U0010FFFD");  // a character without a glyph: its number
  const auto count = [](const std::vector<bool>& ink) { return std::count(ink.begin(), ink.end(), true); };
  std::vector<std::vector<bool>> seen{unknown};
  for (const char* character :
       {"我", "请", "李", "雷", "帮", "订", "去", "北", "京", "的", "机", "票", "→", "é", "…"}) {
    const auto ink = ink_of(character);
    EXPECT_GT(count(ink), 20) << character;
    EXPECT_EQ(std::count(seen.begin(), seen.end(), ink), 0) << character << " looks like another, or like a box";
    seen.push_back(ink);
  }
  // Where it is measured it is drawn.
  EXPECT_NEAR(fonts().width("我请李雷", 10), 40, 4);
  const std::string pdf = bytes_of(figure_of(small_document(), {}), FigureFormat::pdf);
  EXPECT_NE(pdf.find("/FontFile"), std::string::npos) << "fonts are embedded";
}

TEST(FigureFile, TurnedAndStackedTextStandsWhereItsBoundsSay) {
  for (const TextRotation turn : {TextRotation::level, TextRotation::upwards, TextRotation::stacked}) {
    Drawing drawing{.width = 60, .height = 60, .background = {255, 255, 255}};
    const Text text{.at = {30, turn == TextRotation::level ? 30.0f : 50.0f},
                    .text = "我请",
                    .size = 16,
                    .width = fonts().width("我请", 16),
                    .colour = {0, 0, 0},
                    .anchor = Anchor::middle,
                    .turn = turn};
    drawing.items.push_back(text);
    const Decoded pixels = decoded(bytes_of(drawing, FigureFormat::png));
    const Box box = bounds(text);
    const float scale = kFigureDpi / 72;
    int inside = 0, outside = 0;
    for (int y = 0; y < pixels.height; ++y)
      for (int x = 0; x < pixels.width; ++x)
        if ((pixels.at(x, y) & 0xFF) < 128) {
          const float px = (static_cast<float>(x) + 0.5f) / scale, py = (static_cast<float>(y) + 0.5f) / scale;
          (box.contains(px, py) ? inside : outside) += 1;
        }
    EXPECT_GT(inside, 300);
    EXPECT_LT(outside, inside / 20) << static_cast<int>(turn);
  }
}

TEST(FigureFile, APageThatIsTooLargeIsRefused) {
  Drawing drawing{.width = 200, .height = 20000, .background = {255, 255, 255}};
  const auto pdf = figure_bytes(drawing, FigureFormat::pdf, fonts());
  ASSERT_FALSE(pdf);
  EXPECT_NE(pdf.error().message().find("at most 5080 mm"), std::string::npos);
  const auto png = figure_bytes(drawing, FigureFormat::png, fonts());
  ASSERT_FALSE(png);
  EXPECT_NE(png.error().message().find("32767 pixels"), std::string::npos);
  EXPECT_TRUE(figure_bytes(drawing, FigureFormat::svg, fonts()));
}

}  // namespace
}  // namespace headlight
