// Rows that a study kept, of any bytes, are rows and studies that can be read and summed up, or are named in one line
// each.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/kept_file.h"
#include "fuzz/target.h"
#include "study/kept/rows.h"
#include "study/read_study.h"

using namespace headlight;

HEADLIGHT_FUZZ_TARGET(study) {
  static const FuzzFolder folder;
  const std::string file = folder.holding("rows.jsonl", {reinterpret_cast<const char*>(data), size});
  std::vector<Error> problems;
  if (const auto rows = StudyRows::open(file, std::nullopt, false, problems); !rows)
    require_line(rows.error().message());
  if (const auto study = read_study(file, 1, problems); !study) require_line(study.error().message());
  else {
    require(study->summaries.size() == study->values.keys.size());
    for (std::size_t cell = 0; cell < study->values.keys.size(); ++cell) {
      require(study->values.keys[cell].size() == study->statement.columns.size());
      require(study->summaries[cell].count == static_cast<Index>(study->values.numbers[cell].values.size()));
      study->label(cell);
    }
  }
  for (const Error& problem : problems) require_line(problem.message());
}
