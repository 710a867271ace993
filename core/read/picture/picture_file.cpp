#include "read/picture/picture_file.h"

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "base/utf8.h"
#include "read/picture/picture_formats.h"
#include "read/picture/resample.h"

namespace headlight {
namespace {

constexpr std::string_view kPictureKinds = "a PNG, JPEG or WebP picture";

/// Other kinds of pictures, by how their files begin.
std::string_view kind_of_other(std::string_view bytes) {
  constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
      {"GIF8", "a GIF"},
      {"BM", "a BMP"},
      {std::string_view("II*\0", 4), "a TIFF"},
      {std::string_view("MM\0*", 4), "a TIFF"},
      {"<svg", "an SVG"},
      {"%PDF", "a PDF"},
  };
  for (const auto& [begin, kind] : kOthers)
    if (bytes.starts_with(begin)) return kind;
  const std::string_view brand = bytes.substr(std::min<std::size_t>(4, bytes.size()), 8);
  if (brand.starts_with("ftypavi")) return "an AVIF";
  if (brand.starts_with("ftyphei") || brand.starts_with("ftypmif")) return "a HEIC";
  return "another file";
}

/// The bytes that a value of this Exif type takes; 0: no such type.
std::size_t exif_width(std::uint64_t type) {
  constexpr std::size_t kWidths[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8};
  return type < std::size(kWidths) ? kWidths[type] : 0;
}

/// The picture as an orientation says that it is shown.
Picture upright(StoredPicture stored) {
  const int turn = stored.orientation;
  Picture& from = stored.picture;
  if (turn == 1) return std::move(from);
  const bool is_across = turn >= 5;  // rows become columns
  const bool from_right = turn == 2 || turn == 3 || turn == 7 || turn == 8;
  const bool from_below = turn == 3 || turn == 4 || turn == 6 || turn == 7;
  Picture shown{is_across ? from.height : from.width, is_across ? from.width : from.height, {}};
  shown.pixels.resize(from.pixels.size());
  std::uint8_t* to = shown.pixels.data();
  for (Index y = 0; y < shown.height; ++y)
    for (Index x = 0; x < shown.width; ++x) {
      const Index column = is_across ? y : x, row = is_across ? x : y;
      const Index at =
          (from_below ? from.height - 1 - row : row) * from.width + (from_right ? from.width - 1 - column : column);
      to = std::copy_n(from.pixels.data() + at * 3, 3, to);
    }
  return shown;
}

}  // namespace

std::uint64_t number_in(std::string_view bytes, bool is_big_endian) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    value = value << 8 | static_cast<std::uint8_t>(bytes[is_big_endian ? i : bytes.size() - 1 - i]);
  return value;
}

// Exif is a TIFF file: a header with the offset of a directory, whose entries are a tag, a type, a count and the values
// or where these stand. The last entry of a tag counts, and of several values the first.
int exif_orientation(std::string_view exif) {
  if (exif.starts_with("Exif")) exif.remove_prefix(std::min<std::size_t>(6, exif.size()));
  const bool is_big = exif.starts_with("MM");
  if (exif.size() < 8 || !(is_big || exif.starts_with("II"))) return 1;
  const auto number = [&](std::size_t at, std::size_t width) { return number_in(exif.substr(at, width), is_big); };
  std::size_t at = number(4, 4);
  if (number(2, 2) != 42 || at + 2 > exif.size()) return 1;
  std::uint64_t found = 1;
  const std::size_t entries = number(at, 2);
  at += 2;
  for (std::size_t i = 0; i < entries && at + 12 <= exif.size(); ++i, at += 12) {
    const std::size_t type = number(at + 2, 2), width = exif_width(type), bytes = number(at + 4, 4) * width;
    const std::size_t values = bytes > 4 ? number(at + 8, 4) : at + 8;
    if (bytes > 4 && (values > exif.size() || bytes > exif.size() - values)) break;
    const bool is_whole = type == 3 || type == 4 || type == 8 || type == 9 || type == 13;
    if (number(at, 2) == 0x0112 && bytes > 0) found = is_whole ? number(values, width) : 1;
  }
  return found >= 1 && found <= 8 ? static_cast<int>(found) : 1;
}

Result<StoredPicture> blank_picture(std::string_view where, Index width, Index height) {
  TRY(check_picture_size(where, width, height));
  StoredPicture blank{{width, height, {}}};
  blank.picture.pixels.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3);
  return blank;
}

Error picture_ends_early(std::string_view where) {
  return bad_input(where, "pixels", "a whole picture", "a file that ends too early", ErrorCode::file_too_short);
}

Error picture_damaged(std::string_view where, std::string_view format, std::string_view found) {
  return bad_input(where, "pixels", std::string("a ") + std::string(format) + " file that its library reads",
                   "'" + printable(found) + "'", ErrorCode::file_damaged);
}

Error picture_moves(std::string_view where) {
  return bad_input(where, "frames", "one picture", "an animation", ErrorCode::unknown_kind);
}

bool is_picture(std::string_view first_bytes) {
  return is_png(first_bytes) || is_jpeg(first_bytes) || is_webp(first_bytes);
}

Result<Picture> picture_from(std::string_view where, std::string_view bytes) {
  if (bytes.empty()) return bad_input(where, "", kPictureKinds, "an empty file", ErrorCode::file_empty);
  if (bytes.size() > kMostPictureBytes)
    return bad_input(where, "size", "at most " + std::to_string(kMostPictureBytes) + " bytes",
                     std::to_string(bytes.size()) + " bytes", ErrorCode::too_large);
  if (!is_picture(bytes)) return bad_input(where, "", kPictureKinds, kind_of_other(bytes), ErrorCode::unknown_kind);
  return upright(TRY(is_png(bytes)    ? read_png(where, bytes)
                     : is_jpeg(bytes) ? read_jpeg(where, bytes)
                                      : read_webp(where, bytes)));
}

Result<Picture> read_picture(const std::filesystem::path& path) {
  return picture_from(path.string(), TRY(read_file(path, kMostPictureBytes)));
}

}  // namespace headlight
