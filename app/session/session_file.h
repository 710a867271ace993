// Documents as JSON: the `request` of an export and the content of a .headlight.json file are the same text.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "session/document.h"
#include "session/view_state.h"

namespace headlight {

/// Everything needed to compute a sentence of the document again, as one line of JSON. `sentence` is written for batches.
std::string request_json(const Document& document, std::optional<std::size_t> sentence = std::nullopt);

struct Session {
  Document document;
  ViewState view;
};

/// A .headlight.json file's text.
std::string to_json(const Session& session);

/// Reads what to_json wrote; a tensors file that the session names is read again from its path.
Result<Session> session_from_json(const std::string& where, const std::string& text);
Result<Session> read_session(const std::filesystem::path& path);

/// What a file on disk turned out to be.
struct Opened {
  enum class Kind { session, document, mask, text } kind = Kind::text;
  Session session;                        // session; document (a tensors file)
  std::shared_ptr<const Matrix> mask;     // additive, (T, S)
  std::string text;
  std::vector<std::string> warnings;
};

/// Opens any file that the window takes: a session, a tensors file (.safetensors, .npz), a mask (.npy, .json), a text.
Result<Opened> open_any(const std::filesystem::path& path);

/// A tensors file as a Document. `num_heads` is needed where the file does not say it.
Result<Opened> open_tensors(const std::filesystem::path& path, std::optional<Index> num_heads);

}  // namespace headlight
