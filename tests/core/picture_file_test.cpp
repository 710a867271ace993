// Pictures from files: the pixels are Pillow's; whatever is no picture, or a damaged one, is one line.
#include "read/picture/picture_file.h"

#include <gtest/gtest.h>

#include <random>

#include "core/golden_pictures.h"
#include "temporary_folder.h"

namespace headlight {
namespace {

std::string picture_bytes(const std::string& name) {
  const auto bytes = read_file(kPictures / name);
  EXPECT_TRUE(bytes) << name;
  return *bytes;
}

std::string picture_refusal(const std::string& bytes) {
  const auto picture = picture_from("p.png", bytes);
  return picture ? "" : picture.error().message();
}

/// A PNG of one chunk, IHDR, that declares this size.
std::string declared(std::uint32_t width, std::uint32_t height) {
  std::string png = picture_bytes("2-8.png");
  for (int i = 0; i < 4; ++i) {
    png[static_cast<std::size_t>(16 + i)] = static_cast<char>(width >> (24 - 8 * i));
    png[static_cast<std::size_t>(20 + i)] = static_cast<char>(height >> (24 - 8 * i));
  }
  std::uint32_t crc = ~0u;  // of the chunk, as PNG has it
  for (std::size_t i = 12; i < 29; ++i) {
    crc ^= static_cast<std::uint8_t>(png[i]);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  for (int i = 0; i < 4; ++i) png[static_cast<std::size_t>(29 + i)] = static_cast<char>(~crc >> (24 - 8 * i));
  return png;
}

/// What comes of any bytes is a picture of its size, or one line.
void is_picture_or_line(const std::string& bytes) {
  const auto picture = picture_from("p.png", bytes);
  if (picture) ASSERT_EQ(std::ssize(picture->pixels), picture->width * picture->height * 3);
  else ASSERT_EQ(picture.error().message().find('\n'), std::string::npos) << picture.error().message();
}

TEST(Pictures, OfEveryKindAreThoseOfPillow) {
  std::size_t count = 0;
  for (const std::string ending : {".png", ".jpeg", ".webp"})
    for (const std::string& name : pictures_named(ending)) {
      if (name.starts_with("moving")) continue;
      const auto picture = read_picture(kPictures / name);
      ASSERT_TRUE(picture) << picture.error().message();
      EXPECT_TRUE(*picture == pillows(name)) << name;
      EXPECT_TRUE(is_picture(picture_bytes(name).substr(0, 12))) << name;
      ++count;
    }
  EXPECT_GT(count, 50u);
}

TEST(Pictures, AreWrittenAsTheSameBytesEachTime) {
  const Picture picture = pillows("source.png");
  const auto again = picture_from("p.png", png_of(picture));
  ASSERT_TRUE(again);
  EXPECT_TRUE(*again == picture);
  EXPECT_EQ(png_of(*again), png_of(picture));
}

TEST(Pictures, AreRefusedInOneLine) {
  const TemporaryFolder folder;
  const auto text = read_picture(folder.with("text.png", "This is no picture.\n"));
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().message(),
            (folder / "text.png").string() + ": expected a PNG, JPEG or WebP picture, found another file");
  EXPECT_EQ(text.error().code, ErrorCode::unknown_kind);
  EXPECT_EQ(read_picture(folder.with("empty.png", "")).error().code, ErrorCode::file_empty);
  EXPECT_EQ(read_picture(folder / "absent.png").error().code, ErrorCode::file_absent);
  EXPECT_FALSE(read_picture(folder.path()));
  EXPECT_EQ(picture_refusal(picture_bytes("moving.png")), "p.png: frames: expected one picture, found an animation");
  EXPECT_EQ(picture_refusal(picture_bytes("moving.webp")), "p.png: frames: expected one picture, found an animation");
  EXPECT_EQ(picture_refusal(picture_bytes("moving.gif")), "p.png: expected a PNG, JPEG or WebP picture, found a GIF");
  const std::string limits = "p.png: size: expected 1 to 65,500 pixels a side, 100 million in all, found ";
  EXPECT_EQ(picture_refusal(declared(50'000, 50'000)), limits + "50000×50000");
  EXPECT_EQ(picture_refusal(declared(65'501, 1)), limits + "65501×1");
  EXPECT_EQ(picture_refusal(declared(0x7fffffff, 0x7fffffff)), limits + "2147483647×2147483647");
  // So many pixels cannot be in so few bytes.
  EXPECT_EQ(picture_refusal(declared(10'000, 10'000)),
            "p.png: pixels: expected a whole picture, found a file that ends too early");
}

TEST(Pictures, ThatEndTooEarlyAreRefused) {
  const std::string early = "p.png: pixels: expected a whole picture, found a file that ends too early";
  for (const std::string name : {"3-4-interlaced.png", "6-16.png", "turned-6.png", "turned-3.png"})
    for (const std::string png = picture_bytes(name);
         const std::size_t length : {png.size() - 1, png.size() / 2, std::size_t{40}})
      EXPECT_NE(picture_refusal(png.substr(0, length)), "") << name << ' ' << length;
  for (const std::string& name : pictures_named(""))
    if (!name.ends_with(".ppm"))
      for (std::string bytes = picture_bytes(name); !bytes.empty(); bytes.pop_back()) is_picture_or_line(bytes);
  // A chunk that says it is longer than the file takes no memory.
  std::string long_chunk = picture_bytes("3-8.png");
  long_chunk[33] = '\x70';
  EXPECT_EQ(picture_refusal(long_chunk), early);
  const std::string jpeg = picture_bytes("jpeg-RGB.jpeg"), webp = picture_bytes("webp-3-lossy.webp");
  EXPECT_EQ(picture_refusal(jpeg.substr(0, jpeg.size() - 20)), early);
  EXPECT_EQ(picture_refusal(webp.substr(0, webp.size() - 1)), early);
}

TEST(Pictures, ThatAreDamagedArePicturesOrLines) {
  for (const std::string ending : {".png", ".jpeg", ".webp"}) {
    std::mt19937 random(1);
    const std::vector<std::string> names = pictures_named(ending);
    for (int i = 0; i < 2000; ++i) {
      std::string bytes = picture_bytes(names[static_cast<std::size_t>(i) % names.size()]);
      for (auto injuries = 1 + random() % 4; injuries > 0; --injuries)
        bytes[random() % bytes.size()] = static_cast<char>(random());
      if (random() % 4 == 0) bytes.erase(random() % bytes.size(), random() % 20);
      is_picture_or_line(bytes);
    }
  }
}

}  // namespace
}  // namespace headlight
