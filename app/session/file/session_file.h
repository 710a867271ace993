// A session as a file, .headlight.json: the question, what is looked at, A of View::compare and the lesson.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "question/answer_snapshot.h"
#include "view/view_state.h"

namespace headlight {

struct Lesson;  // lesson/lesson.h

struct Session {
  Document document;
  ViewState view;
  std::vector<Error> model_warnings = {};         // of loading the checkpoint that the document names
  std::optional<AnswerSnapshot> kept = {};        // A of View::compare, without its trace
  LessonMark lesson = {};                         // that is read
  std::shared_ptr<const Lesson> own_lesson = {};  // the same, of a file that is not among the program's or the user's
  std::vector<Error> lost = {};  // what there was beside the question and cannot be had again, a line each
};

/// A .headlight.json file's text.
std::string to_json(const Session& session);

/// Reads what to_json wrote, or the data of a page; a model that the session names is read again from its path,
/// followed by `progress`.
Result<Session> session_of_json(const std::string& where, const nlohmann::json& object, Progress& progress);
/// The same of its text.
Result<Session> session_from_json(const std::string& where, const std::string& text, Progress& progress = unwatched());
/// A session's file, or a page (.html) that Headlight wrote. Of a page whose model is missing the document holds the
/// page's numbers (document/open_model.h), and `lost` reports it; it also reports a model whose weights differ now.
Result<Session> read_session(const std::filesystem::path& path, Progress& progress = unwatched());
/// The sentence of a session that cannot be opened since its model is not there; empty where it asks about none, or
/// where the file is no session.
std::string sentence_of_session(const std::filesystem::path& path);

}  // namespace headlight
