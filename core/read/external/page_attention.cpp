#include "read/external/page_attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "base/half.h"
#include "model/head_text.h"
#include "read/external/packed_planes.h"
#include "read/external/page_edits.h"
#include "read/external/patterns.h"
#include "read/json/json_fields.h"

namespace headlight {
namespace {

using nlohmann::json;

/// Numbers of all heads together: a page of that many takes a gigabyte.
constexpr Index kMostPageNumbers = Index{1} << 28;
/// The same, and weights, where only some heads are in the page: the others take room that no byte of the file stands for.
constexpr Index kMostPartNumbers = Index{1} << 25;

float float16_at(const std::string& bytes, std::size_t number) {
  const auto low = static_cast<unsigned char>(bytes[2 * number]),
             high = static_cast<unsigned char>(bytes[2 * number + 1]);
  return from_float16(static_cast<std::uint16_t>(low | high << 8));
}

/// Reads one attention of a page.
class PageStackReader {
 public:
  PageStackReader(std::string where, const json& answer, const json& stack, std::size_t number)
      : where_(std::move(where)), answer_(answer), stack_(stack), place_("stacks[" + std::to_string(number) + "]") {}

  Result<PageStack> read() {
    using Part = Status (PageStackReader::*)();
    for (const Part part : {&PageStackReader::read_sides, &PageStackReader::read_shape, &PageStackReader::read_heads,
                            &PageStackReader::check_room, &PageStackReader::read_layers, &PageStackReader::read_masks,
                            &PageStackReader::read_numbers})
      if (const Status status = (this->*part)(); !status) return status.error();
    return std::move(page_);
  }

  Status read_mask(const std::string& place, const json& object, MaskSpec& mask) const {
    if (!object.is_object()) return wrong(place, "an object", object);
    for (const auto& [key, flag] : {std::pair{"causal", &mask.causal}, {"padding", &mask.padding}}) {
      const json& value = value_or_null(object, key);
      if (!value.is_boolean()) return wrong(place + "." + key, "true or false", value);
      *flag = value.get<bool>();
    }
    const json& painted = value_or_null(object, "painted");
    for (const json& cell : painted.is_array() ? painted : json::array()) {
      const bool has_three = cell.is_array() && cell.size() == 3;
      const auto query = whole_number(has_three ? cell[0] : json(), kMostPageTokens),
                 key = whole_number(has_three ? cell[1] : json(), kMostPageTokens),
                 allowed = whole_number(has_three ? cell[2] : json(), 1);
      if (!query || !key || !allowed) return wrong(place + ".painted", "[query, key, 0 or 1]", cell);
      paint(mask.painted, {*query, *key, *allowed != 0});
    }
    const json& given = value_or_null(object, "given");
    if (given.is_null()) return Done{};
    auto matrix = float32_matrix(place + ".given", given);
    if (!matrix) return matrix.error();
    mask.given = std::make_shared<const Matrix>(std::move(*matrix));
    return Done{};
  }

 private:
  Error wrong(const std::string& place, std::string_view expected, const json& found) const {
    return bad_input(where_, place, expected, found_text(found));
  }
  std::string at(const char* key) const { return place_ + "." + key; }

  Status read_size(const char* key, Index least, Index most, Index& size) const {
    const auto number = whole_number(value_or_null(stack_, key), most);
    if (!number || *number < least)
      return wrong(at(key), std::to_string(least) + " to " + std::to_string(most), value_or_null(stack_, key));
    size = *number;
    return Done{};
  }

  Status read_tokens(const char* side, Tokens& tokens) const {
    const json& name = value_or_null(stack_, side);
    const std::string list_name = name.is_string() ? name.get<std::string>() : "";
    const json& list = value_or_null(answer_, list_name.c_str());
    if (!list.is_array() || list.empty() || list.size() > static_cast<std::size_t>(kMostPageTokens))
      return wrong(at(side), "the name of a list of 1 to " + std::to_string(kMostPageTokens) + " tokens", name);
    tokens = numbered_tokens(static_cast<Index>(list.size()));
    if (const auto taken = take_details(where_, list_name, list, tokens); !taken) return taken;
    for (std::size_t i = 0; i < list.size(); ++i) {
      tokens.tokens[i].pad = value_or_null(list[i], "pad") == true;
      tokens.tokens[i].continues = value_or_null(list[i], "continues") == true;
      tokens.has_words = tokens.has_words || tokens.tokens[i].continues;
    }
    return Done{};
  }

  Status read_sides() {
    const auto queries = read_tokens("queries", page_.query_tokens);
    return queries ? read_tokens("keys", page_.key_tokens) : queries;
  }

  Status read_shape() {
    for (const Status& status : {read_size("layers", 1, kMaxLayers, layers_), read_size("heads", 1, kMaxHeads, heads_),
                                 read_size("kv_heads", 1, kMaxHeads, groups_)})
      if (!status) return status;
    queries_ = static_cast<Index>(page_.query_tokens.size());
    keys_ = static_cast<Index>(page_.key_tokens.size());
    has_weights_ = !value_or_null(stack_, "weights").is_null();
    if (const auto read = read_size("d_k", has_weights_ ? 0 : 1, kMaxDModel, d_k_); !read) return read;
    if (heads_ % groups_ != 0) return wrong(at("kv_heads"), "a divisor of heads", value_or_null(stack_, "kv_heads"));
    return Done{};
  }

  Status check_room() {
    Index own_layers = 0;
    for (std::size_t i = 0; i < page_.heads.size(); ++i)
      if (i == 0 || page_.heads[i].layer != page_.heads[i - 1].layer) ++own_layers;
    const Index weights = layers_ * heads_ * queries_ * keys_;
    const Index numbers = has_weights_ ? weights : own_layers * d_k_ * (heads_ * queries_ + groups_ * keys_);
    if (numbers > kMostPageNumbers) return bad_input(where_, place_, "at most 2^28 numbers", std::to_string(numbers));
    const bool is_part = static_cast<Index>(page_.heads.size()) < layers_ * heads_;
    if (is_part && std::max(weights, numbers) > kMostPartNumbers)
      return bad_input(where_, at("only"), "at most 2^25 numbers of all heads, where some are not in the page",
                       std::to_string(std::max(weights, numbers)));
    return Done{};
  }

  Status read_heads() {
    const json& only = value_or_null(stack_, "only");
    if (only.is_null()) {
      for (Index layer = 0; layer < layers_; ++layer)
        for (Index head = 0; head < heads_; ++head) page_.heads.push_back({layer, head});
      return Done{};
    }
    if (!only.is_array() || only.empty()) return wrong(at("only"), "a list of heads", only);
    for (const json& item : only) {
      const auto head = item.is_string() ? parse_head(item.get<std::string>()) : std::nullopt;
      if (!head || head->layer >= layers_ || head->head >= heads_ || head->stack != Stack::self ||
          (!page_.heads.empty() && !(page_.heads.back() < *head)))
        return wrong(at("only"), "heads of the attention, in order", item);
      page_.heads.push_back(*head);
    }
    return Done{};
  }

  Result<Matrix> float32_matrix(const std::string& place, const json& object) const {
    const json &shape = value_or_null(object, "shape"), &data = value_or_null(object, "data");
    const bool has_two = shape.is_array() && shape.size() == 2;
    const auto rows = whole_number(has_two ? shape[0] : json(), kMostPageTokens),
               columns = whole_number(has_two ? shape[1] : json(), kMostPageTokens);
    if (!rows || !columns || *rows * *columns == 0) return wrong(place, "a shape", shape);
    const auto bytes = data.is_string() ? decode_base64(data.get_ref<const std::string&>()) : std::nullopt;
    if (!bytes || bytes->size() != static_cast<std::size_t>(4 * *rows * *columns))
      return wrong(place, std::to_string(4 * *rows * *columns) + " bytes in base64", data);
    Matrix matrix(*rows, *columns);
    std::memcpy(matrix.data(), bytes->data(), bytes->size());
    return matrix;
  }

  Result<std::shared_ptr<const RelativeBias>> relative_bias(const json& object) const {
    auto table = float32_matrix(at("relative"), object);
    if (!table) return table.error();
    RelativeBias bias{.table = std::move(*table)};
    const json& both = value_or_null(object, "bidirectional");
    const auto most = whole_number(value_or_null(object, "max_distance"), Index{1} << 30);
    const Index exact = bias.table.rows() / (both == true ? 4 : 2);
    if (bias.table.rows() < 4 || bias.table.cols() != heads_ || !bias.table.allFinite() || !both.is_boolean() ||
        !most || *most <= exact)
      return bad_input(where_, at("relative"), "a bias of distances for each head", "another table");
    bias.bidirectional = both.get<bool>();
    bias.max_distance = *most;
    return std::make_shared<const RelativeBias>(std::move(bias));
  }

  Status read_layers() {
    const json &scale = value_or_null(stack_, "scale"), &relative = value_or_null(stack_, "relative"),
               &of_layer = value_or_null(stack_, "relative_of_layer");
    std::vector<std::shared_ptr<const RelativeBias>> tables;
    for (const json& object : relative.is_array() ? relative : json::array()) {
      auto table = relative_bias(object);
      if (!table) return table.error();
      tables.push_back(std::move(*table));
    }
    for (Index layer = 0; layer < layers_; ++layer) {
      const auto i = static_cast<std::size_t>(layer);
      AttentionTrace& attention = page_.layers.emplace_back();
      const json& own = scale.is_array() && i < scale.size() ? scale[i] : scale;
      if (!own.is_number() || !std::isfinite(own.get<float>()))
        return wrong(at("scale"), "a number for each layer", own);
      attention.scale = own.get<float>();
      attention.num_kv_heads = groups_;
      attention.heads.resize(static_cast<std::size_t>(heads_));
      if (tables.empty()) continue;
      const json& number = of_layer.is_array() && i < of_layer.size() ? of_layer[i] : of_layer;
      if (number == -1) continue;
      const auto table = whole_number(number, static_cast<Index>(tables.size()) - 1);
      if (!table) return wrong(at("relative_of_layer"), "the number of a table for each layer", number);
      attention.relative_bias = tables[static_cast<std::size_t>(*table)];
    }
    return Done{};
  }

  Result<std::shared_ptr<const Mask>> resolved(const MaskSpec& spec) const {
    auto mask = resolve(spec, page_.query_tokens, page_.key_tokens);
    if (!mask) return Error{where_ + ": " + place_ + ": " + mask.error().message};
    return std::make_shared<const Mask>(std::move(*mask));
  }

  Status read_masks() {
    if (const auto read = read_mask(at("mask"), value_or_null(stack_, "mask"), page_.mask); !read) return read;
    const auto mask = resolved(page_.mask);
    if (!mask) return mask.error();
    for (AttentionTrace& attention : page_.layers) attention.mask = *mask;
    const json& own = value_or_null(stack_, "layer_masks");
    for (const json& item : own.is_array() ? own : json::array()) {
      const auto layer = whole_number(value_or_null(item, "layer"), layers_ - 1);
      if (!layer) return wrong(at("layer_masks"), "a layer", item);
      MaskSpec spec;
      if (const auto read = read_mask(at("layer_masks"), value_or_null(item, "mask"), spec); !read) return read;
      const auto of_layer = resolved(spec);
      if (!of_layer) return of_layer.error();
      page_.layers[static_cast<std::size_t>(*layer)].mask = *of_layer;
    }
    return Done{};
  }

  /// The bytes of one field: `each` numbers a head. Packed they are a list, one item a layer.
  Result<std::string> bytes_of(const char* key, const std::vector<HeadRef>& heads, std::size_t each) const {
    const json& value = value_or_null(stack_, key);
    const auto bad = [&](std::size_t expected, const std::string& found) {
      return bad_input(where_, at(key), std::to_string(expected) + " bytes in base64", found);
    };
    if (value.is_string()) {
      const std::size_t expected = 2 * each * heads.size();
      auto bytes = decode_base64(value.get_ref<const std::string&>());
      if (!bytes) return bad(expected, "no base64");
      if (bytes->size() != expected) return bad(expected, std::to_string(bytes->size()));
      return *std::move(bytes);
    }
    std::string all;
    std::size_t item = 0;
    for (auto head = heads.begin(); head != heads.end(); ++item) {
      const auto end = std::find_if(head, heads.end(), [&](const HeadRef& one) { return one.layer != head->layer; });
      const std::size_t expected = 2 * each * static_cast<std::size_t>(end - head);
      const bool is_there = value.is_array() && item < value.size() && value[item].is_string();
      const auto packed = is_there ? decode_base64(value[item].get_ref<const std::string&>()) : std::nullopt;
      if (!packed) return bad(expected, is_there ? "no base64" : found_text(value));
      auto bytes = unpacked_planes(*packed, expected);
      if (!bytes) return bad(expected, "damaged numbers");
      all += *bytes;
      head = end;
    }
    return all;
  }

  /// Puts the next rows × columns numbers into the columns of a matrix that begin at `column`.
  Status fill(const char* key, const std::string& bytes, std::size_t& next, Index column, Index columns,
              Matrix& matrix) const {
    for (Index row = 0; row < matrix.rows(); ++row)
      for (Index c = 0; c < columns; ++c) matrix(row, column + c) = float16_at(bytes, next++);
    if (!matrix.middleCols(column, columns).allFinite())
      return bad_input(where_, at(key), "finite numbers", "nan or inf");
    return Done{};
  }

  Status read_numbers() {
    const auto queries = static_cast<std::size_t>(queries_), keys = static_cast<std::size_t>(keys_),
               d_k = static_cast<std::size_t>(d_k_);
    std::size_t next = 0;
    if (has_weights_) {
      const auto bytes = bytes_of("weights", page_.heads, queries * keys);
      if (!bytes) return bytes.error();
      page_.patterns.assign(page_.layers.size(),
                            std::vector<Matrix>(static_cast<std::size_t>(heads_), Matrix::Zero(queries_, keys_)));
      for (std::size_t i = 0; i < page_.layers.size(); ++i) page_.layers[i].patterns = &page_.patterns[i];
      for (const HeadRef& head : page_.heads) {
        Matrix& weights = page_.patterns[static_cast<std::size_t>(head.layer)][static_cast<std::size_t>(head.head)];
        if (const auto filled = fill("weights", *bytes, next, 0, keys_, weights); !filled) return filled;
      }
      return Done{};
    }
    const auto q = bytes_of("q", page_.heads, queries * d_k);
    if (!q) return q.error();
    std::vector<HeadRef> groups;
    for (const HeadRef& head : page_.heads) {
      const HeadRef group{head.layer, head.head * groups_ / heads_};
      if (groups.empty() || groups.back() != group) groups.push_back(group);
    }
    const auto k = bytes_of("k", groups, keys * d_k);
    if (!k) return k.error();
    const auto layer_of = [&](const HeadRef& head) -> AttentionTrace& {
      return page_.layers[static_cast<std::size_t>(head.layer)];
    };
    for (const HeadRef& head : page_.heads) {  // of a layer without heads in the page nothing is computed
      AttentionTrace& attention = layer_of(head);
      if (attention.query.size() > 0) continue;
      attention.query = Matrix::Zero(queries_, heads_ * d_k_);
      attention.key = Matrix::Zero(keys_, groups_ * d_k_);
    }
    for (const HeadRef& head : page_.heads)
      if (const auto filled = fill("q", *q, next, head.head * d_k_, d_k_, layer_of(head).query); !filled) return filled;
    next = 0;
    for (const HeadRef& group : groups)
      if (const auto filled = fill("k", *k, next, group.head * d_k_, d_k_, layer_of(group).key); !filled) return filled;
    return Done{};
  }

  std::string where_;
  const json &answer_, &stack_;
  std::string place_;
  PageStack page_;
  Index layers_ = 0, heads_ = 0, groups_ = 0, d_k_ = 0, queries_ = 0, keys_ = 0;
  bool has_weights_ = false;
};

}  // namespace

Result<PageAttention> page_attention(const std::string& where, const json& answer) {
  PageAttention page;
  const json &stacks = value_or_null(answer, "stacks"), &error = value_or_null(answer, "error");
  if (!stacks.is_array() || stacks.empty()) return bad_input(where, "stacks", "a list", found_text(stacks));
  if (!error.is_number() || !std::isfinite(error.get<float>()))
    return bad_input(where, "error", "a number", found_text(error));
  page.error = error.get<float>();
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    const auto number = whole_number(value_or_null(stacks[i], "number"), 2);
    const auto stack = static_cast<Stack>(number.value_or(0));
    if (!number || page.stacks.contains(stack))
      return bad_input(where, "stacks[" + std::to_string(i) + "].number", "0, 1 or 2, each once",
                       found_text(value_or_null(stacks[i], "number")));
    PageStackReader reader(where, answer, stacks[i], i);
    auto read = reader.read();
    if (!read) return read.error();
    page.stacks.emplace(stack, std::move(*read));
    const json& own = value_or_null(stacks[i], "layer_masks");
    for (const json& item : own.is_array() ? own : json::array()) {
      LayerEdit edit{.stack = stack, .layer = value_or_null(item, "layer").get<Index>(), .mask = MaskSpec{}};
      if (const auto again = reader.read_mask("layer_masks", value_or_null(item, "mask"), *edit.mask); !again)
        return again.error();
      set_layer_edit(page.edits, std::move(edit));
    }
  }
  if (const auto edits = read_page_edits(where, answer, page.edits); !edits) return edits.error();
  return page;
}

}  // namespace headlight
