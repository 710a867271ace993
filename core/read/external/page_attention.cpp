#include "read/external/page_attention.h"

#include <cstring>

#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "model/half.h"
#include "model/head_text.h"
#include "read/external/packed_planes.h"
#include "read/external/patterns.h"
#include "read/json/json_fields.h"

namespace headlight {
namespace {

using nlohmann::json;

/// Numbers of all heads together: a page of that many takes a gigabyte.
constexpr std::int64_t kMostPageNumbers = Index{1} << 28;
/// The same, and weights, where only some heads are in the page: no byte of the file pays for the others.
constexpr std::int64_t kMostPartNumbers = Index{1} << 25;

/// Reads one attention of a page. After the first problem that is noted what is read is not used.
class PageStackReader {
 public:
  PageStackReader(const JsonField& answer, const JsonField& stack, const PageNumbers& beside)
      : answer_(answer), stack_(stack), beside_(beside) {}

  PageStack read() {
    using ReadPart = void (PageStackReader::*)();
    for (const ReadPart part :
         {&PageStackReader::read_shape, &PageStackReader::read_heads, &PageStackReader::check_size,
          &PageStackReader::read_layers, &PageStackReader::read_numbers})
      if (stack_.is_good()) (this->*part)();
    return std::move(page_);
  }

 private:
  Tokens tokens_of_side(const char* side) {
    const JsonField name = stack_.at(side);
    const std::string list_name = name.value().is_string() ? name.value().get<std::string>() : "";
    const json& list = value_or_null(answer_.value(), list_name.c_str());
    if (!list.is_array() || list.empty() || list.size() > kMaxTokens) {
      name.problem("the name of a list of 1 to " + std::to_string(kMaxTokens) + " tokens");
      return {};
    }
    Tokens tokens = numbered_tokens(static_cast<Index>(list.size()));
    const auto taken = take_details(name.problems().where, list_name, list, tokens);
    if (!taken && name.is_good()) name.problems().first = taken.error();
    for (std::size_t i = 0; i < list.size() && taken; ++i) {
      tokens.tokens[i].pad = value_or_null(list[i], "pad") == true;
      tokens.tokens[i].continues = value_or_null(list[i], "continues") == true;
    }
    tokens.has_words = true;  // a page names the later pieces of all words
    if (answer_.has("picture")) tokens.picture = picture_of(tokens.size());
    return tokens;
  }

  /// The grid of the page's picture, without its pixels.
  std::shared_ptr<const PatchedPicture> picture_of(std::size_t tokens) {
    if (picture_) return picture_;
    const JsonField object = answer_.at("picture");
    PatchedPicture picture;
    picture.name = object.text("name", "");
    picture.grid.patch = object.integer("patch", 1, static_cast<Index>(kMaxTokens));
    picture.grid.rows = object.integer("rows", 1, static_cast<Index>(kMaxTokens));
    picture.grid.cols = object.integer("cols", 1, static_cast<Index>(kMaxTokens));
    for (const JsonField& name : object.at("before").items()) picture.grid.leading.push_back(name.text());
    if (object.is_good() && picture.grid.tokens() != static_cast<Index>(tokens))
      object.problem("a patch for each token", picture.grid.tokens());
    picture_ = std::make_shared<const PatchedPicture>(std::move(picture));
    return picture_;
  }

  void read_shape() {
    page_.query_tokens = tokens_of_side("queries");
    page_.key_tokens = tokens_of_side("keys");
    queries_ = static_cast<Index>(page_.query_tokens.size());
    keys_ = static_cast<Index>(page_.key_tokens.size());
    layers_ = stack_.integer("layers", 1, kMaxLayers);
    heads_ = stack_.integer("heads", 1, kMaxHeads);
    groups_ = stack_.integer("kv_heads", 1, kMaxHeads);
    number_ = stack_.integer("number", 0, 2);
    has_weights_ = has_numbers("weights");
    d_k_ = stack_.integer("d_k", has_weights_ ? 0 : 1, kMaxDModel);
    if (heads_ % groups_ != 0) stack_.at("kv_heads").problem("a divisor of heads");
  }

  bool has_numbers(const char* field) const { return stack_.has(field) || (beside_ && beside_(number_, field)); }

  void read_heads() {
    if (!stack_.has("only")) {
      for (Index layer = 0; layer < layers_; ++layer)
        for (Index head = 0; head < heads_; ++head) page_.heads.push_back({layer, head});
      return;
    }
    for (const JsonField& item : stack_.at("only").items()) {
      const auto head = item.value().is_string() ? parse_head(item.text()) : std::nullopt;
      if (!head || head->layer >= layers_ || head->head >= heads_ || head->stack != Stack::self ||
          (!page_.heads.empty() && !(page_.heads.back() < *head)))
        return item.problem("heads of the attention, in order");
      page_.heads.push_back(*head);
    }
    if (page_.heads.empty()) stack_.at("only").problem("a list of heads");
  }

  void check_size() {
    std::int64_t layers = 0;  // that have heads in the page
    for (std::size_t i = 0; i < page_.heads.size(); ++i)
      if (i == 0 || page_.heads[i].layer != page_.heads[i - 1].layer) ++layers;
    const std::int64_t weights = std::int64_t{layers_} * heads_ * queries_ * keys_;
    const std::int64_t numbers = has_weights_ ? weights : layers * d_k_ * (heads_ * queries_ + groups_ * keys_);
    if (numbers > kMostPageNumbers) stack_.problem("at most 2^28 numbers", numbers);
    const bool is_part = static_cast<Index>(page_.heads.size()) < layers_ * heads_;
    if (is_part && std::max(weights, numbers) > kMostPartNumbers)
      stack_.at("only").problem("at most 2^25 numbers of all heads, where some are not in the page",
                                std::max(weights, numbers));
  }

  std::shared_ptr<const RelativeBias> relative_bias(const JsonField& object) const {
    std::vector<Index> shape;
    object.read_list("shape", shape, 1, kMaxTokens);
    const auto bytes = decode_base64(object.text("data"));
    RelativeBias bias;
    bias.of_keys = object.has("of_keys") && object.at("of_keys").flag();
    bias.of_pairs = object.has("of_pairs") && object.at("of_pairs").flag();
    bias.bidirectional = object.at("bidirectional").flag();
    bias.max_distance = object.integer("max_distance", 0, Index{1} << 30);
    const bool has_rows = !object.is_good() || shape.empty() ? false
                          : bias.of_keys                     ? shape[0] >= keys_
                          : bias.of_pairs
                              ? shape[0] == queries_ * keys_
                              : shape[0] >= 4 && bias.max_distance > shape[0] / (bias.bidirectional ? 4 : 2);
    const bool fits = has_rows && shape.size() == 2 && shape[1] == heads_ && bytes &&
                      bytes->size() == static_cast<std::size_t>(4 * shape[0] * shape[1]);
    if (fits) {
      bias.table.resize(shape[0], shape[1]);
      std::memcpy(bias.table.data(), bytes->data(), bytes->size());
    }
    if (!fits || !bias.table.allFinite()) object.problem("a bias of distances for each head", "another table");
    return std::make_shared<const RelativeBias>(std::move(bias));
  }

  /// A list with an item for each layer, or one value that all of them have.
  std::vector<JsonField> of_each_layer(const char* key) const {
    const JsonField field = stack_.at(key);
    if (!field.value().is_array()) return std::vector<JsonField>(static_cast<std::size_t>(layers_), field);
    auto items = field.items();
    if (items.size() != static_cast<std::size_t>(layers_)) field.problem("a value for each layer");
    return items;
  }

  /// float16 numbers (rows, d_k of all heads), or of a part that is not there none.
  Matrix distance_part(const JsonField& object, const char* name, Index rows) const {
    if (!object.has(name)) return {};
    const auto bytes = decode_base64(object.text(name));
    if (!bytes || bytes->size() != static_cast<std::size_t>(2 * rows * heads_ * d_k_)) {
      object.at(name).problem("a row for each distance");
      return {};
    }
    Matrix numbers(rows, heads_ * d_k_);
    if (!put_numbers(bytes->data(), bytes->data() + 1, 2, numbers)) object.at(name).problem("finite numbers");
    return numbers;
  }

  std::shared_ptr<const DistanceVectors> distances(const JsonField& object) const {
    DistanceVectors vectors;
    const Index rows = object.integer("rows", 1, 2 * kMaxTokens);
    vectors.keys = distance_part(object, "keys", rows);
    vectors.queries = distance_part(object, "queries", rows);
    vectors.exact = object.integer("exact", 0, rows);
    vectors.max_distance = object.integer("max_distance", 0, Index{1} << 30);
    if (vectors.rows() == 0) object.problem("vectors of keys or of queries");
    if (vectors.exact > 0 && (vectors.max_distance <= vectors.exact || vectors.exact > rows / 2))
      object.at("exact").problem("less than the distances that there are");
    return std::make_shared<const DistanceVectors>(std::move(vectors));
  }

  /// What the scores of some families have besides q·k, and their windows.
  void read_terms() {
    page_.windows.assign(page_.layers.size(), 0);
    const auto each = [&](const char* key, const auto& take) {
      if (!stack_.has(key)) return;
      const auto items = of_each_layer(key);
      for (std::size_t layer = 0; layer < page_.layers.size() && stack_.is_good(); ++layer) take(layer, items[layer]);
    };
    each("windows", [&](std::size_t layer, const JsonField& item) {
      page_.windows[layer] = item.integer(0, static_cast<std::int64_t>(Index{1} << 30));
    });
    each("softcap", [&](std::size_t layer, const JsonField& item) {
      page_.layers[layer].softcap = item.number();
      if (!(page_.layers[layer].softcap >= 0)) item.problem("0 or more");
    });
    if (stack_.has("sinks")) {
      const auto bytes = decode_base64(stack_.text("sinks"));
      Matrix sinks(layers_, heads_);
      if (!bytes || bytes->size() != static_cast<std::size_t>(4 * sinks.size()))
        return stack_.at("sinks").problem("a number for each head");
      std::memcpy(sinks.data(), bytes->data(), bytes->size());
      if (!sinks.allFinite()) return stack_.at("sinks").problem("finite numbers");
      for (std::size_t layer = 0; layer < page_.layers.size(); ++layer)
        page_.layers[layer].sinks = sinks.row(static_cast<Index>(layer));
    }
    if (stack_.has("distances"))
      each("distances", [&](std::size_t layer, const JsonField& item) {
        if (!item.value().is_null()) page_.layers[layer].distances = distances(item);
      });
  }

  void read_layers() {
    std::vector<std::shared_ptr<const RelativeBias>> tables;
    if (stack_.has("relative"))
      for (const JsonField& object : stack_.at("relative").items()) tables.push_back(relative_bias(object));
    for (const JsonField& scale : of_each_layer("scale")) {
      AttentionTrace& attention = page_.layers.emplace_back();
      attention.scale = scale.number();
      attention.num_kv_heads = groups_;
      attention.heads.resize(static_cast<std::size_t>(heads_));
    }
    read_terms();
    if (tables.empty()) return;
    const auto numbers = of_each_layer("relative_of_layer");
    for (std::size_t layer = 0; layer < page_.layers.size() && stack_.is_good(); ++layer)
      if (const auto table = numbers[layer].integer(-1, static_cast<Index>(tables.size()) - 1); table >= 0)
        page_.layers[layer].relative_bias = tables[static_cast<std::size_t>(table)];
  }

  /// The bytes of one field: `each` numbers a head. With planes the field is a list, one item a layer.
  std::string bytes_of(const JsonField& field, const std::vector<HeadRef>& heads, Index each) const {
    const bool packed = field.value().is_array();
    const auto parts = packed ? field.items() : std::vector<JsonField>{field};
    std::string all;
    auto part = parts.begin();
    for (auto head = heads.begin(); head != heads.end(); ++part) {
      const auto end = packed ? end_of_layer(head, heads) : heads.end();
      const auto expected = static_cast<std::size_t>(2 * each * (end - head));
      const bool is_text = part != parts.end() && part->value().is_string();
      auto bytes = is_text ? decode_base64(part->value().get_ref<const std::string&>()) : std::nullopt;
      if (bytes && packed) {
        auto planes = inflated(*bytes, expected);
        bytes = planes ? *std::move(planes) : std::string();
      }
      if (!bytes || bytes->size() != expected) {
        field.problems().note(field.path(), std::to_string(expected) + " bytes in base64",
                              bytes     ? std::to_string(bytes->size())
                              : is_text ? "no base64"
                                        : "none");
        return {};
      }
      if (!packed) return *std::move(bytes);
      all += *bytes;
      head = end;
    }
    return all;
  }

  /// float16 numbers, row after row: the low byte of each at `low` and its high byte at `high`, `step` bytes apart.
  /// False where one is not finite; with `gaps` they may be NaN.
  static bool put_numbers(const char* low, const char* high, Index step, MatrixRef block, bool gaps = false) {
    constexpr unsigned kInfinite = 0x7C00;
    unsigned largest = 0;
    for (Index row = 0; row < block.rows(); ++row) {
      float* numbers = block.row(row).data();
      for (Index column = 0; column < block.cols(); ++column, low += step, high += step) {
        const unsigned bits = static_cast<unsigned char>(*low) | unsigned{static_cast<unsigned char>(*high)} << 8;
        if (const unsigned size = bits & 0x7FFF; !gaps || size == kInfinite) largest = std::max(largest, size);
        numbers[column] = from_float16(static_cast<std::uint16_t>(bits));
      }
    }
    return largest < kInfinite;
  }

  /// Puts the numbers of each head into the block that `block_of` gives for it, once all their bytes are there.
  template <class BlockOf>
  void read_blocks(const char* key, const std::vector<HeadRef>& heads, Index each, const BlockOf& block_of) {
    const JsonField field = stack_.at(key);
    const auto beside = beside_ ? beside_(number_, key) : std::nullopt;
    const std::string own = beside ? "" : bytes_of(field, heads, each);
    const std::string_view bytes = beside.value_or(own);
    const auto expected = static_cast<std::size_t>(2 * each) * heads.size();
    if (field.is_good() && bytes.size() != expected)
      field.problems().note(field.path(), std::to_string(expected) + " bytes", std::to_string(bytes.size()));
    if (!field.is_good()) return;
    const char* at = bytes.data();
    const bool planes = field.value().is_array();
    const Index step = planes ? 1 : 2;
    for (auto head = heads.begin(); head != heads.end();) {
      const auto end = planes ? end_of_layer(head, heads) : head + 1;
      const Index high = planes ? each * (end - head) : 1;
      for (; head != end; ++head, at += step * each)
        if (!put_numbers(at, at + high, step, block_of(*head), has_weights_))
          return field.problems().note(field.path(), "finite numbers", "nan or inf");
      if (planes) at += high;
    }
  }

  /// Heads that are not in the page are 0.
  Matrix& sized(Matrix& matrix, Index rows, Index columns) const {
    const bool is_whole = static_cast<Index>(page_.heads.size()) == layers_ * heads_;
    if (matrix.size() == 0 && !is_whole) matrix.setZero(rows, columns);
    if (is_whole) matrix.resize(rows, columns);
    return matrix;
  }

  void read_numbers() {
    const auto layer_of = [&](const HeadRef& head) -> AttentionTrace& {
      return page_.layers[static_cast<std::size_t>(head.layer)];
    };
    if (has_weights_) {
      page_.patterns.assign(page_.layers.size(), std::vector<Matrix>(static_cast<std::size_t>(heads_)));
      for (std::size_t i = 0; i < page_.layers.size(); ++i) page_.layers[i].patterns = &page_.patterns[i];
      read_blocks("weights", page_.heads, queries_ * keys_, [&](const HeadRef& head) -> MatrixRef {
        return sized(page_.patterns[static_cast<std::size_t>(head.layer)][static_cast<std::size_t>(head.head)],
                     queries_, keys_);
      });
      if (!stack_.is_good()) return;
      for (std::size_t i = 0; i < page_.layers.size(); ++i)
        for (Matrix& head : page_.patterns[i]) {
          const Matrix& numbers = sized(head, queries_, keys_);
          page_.layers[i].has_gaps = page_.layers[i].has_gaps || numbers.hasNaN();
          page_.layers[i].is_signed = page_.layers[i].is_signed || (numbers.array() < 0).any();
        }
      return;
    }
    std::vector<HeadRef> groups;
    for (const HeadRef& head : page_.heads) {
      const HeadRef group{head.layer, head.head * groups_ / heads_};
      if (groups.empty() || groups.back() != group) groups.push_back(group);
    }
    // Of a layer without heads in the page nothing is computed.
    read_blocks("q", page_.heads, queries_ * d_k_, [&](const HeadRef& head) -> MatrixRef {
      return sized(layer_of(head).query, queries_, heads_ * d_k_).middleCols(head.head * d_k_, d_k_);
    });
    read_blocks("k", groups, keys_ * d_k_, [&](const HeadRef& group) -> MatrixRef {
      return sized(layer_of(group).key, keys_, groups_ * d_k_).middleCols(group.head * d_k_, d_k_);
    });
    if (!has_numbers("v")) return;
    const Index d_v = stack_.integer("d_v", 1, kMaxDModel);
    read_blocks("v", groups, keys_ * d_v, [&](const HeadRef& group) -> MatrixRef {
      return sized(layer_of(group).value, keys_, groups_ * d_v).middleCols(group.head * d_v, d_v);
    });
  }

  const JsonField &answer_, &stack_;
  const PageNumbers& beside_;
  std::shared_ptr<const PatchedPicture> picture_ = {};  // of both sides
  PageStack page_;
  Index number_ = 0;
  Index layers_ = 0, heads_ = 0, groups_ = 0, d_k_ = 0, queries_ = 0, keys_ = 0;
  bool has_weights_ = false;
};

}  // namespace

Result<PageAttention> page_attention(const std::string& where, const json& answer, const PageNumbers& beside) {
  JsonProblems problems{where};
  const JsonField fields(answer, "", problems);
  PageAttention page;
  page.error = fields.number("error");
  for (const JsonField& item : fields.at("stacks").items()) {
    const auto stack = static_cast<Stack>(item.integer("number", 0, 2));
    if (page.stacks.contains(stack)) item.at("number").problem("0, 1 or 2, each once");
    if (problems.first) break;
    page.stacks.emplace(stack, PageStackReader(fields, item, beside).read());
  }
  if (page.stacks.empty()) fields.at("stacks").problem("a list of attentions");
  if (fields.has("summed_up")) {
    const JsonField summed = fields.at("summed_up");
    page.summed_up = {summed.text("by"), summed.text("en"), summed.text("zh")};
  }
  if (problems.first) return *problems.first;
  return page;
}

}  // namespace headlight
