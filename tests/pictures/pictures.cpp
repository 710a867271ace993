// What the core makes of pictures, for tests/golden/pillow.py. Each line of standard input is a file and, behind a tab,
// WIDTH HEIGHT RESAMPLING of another size, or what is in a preprocessor_config.json. The answer is `WIDTH HEIGHT` in a
// line and the pixels, or the numbers that a model takes, or the line of the error.
#include <iostream>
#include <sstream>
#include <string>

#include "read/json/json_document.h"
#include "read/picture/picture_file.h"
#include "read/picture/preprocessing.h"

namespace headlight {
namespace {

template <class Number>
void print_picture(const Picture& picture, const std::vector<Number>& numbers) {
  std::cout << picture.width << ' ' << picture.height << '\n';
  std::cout.write(reinterpret_cast<const char*>(numbers.data()),
                  static_cast<std::streamsize>(numbers.size() * sizeof(Number)));
}

Status answer_line(std::istringstream& line) {
  std::string file, rest;
  std::getline(line, file, '\t');
  std::getline(line, rest);
  const Picture picture = TRY(read_picture(file));
  Index width = 0, height = 0;
  int resampling = 0;
  if (rest.starts_with("{")) {
    const auto document = TRY(parse_python_json("config", rest));
    const auto preprocessing = TRY(read_preprocessing("config", document));
    const SeenPicture seen = TRY(seen_by(preprocessing, picture));
    print_picture(seen.picture, seen.values);
  } else if (std::istringstream(rest) >> width >> height >> resampling) {
    const Picture other = resized(picture, width, height, static_cast<Resampling>(resampling));
    print_picture(other, other.pixels);
  } else {
    print_picture(picture, picture.pixels);
  }
  return Done{};
}

}  // namespace
}  // namespace headlight

int main() {
  for (std::string text; std::getline(std::cin, text);) {
    std::istringstream line(text);
    if (const auto answered = headlight::answer_line(line); !answered) std::cout << answered.error().message() << '\n';
    std::cout.flush();
  }
}
