#include <png.h>

#include <algorithm>
#include <cassert>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <new>

#include "read/picture/picture_file.h"
#include "read/picture/picture_formats.h"
#include "read/picture/resample.h"

namespace headlight {
namespace {

constexpr std::size_t kSignature = 8;  // bytes
/// Deflate makes of a byte at most 1,032 (RFC 1951: 258 bytes of two bits each).
constexpr std::size_t kMostInflated = 1032;
/// Bytes of a text that is inflated.
constexpr std::size_t kMostOfChunk = std::size_t{8} << 20;

/// A PNG file in memory, in libpng's hands.
class PngFile {
 public:
  explicit PngFile(std::string_view bytes) : bytes_(bytes) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, stop, [](png_structp, png_const_charp) {});
    info_ = png_ ? png_create_info_struct(png_) : nullptr;
    if (!info_) throw std::bad_alloc();
    png_set_read_fn(png_, this, read);
  }
  PngFile(const PngFile&) = delete;
  ~PngFile() { png_destroy_read_struct(&png_, &info_, nullptr); }

  /// Reads what stands before the pixels. False here and below: see error().
  bool read_header() {
    if (setjmp(png_jmpbuf(png_))) return false;
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_chunk_malloc_max(png_, kMostOfChunk);
    png_read_info(png_, info_);
    return true;
  }

  /// Reads rows of three bytes a pixel, of a palette or of 16 bits of grey as they are stored, and what stands behind.
  bool read_rows(std::uint8_t* pixels) {
    if (setjmp(png_jmpbuf(png_))) return false;
    const std::size_t stride = std::size_t{png_get_image_width(png_, info_)} * 3;
    const png_uint_32 height = png_get_image_height(png_, info_);
    png_set_strip_alpha(png_);
    if (has_palette()) {
      png_set_packing(png_);
    } else if (!has_deep_grey()) {
      png_set_expand_gray_1_2_4_to_8(png_);
      png_set_strip_16(png_);
      png_set_gray_to_rgb(png_);
    }
    for (int pass = png_set_interlace_handling(png_); pass > 0; --pass)
      for (png_uint_32 y = 0; y < height; ++y) png_read_row(png_, pixels + y * stride, nullptr);
    png_read_end(png_, info_);
    return true;
  }

  bool has_palette() const { return png_get_color_type(png_, info_) == PNG_COLOR_TYPE_PALETTE; }
  bool has_deep_grey() const {
    return png_get_color_type(png_, info_) == PNG_COLOR_TYPE_GRAY && png_get_bit_depth(png_, info_) == 16;
  }
  png_structp png() const { return png_; }
  png_infop info() const { return info_; }
  Error error(std::string_view where) const {
    return ended_ ? picture_ends_early(where) : picture_damaged(where, "PNG", message_);
  }

 private:
  [[noreturn]] static void stop(png_structp png, png_const_charp message) {
    const auto file = static_cast<PngFile*>(png_get_error_ptr(png));
    std::snprintf(file->message_, sizeof file->message_, "%s", message);
    png_longjmp(png, 1);
  }
  static void read(png_structp png, png_bytep to, png_size_t size) {
    const auto file = static_cast<PngFile*>(png_get_io_ptr(png));
    file->ended_ = size > file->bytes_.size();
    if (file->ended_) png_error(png, "end of file");
    std::memcpy(to, file->bytes_.data(), size);
    file->bytes_.remove_prefix(size);
  }

  std::string_view bytes_;  // that are left
  bool ended_ = false;
  char message_[160] = "";
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

/// Whether each chunk is within the file, so that libpng takes no memory for more than there is, and they are one
/// picture: a chunk acTL before the pixels counts those that follow one another.
Status check_png_chunks(std::string_view where, std::string_view bytes) {
  bool has_pixels = false;
  for (bytes.remove_prefix(kSignature); bytes.size() >= 12;) {
    const std::string_view kind = bytes.substr(4, 4);
    const std::size_t size = number_in(bytes.substr(0, 4), true) + 12;
    if (size > bytes.size()) break;
    if (kind == "IEND") return Done{};
    has_pixels = has_pixels || kind == "IDAT";
    if (kind == "acTL" && !has_pixels && size >= 16 && number_in(bytes.substr(8, 4), true) > 1)
      return picture_moves(where);
    bytes.remove_prefix(size);
  }
  return picture_ends_early(where);
}

/// Each row as three bytes a pixel: an index beyond the palette is a grey, 16 bits of grey are cut off at 255, as
/// Pillow has both.
void expand_rows(const PngFile& file, Picture& picture) {
  std::uint8_t palette[256][3];
  for (int i = 0; i < 256; ++i) std::fill_n(palette[i], 3, static_cast<std::uint8_t>(i));
  png_colorp colours = nullptr;
  int count = 0;
  if (file.has_palette() && png_get_PLTE(file.png(), file.info(), &colours, &count) != 0)
    for (int i = 0; i < std::min(count, 256); ++i)
      palette[i][0] = colours[i].red, palette[i][1] = colours[i].green, palette[i][2] = colours[i].blue;
  for (Index y = 0; y < picture.height; ++y) {
    std::uint8_t* const row = picture.pixels.data() + y * picture.width * 3;
    for (Index x = picture.width - 1; x >= 0; --x)  // each pixel goes where those behind it were
      if (file.has_palette()) std::copy_n(palette[row[x]], 3, row + x * 3);
      else std::fill_n(row + x * 3, 3, row[x * 2] != 0 ? std::uint8_t{255} : row[x * 2 + 1]);
  }
}

/// The bytes that hexadecimal digits spell, blanks among them left out.
std::string of_digits(std::string_view digits) {
  std::string bytes;
  int held = -1;
  for (const char c : digits) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) continue;
    if (held < 0) held = digit;
    else bytes += static_cast<char>(held * 16 + digit), held = -1;
  }
  return bytes;
}

/// In a chunk of its own; as digits in a text behind three lines; in XMP, where the others state none.
int png_orientation(const PngFile& file) {
  png_uint_32 size = 0;
  png_bytep exif = nullptr;
  const bool has_chunk = png_get_eXIf_1(file.png(), file.info(), &size, &exif) != 0;
  int stated = has_chunk ? exif_orientation({reinterpret_cast<const char*>(exif), size}) : 1;
  png_textp texts = nullptr;
  const int count = png_get_text(file.png(), file.info(), &texts, nullptr);
  std::string_view xmp, profile;
  for (int i = 0; i < count; ++i) {
    const std::string_view key = texts[i].key;
    const std::string_view text(texts[i].text ? texts[i].text : "");
    if (key == "XML:com.adobe.xmp") xmp = text;
    if (key == "Raw profile type exif") profile = text;
  }
  for (int line = 0; line < 3; ++line) profile.remove_prefix(std::min(profile.find('\n'), profile.size() - 1) + 1);
  if (!has_chunk) stated = exif_orientation(of_digits(profile));
  constexpr std::string_view kTag = "tiff:Orientation";
  for (std::size_t at = xmp.find(kTag); stated == 1 && at != xmp.npos; at = xmp.find(kTag, at + 1)) {
    std::string_view value = xmp.substr(at + kTag.size());
    if (!value.starts_with("=\"") && !value.starts_with(">")) continue;
    value.remove_prefix(value.front() == '=' ? 2 : 1);
    if (value.empty() || value.front() < '0' || value.front() > '9') continue;
    stated = value.front() >= '1' && value.front() <= '8' ? value.front() - '0' : 1;
    break;
  }
  return stated;
}

}  // namespace

Result<StoredPicture> read_png(std::string_view where, std::string_view bytes) {
  TRY(check_png_chunks(where, bytes));
  PngFile file(bytes);
  if (!file.read_header()) return file.error(where);
  const png_uint_32 width = png_get_image_width(file.png(), file.info());
  const png_uint_32 height = png_get_image_height(file.png(), file.info());
  TRY(check_picture_size(where, width, height));
  if (png_get_rowbytes(file.png(), file.info()) * height / kMostInflated > bytes.size())
    return picture_ends_early(where);
  auto stored = TRY(blank_picture(where, width, height));
  if (!file.read_rows(stored.picture.pixels.data())) return file.error(where);
  if (file.has_palette() || file.has_deep_grey()) expand_rows(file, stored.picture);
  stored.orientation = png_orientation(file);
  return stored;
}

std::string png_of(const Picture& picture) {
  assert(std::ssize(picture.pixels) == picture.width * picture.height * 3);
  // The simplified interface writes neither a time nor a library's name: the same pixels are the same bytes.
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(picture.width);
  image.height = static_cast<png_uint_32>(picture.height);
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string bytes(size, '\0');
  if (!png_image_write_to_memory(&image, bytes.data(), &size, 0, picture.pixels.data(), 0, nullptr))
    throw std::bad_alloc();  // all else that it refuses is a mistake of the caller
  bytes.resize(size);
  return bytes;
}

}  // namespace headlight
