#include "read/picture/preprocessing.h"

#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "read/json/json_fields.h"

namespace headlight {
namespace {

/// Keys of steps that are read below, and those that say nothing about pixels.
constexpr std::string_view kKnownKeys =
    " do_resize size resample do_center_crop crop_size do_rescale rescale_factor offset rescale_offset do_normalize "
    "image_mean image_std do_flip_channel_order default_to_square image_processor_type feature_extractor_type "
    "processor_class auto_map do_convert_rgb data_format input_data_format device return_tensors do_reduce_labels "
    "reduce_labels _valid_processor_keys disable_grouping image_seq_length transformers_version num_channels "
    "model_input_names _processor_class ";

bool is_known_key(std::string_view key) {
  return key.find(' ') == key.npos && kKnownKeys.find(" " + std::string(key) + " ") != kKnownKeys.npos;
}

/// What a class of transformers does where a file does not say it. A size that is a number is that of both sides, or of
/// the shorter one.
struct ProcessorDefaults {
  std::string_view name;
  bool is_square;
  Resampling resampling;
  bool crops;
  bool unrounded = false;
};
constexpr ProcessorDefaults kProcessors[] = {
    {"ViT", true, Resampling::bilinear, false},
    {"DeiT", true, Resampling::bicubic, true},
    {"Bit", false, Resampling::bicubic, true},
    {"CLIP", false, Resampling::bicubic, true},
    {"Siglip", true, Resampling::bicubic, false},
    {"Beit", true, Resampling::bicubic, true},
    {"DINOv3ViT", true, Resampling::bilinear, false, true},
};

const ProcessorDefaults* defaults_of(const JsonField& document) {
  std::string name = document.text("image_processor_type", document.text("feature_extractor_type", ""));
  name.resize(std::min({name.size(), name.find("ImageProcessor"), name.find("FeatureExtractor")}));
  for (const ProcessorDefaults& defaults : kProcessors)
    if (defaults.name == name) return &defaults;
  return nullptr;
}

PictureSize size_in(const JsonField& width, const JsonField& height) {
  return {width.integer(1, kMostPictureSide), height.integer(1, kMostPictureSide)};
}

/// {"height", "width"}, [height, width] or the number of both.
PictureSize read_sides(const JsonField& size, const char* expected = "height and width alone") {
  if (size.value().is_number()) return size_in(size, size);
  if (size.value().is_array() && size.value().size() == 2) return size_in(size.items()[1], size.items()[0]);
  for (const auto& [key, value] : size.fields())
    if (key != "height" && key != "width") value.problem(expected);
  return size_in(size.at("width"), size.at("height"));
}

void read_size(const JsonField& document, const ProcessorDefaults* defaults, Preprocessing& to) {
  const JsonField size = document.at("size");
  const JsonField number = size.value().is_object() ? size.at("shortest_edge") : size;
  const bool is_edge = !number.is_null() && size.value().is_object();
  if (!is_edge && !size.value().is_number()) {
    to.size = read_sides(size, "height and width alone, or the shortest_edge alone");
    return;
  }
  if (!is_edge && !defaults && !document.has("default_to_square"))
    size.problem("height and width, or the shortest_edge: the class of this file is not known");
  if (is_edge && size.value().size() > 1) size.problem("the shortest_edge alone");
  if (is_edge || !document.flag("default_to_square", defaults && defaults->is_square))
    to.shortest_edge = number.integer(1, kMostPictureSide);
  else to.size = read_sides(number);
}

std::array<float, 3> read_channels(const JsonField& field, float least, const char* expected) {
  std::array<float, 3> channels{};
  const bool is_list = field.value().is_array() && field.value().size() == channels.size();
  if (!is_list && !field.value().is_number()) field.problem(expected);
  for (std::size_t i = 0; i < channels.size() && field.is_good(); ++i) {
    const JsonField channel = is_list ? field.items()[i] : field;
    channels[i] = channel.number();
    if (!(channels[i] >= least && channels[i] <= 1000)) channel.problem(expected);
  }
  return channels;
}

void read_numbers(const JsonField& document, Preprocessing& to) {
  if (document.flag("do_rescale", true)) {
    to.factor = 1.0 / 255;
    if (const JsonField factor = document.at("rescale_factor"); !factor.is_null()) {
      to.factor = factor.value().is_number() ? factor.value().get<double>() : 0;
      if (!(to.factor > 0 && to.factor <= 1000)) factor.problem("a number above 0, at most 1000");
    }
    to.less_one = document.flag("offset", false) || document.flag("rescale_offset", false);
  }
  to.blue_first = document.flag("do_flip_channel_order", false);
  if (!document.flag("do_normalize", !to.blue_first)) return;
  if (to.blue_first) document.at("do_flip_channel_order").problem("false where do_normalize is true");
  to.mean = read_channels(document.at("image_mean"), -1000, "three numbers or one, from -1000 to 1000");
  to.deviation = read_channels(document.at("image_std"), 1e-6f, "three numbers or one, from 1e-06 to 1000");
}

std::string sides_text(PictureSize size) { return std::to_string(size.width) + "×" + std::to_string(size.height); }

Bilingual done_to(const Preprocessing& preprocessing, const SeenPicture& seen) {
  Bilingual done;
  const auto say = [&done](const std::string& en, const std::string& zh) { done.en += en, done.zh += zh; };
  if (!preprocessing.is_stated)
    say("assumed, as no preprocessor_config.json says it: ", "没有 preprocessor_config.json 说明，按假定处理：");
  const PictureSize last{seen.picture.width, seen.picture.height};
  const std::string from = sides_text(seen.from), method(name_in(kResamplingNames, preprocessing.resampling));
  if (preprocessing.size || preprocessing.shortest_edge > 0) {
    const std::string sides = from + " → " + sides_text(seen.resized_to);
    say("resized " + sides + " (" + method + (preprocessing.unrounded ? ", not rounded to bytes)" : ")"),
        "缩放 " + sides + "（" + method + (preprocessing.unrounded ? "，不取整到字节）" : "）"));
  } else {
    say("taken as it is, " + from, "原样使用，" + from);
  }
  if (preprocessing.crop) say(", cropped to " + sides_text(last), "，裁剪为 " + sides_text(last));
  const std::string factor = formatted("%.9g", preprocessing.factor);
  if (preprocessing.factor == 1.0 / 255) say(", divided by 255", "，除以 255");
  else if (preprocessing.factor != 1) say(", times " + factor, "，乘以 " + factor);
  if (preprocessing.less_one) say(", less 1", "，减 1");
  if (preprocessing.blue_first) say(", blue first", "，蓝色在前");
  if (preprocessing.deviation[0] > 0) {
    const std::string mean = joined_texts(preprocessing.mean, " ", shortest_text),
                      deviation = joined_texts(preprocessing.deviation, " ", shortest_text);
    say(", mean " + mean + ", deviation " + deviation, "，均值 " + mean + "，标准差 " + deviation);
  }
  return done;
}

}  // namespace

Preprocessing default_preprocessing(Index width, Index height) {
  return {.size = PictureSize{width, height},
          .factor = 1.0 / 255,
          .mean = {0.5f, 0.5f, 0.5f},
          .deviation = {0.5f, 0.5f, 0.5f},
          .is_stated = false};
}

Result<Preprocessing> read_preprocessing(std::string_view where, const nlohmann::json& document) {
  JsonProblems problems{.where = std::string(where)};
  const JsonField file(document, "", problems);
  for (const auto& [key, value] : file.fields()) {
    const bool does_nothing = value.is_null() || value.value() == false;
    if (!does_nothing && !is_known_key(key)) value.problem("false or nothing, as no such step is known");
  }
  TRY(problems.status());
  Preprocessing result;
  const ProcessorDefaults* const defaults = defaults_of(file);
  if (file.flag("do_resize", true)) {
    read_size(file, defaults, result);
    const JsonField resample = file.at("resample");
    if (!resample.is_null() || !defaults) result.resampling = static_cast<Resampling>(resample.integer(0, 5));
    else result.resampling = defaults->resampling;
  }
  if (file.flag("do_center_crop", defaults && defaults->crops)) result.crop = read_sides(file.at("crop_size"));
  result.unrounded =
      defaults && defaults->unrounded && result.size && !result.crop && result.resampling != Resampling::nearest;
  read_numbers(file, result);
  if (!result.crop && !result.size)
    file.at("size").problem("a fixed size: height and width, or a crop_size with do_center_crop");
  TRY(problems.status());
  TRY(check_picture_size(where, result.width(), result.height()));
  return result;
}

Result<SeenPicture> seen_by(const Preprocessing& preprocessing, const Picture& picture) {
  SeenPicture seen;
  seen.from = {picture.width, picture.height};
  seen.resized_to = preprocessing.size.value_or(seen.from);
  if (const Index edge = preprocessing.shortest_edge; edge > 0) {
    const auto [shorter, longer] = std::minmax(picture.width, picture.height);
    const auto other = static_cast<Index>(static_cast<double>(edge * longer) / static_cast<double>(shorter));
    seen.resized_to = picture.width <= picture.height ? PictureSize{edge, other} : PictureSize{other, edge};
  }
  TRY(check_picture_size("picture", seen.resized_to.width, seen.resized_to.height));
  seen.picture = resized(picture, seen.resized_to.width, seen.resized_to.height, preprocessing.resampling);
  if (preprocessing.crop) seen.picture = cropped(seen.picture, preprocessing.crop->width, preprocessing.crop->height);

  // In the precision of NumPy, as transformers has it: the factor in double, all else in single.
  const PictureSize to = seen.resized_to;
  const auto numbers = preprocessing.unrounded
                           ? resized_unrounded(picture, to.width, to.height, preprocessing.resampling)
                           : std::vector<float>(seen.picture.pixels.begin(), seen.picture.pixels.end());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::size_t channel = i % 3, from = preprocessing.blue_first ? i - channel + (2 - channel) : i;
    auto value = static_cast<float>(static_cast<double>(numbers[from]) * preprocessing.factor);
    if (preprocessing.less_one) value -= 1;
    if (preprocessing.deviation[channel] > 0)
      value = (value - preprocessing.mean[channel]) / preprocessing.deviation[channel];
    seen.values.push_back(value);
  }
  seen.done = done_to(preprocessing, seen);
  return seen;
}

}  // namespace headlight
