// A Document as JSON: the `request` of an export and the content of a session are the same object.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "base/result.h"
#include "session/document.h"

namespace headlight {

nlohmann::json document_json(const Document& document);

/// Reads what document_json made; a model that it names is read again from its path. Unknown fields are ignored.
Result<Document> document_from_json(const std::string& where, const nlohmann::json& object);

}  // namespace headlight
