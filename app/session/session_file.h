// Documents as JSON: the `request` of an export and the content of a .headlight.json file are the same text.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "session/open_file.h"

namespace headlight {

/// Everything needed to compute a sentence of the document again, as one line of JSON. `sentence` is written for batches.
std::string request_json(const Document& document, std::optional<std::size_t> sentence = std::nullopt);

/// A .headlight.json file's text.
std::string to_json(const Session& session);

/// Reads what to_json wrote; a model that the session names is read again from its path, followed by `progress`.
Result<Session> session_from_json(const std::string& where, const std::string& text, Progress& progress);
Result<Session> session_from_json(const std::string& where, const std::string& text);
Result<Session> read_session(const std::filesystem::path& path, Progress& progress);
Result<Session> read_session(const std::filesystem::path& path);

/// The `view` of a session. It never keeps one from opening: what cannot be used takes its default.
ViewState view_from_json(const nlohmann::json& object, std::size_t num_sentences);

/// Opens whatever the window takes: a session, a lesson, a model (opened.h), a mask (.npy, .json), a text.
Result<OpenFile> open_any(const std::filesystem::path& path, Progress& progress);
Result<OpenFile> open_any(const std::filesystem::path& path);

}  // namespace headlight
