#include "write/json.h"

#include <nlohmann/json.hpp>

#include "write/number.h"

namespace headlight {
namespace {

constexpr std::string_view kSchema = "\"schema\":\"headlight.attention/1\"";

std::string json_bool(bool value) { return value ? "true" : "false"; }

std::string json_model(const Trace& trace) {
  const Config& config = trace.model->config;
  // A tensors file may project to another width than its inputs have.
  const Index d_k = trace.blocks.front().self.query.cols() / trace.num_heads();
  return "{\"name\":" + json_string(trace.model->name) +
         ",\"arch\":" + json_string(trace.model->given ? "attention" : name(config.arch)) +
         ",\"d_model\":" + std::to_string(config.d_model) + ",\"num_heads\":" + std::to_string(config.num_heads) +
         ",\"num_layers\":" + std::to_string(trace.num_layers()) + ",\"d_k\":" + std::to_string(d_k) + "}";
}

void write_mask(const Mask& mask, Output& output) {
  output.write("{\"kind\":" + json_string(mask.kind()) + ",\"allowed\":[");
  std::string row;
  for (Index query = 0; query < mask.queries() && !output.failed(); ++query) {
    row = query > 0 ? ",[" : "[";
    for (Index key = 0; key < mask.keys(); ++key) {
      if (key > 0) row += ',';
      row += mask.allowed(query, key) ? '1' : '0';
    }
    row += ']';
    output.write(row);
  }
  output.write("]}");
}

/// Lists within lists, as many levels as the array has axes.
Status write_nested(const ArrayStream& array, Output& output, Work& work) {
  ArrayReader reader(array, work);
  std::string text;
  Index row_number = 0;
  while (!reader.at_end()) {
    const std::size_t offset = reader.offset();
    const auto piece = reader.next();
    if (!piece) return piece.error();
    for (Index r = 0; r < piece->rows(); ++r, ++row_number) {
      text = row_number > 0 ? "," : "";
      Index rows_within = 1;
      std::string brackets;
      // A list opens or closes where its rows are complete, the innermost first.
      for (std::size_t axis = array.shape.size() - 1; axis-- > 0;) {
        rows_within *= array.shape[axis];
        if (row_number % rows_within == 0) text += '[';
        if ((row_number + 1) % rows_within == 0) brackets += ']';
      }
      text += '[';
      for (Index column = 0; column < piece->cols(); ++column) {
        if (column > 0) text += ',';
        const float value = (*piece)(r, column);
        if (!append_number(text, value))
          return not_finite(array, offset + static_cast<std::size_t>(r * piece->cols() + column), value);
      }
      output.write((text += ']') += brackets);
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
            ",\"pad\":" + json_bool(token.pad) + ",\"known\":" + json_bool(token.known) + "}";
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

Status write_json_object(const Trace& trace, std::string_view request_json, const ExportOptions& options,
                         Output& output, Work& work) {
  output.write("{");
  output.write(kSchema);
  output.write(",\"model\":" + json_model(trace));
  output.write(",\"tokens\":" + json_tokens(trace.query_tokens()));
  if (trace.key_tokens() != trace.query_tokens()) output.write(",\"key_tokens\":" + json_tokens(trace.key_tokens()));
  output.write(",\"mask\":");
  write_mask(trace.mask, output);
  if (!request_json.empty()) {
    output.write(",\"request\":");
    output.write(request_json);
  }
  if (!trace.warnings.empty()) {
    std::string list;
    for (const auto& warning : trace.warnings) list += (list.empty() ? "" : ",") + json_string(warning);
    output.write(",\"warnings\":[" + list + "]");
  }
  const auto arrays = attention_arrays(trace, options);
  output.write(",\"attention\":[{\"name\":\"Self\",\"attn\":");
  if (const auto written = write_nested(arrays.front(), output, work); !written) return written;
  output.write(",\"left_text\":" + json_texts(trace.query_tokens()) +
               ",\"right_text\":" + json_texts(trace.key_tokens()) + "}]");
  for (std::size_t i = 1; i < arrays.size(); ++i) {
    output.write(",\"" + arrays[i].name + "\":");
    if (const auto written = write_nested(arrays[i], output, work); !written) return written;
  }
  output.write("}");
  return Done{};
}

Status write_json(const std::vector<std::shared_ptr<const Trace>>& traces,
                  const std::vector<std::string>& requests_json, const ExportOptions& options, Output& output,
                  Progress& progress) {
  std::size_t total = 0;
  for (const auto& trace : traces) total += num_elements(attention_arrays(*trace, options));
  Work work(progress, total);
  const bool batch = traces.size() > 1;
  if (batch) {
    output.write("{");
    output.write(kSchema);
    output.write(",\"batch\":[");
  }
  for (std::size_t i = 0; i < traces.size(); ++i) {
    if (i > 0) output.write(",");
    const auto written = write_json_object(*traces[i], requests_json[i], options, output, work);
    if (!written && batch && !output.failed() && !work.stopped())
      return Error{"sentence " + std::to_string(i) + ": " + written.error().message};
    if (!written) return written;
  }
  output.write(batch ? "]}\n" : "\n");
  return Done{};
}

}  // namespace headlight
