// Pictures from files: PNG (libpng), JPEG (libjpeg-turbo) and WebP (libwebp), turned as their Exif orientation says: to
// the byte what Pillow's `ImageOps.exif_transpose(Image.open(file)).convert("RGB")` gives. Alpha is dropped.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/picture.h"

namespace headlight {

/// The largest file that is read.
inline constexpr std::size_t kMostPictureBytes = std::size_t{1} << 28;

/// Whether a file begins as a picture that can be read does; 12 bytes decide.
bool is_picture(std::string_view first_bytes);

/// The picture in the bytes of a file; an animation, a damaged file and one that ends too early are Errors.
Result<Picture> picture_from(std::string_view where, std::string_view bytes);

Result<Picture> read_picture(const std::filesystem::path& path);

/// A PNG file (libpng), the same bytes for the same pixels.
std::string png_of(const Picture& picture);

}  // namespace headlight
