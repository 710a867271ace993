#include "document/samples.h"

#include "read/json/json_document.h"

namespace headlight {

Result<std::vector<Sample>> parse_samples(std::string_view where, std::string_view text,
                                          const std::filesystem::path& folder) {
  const auto document = parse_json(where, text);
  if (!document) return document.error();
  if (!document->is_array()) return bad_input(where, "samples", "a list", document->type_name());
  std::vector<Sample> samples;
  for (const auto& item : *document) {
    const std::string what = "sample " + std::to_string(samples.size());
    const auto string_at = [](const nlohmann::json& object, const char* key) {
      const bool found = object.is_object() && object.contains(key) && object[key].is_string();
      return found ? object[key].get<std::string>() : std::string{};
    };
    const auto note = item.is_object() ? item.value("note", nlohmann::json()) : nlohmann::json();
    Sample sample{string_at(item, "text"), string_at(note, "en"), string_at(note, "zh"), {}};
    if (sample.text.empty()) return bad_input(where, what, "an object with a text", item.type_name());
    if (sample.note_en.empty() || sample.note_zh.empty()) return bad_input(where, what, "a note in en and zh", "none");
    if (const std::string file = string_at(item, "file"); !file.empty()) sample.file = (folder / file).string();
    samples.push_back(std::move(sample));
  }
  return samples;
}

}  // namespace headlight
