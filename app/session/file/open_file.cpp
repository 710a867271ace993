#include "session/file/open_file.h"

#include "base/file.h"
#include "base/folders.h"
#include "base/utf8.h"
#include "lesson/lesson.h"
#include "models/open_model.h"
#include "read/external/mask_file.h"
#include "read/external/page_text.h"
#include "text/nearest.h"

namespace headlight {

Result<OpenFile> open_any(const std::filesystem::path& path, Progress& progress) {
  const std::string name = path.filename().string(), ending = path.extension().string();
  OpenFile opened;
  if (name.ends_with(".headlight.json") || names_page(path)) {
    opened.kind = OpenFile::Kind::session;
    opened.session = TRY(read_session(path, progress));
    opened.warnings = opened.session.model_warnings;
    return opened;
  }
  if (name.ends_with(kLessonEnding)) {
    opened.kind = OpenFile::Kind::lesson;
    opened.lesson = std::make_shared<const Lesson>(TRY(read_lesson(path, nullptr)));
    return opened;
  }
  if (names_picture(path)) {
    opened.kind = OpenFile::Kind::picture;
    opened.picture = TRY(read_picture_input(path));
    return opened;
  }
  if (names_model(path)) {
    auto model = TRY(open_model(path, std::nullopt, progress));
    opened.kind = OpenFile::Kind::document;
    opened.session.document = std::move(model.document);
    opened.session.model_warnings = std::move(model.model_warnings);
    opened.warnings = std::move(model.warnings);
    return opened;
  }
  if (ending == ".npy" || ending == ".json") {
    opened.kind = OpenFile::Kind::mask;
    opened.mask = TRY(read_mask(path, opened.warnings));
    return opened;
  }
  if (ending == ".txt" || ending.empty()) {
    auto text = TRY(read_file(path, std::size_t{1} << 24));
    TRY(check_utf8(path.string(), text));
    opened.text = std::move(text);
    if (opened.text.starts_with("\uFEFF")) opened.text.erase(0, std::string_view("\uFEFF").size());
    while (opened.text.ends_with('\n') || opened.text.ends_with('\r')) opened.text.pop_back();
    return opened;
  }
  return bad_input(path.string(), "kind",
                   "a checkpoint folder, .headlight.json, .html, .lesson.json, .safetensors, .npz, .npy, .json, .png, "
                   ".jpg, .webp or .txt",
                   ending.empty()                 ? "no ending"
                   : foreign_format(path).empty() ? ending
                                                  : foreign_format(path),
                   path_exists(path) ? ErrorCode::unknown_kind : ErrorCode::file_absent);
}

}  // namespace headlight
