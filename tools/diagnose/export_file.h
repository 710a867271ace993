// A file of arrays to compare: an export of Headlight or of another program, BertViz's JSON, or a
// tensors file, for which the answers are computed here.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/matrix.h"
#include "base/result.h"
#include "model/trace.h"
#include "read/array/array.h"

namespace headlight {

/// The parts of an array's name: `0.encoder_attentions` is sentence 0 of a batch, stack `encoder_`, kind `attentions`.
struct ArrayName {
  std::optional<Index> sentence;
  std::string stack;  // encoder_, decoder_, cross_ or empty
  std::string kind;   // what is left
};
ArrayName parse_array_name(std::string_view name);

/// Whether an array of this name in a tensors file is an input of the attention, not an answer.
bool is_input(std::string_view name);

/// The axes that an export gives to arrays of this kind, `layer`, `head`, `query`, `key` for attentions; empty for a
/// kind that no export has.
std::vector<std::string_view> axes_of(std::string_view kind);

/// The tokens along the two sides of an attention.
struct AxisTexts {
  std::vector<std::string> queries, keys;
};

struct ExportFile {
  std::string name;                        // as it was asked for
  std::map<std::string, Array> arrays;     // a batch axis of 1 left out, a missing axis of layers put in
  std::map<std::string, AxisTexts> words;  // by what stands before the kind: "", "encoder_", "0.cross_"
  std::map<std::string, Matrix> masks;     // by the same: (T, S) added to the scores, where the file has it
  std::optional<Index> d_k;                // where the file has it
  std::shared_ptr<const Trace> computed;   // of a tensors file: Headlight's answer to its inputs
  std::vector<Error> warnings = {};        // of reading the inputs of a tensors file
  bool own_answers = true;                 // false where `arrays` has Headlight's because the file had none
};

/// `.json` (schema headlight.attention/1 or BertViz's), `.npz`, `.safetensors`, or PyTorch's `.pt`, `.pth`, `.bin`.
/// A tensors file without answers gets Headlight's. `num_heads` is needed for tensors files only, and may be in
/// their metadata. Errors name file, array.
Result<ExportFile> read_export(const std::filesystem::path& path, std::optional<Index> num_heads);

/// The same from arrays that were read already.
Result<ExportFile> export_from(std::string_view where, ArrayFile file, std::optional<Index> num_heads);

/// The same from the text of a JSON file. Errors name the path of a ragged list.
Result<ExportFile> export_from_json(std::string_view where, std::string_view text);

/// Queries, keys or values of all layers: (L, heads, tokens, columns of a head).
Array array_of_heads(const Trace& trace, Stack stack, Matrix AttentionTrace::*side_by_side, bool of_query);

/// Arrays of an export of the answer to a tensors file: `attentions`, `output`, `queries`, `keys`, `values`, `scores`.
std::map<std::string, Array> answers_of(const Trace& trace);

/// Headlight's answers to the inputs of a tensors file. An Error where `mine` holds no inputs, or no answer to
/// compare with them.
Result<ExportFile> answers_to(const ExportFile& mine);

}  // namespace headlight
