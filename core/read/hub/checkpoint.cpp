#include "read/hub/checkpoint.h"

#include <atomic>
#include <cassert>

#include "base/mapped_file.h"
#include "math/ops.h"
#include "read/hub/checkpoint_layout.h"
#include "read/hub/picture_layout.h"
#include "read/hub/stored_tensors.h"
#include "read/hub/tensor_names.h"

namespace headlight {
namespace {

/// A Model whose fields are filled by the rows of a family's table.
class Loader {
 public:
  Loader(const HubConfig& hub, StoredTensors tensors, const std::atomic<bool>& stop)
      : hub_(hub), tensors_(std::move(tensors)), stop_(stop) {
    hub_.config.tied |= hub.tied_where_absent && !tensors_.any_begins(output_marker(hub));
    with_output_ = hub.output == OutputLayer::required ||
                   (hub.output == OutputLayer::if_stored && tensors_.any_begins(output_marker(hub_)));
  }

  Result<Checkpoint> load(std::string model_name) {
    TRY(tensors_.check_memory());
    model_ = laid_out(hub_);
    model_->name = std::move(model_name);
    const std::vector<Row> rows = family_rows();
    for (const Row& row : rows) {
      const auto taken = for_each_stored(row, [this](const Row& one, std::size_t layer) -> Status {
        return stop_ ? Status(Done{}) : take(one, layer);
      });
      if (stop_) return Checkpoint{};
      if (!taken) return taken.error();
      pack(*model_, stop_);  // while little of it is there: what is being packed stands in memory twice
    }
    finish();
    if (stop_) return Checkpoint{};
    tensors_.warn_of_surplus(rows, "a " + std::string(name(*hub_.family)) + " with this configuration");
    return Checkpoint{.model = std::move(model_), .warnings = tensors_.warnings()};
  }

  /// load() without a number read.
  Status check() const {
    TRY(tensors_.check_memory());
    for (const Row& row : family_rows()) {
      const auto there = for_each_stored(row, [this](const Row& one, std::size_t layer) { return check(one, layer); });
      if (!there) return there;
    }
    return Done{};
  }

 private:
  /// How many times a row is stored: once, or for each layer or set of layers.
  Index stored_layers(const Row& row) const {
    if (!is_of_a_block(row)) return 1;
    if (hub_.layer_groups > 0) return hub_.layer_groups;
    return row.part == StackPart::encoder ? hub_.config.layers_of_encoder() : hub_.config.num_layers;
  }

  /// Calls visit(row, layer) for each tensor of a row, with a separate row for each expert, up to the first Error.
  template <class Visit>
  Status for_each_stored(const Row& row, const Visit& visit) const {
    std::string name;
    const bool of_experts = is_of_an_expert(row);
    for (Index layer = row.from_layer; layer < stored_layers(row); ++layer)
      for (Index expert = 0; expert < (of_experts ? hub_.experts : 1); ++expert)
        if (const auto done =
                visit(of_experts ? row_of_expert(row, expert, name) : row, static_cast<std::size_t>(layer));
            !done)
          return done;
    return Done{};
  }

  std::vector<Row> family_rows() const {
    return rows_as_stored(hub_, with_output_, [this](const Row& row, TensorShape size) {
      return tensors_.has(names(row, 0, {".weight"}), {size.rows, size.cols});
    });
  }

  StackWeights& stack(StackPart part) { return part == StackPart::encoder ? *model_->encoder : *model_; }

  /// The names under which a row's array may stand, the usual endings first.
  std::vector<std::string> names(const Row& row, std::size_t layer,
                                 const std::vector<std::string_view>& endings) const {
    std::vector<std::string> all;
    for (const std::string_view ending : endings) all.push_back(tensors_.full_name(row.name, layer, ending));
    for (const std::string_view other : row.also) all.push_back(tensors_.full_name(other, layer, endings.front()));
    return all;
  }

  Status check(const Row& row, std::size_t layer) const {
    const TensorShape size = shape_of_left(row, layer, hub_);
    const auto check = [&](const std::vector<std::string_view>& endings, const std::vector<Index>& wanted) {
      return tensors_.check(names(row, layer, endings), wanted, row.need);
    };
    Status there = Done{};
    switch (kind(row.field)) {
      case FieldKind::none: break;
      case FieldKind::matrix:
      case FieldKind::table: return check({""}, {size.rows, size.cols});
      case FieldKind::vector: return check({""}, {size.cols});
      case FieldKind::linear:
        there = row.form == Form::transposed ? check({".weight"}, {size.cols, size.rows})
                                             : check({".weight"}, {size.rows, size.cols});
        return there && row.bias ? check({".bias"}, {size.rows}) : there;
      case FieldKind::norm:
        there = check({".weight", ".gamma"}, {size.cols});
        return there && row.bias ? check({".bias", ".beta"}, {size.cols}) : there;
    }
    return there;
  }

  Result<Linear> take_linear(const Row& row, std::size_t layer) {
    Linear linear;
    const TensorShape size = shape_of_left(row, layer, hub_);
    if (row.field == Field::heads_together) {
      linear.weight = TRY(tensors_.take_matrix(names(row, layer, {".weight"}), size, row.need));
    } else {
      linear = TRY(tensors_.take_weight(names(row, layer, {".weight"}), size, row.need, row.form == Form::transposed));
    }
    if (row.bias) linear.bias = TRY(tensors_.take_vector(names(row, layer, {".bias"}), size.rows, row.need));
    return at_their_heads(std::move(linear), row, layer, hub_);
  }

  Result<NormWeights> take_norm(const Row& row, std::size_t layer) {
    NormWeights norm;
    norm.epsilon = hub_.norm_epsilon;
    norm.kind = hub_.config.norm_kind;
    const Index size = shape(row.field, row.part, hub_).cols;
    norm.scale = TRY(tensors_.take_vector(names(row, layer, {".weight", ".gamma"}), size, row.need));
    if (hub_.norms_store_rest) norm.scale.array() += 1.0f;
    if (!row.bias) return norm;
    norm.shift = TRY(tensors_.take_vector(names(row, layer, {".bias", ".beta"}), size, row.need));
    return norm;
  }

  Status take(const Row& row, std::size_t layer) {
    const auto put_taken = [&](auto taken, auto... where) -> Status {
      if (!taken) return taken.error();
      put(row, where..., std::move(*taken));
      tensors_.weight_is_kept();
      return Done{};
    };
    const auto size = [&] { return shape(row.field, row.part, hub_); };
    switch (kind(row.field)) {
      case FieldKind::matrix: return put_taken(tensors_.take_matrix(names(row, layer, {""}), size(), row.need));
      case FieldKind::table: return put_taken(tensors_.take_weight(names(row, layer, {""}), size(), row.need));
      case FieldKind::vector:
        return put_taken(tensors_.take_vector(names(row, layer, {""}), size().cols, row.need), layer);
      case FieldKind::linear: return put_taken(take_linear(row, layer), layer);
      case FieldKind::norm: return put_taken(take_norm(row, layer), layer);
      case FieldKind::none: break;
    }
    return Done{};
  }

  void put(const Row& row, Matrix matrix) {
    Embeddings& embeddings = stack(row.part).embeddings;
    switch (row.field) {
      case Field::positions: embeddings.positions = std::move(matrix); return;
      case Field::token_types: embeddings.token_types = std::move(matrix); return;
      case Field::distances: distances_ = std::move(matrix); return;
      case Field::task_types: embeddings.token_types.rowwise() += matrix.row(0); return;
      case Field::class_token: pictures_.class_token = std::move(matrix); return;
      case Field::distillation_token: pictures_.distillation_token = std::move(matrix); return;
      case Field::registers: pictures_.registers = std::move(matrix); return;
      case Field::pair_bias: pictures_.pair_biases.push_back(std::move(matrix)); return;
      default: {
        assert(row.field == Field::relative_bias);
        const auto bias = std::make_shared<const RelativeBias>(
            RelativeBias{std::move(matrix), row.part == StackPart::encoder || hub_.config.arch == Arch::encoder,
                         hub_.relative_distance});
        for (BlockWeights& block : stack(row.part).blocks) block.self.relative_bias = bias;
      }
    }
  }

  void put(const Row& row, std::size_t layer, Vector vector) {
    if (row.field == Field::output_bias) {
      output_.bias = hub_.picture && output_.bias.size() > 0 ? Vector((output_.bias + vector) / 2) : std::move(vector);
      return;
    }
    if (row.field == Field::attention_scale || row.field == Field::ffn_scale) {
      (row.field == Field::ffn_scale ? pictures_.ffn_scales : pictures_.attention_scales).push_back(std::move(vector));
      return;
    }
    AttentionWeights& self = stack(row.part).blocks[layer].self;
    (row.field == Field::sinks        ? self.sinks
     : row.field == Field::query_bias ? self.query.bias
                                      : self.value.bias) = std::move(vector);
  }

  void put(const Row& row, Linear read) {
    const auto table = std::make_shared<const Linear>(tensors_.kept(std::move(read)));
    if (row.field == Field::output) {
      output_.weight = hub_.picture && output_.weight ? mean_of_both(*output_.weight, *table) : table;
      return;
    }
    if (row.part == StackPart::both) model_->encoder->embeddings.tokens = table;
    stack(row.part).embeddings.tokens = table;
  }

  Linear part(const Linear& fused, Index first, Index count) const {
    return tensors_.kept(part_of(fused, first, count));
  }

  void put(const Row& row, std::size_t layer, Linear linear) {
    if (row.field == Field::transform) {
      output_.transform = in_memory(std::move(linear));
      return;
    }
    if (row.field == Field::patches) {
      pictures_.projection = in_memory(std::move(linear));
      return;
    }
    if (row.field == Field::token_projection || row.field == Field::output_projection) {
      (row.field == Field::token_projection ? token_projection_ : output_projection_) = in_memory(std::move(linear));
      return;
    }
    if (row.field == Field::embedding_projection) {
      stack(row.part).embeddings.projection = in_memory(std::move(linear));
      return;
    }
    BlockWeights& block = stack(row.part).blocks[layer];
    if (row.field == Field::distance_key || row.field == Field::distance_query) {
      auto& projections = row.field == Field::distance_key ? distance_keys_ : distance_queries_;
      projections.push_back(in_memory(std::move(linear)));
      return;
    }
    if (row.field == Field::gate_up) {
      const Index rows = shape(Field::up, row.part, hub_).rows;
      block.gate = part(linear, 0, rows);
      block.up = part(linear, rows, rows);
      return;
    }
    if (row.field == Field::heads_together) {
      const Index heads = hub_.config.num_heads, kv_heads = hub_.config.kv_heads();
      block.self.query = part_of_heads(linear, 0, heads, kv_heads);
      block.self.key = part_of_heads(linear, 1, heads, kv_heads);
      block.self.value = part_of_heads(linear, 2, heads, kv_heads);
      return;
    }
    if (row.field == Field::attention_output || row.field == Field::down) {
      const auto& scales = row.field == Field::down ? pictures_.ffn_scales : pictures_.attention_scales;
      if (hub_.residual_scale != 1)
        linear = scaled(std::move(linear), Vector::Constant(linear.outputs(), hub_.residual_scale));
      if (layer < scales.size()) linear = scaled(std::move(linear), scales[layer]);
    }
    if (row.field != Field::query_key_value) {
      linear_field(row.field, row.expert, block) = tensors_.kept(std::move(linear));
      return;
    }
    const Index queries = shape(Field::query, row.part, hub_).rows, keys = shape(Field::key, row.part, hub_).rows;
    block.self.query = part(linear, 0, queries);
    block.self.key = part(linear, queries, keys);
    block.self.value = part(linear, queries + keys, keys);
  }

  void put(const Row& row, std::size_t layer, NormWeights norm) {
    StackWeights& weights = stack(row.part);
    switch (row.field) {
      case Field::embedding_norm: weights.embeddings.norm = std::move(norm); return;
      case Field::final_norm: weights.final_norm = std::move(norm); return;
      case Field::transform_norm: output_.transform_norm = std::move(norm); return;
      case Field::distance_norm: distance_norm_ = std::move(norm); return;
      default: norm_field(row.field, weights.blocks[layer]) = std::move(norm);
    }
  }

  /// Sets the fields that follow from the tensors and the configuration.
  void finish() {
    const Config& config = hub_.config;
    for (const auto& [layer, heads] : hub_.pruned)
      tensors_.warn("pruned_heads",
                    std::to_string(heads.size()) + " of layer " + std::to_string(layer) +
                        " are not stored, shown with even weights, add nothing",
                    ErrorCode::tensor_as_zero);
    if (config.position == Position::rotary) model_->rotary = hub_.rotary;
    if (hub_.one_norm)
      for (BlockWeights& block : model_->blocks) block.ffn_norm = block.attention_norm;
    if (hub_.distance_rows > 0) project_distances();
    if (config.position == Position::sinusoidal_halves &&
        !drop_sinusoids(model_->embeddings.positions, model_->encoder->embeddings.positions, hub_.positions)) {
      model_->config.position = Position::learned;
      tensors_.warn("embed_positions", "not the sines and cosines of the places in full precision; used as stored",
                    ErrorCode::positions_stored);
    }
    if (hub_.falling_sinusoids)
      model_->embeddings.positions = model_->encoder->embeddings.positions =
          falling_sinusoids(hub_.positions, config.d_model, hub_.pad_id);
    if (hub_.linear_biases || hub_.linear_key_biases) {
      const Index most = hub_.longest->tokens;
      const auto bias = hub_.linear_biases ? linear_biases(config.num_heads, most)
                                           : linear_key_biases(config.num_heads, most,
                                                               1 / std::sqrt(static_cast<double>(config.d_k())));
      for (BlockWeights& block : model_->blocks) block.self.relative_bias = bias;
    }
    if (hub_.token_width > 0) widen_tables();
    if (with_output_) {
      if (model_->config.tied) output_.weight = model_->embeddings.tokens;
      output_.scale = hub_.output_scale;
      output_.activation = hub_.output_activation;
      output_.softcap = hub_.output_softcap;
      model_->output = std::move(output_);
    } else if (hub_.output != OutputLayer::none) {
      const std::string begin(output_marker(hub_));
      tensors_.warn(begin + (begin.ends_with('.') ? "*" : ""), "not stored, so the model has no output layer",
                    ErrorCode::no_output_layer);
    }
    if (hub_.picture) set_pictures(hub_, std::move(pictures_), *model_);
    pack(*model_, stop_);
    if (hub_.layer_groups > 0) share_layers(*model_, hub_.layer_groups);
  }

  /// The projections behind the table of tokens and before the words' (OPT; Zhang et al. 2022) become part of the
  /// tables: (E·Pᵀ) of the vectors E, and, as the scores are (h·Oᵀ)·Eᵀ, E·O.
  void widen_tables() {
    const auto rows = [](const Linear& table) { return weight_rows(table, 0, table.outputs()); };
    const Matrix narrow = rows(*model_->embeddings.tokens);
    if (with_output_) {
      const Linear back{.weight = output_projection_.weight.transpose(), .bias = {}};
      output_.weight = table_of(linear(model_->config.tied ? narrow : rows(*output_.weight), back, Threads(0)));
    }
    model_->config.tied = false;
    model_->embeddings.tokens = table_of(linear(narrow, token_projection_, Threads(0)));
  }

  /// The vectors of the distances as each layer projects them.
  void project_distances() {
    if (distance_norm_) distances_ = norm(distances_, *distance_norm_);
    for (std::size_t layer = 0; layer < model_->blocks.size(); ++layer) {
      AttentionWeights& attention = model_->blocks[layer].self;
      DistanceVectors vectors{
          .keys = {}, .queries = {}, .exact = hub_.distance_exact, .max_distance = hub_.distance_most};
      const bool shared = hub_.shared_distances;
      if (hub_.content_to_position) vectors.keys = linear(distances_, shared ? attention.key : distance_keys_[layer]);
      if (hub_.position_to_content)
        vectors.queries = linear(distances_, shared ? attention.query : distance_queries_[layer]);
      attention.distances = std::make_shared<const DistanceVectors>(std::move(vectors));
    }
  }

  HubConfig hub_;  // with `tied` as the stored arrays show it
  StoredTensors tensors_;
  const std::atomic<bool>& stop_;
  bool with_output_ = false;
  std::shared_ptr<Model> model_;
  OutputWeights output_;
  PictureParts pictures_;
  Linear token_projection_, output_projection_;
  Matrix distances_;
  std::optional<NormWeights> distance_norm_;
  std::vector<Linear> distance_keys_, distance_queries_;
};

std::string name_of(const std::filesystem::path& folder) {
  const auto path = folder.lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

}  // namespace

Status check_tensors(std::string_view where, const HubConfig& hub, StoredArrays stored) {
  Progress progress;
  StoredTensors tensors(where, unwrapped(std::move(stored), hub), prefix(hub), kMostWidenedBytes, Reading::whole,
                        progress);
  return Loader(hub, std::move(tensors), progress.stop).check();
}

Result<Checkpoint> checkpoint_from(std::string_view where, const HubConfig& hub, StoredArrays stored,
                                   Progress& progress, std::size_t most_widened, Reading reading) {
  progress.done = 0;
  std::map<std::string, StoredArray> files;  // an array of each: their bytes stay mapped until all are read
  for (const auto& [name, array] : stored.arrays)
    if (array.mapped) files.emplace(array.where, array);
  StoredTensors tensors(where, unwrapped(std::move(stored), hub), prefix(hub), most_widened, reading, progress);
  auto checkpoint =
      Loader(hub, std::move(tensors), progress.stop).load(name_of(std::filesystem::path(where).parent_path()));
  for (const auto& [name, array] : files)
    if (was_shortened(array.mapped)) return shortened(name);
  if (checkpoint && checkpoint->model) progress.done = 1;
  return checkpoint;
}

Result<Checkpoint> checkpoint_from(std::string_view where, const HubConfig& hub, ArrayFile file) {
  Progress progress;
  return checkpoint_from(where, hub, stored_in_memory(where, std::move(file)), progress);
}

}  // namespace headlight
