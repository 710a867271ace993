#include "session/start.h"

#include "base/file.h"
#include "session/assets.h"

namespace headlight {
namespace {

constexpr std::size_t kLargestAsset = std::size_t{1} << 24;

}  // namespace

Result<Lexicon> read_lexicon() {
  const auto folder = asset_folder();
  if (!folder) return folder.error();
  const auto path = *folder / "assets" / "lexicon.txt";
  const auto text = read_file(path, kLargestAsset);
  if (!text) return text.error();
  return parse_lexicon(path.string(), *text);
}

Result<std::shared_ptr<const Grammar>> read_grammar(const std::filesystem::path& path) {
  const auto text = read_file(path, kLargestAsset);
  if (!text) return text.error();
  auto grammar = parse_grammar(path.string(), *text);
  if (!grammar) return grammar.error();
  return std::make_shared<const Grammar>(*std::move(grammar));
}

Result<std::shared_ptr<const Grammar>> read_grammar() {
  const auto folder = asset_folder();
  if (!folder) return folder.error();
  return read_grammar(*folder / "assets" / "grammar.json");
}

Result<Resources> read_resources() {
  auto folder = asset_folder();
  if (!folder) return folder.error();
  auto lexicon = read_lexicon();
  if (!lexicon) return lexicon.error();
  const auto path = *folder / "assets" / "samples.json";
  const auto text = read_file(path, kLargestAsset);
  if (!text) return text.error();
  auto samples = parse_samples(path.string(), *text, *folder / "assets");
  if (!samples) return samples.error();
  auto shipped = read_shipped_models();
  if (!shipped) return shipped.error();
  return Resources{std::move(*folder), std::move(*lexicon), std::move(*samples), std::move(*shipped)};
}

Settings read_settings() {
  const auto text = read_file(settings_path(), std::size_t{1} << 20);
  return text ? settings_from_json(*text) : default_settings();
}

}  // namespace headlight
