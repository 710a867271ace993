// The readers of picture_from, one a format. libpng and libjpeg leave a function by longjmp: where one calls setjmp, it
// has no variable that needs to be destroyed.
#pragma once

#include <string_view>

#include "base/result.h"
#include "model/picture.h"

namespace headlight {

/// The pixels as they are stored, and the Exif orientation, 1 to 8, that says how they are shown.
struct StoredPicture {
  Picture picture;
  int orientation = 1;
};

Result<StoredPicture> read_png(std::string_view where, std::string_view bytes);
Result<StoredPicture> read_jpeg(std::string_view where, std::string_view bytes);
Result<StoredPicture> read_webp(std::string_view where, std::string_view bytes);

/// An unsigned number in these bytes, of which there are at most eight.
std::uint64_t number_in(std::string_view bytes, bool is_big_endian);

/// The orientation in an Exif block, with or without `Exif` before it; 1 where it states none.
int exif_orientation(std::string_view exif);

/// A picture of this size without its pixels' values, or the Error of a size that is not read.
Result<StoredPicture> blank_picture(std::string_view where, Index width, Index height);

/// The Errors of a file that ends before its picture does, that a library refuses, that holds several pictures.
Error picture_ends_early(std::string_view where);
Error picture_damaged(std::string_view where, std::string_view format, std::string_view found);
Error picture_moves(std::string_view where);

}  // namespace headlight
