// What is done to a picture before a model sees it: preprocessor_config.json, as the image processors of transformers
// write it and follow it.
#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/picture.h"
#include "read/picture/resample.h"

namespace headlight {

struct PictureSize {
  Index width = 0, height = 0;
  friend bool operator==(const PictureSize&, const PictureSize&) = default;
};

/// The steps, in their order: another size, the middle cut out, a factor, a mean and a deviation.
struct Preprocessing {
  std::optional<PictureSize> size =
      {};                   // of the whole picture; its sides keep their ratio where shortest_edge is stated
  Index shortest_edge = 0;  // 0: not stated
  Resampling resampling = Resampling::bilinear;
  std::optional<PictureSize> crop = {};
  double factor = 1;
  bool less_one = false;                           // after the factor: from −1 on
  bool blue_first = false;                         // the model takes blue, green, red
  std::array<float, 3> mean = {}, deviation = {};  // of each channel; a deviation of 0: none of them
  bool unrounded = false;                          // resized numbers are not rounded to bytes, as of DINOv3
  bool is_stated = true;                           // by a file

  /// What the model sees has this size, whatever the picture has.
  Index width() const { return crop ? crop->width : size->width; }
  Index height() const { return crop ? crop->height : size->height; }
  friend bool operator==(const Preprocessing&, const Preprocessing&) = default;
};

/// Of a model that has no such file: resized (bilinear), mean and deviation 0.5.
Preprocessing default_preprocessing(Index width, Index height);

/// A step that is not known, and a size that would depend on the picture, are Errors.
Result<Preprocessing> read_preprocessing(std::string_view where, const nlohmann::json& document);

/// A picture as a model sees it.
struct SeenPicture {
  Picture picture = {};                    // resized and cropped
  std::vector<float> values = {};          // of it, as the model takes them: (height, width, 3)
  PictureSize from = {}, resized_to = {};  // before anything, and before the cut
  Bilingual done = {};                     // what was done, in one line
};

/// Errors: the ratio of the picture's sides makes it too large.
Result<SeenPicture> seen_by(const Preprocessing& preprocessing, const Picture& picture);

}  // namespace headlight
