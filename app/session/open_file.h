// What a file on disk turned out to be, and the files that a model comes from.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "math/forward.h"
#include "session/document.h"
#include "session/view_state.h"

namespace headlight {

struct Lesson;  // session/lesson.h

/// An answer that what comes after it is compared with, and how it was asked.
struct AnswerSnapshot {
  std::shared_ptr<const Trace> trace;  // null: a session says what was asked, and the answer is being computed
  Document document;
  std::size_t sentence = 0;        // of the document's
  std::size_t prefix = 0;          // as ViewState::prefix
  std::optional<Index> step = {};  // of the training whose model answered
};

/// Whether two kept answers are answers to the same question.
bool same_question(const std::optional<AnswerSnapshot>& a, const std::optional<AnswerSnapshot>& b);

struct Session {
  Document document;
  ViewState view;
  std::vector<std::string> model_warnings = {};   // of loading the checkpoint that the document names
  std::optional<AnswerSnapshot> kept = {};        // A of View::compare, without its trace
  LessonMark lesson = {};                         // that is read
  std::shared_ptr<const Lesson> own_lesson = {};  // the same, of a file that is not among the program's or the user's
  std::vector<std::string> lost = {};  // what there was beside the question and cannot be had again, a line each
};

struct OpenFile {
  enum class Kind { session, document, mask, text, lesson } kind = Kind::text;
  Session session;                     // session; document (a checkpoint, a tensors file, computed attention)
  std::shared_ptr<const Matrix> mask;  // additive, (T, S)
  std::string text;
  std::shared_ptr<const Lesson> lesson;
  std::vector<std::string> warnings;
};

/// Whether `path` names something that open_model reads: a folder, a tensors file, a JSON of attention.
bool names_model(const std::filesystem::path& path);

/// A shipped model by its name (session/bundled_models.h), a checkpoint folder, a tensors file (.safetensors, .npz) or attention that was computed before (.json), as a
/// Document. `num_heads` is needed where a tensors file does not say it, and refused elsewhere. `progress` follows the
/// bytes of a checkpoint; stopped, it is an Error that says so.
Result<OpenFile> open_model(const std::filesystem::path& path, std::optional<Index> num_heads, Progress& progress);
Result<OpenFile> open_model(const std::filesystem::path& path, std::optional<Index> num_heads = std::nullopt);

}  // namespace headlight
