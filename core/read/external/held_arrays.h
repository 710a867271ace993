// Attention as people hold it: a list of layers, the steps of generate(), hooks by their names, a batch, averaged
// weights. It becomes the arrays of a tensors file, with a line that says what it was taken for and what else it can
// be.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "read/array/array.h"
#include "read/external/tensors_file.h"

namespace headlight {

enum class HeldAxis { layers, sentences, heads, queries, keys };

/// Which part is meant, and as what, where the arrays alone do not tell.
struct ArrayChoice {
  std::optional<Index> sentence = {};  // of a batch; none: the first
  std::optional<Index> step = {};      // of generate(); none: all as one map
  std::string array = {};              // a part of the names to take; empty: all
  std::vector<HeldAxis> axes = {};     // of an array, or of each in a list; empty: as its size tells
  std::optional<PatchGrid> grid = {};  // in which the last keys stand; none: they are words

  /// Whether the arrays are taken as they are named.
  bool empty() const { return !sentence && !step && array.empty() && axes.empty(); }
};

/// What a reader takes of a choice.
struct ChoiceRead {
  bool sentence = false, grid = false;
};
/// An Error of a part of the choice that is not taken of `what`, naming its option.
Status check_choice(std::string_view where, const ArrayChoice& choice, ChoiceRead taken, std::string_view what);

/// `batch,heads,T,S`: each axis once, T and S among them. An Error lists the names.
Result<std::vector<HeldAxis>> parse_axes(std::string_view text);

/// `attentions`, or `encoder_attentions`, `decoder_attentions`, `cross_attentions`, each (layers, heads, T, S), made of
/// the arrays of a file or of what a program holds, by names that say where in it each lies (`0.3` is layer 3 of
/// step 0). Of the metadata's tokens, where they are a list for each sentence, that of the chosen one. Taken are
///   (T, S), (heads, T, S), (layers, heads, T, S), (layers, batch, heads, T, S), each as --axes says otherwise;
///   lists of layers of (batch, heads, T, S), (heads, T, S) or (T, S);
///   lists of steps of such lists, whose keys grow: the rows of all steps as one map, or one step;
///   three lists, of an encoder, a decoder and what it reads of the encoder.
/// `notes` gets the line. No arrays: nothing there can be attention. Errors: layers of different shapes, steps that
/// shrink, a sentence or step that is not there, axes that do not fit.
Result<ArrayFile> held_attention(std::string_view where, ArrayFile&& held, const ArrayChoice& choice,
                                 std::vector<Error>& notes);

/// The same as those of tensors_file.h, of the part that is meant.
Result<TensorsFile> tensors_from(std::string_view where, ArrayFile file, std::optional<Index> num_heads,
                                 const ArrayChoice& choice);
Result<TensorsFile> read_tensors(const std::filesystem::path& path, std::optional<Index> num_heads,
                                 const ArrayChoice& choice);
Result<TensorsFile> parse_attention_json(std::string_view where, std::string_view text, const ArrayChoice& choice);
Result<TensorsFile> read_attention_json(const std::filesystem::path& path, const ArrayChoice& choice);

/// Whether this is the name of a pickle, which nothing here reads: it is a program.
bool names_pickle(const std::filesystem::path& path);

/// Whether this is the name of a table of weights: .csv, .tsv, .md, .tex.
bool names_table(const std::filesystem::path& path);

}  // namespace headlight
