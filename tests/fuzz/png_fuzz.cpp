// PNG files: any bytes give a picture of its size, or one line.
#include "fuzz/require.h"
#include "fuzz/target.h"
#include "read/picture/picture_file.h"

HEADLIGHT_FUZZ_TARGET(png) {
  const auto picture = headlight::picture_from("fuzz", {reinterpret_cast<const char*>(data), size});
  if (picture) headlight::require(std::ssize(picture->pixels) == picture->width * picture->height * 3);
  else headlight::require_line(picture.error().message());
}
