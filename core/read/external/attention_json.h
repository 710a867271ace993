// Attention in JSON: Headlight's own export, and what BertViz hands its JavaScript (head_view, model_view).
#pragma once

#include <filesystem>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "read/external/tensors_file.h"

namespace headlight {

/// An Error where an export says that it has a form that is not known. BertViz's objects say nothing.
Status check_schema(std::string_view where, const nlohmann::json& document);

/// An object with `attention`: a list of `{"name", "attn": [layer][head][query][key], "left_text", "right_text"}`, the
/// texts' lists naming queries and keys. The names Encoder, Decoder and Cross are the stacks of an encoder-decoder;
/// under any other names the first of the list is shown. A Headlight export (`schema` headlight.attention/1) says more
/// about its tokens, which is kept; of a `batch` the first is taken. What is left out is a warning.
/// Errors name the path of a ragged list or of a weight that is not one.
Result<TensorsFile> parse_attention_json(std::string_view where, std::string_view text);

Result<TensorsFile> read_attention_json(const std::filesystem::path& path);

}  // namespace headlight
