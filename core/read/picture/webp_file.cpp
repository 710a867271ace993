#include <webp/decode.h>

#include "read/picture/picture_formats.h"

namespace headlight {
namespace {

/// The Exif block: a chunk among others, each a name, the length of its data and these, filled up to an even number.
std::string_view webp_exif(std::string_view bytes) {
  for (std::size_t at = 12; at + 8 <= bytes.size();) {
    const std::size_t size = number_in(bytes.substr(at + 4, 4), false);
    if (bytes.substr(at, 4) == "EXIF") return bytes.substr(at + 8, size);
    at += 8 + size + size % 2;
  }
  return {};
}

}  // namespace

Result<StoredPicture> read_webp(std::string_view where, std::string_view bytes) {
  const std::size_t size = number_in(bytes.substr(4, 4), false);
  if (size > bytes.size() - 8) return picture_ends_early(where);
  bytes = bytes.substr(0, size + 8);
  const auto data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  WebPDecoderConfig config;
  if (!WebPInitDecoderConfig(&config)) return picture_damaged(where, "WebP", "another version of libwebp");
  if (WebPGetFeatures(data, bytes.size(), &config.input) != VP8_STATUS_OK)
    return picture_damaged(where, "WebP", "a header that is damaged");
  if (config.input.has_animation) return picture_moves(where);
  auto stored = TRY(blank_picture(where, config.input.width, config.input.height));
  config.output.colorspace = MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA = {stored.picture.pixels.data(), config.input.width * 3, stored.picture.pixels.size()};
  const VP8StatusCode status = WebPDecode(data, bytes.size(), &config);
  WebPFreeDecBuffer(&config.output);
  if (status == VP8_STATUS_NOT_ENOUGH_DATA || status == VP8_STATUS_SUSPENDED) return picture_ends_early(where);
  if (status != VP8_STATUS_OK) return picture_damaged(where, "WebP", "data that are damaged");
  stored.orientation = exif_orientation(webp_exif(bytes));
  return stored;
}

}  // namespace headlight
