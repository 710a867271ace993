// The contents of a file that was opened.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/progress.h"
#include "session/file/session_file.h"

namespace headlight {

struct OpenFile {
  enum class Kind { session, document, mask, text, lesson, picture } kind = Kind::text;
  Session session;  // session; document (a checkpoint, a tensors file, computed attention)
  MaskSpec mask;    // what a file gives to it
  std::string text;
  std::shared_ptr<const Lesson> lesson;
  std::shared_ptr<const PictureInput> picture;  // … what the window's model sees of it, and that model
  std::shared_ptr<const PatchedPicture> seen;
  std::shared_ptr<const Model> seen_by;
  std::vector<Error> warnings;
};

/// Opens whatever the window takes: a session, a lesson, a model (document/open_model.h), a mask (.npy, .json), a
/// picture, a text.
Result<OpenFile> open_any(const std::filesystem::path& path, Progress& progress = unwatched());

}  // namespace headlight
