// The JSON export: what BertViz's JavaScript takes, with further fields (schema headlight.attention/1).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/progress.h"
#include "base/result.h"
#include "math/output.h"
#include "write/arrays.h"

namespace headlight {

/// `text` as a JSON string, in its quotes; bytes that are not UTF-8 become U+FFFD.
std::string json_string(std::string_view text);

/// The tokens as a JSON list: id, text, raw, byte range, special, pad, known.
std::string json_tokens(const Tokens& tokens);

/// The token texts as a JSON list.
std::string json_texts(const Tokens& tokens);

/// Tokens and what exports call them.
struct NamedTokens {
  std::string name;
  const Tokens* tokens;
};

/// `tokens`, the queries'; `key_tokens` where the keys are others; of an encoder-decoder `tokens`, the source, and
/// `target_tokens`. Valid as long as the trace is.
std::vector<NamedTokens> named_tokens(const Trace& trace);

/// The most probable words that a JSON export lists.
inline constexpr Index kNextWords = 10;

/// The words as a JSON list: id, text, probability.
std::string json_candidates(const std::vector<Candidate>& words);

/// The attentions as BertViz takes them: [{"name", "attn" [layer][head][query][key], "left_text", "right_text"}].
Status write_attention(const Trace& trace, Output& output, Work& work, const ExportOptions& options = {});

/// One answer as one JSON object without a newline anywhere, so that it can be one line of a file. `request_json` is
/// one JSON value, or empty for none. Where special tokens are left out, `special` states how.
Status write_json_object(const Trace& trace, std::string_view request_json, const ExportOptions& options,
                         Output& output, Work& work);

/// One object for one trace, a `batch` of them for several, and a newline at the end.
Status write_json(const std::vector<std::shared_ptr<const Trace>>& traces,
                  const std::vector<std::string>& requests_json, const ExportOptions& options, Output& output,
                  Progress& progress);

}  // namespace headlight
