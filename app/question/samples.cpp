#include "question/samples.h"

#include "assets/assets.h"
#include "base/file.h"
#include "question/text_input.h"
#include "read/json/json_document.h"
#include "read/json/json_fields.h"

namespace headlight {

Result<std::vector<Sample>> parse_samples(std::string_view where, std::string_view text,
                                          const std::filesystem::path& folder) {
  const auto document = parse_json(where, text);
  if (!document) return document.error();
  if (!document->is_array()) return bad_input(where, "samples", "a list", document->type_name());
  std::vector<Sample> samples;
  JsonProblems ignored;
  for (const JsonField& item : JsonField(*document, "", ignored).items()) {
    const std::string what = "sample " + std::to_string(samples.size());
    const JsonField note = item.at("note");
    Sample sample{item.text("text", ""), note.text("en", ""), note.text("zh", ""), {}};
    if (sample.text.empty()) return bad_input(where, what, "an object with a text", item.value().type_name());
    if (sample.note_en.empty() || sample.note_zh.empty()) return bad_input(where, what, "a note in en and zh", "none");
    if (const std::string file = item.text("file", ""); !file.empty()) sample.file = (folder / file).string();
    sample.change = item.text("change", "");
    sample.into = item.text("into", "");
    if (sample.change.empty() != sample.into.empty() || sample.text.find(sample.change) == std::string::npos)
      return bad_input(where, what, "a change of a word of the text into another", sample.change);
    samples.push_back(std::move(sample));
  }
  return samples;
}

const Result<std::vector<Sample>>& read_samples() {
  static const Result<std::vector<Sample>> kept = []() -> Result<std::vector<Sample>> {
    const auto folder = TRY(asset_folder());
    const auto path = folder / "assets" / "samples.json";
    const auto text = TRY(read_file(path, kLargestAsset));
    return parse_samples(path.string(), text, folder / "assets");
  }();
  return kept;
}

std::vector<std::vector<std::string>> words_of_samples(const Lexicon& lexicon) {
  constexpr std::size_t kMostTokens = 256;
  std::vector<std::vector<std::string>> all;
  const auto& samples = read_samples();
  if (!samples) return all;
  for (const Sample& sample : *samples) {
    if (!sample.file.empty()) continue;
    const auto cut = tokens_of_lines("", TextInput{.text = sample.text}, lexicon, kMostTokens);
    if (!cut || cut->size() != 1) continue;
    std::vector<std::string> words;
    for (const Token& token : cut->front().tokens) words.push_back(token.text);
    all.push_back(std::move(words));
  }
  return all;
}

}  // namespace headlight
