#include "page/page_data.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "derived/shades.h"
#include "figure/head_name.h"
#include "figure/labels.h"
#include "model/head_text.h"
#include "page/core/answer_object.h"
#include "page/page_numbers.h"
#include "question/question_fields.h"
#include "read/external/page_attention.h"
#include "read/picture/picture_file.h"
#include "words/relation_words.h"
#include "write/json.h"

namespace headlight {
namespace {

using nlohmann::json;

/// Thumbnails of sentences of more tokens go along, so that the first picture waits for nothing.
constexpr Index kShownAtOnce = 128;
/// Their longer side in cells.
constexpr Index kThumbnailOfPage = 64;

std::vector<HeadRef> of_stack(std::vector<HeadRef> heads, Stack stack) {
  std::erase_if(heads, [&](const HeadRef& head) { return head.stack != stack; });
  return heads;
}

/// The heads of keys and values that these heads read, each once, in the order of layers and heads.
std::vector<HeadRef> groups_of(const Trace& trace, const std::vector<HeadRef>& heads) {
  std::set<HeadRef> groups;
  for (const HeadRef& head : heads)
    groups.insert({head.layer, trace.attention(head.stack, head.layer).kv_head(head.head), head.stack});
  return {groups.begin(), groups.end()};
}

enum class HeadPart { query, key, value, weights };

/// The numbers of one head, (T, d_k), (S, d_k), (S, d_v) or (T, S).
ConstMatrixRef numbers_of(const Trace& trace, const HeadRef& head, HeadPart part) {
  const AttentionTrace& attention = trace.attention(head.stack, head.layer);
  switch (part) {
    case HeadPart::query: return head_columns(attention.query, head.head, attention.num_heads());
    case HeadPart::key: return head_columns(attention.key, head.head, attention.num_kv_heads);
    case HeadPart::value: return head_columns(attention.value, head.head, attention.num_kv_heads);
    case HeadPart::weights: break;
  }
  return (*attention.patterns)[static_cast<std::size_t>(head.head)];
}

/// Heads one after another as base64 in a JSON string; packed, a list, of each layer the position of a text beside
/// the data: browsers read long elements slowly.
void write_numbers(const Trace& trace, const std::vector<HeadRef>& heads, HeadPart part, bool packed, PageSink& sink) {
  if (sink.only_counts()) {
    Index count = 0;
    for (const HeadRef& head : heads) count += numbers_of(trace, head, part).size();
    const std::size_t bytes = base64_size(2 * static_cast<std::size_t>(count));
    sink.numbers += bytes;
    sink.bytes += bytes;
    return;
  }
  if (packed) sink("[");
  Base64Encoder encoder;
  std::string text = "\"";
  for (auto head = heads.begin(); head != heads.end();) {
    const auto end = end_of_layer(head, heads);
    const auto bytes = [&trace, part, of_layer = std::vector<HeadRef>(head, end)] {
      std::string numbers;
      for (const HeadRef& one : of_layer) append_float16(numbers_of(trace, one, part), numbers);
      return numbers;
    };
    if (packed) {
      sink((head == heads.begin() ? "" : ",") + std::to_string(sink.beside.size()));
      sink.beside.push_back([bytes] { return encode_base64(packed_planes(bytes())); });
    } else {
      encoder.add(bytes(), text);
      if (!sink(text)) return;
      text.clear();
    }
    head = end;
  }
  encoder.finish(text);
  sink(packed ? "]" : text + "\"");
}

std::string float32_base64(const Matrix& numbers) {
  return encode_base64({reinterpret_cast<const char*>(numbers.data()), static_cast<std::size_t>(numbers.size()) * 4});
}

/// The tables of relative biases, each once, and which is each layer's: −1 for none.
void add_relative(const Trace& trace, Stack stack, json& object) {
  std::vector<const RelativeBias*> tables;
  json of_layer = json::array();
  for (Index layer = 0; layer < trace.num_layers(stack); ++layer) {
    const RelativeBias* bias = trace.attention(stack, layer).relative_bias.get();
    const auto known = std::ranges::find(tables, bias);
    if (!bias) {
      of_layer.push_back(-1);
      continue;
    }
    of_layer.push_back(known - tables.begin());
    if (known != tables.end()) continue;
    tables.push_back(bias);
    object["relative"].push_back({{"shape", {bias->table.rows(), bias->table.cols()}},
                                  {"data", float32_base64(bias->table)},
                                  {"bidirectional", bias->bidirectional},
                                  {"max_distance", bias->max_distance}});
    if (bias->of_keys) object["relative"].back()["of_keys"] = true;
    if (bias->of_pairs) object["relative"].back()["of_pairs"] = true;
  }
  if (!tables.empty()) object["relative_of_layer"] = std::move(of_layer);
}

/// The window of each layer itself, which its mask has besides what was asked.
json windows_of(const Trace& trace, Stack stack) {
  const auto& blocks = stack == Stack::encoder ? trace.model->encoder->blocks : trace.model->blocks;
  json windows = json::array();
  for (Index layer = 0; layer < trace.num_layers(stack); ++layer) {
    const auto at = static_cast<std::size_t>(layer);
    windows.push_back(stack == Stack::cross || at >= blocks.size() ? 0 : blocks[at].self.window);
  }
  return windows;
}

std::string float16_base64(const Matrix& numbers) {
  std::string bytes;
  append_float16(numbers, bytes);
  return encode_base64(bytes);
}

json distances_object(const DistanceVectors& vectors) {
  json object{{"rows", vectors.rows()}, {"exact", vectors.exact}, {"max_distance", vectors.max_distance}};
  if (vectors.keys.size() > 0) object["keys"] = float16_base64(vectors.keys);
  if (vectors.queries.size() > 0) object["queries"] = float16_base64(vectors.queries);
  return object;
}

/// What some model families add to the scores besides q·k, a value for each layer.
void add_terms(const Trace& trace, Stack stack, json& object) {
  const AttentionTrace& first = trace.attention(stack, 0);
  json caps = json::array(), distances = json::array();
  Matrix sinks(trace.num_layers(stack), first.sinks.size());
  bool any_cap = false, any_distance = false;
  for (Index layer = 0; layer < trace.num_layers(stack); ++layer) {
    const AttentionTrace& attention = trace.attention(stack, layer);
    caps.push_back(attention.softcap);
    any_cap = any_cap || attention.softcap > 0;
    distances.push_back(attention.distances ? distances_object(*attention.distances) : json());
    any_distance = any_distance || attention.distances;
    if (sinks.cols() > 0) sinks.row(layer) = attention.sinks;
  }
  if (any_cap) object["softcap"] = std::move(caps);
  if (any_distance) object["distances"] = std::move(distances);
  if (sinks.size() > 0) object["sinks"] = float32_base64(sinks);
  json windows = windows_of(trace, stack);
  if (std::ranges::any_of(windows, [](const json& one) { return one != 0; })) object["windows"] = std::move(windows);
}

bool has_thumbnails(const Trace& trace, Stack stack) {
  // Their bytes are shares.
  const bool shares = !trace.is_signed && trace.largest_weight <= 1;
  return shares && std::max(trace.queries(stack), trace.keys(stack)) > kShownAtOnce;
}

/// The heads' thumbnails as the answer has them, a byte a cell: 0 … 254 for weights of 0 … 1, 255 for blocked.
json thumbnails_of(const Trace& trace, const std::vector<HeadRef>& heads) {
  std::string bytes;
  for (const HeadRef& head : heads) {
    const Matrix small = pooled(trace.head(head).thumbnail, kThumbnailOfPage);
    for (Index i = 0; i < small.size(); ++i) {
      const float weight = small.data()[i];
      bytes += weight < 0 ? '\xFF' : static_cast<char>(std::lround(254 * std::min(weight, 1.0f)));
    }
  }
  return {{"side", kThumbnailOfPage}, {"data", encode_base64(bytes)}};
}

void write_stack(const Trace& trace, const StackNames& names, const PagePlan& plan, PageSink& sink) {
  const Stack stack = names.stack;
  const auto heads = of_stack(plan.heads, stack);
  const AttentionTrace& first = trace.attention(stack, 0);
  const Index num_heads = first.num_heads();
  json object = page_stack(trace, names);
  if (!first.patterns) add_terms(trace, stack, object);
  add_relative(trace, stack, object);
  if (static_cast<Index>(heads.size()) < trace.num_layers(stack) * num_heads)
    for (const HeadRef& head : heads)
      object["only"].push_back(std::to_string(head.layer) + "." + std::to_string(head.head));
  if (has_thumbnails(trace, stack)) object["thumbnails"] = thumbnails_of(trace, heads);
  std::string text = page_json(object);
  text.pop_back();
  sink(text);
  const auto part = [&](const char* name, const std::vector<HeadRef>& of, HeadPart which) {
    sink(std::string(",\"") + name + "\":");
    write_numbers(trace, of, which, plan.packed, sink);
  };
  if (first.patterns) {
    part("weights", heads, HeadPart::weights);
  } else {
    const auto read = groups_of(trace, heads);
    part("q", heads, HeadPart::query);
    part("k", read, HeadPart::key);
    if (plan.values) part("v", read, HeadPart::value);
  }
  sink("}");
}

json edits_object(const Trace& trace) {
  Edits edits = trace.request.edits;
  for (LayerEdit& edit : edits.layers)
    if (edit.mask) edit.mask = of_one_sentence(*edit.mask);
  json object = json::object();
  write_edits(edits, object);
  if (edits.dropout > 0) object["seed"] = std::to_string(edits.dropout_seed);  // whole: JavaScript rounds numbers
  return object;
}

/// The heads in the page that have named cells in this sentence, with these.
json relations_object(const Trace& trace, const SentenceArcs& arcs, const std::vector<HeadRef>& heads) {
  json list = json::array();
  const auto both = [](const std::string& en, const std::string& zh) { return json{{"en", en}, {"zh", zh}}; };
  for (const StackNames& names : stacks_of(trace))
    for (const HeadRef& head : of_stack(heads, names.stack)) {
      const HeadName en = head_name(Language::en, arcs, head, nullptr),
                     zh = head_name(Language::zh, arcs, head, nullptr);
      if (!en.named) continue;
      json& row = list.emplace_back(json{{"stack", names.label},
                                         {"layer", head.layer},
                                         {"head", head.head},
                                         {"label", both(en.words, zh.words)},
                                         {"brief", both(en.brief, zh.brief)},
                                         {"arcs", json::array()}});
      for (const NamedArc* arc : en.arcs)
        row["arcs"].push_back({{"query", arc->cell.query},
                               {"key", arc->cell.key},
                               {"relation", arc->relation},
                               {"reversed", arc->reversed},
                               {"label", both(relation_in_words(Language::en, arc->relation, arc->reversed),
                                              relation_in_words(Language::zh, arc->relation, arc->reversed))},
                               {"precision", arc->precision}});
    }
  return list;
}

/// How many words rest on the first token, in heads that were taught.
json resting_object(const Trace& trace, const SentenceArcs& arcs) {
  json list = json::array();
  for (const StackNames& names : stacks_of(trace))
    for (const SentenceArcs::Resting& one : arcs.resting)
      if (one.head.stack == names.stack)
        list.push_back({{"stack", names.label},
                        {"layer", one.head.layer},
                        {"head", one.head.head},
                        {"words", one.words},
                        {"all", one.all}});
  return list;
}

}  // namespace

std::string without_markup(std::string text) {
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at))
    text.replace(at, 1, "\\u003c");
  return text;
}

Status check_numbers(const Trace& trace, const std::vector<HeadRef>& heads) {
  for (const HeadRef& head : heads) {
    const AttentionTrace& attention = trace.attention(head.stack, head.layer);
    if (attention.patterns) {
      const Matrix& numbers = (*attention.patterns)[static_cast<std::size_t>(head.head)];
      const float largest = numbers.array().isNaN().select(0.0f, numbers).cwiseAbs().maxCoeff();
      if (largest > kLargestFloat16)
        return bad_input("page", head_text(head), "numbers up to 65504, which float16 holds", brief_number(largest));
      continue;
    }
    const HeadRef group{head.layer, attention.kv_head(head.head), head.stack};
    for (const auto& [name, of, part] : {std::tuple("query", head, HeadPart::query),
                                         {"key", group, HeadPart::key},
                                         {"value", group, HeadPart::value}}) {
      const float largest = numbers_of(trace, of, part).cwiseAbs().maxCoeff();
      if (largest > kLargestFloat16)
        return bad_input("page", head_text(head) + " " + name, "numbers up to 65504, which float16 holds",
                         brief_number(largest));
    }
  }
  return Done{};
}

void write_answer(const Trace& trace, const SentenceArcs& arcs, const PagePlan& plan, float error, PageSink& sink) {
  const char* between = "";
  for (const NamedTokens& named : named_tokens(trace)) {
    sink(between + ("\"" + named.name + "\":") + page_json(page_tokens(*named.tokens)));
    between = ",";
  }
  if (const auto& picture = trace.query_tokens().picture) {
    const PatchGrid& grid = picture->grid;
    const bool bare = is_bare(grid);  // a grid of squares alone, which a page has as a picture without pixels
    const json object{{"name", picture->name},  {"patch", bare ? Index{1} : grid.patch},
                      {"rows", grid.rows},      {"cols", grid.cols},
                      {"before", grid.leading}, {"png", bare ? std::string() : encode_base64(png_of(picture->seen))}};
    sink(",\"picture\":" + page_json(object));
  }
  sink(",\"stacks\":[");
  between = "";
  for (const StackNames& names : stacks_of(trace)) {
    if (of_stack(plan.heads, names.stack).empty()) continue;
    sink(between);
    write_stack(trace, names, plan, sink);
    between = ",";
  }
  sink("],\"edits\":" + page_json(edits_object(trace)));
  sink(",\"relations\":" + page_json(relations_object(trace, arcs, plan.heads)));
  if (!arcs.resting.empty())
    sink(",\"resting\":" + page_json(resting_object(trace, arcs)) + ",\"rest\":" + page_json(arcs.rest));
  sink(",\"largest\":" + page_json(trace.largest_weight) + ",\"error\":" + page_json(error));
  if (!trace.warnings.empty()) sink(",\"warnings\":" + page_json(messages_of(trace.warnings)));
}

std::string page_json(const json& value) {
  return without_markup(value.dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace headlight
