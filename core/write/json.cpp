#include "write/json.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <thread>

#include <nlohmann/json.hpp>

#include "base/formatted.h"
#include "base/names.h"
#include "base/parallel.h"
#include "model/head_text.h"
#include "write/reduced.h"

namespace headlight {
namespace {

constexpr std::string_view kSchema = "\"schema\":\"headlight.attention/1\"";

std::string json_bool(bool value) { return value ? "true" : "false"; }

std::string json_model(const Trace& trace) {
  const Config& config = trace.model->config;
  const AttentionTrace& first = trace.attention(Stack::self, 0);
  std::string model = "{\"name\":" + json_string(trace.model->name) +
                      ",\"arch\":" + json_string(trace.model->given ? "attention" : name(config.arch)) +
                      ",\"d_model\":" + std::to_string(config.d_model) +
                      ",\"num_heads\":" + std::to_string(first.num_heads()) +
                      ",\"num_layers\":" + std::to_string(trace.num_layers());
  if (trace.has(Stack::encoder)) model += ",\"num_encoder_layers\":" + std::to_string(trace.num_layers(Stack::encoder));
  // A tensors file may project to another width than its inputs have; of attention computed elsewhere it is unknown.
  if (!first.patterns)
    model += ",\"num_kv_heads\":" + std::to_string(first.num_kv_heads) +
             ",\"d_k\":" + std::to_string(first.query.cols() / first.num_heads());
  return model + "}";
}

void write_mask(const Trace& trace, Stack stack, Index layer, SpecialTokens special, Output& output) {
  const Mask& mask = trace.mask(stack, layer);
  const auto queries = exported_indices(trace.query_tokens(stack), special);
  const auto keys = exported_indices(trace.key_tokens(stack), special);
  output.write("{\"kind\":" + json_string(mask.kind()) + ",\"allowed\":[");
  std::string row;
  for (Index head = 0; head < std::max<Index>(1, mask.heads()); ++head) {
    if (mask.heads() > 0) output.write(head > 0 ? "],[" : "[");
    for (const Index query : queries) {
      if (output.failed()) return;
      row = query != queries.front() ? ",[" : "[";
      for (const Index key : keys) {
        if (key != keys.front()) row += ',';
        row += mask.of_head(head).allowed(query, key) ? '1' : '0';
      }
      row += ']';
      output.write(row);
    }
  }
  output.write(mask.heads() > 0 ? "]]}" : "]}");
}

std::string_view mask_name(Stack stack) {
  return stack == Stack::self ? "mask" : stack == Stack::encoder ? "encoder_mask" : "cross_mask";
}

/// The mask of each attention, then the masks of single layers.
void write_masks(const Trace& trace, SpecialTokens special, Output& output) {
  const auto own = [&](Stack stack, Index layer) {
    const LayerEdit* edit = layer_edit(trace.request.edits, stack, layer);
    return edit && edit->mask;
  };
  const auto stacks = stacks_of(trace);
  for (const StackNames& names : stacks) {
    Index layer = 0;
    while (layer + 1 < trace.num_layers(names.stack) && own(names.stack, layer)) ++layer;
    output.write(",\"" + std::string(mask_name(names.stack)) + "\":");
    write_mask(trace, names.stack, layer, special, output);
  }
  bool any = false;
  for (const StackNames& names : stacks) {
    for (Index layer = 0; layer < trace.num_layers(names.stack); ++layer) {
      if (!own(names.stack, layer)) continue;
      output.write((any ? "," : ",\"layer_masks\":[") + ("{\"name\":" + json_string(names.label)) +
                   ",\"layer\":" + std::to_string(layer) + ",\"mask\":");
      write_mask(trace, names.stack, layer, special, output);
      output.write("}");
      any = true;
    }
  }
  if (any) output.write("]");
}

/// Rows of numbers are formatted by several threads from so many on.
constexpr std::size_t kWorthThreads = 1 << 15;
/// Pieces that are in hand at a time, for each thread.
constexpr Index kPiecesOfThread = 2;

/// A piece as text; its first row is number `row_number` of the array. Lists within lists, as many levels as the array
/// has axes. False where a number has none: `text` then ends before it.
bool format_piece(const ArrayStream& array, const Matrix& piece, Index row_number, std::string& text) {
  std::vector<char> row(static_cast<std::size_t>(piece.cols()) * (kLongestNumber + 1));
  text.clear();
  for (Index r = 0; r < piece.rows(); ++r, ++row_number) {
    if (row_number > 0) text += ',';
    Index rows_within = 1;
    std::string brackets;
    // A list opens or closes where its rows are complete, the innermost first.
    for (std::size_t axis = array.shape.size() - 1; axis-- > 0;) {
      rows_within *= array.shape[axis];
      if (row_number % rows_within == 0) text += '[';
      if ((row_number + 1) % rows_within == 0) brackets += ']';
    }
    text += '[';
    char* to = row.data();
    for (Index column = 0; column < piece.cols(); ++column) {
      if (column > 0) *to++ = ',';
      const float value = piece(r, column);
      if (!std::isfinite(value)) return false;
      to = put_number(value, to);
    }
    text.append(row.data(), to);
    (text += ']') += brackets;
  }
  return true;
}

/// The first number of a piece that is none, in words; the piece begins at `offset`.
Error not_finite_in(const ArrayStream& array, const Matrix& piece, std::size_t offset) {
  std::size_t at = 0;
  while (std::isfinite(piece.data()[at])) ++at;
  return not_finite(array, offset + at, piece.data()[at], "a finite number in JSON (npz and safetensors hold -inf)");
}

Status write_nested(const ArrayStream& array, Output& output, Work& work) {
  ArrayReader reader(array, work);
  const std::size_t piece_size = array.num_elements() / static_cast<std::size_t>(std::max<Index>(array.pieces, 1));
  const Index threads =
      work.threads() > 0 ? work.threads() : static_cast<Index>(std::max(1u, std::thread::hardware_concurrency()));
  const bool alone = threads == 1 || array.num_elements() < kWorthThreads || piece_size == 0;
  const Index together = alone ? 1 : threads * kPiecesOfThread;
  std::vector<std::string> texts(static_cast<std::size_t>(together));
  Index row_number = 0;
  while (!reader.at_end()) {
    std::size_t offset = reader.offset();
    const auto pieces = TRY(reader.next(together));
    std::vector<Index> first_rows;
    for (const Matrix& piece : pieces) {
      first_rows.push_back(row_number);
      row_number += piece.rows();
    }
    std::vector<char> finite(pieces.size());
    parallel_for(static_cast<Index>(pieces.size()), static_cast<int>(threads), [&](Index i) {
      const auto at = static_cast<std::size_t>(i);
      finite[at] = format_piece(array, pieces[at], first_rows[at], texts[at]);
    });
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (!finite[i]) return not_finite_in(array, pieces[i], offset);
      output.write(texts[i]);
      offset += static_cast<std::size_t>(pieces[i].size());
    }
    if (output.failed()) return output.commit();
  }
  return Done{};
}

}  // namespace

std::string json_string(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_tokens(const Tokens& tokens) {
  std::string list = "[";
  for (const Token& token : tokens.tokens) {
    if (list.size() > 1) list += ',';
    list += "{\"id\":" + std::to_string(token.id) + ",\"text\":" + json_string(token.text) +
            ",\"raw\":" + json_string(token.raw) + ",\"bytes\":[" + std::to_string(token.begin) + "," +
            std::to_string(token.end) + "],\"special\":" + json_bool(token.special) +
            ",\"pad\":" + json_bool(token.pad) + ",\"known\":" + json_bool(token.known) +
            (token.type != 0 ? ",\"type\":" + std::to_string(token.type) : "") +
            (token.role != ChatRole::none ? ",\"role\":" + json_string(name_in(kChatRoles, token.role)) : "") + "}";
  }
  return list + "]";
}

std::string json_texts(const Tokens& tokens) {
  std::string list = "[";
  for (const Token& token : tokens.tokens) {
    if (list.size() > 1) list += ',';
    list += json_string(token.text);
  }
  return list + "]";
}

std::vector<NamedTokens> named_tokens(const Trace& trace) {
  const Tokens* source = trace.has(Stack::encoder) ? &trace.query_tokens(Stack::encoder)
                         : trace.has(Stack::cross) ? &trace.key_tokens(Stack::cross)
                                                   : nullptr;
  if (source) return {{"tokens", source}, {"target_tokens", &trace.query_tokens(Stack::self)}};
  const Tokens &queries = trace.query_tokens(), &keys = trace.key_tokens();
  if (keys == queries) return {{"tokens", &queries}};
  return {{"tokens", &queries}, {"key_tokens", &keys}};
}

std::string json_candidates(const std::vector<Candidate>& words) {
  std::string list;
  for (const Candidate& word : words) {
    list += (list.empty() ? "[{\"id\":" : ",{\"id\":") + std::to_string(word.id) +
            ",\"text\":" + json_string(word.text) + ",\"probability\":";
    [[maybe_unused]] const bool finite = append_number(list, word.probability);
    assert(finite);
    list += '}';
  }
  return list.empty() ? "[]" : list + "]";
}

Status write_attention(const Trace& trace, Output& output, Work& work, const ExportOptions& options) {
  const SpecialTokens special = options.special;
  const char* before = "[";
  for (const StackNames& names : stacks_of(trace, options)) {
    output.write(before + ("{\"name\":" + json_string(names.label)) + ",\"attn\":");
    TRY(write_nested(attentions_of(trace, names, options), output, work));
    output.write(",\"left_text\":" + json_texts(exported_tokens(trace.query_tokens(names.stack), special)) +
                 ",\"right_text\":" + json_texts(exported_tokens(trace.key_tokens(names.stack), special)) + "}");
    before = ",";
  }
  output.write("]");
  return Done{};
}

namespace {

/// Of reduced maps: the object of the answers that they sum up.
Status write_reduced(const std::vector<const Trace*>& traces, std::string_view request_json,
                     const ExportOptions& options, Output& output, Work& work) {
  const auto reduced = TRY(reduced_attentions(traces, options));
  output.write("{");
  output.write(kSchema);
  output.write(",\"model\":" + json_model(*traces.front()) + ",\"reduce\":" + reduction_json(reduced));
  for (const auto& [name, tokens] : reduced_tokens(reduced))
    output.write("," + json_string(name) + ":" + json_tokens(tokens));
  if (options.special != SpecialTokens::show) output.write(",\"special\":" + json_string(name(options.special)));
  if (!request_json.empty()) output.write(",\"request\":" + std::string(request_json));
  const char* before = ",\"attention\":[";
  for (const ReducedAttention& one : reduced) {
    output.write(before + ("{\"name\":" + json_string(one.names.label)) + ",\"attn\":");
    TRY(write_nested(reduced_array(one), output, work));
    output.write(",\"left_text\":" + json_texts({.text = {}, .tokens = one.maps->rows()}) +
                 ",\"right_text\":" + json_texts({.text = {}, .tokens = one.maps->columns()}) + "}");
    before = ",";
  }
  output.write("]");
  const auto arrays = reduced_arrays(reduced);
  for (std::size_t i = reduced.size(); i < arrays.size(); ++i) {
    output.write(",\"" + arrays[i].name + "\":");
    TRY(write_nested(arrays[i], output, work));
  }
  output.write("}");
  return Done{};
}

}  // namespace

Status write_json_object(const Trace& trace, std::string_view request_json, const ExportOptions& options,
                         Output& output, Work& work) {
  if (options.reduce) return write_reduced({&trace}, request_json, options, output, work);
  output.write("{");
  output.write(kSchema);
  output.write(",\"model\":" + json_model(trace));
  for (const NamedTokens& named : named_tokens(trace))
    output.write(",\"" + named.name + "\":" + json_tokens(exported_tokens(*named.tokens, options.special)));
  if (options.special != SpecialTokens::show) output.write(",\"special\":" + json_string(name(options.special)));
  if (const auto& only = options.only; !only.empty()) {
    const std::string heads = joined_texts(only, ",", [](const HeadRef& head) {
      return json_string(head_text({head.layer, head.head}));
    });
    const std::string one =
        ",\"layer\":" + std::to_string(only.front().layer) + ",\"head\":" + std::to_string(only.front().head);
    output.write(",\"only\":{\"stack\":" + json_string(stacks_of(trace, options).front().label) +
                 (only.size() == 1 ? one : ",\"heads\":[" + heads + "]") + "}");
  }
  write_masks(trace, options.special, output);
  if (!request_json.empty()) {
    output.write(",\"request\":");
    output.write(request_json);
  }
  if (!trace.warnings.empty())
    output.write(",\"warnings\":[" +
                 joined_texts(trace.warnings, ",", [](const auto& w) { return json_string(w.message()); }) + "]");
  output.write(",\"attention\":");
  TRY(write_attention(trace, output, work, options));
  if (trace.logits.size() > 0)
    output.write((classifies(*trace.model) ? ",\"classes\":" : ",\"next_token\":") +
                 json_candidates(most_probable(*trace.model, probabilities(trace.logits), kNextWords)));
  const auto arrays = attention_arrays(trace, options);
  for (std::size_t i = stacks_of(trace, options).size(); i < arrays.size(); ++i) {
    output.write(",\"" + arrays[i].name + "\":");
    TRY(write_nested(arrays[i], output, work));
  }
  output.write("}");
  return Done{};
}

Status write_json(const std::vector<std::shared_ptr<const Trace>>& traces,
                  const std::vector<std::string>& requests_json, const ExportOptions& options, Output& output,
                  Progress& progress) {
  std::size_t total = 0;
  for (const auto& trace : traces) total += num_elements(attention_arrays(*trace, options));
  Work work(progress, total, options.threads);
  const bool batch = traces.size() > 1;
  if (batch && options.reduce && options.reduce->sentences) {
    const auto same = [](const std::string& request) { return std::string_view(request); };
    TRY(write_reduced(pointers_to(traces), "[" + joined_texts(requests_json, ",", same) + "]", options, output, work));
    output.write("\n");
    return Done{};
  }
  if (batch) {
    output.write("{");
    output.write(kSchema);
    output.write(",\"batch\":[");
  }
  for (std::size_t i = 0; i < traces.size(); ++i) {
    if (i > 0) output.write(",");
    const auto written = write_json_object(*traces[i], requests_json[i], options, output, work);
    if (!written && batch && !output.failed() && !work.stopped())
      return inside("sentence " + std::to_string(i), written.error());
    if (!written) return written;
  }
  output.write(batch ? "]}\n" : "\n");
  return Done{};
}

}  // namespace headlight
