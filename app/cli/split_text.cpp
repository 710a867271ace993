#include "cli/split_text.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "base/file.h"
#include "base/formatted.h"
#include "write/npz.h"
#include "write/number.h"

namespace headlight {

std::string largest_terms(std::vector<NamedTerm> terms, Index most, bool summed) {
  std::stable_sort(terms.begin(), terms.end(),
                   [](const NamedTerm& a, const NamedTerm& b) { return std::abs(a.value) > std::abs(b.value); });
  auto shown = std::min(static_cast<std::size_t>(most), terms.size());
  if (shown + 1 == terms.size()) ++shown;  // a line about one other is a line, too
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += formatted("%+12.6f  ", terms[i].value) + terms[i].name + "\n";
  if (shown == terms.size()) return text;
  if (!summed) return text + "and " + std::to_string(terms.size() - shown) + " more (--format csv)\n";
  double rest = 0;
  for (std::size_t i = shown; i < terms.size(); ++i) rest += terms[i].value;
  return text + formatted("%+12.6f  ", rest) + "the other " + std::to_string(terms.size() - shown) + "\n";
}

void append_value(std::string& text, double value) { append_number(text, static_cast<float>(value)); }

ArrayStream array_of(std::string name, std::vector<Index> shape, std::vector<float> numbers) {
  const Index columns = shape.back(), rows = static_cast<Index>(numbers.size()) / columns;
  const auto kept = std::make_shared<const std::vector<float>>(std::move(numbers));
  ArrayStream array{.name = std::move(name), .shape = std::move(shape), .axes = {}, .pieces = 1, .piece = {}};
  array.piece = [kept, rows, columns](Index) -> Matrix {
    return Eigen::Map<const Matrix>(kept->data(), rows, columns);
  };
  return array;
}

ArrayStream array_of_writers(std::string name, const std::vector<Writer>& writers) {
  std::vector<float> numbers;
  for (const Writer& writer : writers)
    for (const Index number :
         {static_cast<Index>(writer.kind), static_cast<Index>(writer.head.stack), writer.head.layer, writer.head.head})
      numbers.push_back(static_cast<float>(number));
  return array_of(std::move(name), {static_cast<Index>(writers.size()), 4}, std::move(numbers));
}

Result<int> print_npz(std::vector<std::vector<ArrayStream>> sentences) {
  std::vector<ArrayStream> arrays;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    for (ArrayStream& array : sentences[i]) {
      if (sentences.size() > 1) array.name = std::to_string(i) + "." + array.name;
      arrays.push_back(std::move(array));
    }
  }
  Output output = Output::to_standard_output();
  Progress progress;
  if (const Status written = write_npz(arrays, scratch_for(std::nullopt), output, progress); !written)
    return written.error();
  if (const Status written = output.commit(); !written) return written.error();
  return 0;
}

}  // namespace headlight
