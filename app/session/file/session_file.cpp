#include "session/file/session_file.h"

#include <nlohmann/json.hpp>

#include "assets/assets.h"
#include "base/file.h"
#include "base/folders.h"
#include "base/formatted.h"
#include "lesson/lesson.h"
#include "model/fingerprint.h"
#include "models/model_sources.h"
#include "models/open_model.h"
#include "question/json/document_json.h"
#include "read/array/array.h"
#include "read/external/page_text.h"
#include "read/json/json_document.h"
#include "read/json/json_fields.h"
#include "view/view_json.h"

namespace headlight {
namespace {

using nlohmann::json;

/// The question of A in View::compare.
json kept_json(const AnswerSnapshot& kept) {
  json object{{"request", document_json(kept.document)}, {"sentence", kept.sentence}};
  if (kept.prefix > 0) object["prefix"] = kept.prefix;
  if (kept.step) object["step"] = *kept.step;
  return object;
}

/// It never keeps a session from opening either: where its model is gone, a line reports it.
void read_kept(const std::string& where, const JsonField& object, Progress& progress, Session& session) {
  if (object.is_null()) return;
  if (const json& step = object.at("step").value(); step.is_number_unsigned()) {
    session.lost.push_back(bad_input(where, "kept (A of Compare)", "a model on disk",
                                     "step " + step.dump() + " of a training, which is not kept",
                                     ErrorCode::step_not_kept));
    return;
  }
  std::vector<Error> ignored;
  auto document =
      document_from_json(where, object.at("request").value(), progress, ignored, nullptr, &session.document);
  if (!document) {
    Error error = document.error();
    if (error.where.starts_with(where)) error.where.insert(where.size(), ": kept (A of Compare)");
    session.lost.push_back(std::move(error));
    return;
  }
  session.kept = AnswerSnapshot{.trace = nullptr,
                                .document = *std::move(document),
                                .sentence = object.size("sentence", kMostElements),
                                .prefix = object.size("prefix", kMostElements)};
}

/// The lesson itself only where no window has it by itself: a file outside the lessons' folders.
void read_lesson_of(const JsonField& object, Session& session) {
  session.lesson = lesson_mark_from(object);
  const std::filesystem::path path = session.lesson.path;
  const auto assets = asset_folder();
  if (path.empty() || path.parent_path() == lessons_folder()) return;
  if (assets && path.parent_path() == *assets / "assets" / "lessons") return;
  if (auto lesson = read_lesson(path, nullptr)) session.own_lesson = std::make_shared<const Lesson>(*std::move(lesson));
}

/// A page whose model cannot be opened: the page's numbers, and a line that reports it. Errors: damaged numbers, or a
/// question that could not be answered with the model either.
Result<Document> document_of_numbers(const std::string& where, const json& data, const Error& why, Progress& progress,
                                     Session& session) {
  const json request = data.value("request", json());
  const json source = request.is_object() ? request.value("source", json()) : json();
  if (!source.is_string() || progress.stop) return why;
  auto own = TRY(open_page_numbers(where, data, progress));
  Document beside = own.document;
  beside.model_path = source.get<std::string>();
  std::vector<Error> ignored;
  const auto asked = TRY(document_from_json(where, request, progress, ignored, nullptr, &beside));
  const bool absent = !path_exists(parts_of_source(beside.model_path).path);
  const std::string error = formatted("%.2g", data.value("error", 0.0));
  session.lost.emplace_back(ErrorCode::page_alone, where,
                            "its model " +
                                (absent ? "is not there (" + printable(beside.model_path) + ")"
                                        : "cannot be opened (" + why.message() + ")") +
                                ": these are the page's own numbers, right to " + error +
                                ", without new words and the next word");
  session.lost.insert(session.lost.end(), own.warnings.begin(), own.warnings.end());
  if (data.contains("compare")) {
    auto compared = TRY(open_page_numbers(where + std::string(kComparedWith), data["compare"], progress));
    session.kept = AnswerSnapshot{.trace = nullptr, .document = std::move(compared.document)};
  }
  return std::move(own.document);
}

/// Warns where the file of the page's model now holds another model.
void compare_models(const std::string& where, const json& data, Session& session) {
  const json own = data.value("fingerprint", json());
  const auto& model = session.document.model;
  if (!own.is_string() || !model || own == fingerprint(*model)) return;
  session.lost.emplace_back(ErrorCode::other_weights, where,
                            "the model at " + printable(session.document.model_path) +
                                " has other weights than the one that the page was made of: the answer is this one's");
}

}  // namespace

std::string to_json(const Session& session) {
  json object{
      {"schema", kSessionSchema}, {"request", document_json(session.document)}, {"view", view_json(session.view)}};
  if (session.kept) object["kept"] = kept_json(*session.kept);
  if (!session.lesson.name.empty()) object["lesson"] = lesson_mark_json(session.lesson);
  return object.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<Session> session_of_json(const std::string& where, const json& object, Progress& progress) {
  JsonProblems problems{where};
  const JsonField root(object, "", problems);
  TRY(check_session(where, object));
  Session session;
  auto document = document_from_json(where, root.at("request").value(), progress, session.model_warnings);
  const bool asked = static_cast<bool>(document);
  if (!asked && root.at("schema").value() == kPageSchema)
    document = document_of_numbers(where, object, document.error(), progress, session);
  if (!document) return document.error();
  session.document = *std::move(document);
  session.view = view_from_json(root.at("view").value(), count_sentences(session.document));
  if (asked) compare_models(where, object, session);
  if (const auto& picture = session.document.picture; picture && picture->problem)
    session.lost.push_back(*picture->problem);
  if (asked) read_kept(where, root.at("kept"), progress, session);
  read_lesson_of(root.at("lesson"), session);
  return session;
}

Result<Session> session_from_json(const std::string& where, const std::string& text, Progress& progress) {
  const auto object = parse_json(where, text);
  return object ? session_of_json(where, *object, progress) : object.error();
}

Result<Session> read_session(const std::filesystem::path& path, Progress& progress) {
  if (names_page(path)) {
    const auto data = read_page(path, kLargestSession);
    return data ? session_of_json(path.string(), *data, progress) : data.error();
  }
  const auto text = read_file(path, kLargestSession);
  return text ? session_from_json(path.string(), *text, progress) : text.error();
}

std::string sentence_of_session(const std::filesystem::path& path) {
  if (!names_session(path.string())) return {};
  const auto text = read_file(path, kLargestSession);
  if (!text) return {};
  const auto object = parse_json(path.string(), *text);
  if (!object) return {};
  JsonProblems ignored_problems;
  const JsonField root(*object, "", ignored_problems), request = root.at("request");
  if (root.at("schema").value() != kSessionSchema || !request.at("source").value().is_string()) return {};
  if (path_exists(request.text("source"))) return {};
  const std::string sentence = request.text("text", "");
  return check_text(path.string(), sentence) ? sentence : std::string();
}

}  // namespace headlight
