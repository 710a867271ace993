// A Document as JSON: the `request` of an export and the content of a session are the same object.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "math/forward.h"
#include "models/bundled_models.h"
#include "question/document.h"
#include "question/question_fields.h"

namespace headlight {

nlohmann::json document_json(const Document& document, const QuestionFields& all = question_fields());

/// All that is needed to compute a sentence of the document again, as one line of JSON. `sentence` is for batches.
std::string request_json(const Document& document, std::optional<std::size_t> sentence = std::nullopt);

/// Reads what document_json wrote. `where` is the file, for messages. A model that the object names is read again from
/// its path, or from the same path beside the file, followed by `progress`; warnings of that are appended to
/// `warnings`. Unknown fields are ignored. A model among `shipped`, or that of the document `beside`, is used as it is.
Result<Document> document_from_json(const std::string& where, const nlohmann::json& object, Progress& progress,
                                    std::vector<Error>& warnings, const BundledModels* shipped = nullptr,
                                    const Document* beside = nullptr, const QuestionFields& all = question_fields());

inline constexpr std::string_view kSessionSchema = "headlight.session/1";

bool names_session(std::string_view path);

/// Whether this is the JSON of a session, or of a page, which has a session's and more. Errors: another schema, no
/// request.
Status check_session(const std::string& where, const nlohmann::json& object);

inline constexpr std::size_t kLargestSession = std::size_t{1} << 28;  // bytes

/// The question of a session, without what was looked at.
Result<Document> read_question(const std::filesystem::path& session, Progress& progress, std::vector<Error>& warnings);

}  // namespace headlight
