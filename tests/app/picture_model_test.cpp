// Models that read pictures: their patches, positions of another grid, what their files may say. Their numbers are
// compared with PyTorch's in tests/python/test_pictures.py.
#include <gtest/gtest.h>

#include "base/file.h"
#include "math/embedding.h"
#include "math/position.h"
#include "pictured.h"
#include "question/json/document_json.h"
#include "read/hub/config_file.h"
#include "read/hub/picture_layout.h"
#include "read/picture/picture_file.h"
#include "temporary_folder.h"

namespace headlight {
namespace {

TEST(PictureModel, PatchesAreReadRowAfterRowEachChannelAfterChannel) {
  const PatchGrid grid{.patch = 2, .rows = 1, .cols = 2, .leading = {}};
  std::vector<float> pixels;  // (2, 4, 3): tens are the place, units the channel
  for (int place = 0; place < 8; ++place)
    for (int channel = 0; channel < 3; ++channel) pixels.push_back(static_cast<float>(10 * place + channel));
  Matrix expected(2, 12);
  expected << 0, 10, 40, 50, 1, 11, 41, 51, 2, 12, 42, 52,  //
      20, 30, 60, 70, 21, 31, 61, 71, 22, 32, 62, 72;
  EXPECT_EQ(patches_of(grid, pixels), expected);
}

TEST(PictureModel, TokensAreNamedByTheirPlace) {
  const Document document = picture_document();
  ASSERT_TRUE(document.seen);
  const Tokens tokens = picture_tokens(document.seen);
  ASSERT_EQ(tokens.size(), 14u);
  EXPECT_EQ(tokens.text, "drawn.png");
  EXPECT_EQ(tokens.tokens[1].text, "R1");
  EXPECT_TRUE(tokens.tokens[1].special);
  EXPECT_EQ(tokens.tokens[2 + 4 + 3].text, "1,3");
  EXPECT_FALSE(tokens.tokens[2].special);
}

TEST(PictureModel, TheEmbeddingIsAProductWithEachPatch) {
  const Document document = picture_document();
  const Model& model = *document.model;
  const Tokens tokens = picture_tokens(document.seen);
  const Matrix vectors = token_vectors(model, model, tokens);
  EXPECT_EQ(vectors.topRows(2), model.embeddings.patches->leading);
  for (const Index patch : {0, 7, 11})
    for (Index column = 0; column < 16; ++column) {
      double sum = 0;
      for (Index i = 0; i < 48; ++i)
        sum += static_cast<double>(document.seen->patches(patch, i)) *
               static_cast<double>(model.embeddings.patches->projection.weight(column, i));
      EXPECT_NEAR(vectors(2 + patch, column), sum, 1e-5);
    }
}

TEST(PictureModel, ATextIsRefusedByItAndAPictureByOthers) {
  const Document document = picture_document();
  Tokens text;
  text.tokens.resize(3);
  EXPECT_EQ(check_tokens(*document.model, *document.model, text).error().code, ErrorCode::needs_picture);
  const auto plain = random_model(Config{});
  EXPECT_EQ(check_tokens(*plain, *plain, picture_tokens(document.seen)).error().code, ErrorCode::needs_text);
}

TEST(PictureModel, PositionsOfTheSameGridStay) {
  const Matrix table = Matrix::Random(6, 5);
  EXPECT_EQ(resized_positions(table, 2, 3, 2, 3, false), table);
}

/// Cubic convolution with a = −0.5 keeps a plane where it does not reach the edge (Keys 1981); torch's a = −0.75 is
/// held by the answers of DINOv2 in tests/python/test_pictures.py.
TEST(PictureModel, PositionsOfAnotherGridFollowAPlane) {
  constexpr Index kRows = 8, kCols = 10, kNewRows = 13, kNewCols = 14;
  Matrix table(kRows * kCols, 1);
  for (Index i = 0; i < table.rows(); ++i)
    table(i, 0) = 2 * static_cast<float>(i / kCols) - 3 * static_cast<float>(i % kCols);
  const Matrix resized = resized_positions(table, kRows, kCols, kNewRows, kNewCols, true);
  const auto at = [](Index to, Index from, Index i) {
    return (static_cast<float>(i) + 0.5f) * static_cast<float>(from) / static_cast<float>(to) - 0.5f;
  };
  for (const Index row : {4, 6, 8})
    for (const Index col : {4, 6, 9})
      EXPECT_NEAR(resized(row * kNewCols + col, 0), 2 * at(kNewRows, kRows, row) - 3 * at(kNewCols, kCols, col), 1e-4f);
  for (const bool smoothed : {false, true}) {
    const Matrix even = resized_positions(Matrix::Constant(kRows * kCols, 2, 1.5f), kRows, kCols, 3, 4, smoothed);
    EXPECT_LT((even.array() - 1.5f).abs().maxCoeff(), 1e-5f);
  }
}

TEST(PictureModel, RotaryPlacesReplaceThePosition) {
  Rotary rotary{.frequencies = Vector::Constant(2, 0.5f)};
  const Matrix x = Matrix::Random(3, 4);
  rotary.places = Matrix::Zero(3, 2);
  EXPECT_EQ(rotated(x, rotary, 1), x);
  rotary.places.col(0) << 0, 1, 2;
  rotary.places.col(1) << 0, 1, 2;
  Rotary plain = rotary;
  plain.places = {};
  EXPECT_EQ(rotated(x, rotary, 1), rotated(x, plain, 1));
}

/// A session of a question about a picture in a folder.
struct PictureSession {
  TemporaryFolder folder;
  std::filesystem::path file = folder / "drawn.png";
  BundledModels shipped{{"shipped:small", picture_model(), nullptr, nullptr}};
  Document document;

  PictureSession() {
    EXPECT_TRUE(write_file(file, png_of(drawn_picture()->picture)));
    take_model(document, shipped.front());
    const auto picture = read_picture_input(file);
    EXPECT_TRUE(picture && set_picture(document, *picture));
  }
  Result<Document> read_again(std::vector<Error>& notes) const {
    return document_from_json("session", document_json(document), unwatched(), notes, &shipped);
  }
};

TEST(PictureModel, ASessionAsksAboutThePictureAgain) {
  const PictureSession session;
  std::vector<Error> notes;
  const auto again = session.read_again(notes);
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_TRUE(notes.empty());
  ASSERT_TRUE(again->seen);
  EXPECT_EQ(again->seen->patches, session.document.seen->patches);
  EXPECT_EQ(again->picture->hash, session.document.picture->hash);
}

TEST(PictureModel, AMissingPictureIsSaidAndTheRestIsKept) {
  PictureSession session;
  session.document.edits.off = {{1, 0}};
  std::filesystem::remove(session.file);
  std::vector<Error> notes;
  const auto again = session.read_again(notes);
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(again->edits.off, session.document.edits.off);
  ASSERT_TRUE(again->picture && again->picture->problem);
  EXPECT_EQ(again->picture->problem->code, ErrorCode::source_gone);
  const auto asked = requests_of(*again, Lexicon{});
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.error().code, ErrorCode::source_gone);
}

TEST(PictureModel, AnotherPictureUnderThePathIsNoted) {
  const PictureSession session;
  Picture other = drawn_picture()->picture;
  other.pixels[0] ^= 255;
  ASSERT_TRUE(write_file(session.file, png_of(other)));
  std::vector<Error> notes;
  ASSERT_TRUE(session.read_again(notes));
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].message().find("another picture than the one that was asked about"), std::string::npos);
}

std::string refusal(const std::string& json) {
  const auto hub = parse_hub_config("config.json", json);
  return hub ? std::string() : hub.error().message();
}

TEST(PictureModel, ConfigurationsThatNoPictureFits) {
  EXPECT_EQ(refusal(R"({"model_type": "vit"})"), "");
  EXPECT_EQ(refusal(R"({"model_type": "vit", "num_channels": 1})"),
            "config.json: num_channels: expected 3, found another number");
  EXPECT_EQ(refusal(R"({"model_type": "vit", "patch_size": [16, 8]})"),
            "config.json: patch_size: expected a square, found another rectangle");
  EXPECT_EQ(refusal(R"({"model_type": "vit", "image_size": 8})"),
            "config.json: image_size: expected at least one patch, found less");
  EXPECT_EQ(refusal(R"({"model_type": "vit", "image_size": "big"})"),
            "config.json: image_size: expected a whole number from 1 to 8192, found \"big\"");
  EXPECT_EQ(refusal(R"({"model_type": "swinv2"})"),
            "config.json: model_type: expected patches that each see all others, not windows that shift from layer to "
            "layer, found \"swinv2\"");
}

}  // namespace
}  // namespace headlight
