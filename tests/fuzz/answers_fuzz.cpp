// Two files of answers in JSON, with a line "--" between them: each is equal to itself, and why they differ is said in
// one line; or one line says what is wrong with them.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "diagnose/diagnosis.h"
#include "fuzz/require.h"
#include "fuzz/target.h"

using namespace headlight;

HEADLIGHT_FUZZ_TARGET(answers) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size), between = "\n--\n";
  const std::size_t at = bytes.find(between);
  if (at == bytes.npos) return;
  const auto a = export_from_json("a", bytes.substr(0, at)),
             b = export_from_json("b", bytes.substr(at + between.size()));
  for (const auto* file : {&a, &b})
    if (*file) require(compare(**file, **file).equal());
    else require_line(file->error().message());
  if (!a || !b) return;
  const FileComparison comparison = compare(*a, *b);
  for (const ComparedArray& array : comparison.arrays) {
    if (array.largest) require_line(cell_text(array.name, array.largest->at, *a, *b).zh);
    if (array.first) require_line(cell_text(array.name, array.first->at, *a, *b).en);
  }
  if (const auto found = diagnose(*a, *b, comparison, 0.1); found.named()) require_line(found.line().zh);
}
