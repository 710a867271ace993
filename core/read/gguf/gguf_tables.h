// gguf.json: what the names of llama.cpp mean. An architecture has a row: its model_type in transformers, the tables of
// its keys and tensors, and the switches that gguf_model.cpp reads. A key of config.json is KEY, A|B (the first that is
// there), @TENSOR (its rows), each perhaps with a value where the file has none; true and false are always so.
#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

namespace headlight {

/// The text of gguf.json, which is part of the program.
std::string_view gguf_text();

inline const nlohmann::json& gguf_table(const char* name) {
  static const nlohmann::json tables = nlohmann::json::parse(gguf_text());
  return tables[name];
}

}  // namespace headlight
