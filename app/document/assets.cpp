#include "document/assets.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>

#include "base/file.h"
#include "base/folders.h"
#include "base/system.h"
#include "base/utf8.h"
#include "read/tokenizer/tokenizer_file.h"
#include "text/characters.h"
#include "text/words.h"

namespace headlight {

namespace fs = std::filesystem;

namespace {

bool is_chinese(std::string_view word) {
  const std::vector<char32_t> characters = code_points(word);
  return std::all_of(characters.begin(), characters.end(), is_chinese_character);
}

}  // namespace

Result<fs::path> asset_folder() {
  return first_asset_folder(asset_places(std::getenv("HEADLIGHT_DATA"), program_file()));
}

std::vector<fs::path> asset_places(const char* data, const fs::path& executable) {
  if (data != nullptr && *data != '\0') return {data};
  std::vector<fs::path> places;
  if (executable.has_parent_path()) {
    for (const fs::path& prefix : {executable.parent_path().parent_path(), executable.parent_path()})
      places.push_back(prefix / "share" / "headlight");
  }
  places.emplace_back(HEADLIGHT_SOURCE_DIR);
  return places;
}

Result<fs::path> first_asset_folder(const std::vector<fs::path>& places) {
  std::string looked;
  for (const fs::path& place : places) {
    if (is_folder(place / "assets") && is_folder(place / "shaders")) return place;
    looked += (looked.empty() ? "neither in " : " nor in ") + place.string();
  }
  return bad_input("HEADLIGHT_DATA", "", "a folder with assets/ and shaders/ in it", looked);
}

Result<Lexicon> read_lexicon() {
  const auto folder = asset_folder();
  if (!folder) return folder.error();
  const auto path = *folder / "assets" / "lexicon.txt";
  const auto text = read_file(path, kLargestAsset);
  if (!text) return text.error();
  auto lexicon = parse_lexicon(path.string(), *text);
  if (!lexicon) return lexicon;
  // Text is cut the same whether weights are trained or fresh: the words of the trained models count here too.
  const fs::path models = *folder / "assets" / "models";
  if (const auto trained = read_tokenizer(models / "encoder"))
    *lexicon = with_words(*std::move(lexicon), vocabulary_of(*trained->tokenizer)->words);
  if (path_exists(models / "any-sentence" / "tokenizer.json")) {
    std::vector<std::string> own;
    std::copy_if(lexicon->words.begin(), lexicon->words.end(), std::back_inserter(own), is_chinese);
    lexicon->likely = std::make_shared<const LikelyWords>([folder = models / "any-sentence", own = std::move(own)] {
      // As likely as the most frequent words there are, so that a path of known words is preferred.
      constexpr double kOwnCost = 4;
      auto read = read_word_costs(folder);
      std::vector<LikelyWords::Word> costs = read ? *std::move(read) : std::vector<LikelyWords::Word>{};
      for (const std::string& word : own) costs.push_back({word, kOwnCost});
      return costs;
    });
  }
  return lexicon;
}

const Lexicon* kept_lexicon() {
  static const Result<Lexicon> kept = read_lexicon();
  return kept ? &*kept : nullptr;
}

}  // namespace headlight
