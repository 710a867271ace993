#include "session/session_file.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/utf8.h"
#include "read/array.h"
#include "read/json_document.h"
#include "read/mask_file.h"
#include "read/tensors.h"

namespace headlight {
namespace {

using nlohmann::json;

constexpr std::string_view kSchema = "headlight.session/1";
constexpr std::size_t kLargestSession = std::size_t{1} << 28;

/// Rows of the additive mask: false blocks, a number is added to the score.
json given_mask_json(const Matrix& mask) {
  json rows = json::array();
  for (Index i = 0; i < mask.rows(); ++i) {
    json row = json::array();
    for (Index j = 0; j < mask.cols(); ++j) {
      if (std::isinf(mask(i, j))) row.push_back(false);
      else row.push_back(mask(i, j));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

json mask_json(const MaskSpec& mask) {
  json object{{"causal", mask.causal}, {"padding", mask.padding}};
  if (mask.given) object["given"] = given_mask_json(*mask.given);
  if (!mask.painted.empty()) {
    json cells = json::array();
    for (const auto& cell : mask.painted) cells.push_back({cell.query, cell.key, cell.allowed ? 1 : 0});
    object["painted"] = std::move(cells);
  }
  return object;
}

json document_json(const Document& document) {
  json object;
  if (document.model) {
    object["source"] = document.source;
    object["num_heads"] = document.model->config.num_heads;
  } else {
    const Config& config = document.config;
    object["text"] = document.text;
    object["split"] = name(document.split);
    if (document.hand_cuts) object["cuts"] = *document.hand_cuts;
    object["pad"] = document.pad;
    object["random"] = true;
    object["arch"] = name(config.arch);
    object["d_model"] = config.d_model;
    object["num_heads"] = config.num_heads;
    object["layers"] = config.num_layers;
    object["ffn"] = config.ffn;
    object["position"] = name(config.position);
    object["norm"] = name(config.norm);
    object["activation"] = name(config.activation);
    object["bias"] = config.bias;
    object["seed"] = config.seed;
  }
  object["mask"] = mask_json(document.mask);
  if (document.edits.scale) object["scale"] = *document.edits.scale;
  return object;
}

/// Reads fields one after another and keeps the first thing that is wrong.
class Fields {
 public:
  Fields(std::string where, const json& object) : where_(std::move(where)), object_(object) {}

  const json* find(const char* key) const {
    const auto at = object_.find(key);
    return at == object_.end() ? nullptr : &*at;
  }
  void fail(std::string_view key, std::string_view expected, const json& found) {
    if (status_) status_ = bad_input(where_, key, expected, printable(found.dump()));
  }
  void read(const char* key, std::string& value) {
    if (const json* at = find(key)) at->is_string() ? void(value = at->get<std::string>()) : fail(key, "a string", *at);
  }
  void read(const char* key, bool& value) {
    if (const json* at = find(key)) at->is_boolean() ? void(value = at->get<bool>()) : fail(key, "true or false", *at);
  }
  template <class Integer>
  void read_integer(const char* key, Integer& value, std::uint64_t most) {
    const json* at = find(key);
    if (!at) return;
    if (at->is_number_unsigned() && at->get<std::uint64_t>() <= most) value = static_cast<Integer>(at->get<std::uint64_t>());
    else fail(key, "a whole number up to " + std::to_string(most), *at);
  }
  void read(const char* key, std::optional<float>& value) {
    const json* at = find(key);
    if (!at) return;
    if (at->is_number() && std::isfinite(at->get<float>())) value = at->get<float>();
    else fail(key, "a number", *at);
  }
  template <class Enum>
  void read_choice(const char* key, Enum& value, std::initializer_list<Enum> choices) {
    const json* at = find(key);
    if (!at) return;
    std::string expected;
    for (const Enum choice : choices) {
      if (at->is_string() && at->get<std::string>() == name(choice)) { value = choice; return; }
      expected.append(expected.empty() ? "" : ", ").append(name(choice));
    }
    fail(key, expected, *at);
  }

  const std::string& where() const { return where_; }
  const Status& status() const { return status_; }

 private:
  std::string where_;
  const json& object_;
  Status status_ = Done{};
};

void read_given(Fields& fields, const json& rows, MaskSpec& mask) {
  if (!rows.is_array() || rows.empty() || !rows[0].is_array() || rows[0].empty())
    return fields.fail("given", "rows of numbers", rows);
  Matrix matrix(static_cast<Index>(rows.size()), static_cast<Index>(rows[0].size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].is_array() || rows[i].size() != rows[0].size())
      return fields.fail("given", "rows of equal length", rows[i]);
    for (std::size_t j = 0; j < rows[i].size(); ++j) {
      const json& cell = rows[i][j];
      float value = 0;
      if (cell.is_boolean()) value = cell.get<bool>() ? 0.0f : -std::numeric_limits<float>::infinity();
      else if (cell.is_number() && std::isfinite(cell.get<float>())) value = cell.get<float>();
      else return fields.fail("given", "numbers, true or false", cell);
      matrix(static_cast<Index>(i), static_cast<Index>(j)) = value;
    }
  }
  mask.given = std::make_shared<const Matrix>(std::move(matrix));
}

Status read_mask_object(const std::string& where, const json& object, MaskSpec& mask) {
  if (!object.is_object()) return bad_input(where, "mask", "an object", object.type_name());
  Fields fields(where, object);
  fields.read("causal", mask.causal);
  fields.read("padding", mask.padding);
  if (const json* given = fields.find("given")) read_given(fields, *given, mask);
  if (const json* painted = fields.find("painted")) {
    if (!painted->is_array()) fields.fail("painted", "a list of [query, key, 0 or 1]", *painted);
    else for (const json& cell : *painted) {
      const bool valid = cell.is_array() && cell.size() == 3 && cell[0].is_number_unsigned() &&
                         cell[1].is_number_unsigned() && cell[2].is_number_unsigned() &&
                         cell[0].get<std::uint64_t>() < kMaxTokens && cell[1].get<std::uint64_t>() < kMaxTokens &&
                         cell[2].get<std::uint64_t>() <= 1;
      if (!valid) { fields.fail("painted", "a list of [query, key, 0 or 1]", cell); break; }
      paint(mask.painted, {cell[0].get<Index>(), cell[1].get<Index>(), cell[2].get<int>() != 0});
    }
  }
  return fields.status();
}

void read_cuts(Fields& fields, Document& document) {
  const json* cuts = fields.find("cuts");
  if (!cuts) return;
  std::vector<std::size_t> offsets;
  bool valid = cuts->is_array();
  for (const json& cut : valid ? *cuts : json::array()) {
    valid = valid && cut.is_number_unsigned();
    if (valid) offsets.push_back(cut.get<std::size_t>());
  }
  if (!valid || !are_cuts(document.text, offsets)) return fields.fail("cuts", "byte offsets inside the text", *cuts);
  document.hand_cuts = std::move(offsets);
}

Result<Document> document_from_json(const std::string& where, const json& object) {
  if (!object.is_object()) return bad_input(where, "request", "an object", object.type_name());
  Document document;
  Fields fields(where, object);
  std::string source;
  fields.read("source", source);
  fields.read_integer("num_heads", document.config.num_heads, static_cast<std::uint64_t>(kMaxHeads));
  fields.read("text", document.text);
  if (fields.status())
    if (const auto valid = check_utf8(where, document.text); !valid) return valid.error();
  fields.read_choice("split", document.split, {Split::words, Split::characters});
  read_cuts(fields, document);
  fields.read_integer("pad", document.pad, kMaxTokens);
  Config& config = document.config;
  fields.read_choice("arch", config.arch, {Arch::encoder, Arch::decoder});
  fields.read_integer("d_model", config.d_model, static_cast<std::uint64_t>(kMaxDModel));
  fields.read_integer("layers", config.num_layers, static_cast<std::uint64_t>(kMaxLayers));
  fields.read_integer("ffn", config.ffn, static_cast<std::uint64_t>(kMaxFfn));
  fields.read_choice("position", config.position, {Position::none, Position::sinusoidal});
  fields.read_choice("norm", config.norm, {Norm::post, Norm::pre});
  fields.read_choice("activation", config.activation, {Activation::relu, Activation::gelu});
  fields.read("bias", config.bias);
  fields.read_integer("seed", config.seed, std::numeric_limits<std::uint64_t>::max());
  fields.read("scale", document.edits.scale);
  if (!fields.status()) return fields.status().error();
  if (const json* mask = fields.find("mask"))
    if (const auto read = read_mask_object(where, *mask, document.mask); !read) return read.error();
  if (!source.empty()) {
    const auto num_heads = fields.find("num_heads") ? std::optional(config.num_heads) : std::nullopt;
    config = Config{};
    auto opened = open_tensors(source, num_heads);
    if (!opened) return opened.error();
    document.model = std::move(opened->session.document.model);
    document.source = std::move(opened->session.document.source);
  } else if (const auto valid = check(config); !valid) {
    return Error{where + ": " + valid.error().message};
  }
  return document;
}

/// A whole number, 0 for anything else; bounded, so that sums of them are numbers too.
Index index_of(const json& value) {
  if (!value.is_number_unsigned()) return 0;
  return static_cast<Index>(std::min<std::uint64_t>(value.get<std::uint64_t>(), kMostElements));
}

/// The look never keeps a session from opening: what cannot be used takes its default.
ViewState view_from_json(const json& object, std::size_t num_sentences) {
  ViewState view;
  if (!object.is_object()) return view;
  const auto index = [&](const char* key) { return index_of(object.value(key, json())); };
  view.sentence = std::min(static_cast<std::size_t>(index("sentence")), std::max<std::size_t>(num_sentences, 1) - 1);
  view.chosen = {index("layer"), index("head")};
  if (object.value("scale", json()) == "log") view.scale = Scale::log;
  const json pinned = object.value("pinned", json()), viewport = object.value("viewport", json());
  if (pinned.is_array() && pinned.size() == 2) view.pinned = CellRef{index_of(pinned[0]), index_of(pinned[1])};
  if (viewport.is_array() && viewport.size() == 4)
    view.viewport = {index_of(viewport[0]), index_of(viewport[1]), index_of(viewport[2]), index_of(viewport[3])};
  return view;
}

json view_json(const ViewState& view) {
  json object{{"sentence", view.sentence}, {"layer", view.chosen.layer}, {"head", view.chosen.head},
              {"scale", view.scale == Scale::log ? "log" : "linear"}};
  if (view.pinned) object["pinned"] = {view.pinned->query, view.pinned->key};
  const Viewport& part = view.viewport;
  if (part != Viewport{}) object["viewport"] = {part.first_query, part.num_queries, part.first_key, part.num_keys};
  return object;
}

}  // namespace

std::string request_json(const Document& document, std::optional<std::size_t> sentence) {
  json object = document_json(document);
  if (sentence) object["sentence"] = *sentence;
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string to_json(const Session& session) {
  const json object{{"schema", kSchema}, {"request", document_json(session.document)}, {"view", view_json(session.view)}};
  return object.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<Session> session_from_json(const std::string& where, const std::string& text) {
  const auto object = parse_json(where, text);
  if (!object) return object.error();
  if (!object->is_object() || object->value("schema", json()) != kSchema)
    return bad_input(where, "schema", kSchema,
                     !object->is_object()             ? "no object"
                     : object->contains("schema") ? printable((*object)["schema"].dump())
                                                  : "nothing");
  const auto request = object->find("request");
  if (request == object->end()) return bad_input(where, "request", "an object", "nothing");
  auto document = document_from_json(where, *request);
  if (!document) return document.error();
  const std::size_t num_sentences = document->model ? 1 : sentences(document->text).size();
  return Session{std::move(*document), view_from_json(object->value("view", json()), num_sentences)};
}

Result<Session> read_session(const std::filesystem::path& path) {
  const auto text = read_file(path, kLargestSession);
  if (!text) return text.error();
  return session_from_json(path.string(), *text);
}

Result<Opened> open_tensors(const std::filesystem::path& path, std::optional<Index> num_heads) {
  auto file = read_tensors(path, num_heads);
  if (!file) return file.error();
  Opened opened;
  opened.kind = Opened::Kind::document;
  opened.warnings = std::move(file->warnings);
  Document& document = opened.session.document;
  document.model = std::move(file->model);
  // The session may be opened from another folder than this one.
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  document.source = (error ? path : absolute.lexically_normal()).string();
  if (file->mask) document.mask.given = std::make_shared<const Matrix>(std::move(*file->mask));
  return opened;
}

Result<Opened> open_any(const std::filesystem::path& path) {
  const std::string name = path.filename().string(), ending = path.extension().string();
  Opened opened;
  if (ending == ".safetensors" || ending == ".npz") return open_tensors(path, std::nullopt);
  if (ending == ".npy" || (ending == ".json" && !name.ends_with(".headlight.json"))) {
    auto mask = read_mask(path);
    if (!mask) return mask.error();
    opened.kind = Opened::Kind::mask;
    opened.mask = std::make_shared<const Matrix>(std::move(*mask));
    return opened;
  }
  if (ending == ".json") {
    auto session = read_session(path);
    if (!session) return session.error();
    opened.kind = Opened::Kind::session;
    opened.session = std::move(*session);
    return opened;
  }
  if (ending == ".txt" || ending.empty()) {
    auto text = read_file(path, std::size_t{1} << 24);
    if (!text) return text.error();
    if (const auto valid = check_utf8(path.string(), *text); !valid) return valid.error();
    opened.text = std::move(*text);
    if (opened.text.starts_with("\uFEFF")) opened.text.erase(0, std::string_view("\uFEFF").size());
    while (opened.text.ends_with('\n') || opened.text.ends_with('\r')) opened.text.pop_back();
    return opened;
  }
  return bad_input(path.string(), "kind", ".headlight.json, .safetensors, .npz, .npy, .json or .txt",
                   ending.empty() ? "no ending" : ending);
}

}  // namespace headlight
