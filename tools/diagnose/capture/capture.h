// A capture: the calls of attention of a running program, as python/headlight collected them; what is wrong is decided
// here. A .safetensors file with the metadata `capture`, JSON {"calls": [FACTS, …], "notes": [[NAME, PART, …], …]}:
// notes are texts of diagnose/texts.h about what was not followed. Arrays of call i are `i.NAME`:
//
//   query, key, value (K, T or S, d)  of the K sentences that are judged; q_proj.weight … as in a tensors file
//   attentions (K, H, T, S)           as the program computed them
//   output (K, T, d)                  the same; or (rows, H·d_v) with merge (rows, H·d_v): which element of
//                                     (sentences, H, T, d_v) stands where
//   mask (T, S)                       as in a tensors file, where the caller states what was meant; or
//   intended (B or 1, 1, T, S)        the same, true where a query may attend
//   step.0 … (B or 1, H or 1, T, S)   the cells of `steps`: true where they are filled, factors, or what is added
//   argument.0 …                      masks that were given to the functions around, in any shape
//   query.before, key.before (K, T or S, d)  the same as query and key, before positions turned them; then query and
//                                     key are what met in the product, and have no projections
//   sinks (H)                         logits that joined the softmax of each head
//
// In place of steps what they come to may be there, with the same axes: blocked, bias (added to the scores), numbers (0
// and 1 that were added), after (blocked after the softmax), scales (1 or H), which are learned: taken as given.
// Query heads that share keys or values have equal ones.
// Metadata `expect`, a JSON object with the fields of a config.json: what was meant, where the numbers do not show it.
// The facts of a call are the fields of CapturedCall.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "diagnose/texts.h"
#include "read/array/array.h"

namespace headlight {

using FactRow = std::vector<std::string>;

struct CapturedCall {
  std::map<std::string, Array> arrays;
  std::string where;  // "mine.py:4 (encoder)"; empty: an array that does not fit is an Error, not a line of `unchecked`
  std::string dtype;  // float32, tf32, float16, bfloat16: how exact the numbers are
  std::string over;   // what the softmax runs over where that is not the keys: "the queries"
  std::string opaque;          // a function that scores pass through and that is not followed
  Index heads = 1, count = 1;  // of the whole call: heads, sentences
  Index row_length = 0;        // rows of the output are (…, row_length); 0: they are not counted along two axes
  float d_k = 0, scale = 0;    // of the scores; 0: not known
  float tolerance = 0;         // 0: as dtype has it
  float softcap = 0;           // scores became softcap·tanh(score / softcap); 0: they stayed
  bool by_query = false;       // the weights meet the values along their queries
  bool changed = false;        // the weights were changed after the softmax
  bool heads_first = false;    // of one axis of heads and sentences: all sentences of head 0 come first
  bool partial = false;        // some queries of each sentence
  Index block = -1;            // calls with one number ran without a gap, all their sentences are here; −1: not so
  Index new_keys = 0, new_at = 0;  // of a cache: rows of key and value that are new, and the first of them
  std::vector<FactRow> observed;   // name of a code, and what stands in the gaps of its words
  std::vector<FactRow> meant;      // names of codes: what the program says itself, and so may mean, is no mistake
  std::vector<FactRow> roles;      // query, key, value: each with the name of what was used for it
  std::vector<FactRow> unused;     // a role, its weight that was not used, and the weight that was used instead or ""
  std::vector<FactRow> steps;  // "fill", "times", "add", or of weights "after fill"…; the number that is filled in or
      // by which is multiplied what is added; 1, or −1 (subtracted); "product", "learned" or ""
  std::vector<FactRow> arguments;  // names of masks, and the number of each among those of all calls
  std::vector<FactRow> given;      // what ran and follows from no input: "positions", "norms", "scale" or "bias", and
      // in what form ("sum", "subtracted", "learned", norms "seen" by their numbers, a scale that is "meant": a
      // number of the program's own); "sides" and the names of what
      // queries and keys are made from

  // Of the steps: the last finite number that replaces scores or by which they are lowered; and by the code of a
  // mistake the array of the step that makes it.
  std::optional<double> filled;
  bool lowered = false;
  std::map<std::string_view, std::string> step_of;
  std::map<std::string, double> expect;  // of the metadata `expect`: the fields that are numbers

  const Array* array(const std::string& name) const { return find_array(arrays, name); }
};

struct CapturedMistake {
  Mistake mistake;
  Index call = 0;
};

struct Capture {
  std::vector<CapturedCall> calls;
  std::vector<FactRow> notes;  // name of a text, and what stands in its gaps

  std::vector<Bilingual> note_texts() const;
};

struct CaptureReport {
  std::vector<CapturedMistake> mistakes;
  std::vector<Bilingual> unchecked;  // what was taken as given or could not be judged, a line each
  std::vector<Bilingual> notes;      // what was not followed
  Index judged = 0, calls = 0;

  /// The report where no mistake was found; also how many calls could not be judged for which no line gives the reason.
  std::vector<Bilingual> summary() const;
};

/// Whether a file is a capture, by its metadata.
bool is_capture(const std::filesystem::path& path);
/// Errors name `where` and the field or array.
Result<Capture> capture_from(std::string_view where, ArrayFile file);
Result<CaptureReport> judge(const Capture& capture);

}  // namespace headlight
