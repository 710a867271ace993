// A training.json of any bytes is a card that can be written down in words, or one line.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "fuzz/require.h"
#include "fuzz/target.h"
#include "train/measure/relations_json.h"
#include "train/trained_checkpoint.h"

using namespace headlight;

HEADLIGHT_FUZZ_TARGET(training) {
  const auto card = parse_card("fuzz", {reinterpret_cast<const char*>(data), size});
  if (!card) {
    require_line(card.error().message());
    return;
  }
  Model model;
  model.vocabulary = std::make_shared<const Vocabulary>();
  require(!card_text(model, *card).empty());
  if (card->scores) require(!relations_json(*card->scores).dump().empty());
}
