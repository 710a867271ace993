// A file of pairs of any bytes, as CSV and as JSON lines, gives rows that each have a sentence, or lines that say what
// is wrong.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "fuzz/kept_file.h"
#include "fuzz/target.h"
#include "study/study.h"

using namespace headlight;

HEADLIGHT_FUZZ_TARGET(pairs) {
  static const FuzzFolder folder;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const char* name : {"pairs.csv", "pairs.jsonl"})
    for (const bool with_corrupt : {false, true}) {
      std::vector<Error> problems;
      const auto pairs = read_pairs(folder.holding(name, bytes), with_corrupt, problems);
      for (const Error& problem : problems) require_line(problem.message());
      if (!pairs) {
        require_line(pairs.error().message());
        continue;
      }
      Index before = 0;
      for (const StudyPair& pair : *pairs) {
        require(pair.row > before && !pair.clean.empty() && (!with_corrupt || !pair.corrupt.empty()));
        before = pair.row;
      }
    }
}
