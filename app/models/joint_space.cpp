#include "models/joint_space.h"

#include <algorithm>
#include <cmath>

#include "base/file.h"
#include "base/progress.h"
#include "math/ops.h"
#include "read/hub/stored_tensors.h"
#include "read/hub/weight_files.h"
#include "read/json/json_document.h"
#include "read/json/json_fields.h"

namespace headlight {
namespace {

constexpr std::int64_t kMostIds = 1 << 30, kMostWidth = 1 << 16;
/// What old files state for a text's end, which is no id of it: transformers then takes the largest.
constexpr std::int64_t kNoEnd = 2;

Vector of_length_1(Vector vector) {
  const float length = vector.norm();
  if (length > 0) vector /= length;
  return vector;
}

}  // namespace

Result<JointSpace> read_joint_space(const std::filesystem::path& folder, Index picture_width, Index text_width) {
  const std::filesystem::path file = folder / "config.json";
  const auto text = TRY(read_file(file));
  const ParsedJson parsed = parse_python_json(file.string(), text);
  if (!parsed) return parsed.error();
  JsonProblems problems{.where = file.string()};
  const JsonField config(*parsed, "", problems);
  if (const std::string type = config.text("model_type", ""); type != "clip")
    return bad_input(file.string(), "model_type", "clip, whose two parts share a space", type);
  JointSpace space;
  const Index width = config.has("projection_dim") ? config.integer("projection_dim", 1, kMostWidth) : 512;
  if (const JsonField texts = config.at("text_config"); texts.has("eos_token_id"))
    if (const std::int64_t end = texts.integer("eos_token_id", 0, kMostIds); end != kNoEnd) space.end = end;
  config.at("vision_config").read("layer_norm_eps", space.picture_norm.epsilon);
  TRY(problems.status());
  auto weights = TRY(open_weights(folder));
  if (const auto scale = weights.stored.arrays.find("logit_scale"); scale != weights.stored.arrays.end())
    if (scale->second.shape.empty()) scale->second.shape = {1};  // a number
  Progress progress;
  StoredTensors tensors(weights.where, std::move(weights.stored), "", 0, Reading::whole, progress);
  const auto norm = [](const char* end) { return std::vector{std::string("vision_model.post_layernorm.") + end}; };
  space.picture_norm.scale = TRY(tensors.take_vector(norm("weight"), picture_width, Need::required));
  space.picture_norm.shift = TRY(tensors.take_vector(norm("bias"), picture_width, Need::required));
  space.of_picture = TRY(tensors.take_matrix({"visual_projection.weight"}, {width, picture_width}, Need::required));
  space.of_text = TRY(tensors.take_matrix({"text_projection.weight"}, {width, text_width}, Need::required));
  const Vector scale = TRY(tensors.take_vector({"logit_scale"}, 1, Need::required));
  space.scale = std::exp(scale(0));
  return space;
}

Vector place_of_picture(const JointSpace& space, const Trace& picture) {
  const Matrix normed = norm(picture.last_hidden_state().topRows(1), space.picture_norm);
  return of_length_1(space.of_picture * normed.row(0).transpose());
}

Vector place_of_text(const JointSpace& space, const Trace& text) {
  const std::vector<Token>& tokens = text.query_tokens().tokens;
  auto end = std::ranges::find_if(tokens, [&](const Token& token) { return token.id == space.end; });
  if (end == tokens.end()) end = std::ranges::max_element(tokens, {}, [](const Token& token) { return token.id; });
  return of_length_1(space.of_text * text.last_hidden_state().row(end - tokens.begin()).transpose());
}

}  // namespace headlight
