#include "question/json/document_json.h"

#include <filesystem>

#include "base/file.h"
#include "base/folders.h"
#include "models/model_sources.h"
#include "models/open_model.h"
#include "read/external/page_text.h"
#include "read/hub/kept_models.h"
#include "read/json/json_document.h"
#include "read/json/json_fields.h"

namespace headlight {
namespace {

using nlohmann::json;

/// Whether the number of heads was given beside the file: it holds queries, keys and values, not patterns.
bool takes_num_heads(const Document& document) {
  return has_own_inputs(document) && document.model->given->stacks.at(Stack::self).patterns.empty();
}

/// A source that is no longer where it was: what lies under the same name, or the same end of its path, beside the
/// session.
std::string found_again(const std::string& source, const std::string& session) {
  const std::filesystem::path path = parts_of_source(source).path;
  const std::string reading = source.substr(path.string().size());
  if (source.starts_with(kShipped) || is_model_name(path.string()) || path_exists(path)) return source;
  const std::filesystem::path folder = std::filesystem::path(session).parent_path();
  std::vector<std::filesystem::path> parts(path.begin(), path.end());
  for (std::size_t first = 0; first < parts.size(); ++first) {
    std::filesystem::path candidate = folder.empty() ? "." : folder;
    for (std::size_t i = first; i < parts.size(); ++i)
      if (parts[i] != path.root_path()) candidate /= parts[i];
    if (path_exists(candidate)) return candidate.string() + reading;
  }
  return source;
}

/// The model that the object names, with the masks that came with it.
Status read_model(const std::string& where, const JsonField& fields, Document& document, Progress& progress,
                  std::vector<Error>& warnings, const BundledModels* shipped, const Document* beside) {
  std::string source;
  fields.read("source", source);
  if (source.empty() || !fields.is_good()) return fields.problems().status();
  for (const BundledModel& one : shipped ? *shipped : BundledModels{}) {
    if (one.source != source) continue;
    take_model(document, one);
    document.mask.causal = is_causal_by_default(document.config.arch);
    return Done{};
  }
  if (beside && beside->model && beside->model_path == source) {
    document.model = beside->model;
    document.tokenizers = beside->tokenizers;
    document.card = beside->card;
    document.numbers = beside->numbers;
    document.model_path = source;
    document.trained = beside->trained;
    document.config = beside->config;
    document.mask.causal = is_causal_by_default(config_of(document).arch);
    return Done{};
  }
  Index num_heads = 0;
  fields.read_integer("num_heads", num_heads, static_cast<std::uint64_t>(kMaxHeads));
  auto opened =
      open_model(found_again(source, where), num_heads > 0 ? std::optional(num_heads) : std::nullopt, progress);
  if (!opened) {
    Error error = opened.error();
    if (error.code == ErrorCode::file_absent) error.code = ErrorCode::source_gone;
    return error;
  }
  warnings = std::move(opened->model_warnings);
  document = std::move(opened->document);
  return Done{};
}

}  // namespace

json document_json(const Document& document, const QuestionFields& all) {
  json object;
  if (document.model) object["source"] = document.model_path;
  if (takes_num_heads(document)) object["num_heads"] = document.model->config.num_heads;
  for (const QuestionField& field : all)
    if (field.write) field.write(document, object);
  return object;
}

std::string request_json(const Document& document, std::optional<std::size_t> sentence) {
  json object = document_json(document);
  if (sentence) object["sentence"] = *sentence;
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<Document> document_from_json(const std::string& where, const json& object, Progress& progress,
                                    std::vector<Error>& warnings, const BundledModels* shipped, const Document* beside,
                                    const QuestionFields& all) {
  if (!object.is_object()) return bad_input(where, "request", "an object", object.type_name());
  Document document;
  JsonProblems problems{where};
  const JsonField fields(object, "", problems);
  TRY(read_model(where, fields, document, progress, warnings, shipped, beside));
  for (const QuestionField& field : all)
    if (field.read) field.read(fields, document);
  if (problems.first) return *problems.first;
  if (reads_picture(document) && document.picture)
    reread_picture(document, found_again(document.picture->path, where), warnings);
  if (!document.model)
    if (const auto valid = check(document.config); !valid) return inside(where, valid.error());
  return document;
}

bool names_session(std::string_view path) { return path.ends_with(".headlight.json"); }

Status check_session(const std::string& where, const json& object) {
  JsonProblems problems{where};
  const JsonField root(object, "", problems);
  const json& schema = root.at("schema").value();
  if (schema != kSessionSchema && schema != kPageSchema)
    return bad_input(where, "schema", kSessionSchema, object.is_object() ? found_text(schema) : "no object",
                     ErrorCode::unknown_schema);
  if (root.at("request").is_null()) return bad_input(where, "request", "an object", "nothing");
  return Done{};
}

Result<Document> read_question(const std::filesystem::path& session, Progress& progress, std::vector<Error>& warnings) {
  const std::string text = TRY(read_file(session, kLargestSession)), where = session.string();
  const auto object = parse_json(where, text);
  if (!object) return object.error();
  TRY(check_session(where, *object));
  return document_from_json(where, (*object)["request"], progress, warnings);
}

}  // namespace headlight
