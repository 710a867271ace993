// The picture that a question is about, and what the model sees of it.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/picture.h"

namespace headlight {

struct Document;

/// How a document names what comes along with the program instead of a path: "shipped:encoder", "shipped:shapes-1.png".
inline constexpr std::string_view kShipped = "shipped:";

struct PictureInput {
  std::string path;                   // absolute; of one that comes along "shipped:shapes-1.png"
  std::string hash;                   // hash_digits() of the file
  Picture picture = {};               // as the file shows it
  std::optional<Error> problem = {};  // why it could not be read; then there are no pixels
};

/// Whether the model of the document reads a picture instead of a text.
bool reads_picture(const Document& document);

/// Whether a file is called a picture, by its ending.
bool names_picture(const std::filesystem::path& path);

/// The picture of a file (read/picture/picture_file.h).
Result<std::shared_ptr<const PictureInput>> read_picture_input(const std::filesystem::path& path);

/// Makes it the question of the document, whose model reads pictures; null: no picture. Where it has a problem, the
/// document keeps its path.
Status set_picture(Document& document, std::shared_ptr<const PictureInput> picture);

/// The picture that a document begins with whose model reads one; null where the program's assets are not there.
std::shared_ptr<const PictureInput> example_picture();

/// Reads again what JSON names by path and hash; `found`: where it lies now. Another file than then is a note.
void reread_picture(Document& document, const std::filesystem::path& found, std::vector<Error>& notes);

}  // namespace headlight
