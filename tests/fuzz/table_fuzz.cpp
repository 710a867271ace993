// Tables of numbers: the first byte says whether the rest is one table or the JSON of a whole attention. What comes out
// holds finite numbers and −∞ alone, and reads back from its JSON.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "diagnose/typed_numbers.h"
#include "fuzz/require.h"
#include "fuzz/target.h"
#include "read/external/tidy_table.h"

HEADLIGHT_FUZZ_TARGET(table) {
  using namespace headlight;
  if (size == 0) return;
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const bool whole = bytes.front() % 2 == 0;
  bytes.remove_prefix(1);
  if (whole) {
    const auto numbers = parse_own_numbers("fuzz", bytes);
    if (!numbers) return require_line(numbers.error().message());
    const auto again = parse_own_numbers("fuzz", numbers_json(*numbers));
    require(again && *again == *numbers);
    for (const Mistake& mistake : check_numbers(*numbers)) require_line(mistake.text.en);
    if (const auto model = model_of_numbers("fuzz", *numbers); !model) require_line(model.error().message());
    return;
  }
  if (const auto tidy = parse_tidy_table("fuzz", bytes); !tidy) require_line(tidy.error().message());
  const auto table = parse_number_table("fuzz", bytes);
  if (!table) return require_line(table.error().message());
  require(table->numbers.size() > 0 && (table->numbers.array() <= std::numeric_limits<float>::max()).all());
  const auto again = parse_number_table("fuzz", table_json(table->numbers));
  require(again && same(again->numbers, table->numbers));
}
