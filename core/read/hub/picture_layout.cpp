#include "read/hub/picture_layout.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/file.h"
#include "base/folders.h"
#include "base/names.h"
#include "read/hub/families.h"
#include "read/json/json_document.h"
#include "read/picture/preprocessing.h"
#include "read/picture/resample.h"

namespace headlight {
namespace {

using nlohmann::json;

constexpr Index kMostPixels = 8192;  // along a side

struct Sides {
  Index height = 0, width = 0;
};

/// A number, or a list of a height and a width.
Sides sides(Keyed& keyed, const char* key, Index unless_stated) {
  const json* stated = keyed.find({key});
  if (!stated || !stated->is_array()) {
    const Index side = keyed.size({key}, kMostPixels, unless_stated);
    return {side, side};
  }
  const auto is_side = [](const json& one) { return is_whole(one, 1, static_cast<std::uint64_t>(kMostPixels)); };
  if (stated->size() == 2 && is_side((*stated)[0]) && is_side((*stated)[1]))
    return {(*stated)[0].get<Index>(), (*stated)[1].get<Index>()};
  keyed.fail({key}, "one number or two", found_text(*stated));
  return {unless_stated, unless_stated};
}

/// (to, from): what each of `to` numbers is of `from` numbers along an axis.
Matrix resizing(Index from, Index to, bool smoothed) {
  Matrix shares = Matrix::Zero(to, from);
  const double step = static_cast<double>(from) / static_cast<double>(to);
  const double a = smoothed ? -0.5 : -0.75, wide = smoothed ? std::max(step, 1.0) : 1;
  for (Index at = 0; at < to; ++at) {
    const double centre = (static_cast<double>(at) + 0.5) * step - 0.5;
    const auto first = static_cast<Index>(std::floor(centre - 2 * wide)),
               last = static_cast<Index>(centre + 2 * wide) + 1;
    double sum = 0;
    for (Index near = first; near <= last; ++near) {
      const bool outside = near < 0 || near >= from;
      if (smoothed && outside) continue;  // the others share the whole
      const double share = cubic((static_cast<double>(near) - centre) / wide, a);
      shares(at, std::clamp(near, Index{0}, from - 1)) += static_cast<float>(share);
      sum += share;
    }
    shares.row(at) /= static_cast<float>(sum);
  }
  return shares;
}

/// (T·T, H): the bias of each query and key (Bao et al. 2022), of a table whose rows are distances.
std::shared_ptr<const RelativeBias> bias_of_pairs(const Matrix& table, const PatchGrid& grid) {
  const Index tokens = grid.tokens(), rows = table.rows();
  const auto row_of = [&](Index query, Index key) {
    if (query == 0 || key == 0) return rows - (query == 0 && key == 0 ? 1 : query == 0 ? 3 : 2);
    const Index q = query - 1, k = key - 1;
    return (q / grid.cols - k / grid.cols + grid.rows - 1) * (2 * grid.cols - 1) + q % grid.cols - k % grid.cols +
           grid.cols - 1;
  };
  RelativeBias bias{.table = Matrix(tokens * tokens, table.cols()), .of_pairs = true};
  for (Index query = 0; query < tokens; ++query)
    for (Index key = 0; key < tokens; ++key) bias.table.row(query * tokens + key) = table.row(row_of(query, key));
  return std::make_shared<const RelativeBias>(std::move(bias));
}

/// (T, pairs): the row, then the column of each patch, from −1 to 1; 0 of the tokens before them.
Matrix places_of(const PatchGrid& grid, Index pairs) {
  Matrix places = Matrix::Zero(grid.tokens(), pairs);
  const auto place = [](Index at, Index count) {
    return 2 * ((static_cast<float>(at) + 0.5f) / static_cast<float>(count)) - 1;
  };
  for (Index patch = 0; patch < grid.rows * grid.cols; ++patch) {
    places.row(grid.first() + patch).head(pairs / 2).setConstant(place(patch / grid.cols, grid.rows));
    places.row(grid.first() + patch).tail(pairs / 2).setConstant(place(patch % grid.cols, grid.cols));
  }
  return places;
}

/// A row for each token: zeros for those that have no position.
Matrix positions_of(const HubPicture& picture, const PatchGrid& grid, const Matrix& table) {
  Matrix positions = Matrix::Zero(grid.tokens(), table.cols());
  const Index placed = picture.placed();
  positions.topRows(placed) = table.topRows(placed);
  const Matrix patches = table.bottomRows(table.rows() - placed);
  positions.bottomRows(grid.rows * grid.cols) = resized_positions(
      patches, picture.rows, picture.cols, grid.rows, grid.cols, picture.table == HubPicture::Table::smoothed);
  return positions;
}

std::string grid_text(Index rows, Index cols) { return std::to_string(rows) + "×" + std::to_string(cols); }

/// Names of classes as transformers has them: LABEL_0 … where none is stated.
void classes(Keyed& keyed, HubPicture& picture) {
  constexpr Index kMostClasses = 1 << 20;
  const json* stated = keyed.find({"id2label"});
  const auto count = stated ? static_cast<Index>(stated->size()) : keyed.size({"num_labels"}, kMostClasses, 2);
  for (Index i = 0; i < count; ++i) {
    const std::string number = std::to_string(i);
    const json& name = stated ? value_or_null(*stated, number.c_str()) : json("LABEL_" + number);
    if (!name.is_string()) return keyed.fail({"id2label"}, "a name for each class from 0 on", "none for " + number);
    picture.classes.push_back(name.get<std::string>());
  }
}

/// (k, T): the tokens that a classifier reads.
Matrix mixtures_of(const HubPicture& picture, const PatchGrid& grid) {
  std::vector<std::string> read = picture.classified_by;
  if (picture.two_classifiers) read.emplace_back(grid.leading[1]);
  Matrix mixtures = Matrix::Zero(std::ssize(read), grid.tokens());
  for (Index i = 0; i < mixtures.rows(); ++i) {
    const auto token = std::find(grid.leading.begin(), grid.leading.end(), read[static_cast<std::size_t>(i)]);
    const Index patches = grid.rows * grid.cols;
    if (token == grid.leading.end()) mixtures.row(i).tail(patches).setConstant(1 / static_cast<float>(patches));
    else mixtures(i, token - grid.leading.begin()) = 1;
  }
  return mixtures;
}

}  // namespace

void pictures(Keyed& keyed, const Family& family, HubConfig& hub) {
  constexpr std::string_view kTables[] = {"no", "bicubic", "smoothed bicubic", "any"};  // in the order of Table
  const json& row = family.row["picture"];
  HubPicture& picture = hub.picture.emplace();
  const Sides patch = sides(keyed, "patch_size", row["patch"].get<Index>()), image = sides(keyed, "image_size", 224);
  if (patch.height != patch.width) keyed.fail({"patch_size"}, "a square", "another rectangle");
  if (keyed.size({"num_channels"}, kMostPixels, 3) != 3) keyed.fail({"num_channels"}, "3", "another number");
  picture.patch = patch.width;
  picture.rows = image.height / patch.height;
  picture.cols = image.width / patch.width;
  picture.table = *value_named<HubPicture::Table>(kTables, row["resized"].get_ref<const std::string&>());
  for (const json& name : row["before"]) picture.leading.push_back(name.get<std::string>());
  constexpr Index kMostRegisters = 1024;
  if (row.contains("registers"))
    picture.registers = keyed.size({"num_register_tokens"}, kMostRegisters, row["registers"].get<Index>(), 0);
  for (Index i = 1; i <= picture.registers; ++i) picture.leading.push_back("R" + std::to_string(i));
  if (picture.rows < 1 || picture.cols < 1) keyed.fail({"image_size"}, "at least one patch", "less");
  hub.positions = picture.placed() + picture.rows * picture.cols;
  if (hub.output == OutputLayer::none) return;
  for (const json& name : row["classified by"]) picture.classified_by.push_back(name.get<std::string>());
  const json* names = keyed.find({"architectures"});
  for (const json& name : names ? *names : json())
    picture.two_classifiers |= name == "DeiTForImageClassificationWithTeacher";
  if (picture.two_classifiers) hub.output = OutputLayer::required;
  classes(keyed, picture);
  hub.output_vocabulary = std::ssize(picture.classes);
}

/// Oquab et al. 2024: the width as a multiple of d_model; a gated one has two thirds of it, rounded up to eights
/// (Shazeer 2020).
void feed_forward_by_ratio(Keyed& keyed, const Family&, HubConfig& hub) {
  Config& config = hub.config;
  const double ratio = keyed.number({"mlp_ratio"}, 0.01, 64, 4);
  config.ffn = static_cast<Index>(static_cast<double>(config.d_model) * ratio);
  if (!config.gated) return;
  config.ffn = (static_cast<Index>(static_cast<double>(config.ffn) * 2 / 3) + 7) / 8 * 8;
  config.activation = Activation::silu;
}

/// Rows and columns of the patches, from −1 to 1, turn a half of a head's pairs each (Siméoni et al. 2025; the code of
/// its repository). Biases of q, k, v are stated one by one.
void rotation_of_patches(Keyed& keyed, const Family&, HubConfig& hub) {
  const double theta = keyed.number({"rope_theta"}, 1e-3, 1e15, 100);
  hub.config.bias.key = keyed.flag({"key_bias"}, false);
  hub.config.bias.value = keyed.flag({"value_bias"}, true);
  const Index width = hub.config.d_k();
  if (width % 4 != 0) return keyed.fail({"num_attention_heads"}, "columns of a head in fours", std::to_string(width));
  hub.rotary = Rotary{.frequencies = Vector(width / 2)};
  for (Index pair = 0; pair < width / 2; ++pair)
    hub.rotary->frequencies(pair) =
        static_cast<float>(2 * std::numbers::pi /
                           std::pow(theta, 4.0 * static_cast<double>(pair % (width / 4)) / static_cast<double>(width)));
}

/// Bao et al. 2022: a bias of the scores for each distance in rows and columns, with three for the class token.
void bias_of_patches(Keyed& keyed, const Family&, HubConfig& hub) {
  hub.mean_pooling = keyed.flag({"use_mean_pooling"}, true);
  if (hub.mean_pooling && !hub.picture->classified_by.empty()) hub.picture->classified_by = {"patches"};
  hub.layer_scales = keyed.number({"layer_scale_init_value"}, 0, 1e6, 0.1) > 0;
  if (!keyed.flag({"use_absolute_position_embeddings"}, false)) hub.config.position = Position::none;
  const bool own = keyed.flag({"use_relative_position_bias"}, false);
  hub.shared_pair_bias = keyed.flag({"use_shared_relative_position_bias"}, false);
  const HubPicture& picture = *hub.picture;
  if (own || hub.shared_pair_bias) hub.relative_buckets = (2 * picture.rows - 1) * (2 * picture.cols - 1) + 3;
}

std::shared_ptr<const Linear> mean_of_both(const Linear& first, const Linear& second) {
  Linear both{.weight = Matrix(first.outputs(), 2 * first.inputs()), .bias = {}};
  both.weight << weight_rows(first, 0, first.outputs()) / 2, weight_rows(second, 0, second.outputs()) / 2;
  return std::make_shared<const Linear>(std::move(both));
}

Matrix resized_positions(const Matrix& table, Index rows, Index cols, Index new_rows, Index new_cols, bool smoothed) {
  if (rows == new_rows && cols == new_cols) return table;
  const Matrix down = resizing(rows, new_rows, smoothed), across = resizing(cols, new_cols, smoothed);
  Matrix wide(rows * new_cols, table.cols()), resized(new_rows * new_cols, table.cols());
  for (Index row = 0; row < rows; ++row)
    wide.middleRows(row * new_cols, new_cols) = across * table.middleRows(row * cols, cols);
  resized.setZero();
  for (Index row = 0; row < new_rows; ++row)
    for (Index from = 0; from < rows; ++from)
      if (down(row, from) != 0)
        resized.middleRows(row * new_cols, new_cols) += down(row, from) * wide.middleRows(from * new_cols, new_cols);
  return resized;
}

Result<std::shared_ptr<const Preprocessing>> take_preprocessing(const std::filesystem::path& folder, HubConfig& hub) {
  HubPicture& picture = *hub.picture;
  const auto path = folder / "preprocessor_config.json";
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  const bool stated = path_exists(path);
  Preprocessing preprocessing = default_preprocessing(picture.cols * picture.patch, picture.rows * picture.patch);
  if (stated) {
    const auto text = TRY(read_file(path, kMostBytes));
    const auto document = TRY(parse_python_json(path.string(), text));
    preprocessing = TRY(read_preprocessing(path.string(), document));
  }
  const Index rows = preprocessing.height() / picture.patch, cols = preprocessing.width() / picture.patch;
  const auto where = path.string();
  if (rows < 1 || cols < 1 || rows * cols > static_cast<Index>(kMaxTokens) - 2048)
    return bad_input(where, "size",
                     "from one patch to 14,336 of " + grid_text(picture.patch, picture.patch) + " pixels",
                     grid_text(preprocessing.height(), preprocessing.width()), ErrorCode::bad_config);
  if ((picture.table == HubPicture::Table::fixed) && (rows != picture.rows || cols != picture.cols))
    return bad_input(where, "size",
                     grid_text(picture.rows, picture.cols) + " patches, which this family has positions for",
                     grid_text(rows, cols), ErrorCode::bad_config);
  picture.grid = PatchGrid{.patch = picture.patch, .rows = rows, .cols = cols, .leading = picture.leading};
  return std::make_shared<const Preprocessing>(std::move(preprocessing));
}

void set_pictures(const HubConfig& hub, PictureParts parts, Model& model) {
  const HubPicture& picture = *hub.picture;
  const PatchGrid grid = picture.used();
  model.patches = grid;
  Embeddings& embeddings = model.embeddings;
  PatchEmbedding& patches = embeddings.patches.emplace();
  patches.projection = std::move(parts.projection);
  patches.leading = Matrix(grid.first(), hub.config.d_model);
  Index row = 0;
  for (const Matrix* tokens : {&parts.class_token, &parts.distillation_token, &parts.registers}) {
    if (tokens->size() == 0) continue;
    patches.leading.middleRows(row, tokens->rows()) = *tokens;
    row += tokens->rows();
  }
  if (embeddings.positions.size() > 0) embeddings.positions = positions_of(picture, grid, embeddings.positions);
  if (model.rotary) model.rotary->places = places_of(grid, model.rotary->frequencies.size());
  if (model.output) {
    model.output->mixtures = mixtures_of(picture, grid);
    model.vocabulary = std::make_shared<const Vocabulary>(Vocabulary{.words = picture.classes, .ids = {}});
  }
  if (parts.pair_biases.empty()) return;
  for (std::size_t layer = 0; layer < model.blocks.size(); ++layer) {
    std::shared_ptr<const RelativeBias>& bias = model.blocks[layer].self.relative_bias;
    if (layer < parts.pair_biases.size()) bias = bias_of_pairs(parts.pair_biases[layer], grid);
    else bias = model.blocks.front().self.relative_bias;
  }
}

}  // namespace headlight
