// Pictures in another size, to the bit as Pillow's Image.resize gives them, and cut out as transformers does.
#pragma once

#include <string_view>

#include "base/names.h"
#include "base/result.h"
#include "model/picture.h"

namespace headlight {

/// The most pixels of a side and of a picture.
inline constexpr Index kMostPictureSide = 65'500, kMostPicturePixels = 100'000'000;

/// Whether a picture of this size is taken.
Status check_picture_size(std::string_view where, Index width, Index height);

/// With Pillow's numbers.
enum class Resampling { nearest = 0, lanczos = 1, bilinear = 2, bicubic = 3, box = 4, hamming = 5 };
inline constexpr std::string_view kResamplingNames[] = {"nearest", "lanczos", "bilinear", "bicubic", "box", "hamming"};

/// The weight of a number at this distance in cubic convolution; 0 from 2 on (Keys 1981, equation 4).
double cubic(double distance, double a);

/// `width` and `height` from 1 on.
Picture resized(const Picture& picture, Index width, Index height, Resampling resampling);

/// The same without rounding to bytes, by any filter but the nearest: (height, width, 3).
std::vector<float> resized_unrounded(const Picture& picture, Index width, Index height, Resampling resampling);

/// The middle of the picture; black where it is smaller.
Picture cropped(const Picture& picture, Index width, Index height);

}  // namespace headlight
