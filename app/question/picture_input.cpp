#include "question/picture_input.h"

#include <algorithm>
#include <cctype>
#include <system_error>

#include <nlohmann/json.hpp>

#include "assets/assets.h"
#include "base/file.h"
#include "base/folders.h"
#include "base/random.h"
#include "question/document.h"
#include "question/question_fields.h"
#include "read/picture/picture_file.h"
#include "read/picture/preprocessing.h"
#include "words/question_words.h"

namespace headlight {
namespace {

using nlohmann::json;

constexpr const char* kExample = "shipped:shapes-1.png";

/// The name of a picture's file: "shapes-1.png", also of one that comes along.
std::string file_name(const std::string& path) {
  return path.starts_with(kShipped) ? path.substr(kShipped.size()) : std::filesystem::path(path).filename().string();
}

/// The same pixels, without those right and below that make no whole patch.
SeenPicture in_patches(SeenPicture seen, const PatchGrid& grid) {
  const Index width = grid.cols * grid.patch, height = grid.rows * grid.patch, from = seen.picture.width;
  if (width == from && height == seen.picture.height) return seen;
  SeenPicture whole{.done = std::move(seen.done)};
  whole.picture = {.width = width, .height = height};
  for (Index row = 0; row < height; ++row) {
    const auto begin = row * from * 3, end = begin + width * 3;
    whole.picture.pixels.insert(whole.picture.pixels.end(), seen.picture.pixels.begin() + begin,
                                seen.picture.pixels.begin() + end);
    whole.values.insert(whole.values.end(), seen.values.begin() + begin, seen.values.begin() + end);
  }
  return whole;
}

Preprocessing preprocessing_of(const Model& model) {
  const PatchGrid& grid = *model.patches;
  return model.preprocessing ? *model.preprocessing
                             : default_preprocessing(grid.cols * grid.patch, grid.rows * grid.patch);
}

Status take_picture(Document& document, const GivenOptions& given) {
  if (!reads_picture(document))
    return bad_input("--picture", "", "a model that reads nothing but pictures as SOURCE, such as shipped:shapes",
                     given.source.empty() ? "none" : given.source, ErrorCode::needs_text);
  return set_picture(document, TRY(read_picture_input(given.word("--picture"))));
}

}  // namespace

bool reads_picture(const Document& document) { return document.model && document.model->patches; }

bool names_picture(const std::filesystem::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return std::tolower(c); });
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg" || ending == ".webp";
}

Result<std::shared_ptr<const PictureInput>> read_picture_input(const std::filesystem::path& path) {
  const std::string name = path.string();
  const bool comes_along = name.starts_with(kShipped);
  const auto assets = asset_folder();
  if (comes_along && !assets) return assets.error();
  const auto file = comes_along ? *assets / "assets" / "pictures" / name.substr(kShipped.size()) : path;
  const auto bytes = TRY(read_file(file, kMostPictureBytes));
  auto picture = TRY(picture_from(name, bytes));
  std::error_code error;
  const auto absolute = comes_along ? path : std::filesystem::absolute(path, error).lexically_normal();
  return std::make_shared<const PictureInput>(PictureInput{
      .path = (error ? path : absolute).string(), .hash = hash_digits(bytes), .picture = std::move(picture)});
}

Status set_picture(Document& document, std::shared_ptr<const PictureInput> picture) {
  document.seen = nullptr;
  document.picture = std::move(picture);
  if (!document.picture || document.picture->problem || !reads_picture(document)) return Done{};
  const Model& model = *document.model;
  auto seen = in_patches(TRY(seen_by(preprocessing_of(model), document.picture->picture)), *model.patches);
  Matrix patches = patches_of(*model.patches, seen.values);
  document.seen = std::make_shared<const PatchedPicture>(PatchedPicture{.name = file_name(document.picture->path),
                                                                        .done = std::move(seen.done),
                                                                        .grid = *model.patches,
                                                                        .seen = std::move(seen.picture),
                                                                        .patches = std::move(patches)});
  return Done{};
}

std::shared_ptr<const PictureInput> example_picture() {
  const auto picture = read_picture_input(kExample);
  return picture ? *picture : nullptr;
}

void reread_picture(Document& document, const std::filesystem::path& found, std::vector<Error>& notes) {
  const std::shared_ptr<const PictureInput> stated = document.picture;
  auto picture = read_picture_input(found);
  if (!picture) {
    Error problem = picture.error();
    if (problem.code == ErrorCode::file_absent) problem.code = ErrorCode::source_gone;
    document.picture = std::make_shared<const PictureInput>(
        PictureInput{.path = stated->path, .hash = stated->hash, .problem = std::move(problem)});
    document.seen = nullptr;
    return;
  }
  if (!stated->hash.empty() && (*picture)->hash != stated->hash)
    notes.emplace_back(ErrorCode::bad_value, found.string(), "another picture than the one that was asked about");
  if (const Status set = set_picture(document, *picture); !set) notes.push_back(set.error());
}

/// In JSON a path and a hash; document_json.cpp reads the file again.
QuestionField picture_field() {
  QuestionField row{FieldPart::text, "picture", kQuestionWords.picture};
  row.options = {FieldOption("--picture", OptionKind::word, "FILE",
                             "The picture (PNG, JPEG, WebP) that a model of pictures reads",
                             {"--text", "--tokens", "--ids", "--chat", "--text-pair", "--target", "--pad"})};
  row.is_same = [](const Document& a, const Document& b) {
    return a.picture == b.picture || (a.picture && b.picture && a.picture->hash == b.picture->hash);
  };
  row.take = take_picture;
  row.put = [](const Document& d, OptionWords& words) {
    if (reads_picture(d) && d.picture) words.add("--picture", d.picture->path);
  };
  row.write = [](const Document& d, json& object) {
    if (reads_picture(d) && d.picture) object["picture"] = {{"path", d.picture->path}, {"hash", d.picture->hash}};
  };
  row.read = [](const JsonField& fields, Document& d) {
    if (!fields.has("picture") || !reads_picture(d)) return;
    const JsonField stated = fields.at("picture");
    PictureInput picture;
    picture.path = stated.text("path");
    picture.hash = stated.text("hash", "");
    d.picture = std::make_shared<const PictureInput>(std::move(picture));
  };
  row.text = [](const Document& d) { return d.picture ? file_name(d.picture->path) : std::string(); };
  return row;
}

}  // namespace headlight
