#include "text/nearest.h"

#include <algorithm>
#include <numeric>
#include <system_error>
#include <vector>

#include "base/file.h"
#include "base/folders.h"
#include "base/formatted.h"
#include "base/mapped_file.h"
#include "model/picture.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestAsked = 255, kMostEntriesTried = 10000;

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  fs::directory_iterator entry(folder, failed);
  for (std::size_t seen = 0; !failed && entry != fs::directory_iterator() && seen < kMostEntriesTried; ++seen) {
    if (std::string name = entry->path().filename().string(); !name.starts_with('.')) names.push_back(std::move(name));
    entry.increment(failed);
  }
  std::sort(names.begin(), names.end());  // the system lists them in any order
  return names;
}

}  // namespace

std::size_t letters_apart(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replace = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j + 1] + 1, row[j] + 1, replace});
    }
  }
  return row.back();
}

std::string nearest_name(std::span<const std::string> names, std::string_view asked) {
  if (asked.empty() || asked.size() > kLongestAsked) return {};
  std::size_t least = std::min(asked.size() - 1, std::max<std::size_t>(2, asked.size() / 3)) + 1;
  std::string nearest;
  for (const std::string& name : names)
    if (const std::size_t apart = letters_apart(name, asked); apart < least) {
      least = apart;
      nearest = name;
    }
  return nearest;
}

fs::path nearest_path(const fs::path& asked) {
  fs::path found;
  for (const fs::path& part : asked) {
    if (part.empty()) continue;  // behind a slash at the end
    if (path_exists(found / part)) {
      found /= part;
      continue;
    }
    const std::string near = nearest_name(names_in(found.empty() ? fs::path(".") : found), part.string());
    if (near.empty()) return {};
    found /= near;
  }
  return found;
}

std::string nearest_hint(const fs::path& path) {
  if (path_exists(path)) return {};
  const fs::path near = nearest_path(path);
  return near.empty() ? "" : " (the nearest: " + near.string() + ")";
}

std::string foreign_format(const fs::path& path) {
  if (std::string other = stand_in(path); !other.empty()) return other;
  if (path.extension() == ".onnx")
    return "an ONNX file, a program without the names of its parts, which is not read; the folder that it was exported "
           "from is: config.json and model.safetensors";
  return {};
}

namespace {

/// A format by its first bytes, and what makes one of it that is read.
struct OtherFormat {
  std::string_view begin, ending;  // ending: of the name, where several begin so
  const char* what;
};
constexpr OtherFormat kOtherFormats[] = {
    {"PK\3\4", ".xlsx", "an Excel workbook; saved as .csv it is read"},
    {"PK\3\4", ".ods", "a spreadsheet; saved as .csv it is read"},
    {"PK\3\4", ".keras", "a model of Keras; the folder of the same model in the layout of transformers is read"},
    {"PK\3\4", "", "a zip archive; what is in it is read once it is unpacked"},
    {"PAR1", "", "a Parquet table; saved as .csv it is read"},
    {"ARROW1", "", "an Arrow (Feather) table; saved as .csv it is read"},
    {"\x89HDF", "", "an HDF5 file; arrays are read from numpy.savez, models in the layout of transformers"},
    {"MATLAB 5.0", "", "a MATLAB file; arrays are read from numpy.savez"},
    {"\x1f\x8b", "", "a gzip archive; what is in it is read once it is unpacked"},
    {"BZh", "", "a bzip2 archive; what is in it is read once it is unpacked"},
    {"\xfd\67zXZ", "", "an xz archive; what is in it is read once it is unpacked"},
    {"7z\xbc\xaf", "", "a 7-Zip archive; what is in it is read once it is unpacked"},
    {"\x28\xb5\x2f\xfd", "", "a zstd archive; what is in it is read once it is unpacked"},
    {"%PDF", "", "a PDF"},
};

/// Of a file of none of the kinds that are read; a text by what would be read of it.
std::string other_format(const fs::path& path) {
  const auto file = MappedFile::open(path);
  const std::string_view begin = file ? (*file)->bytes() : std::string_view();
  if (is_png(begin) || is_jpeg(begin) || is_webp(begin))
    return "a picture, about which a model of pictures is asked by --picture";
  const std::string ending = path.extension().string();
  for (const OtherFormat& format : kOtherFormats)
    if (begin.starts_with(format.begin) && (format.ending.empty() || format.ending == ending)) return format.what;
  if (ending == ".json")
    return "a JSON file without attention: lists of numbers in lists, or an object with attentions";
  if (ending == ".jsonl") return "lines of JSON; each is read as a .json file of its own";
  if (ending == ".txt") return "a text; a table of weights is read as .csv";
  return "another file";
}

}  // namespace

std::string found_at(const fs::path& path) {
  if (!path_exists(path) && stand_in(path).empty()) return "no such file" + nearest_hint(path);
  const std::string foreign = foreign_format(path);
  return foreign.empty() ? other_format(path) : foreign;
}

}  // namespace headlight
