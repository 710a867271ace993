// A Document as JSON: the `request` of an export and the content of a session are the same object.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "document/bundled_models.h"
#include "document/document.h"
#include "math/forward.h"

namespace headlight {

nlohmann::json document_json(const Document& document);

/// Everything needed to compute a sentence of the document again, as one line of JSON. `sentence` is written for batches.
std::string request_json(const Document& document, std::optional<std::size_t> sentence = std::nullopt);

/// Reads what document_json made; a model that it names is read again from its path, followed by `progress`, and what
/// was noticed then is appended to `warnings`. Unknown fields are ignored. Models among `shipped` are taken from there,
/// and that of the document `beside` it, if it is the same.
Result<Document> document_from_json(const std::string& where, const nlohmann::json& object, Progress& progress,
                                    std::vector<std::string>& warnings, const BundledModels* shipped = nullptr,
                                    const Document* beside = nullptr);

}  // namespace headlight
