#include "read/tokenizer/kept_words.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/folders.h"
#include "base/formatted.h"
#include "model/fingerprint.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kKeptFormat = "headlight words 2\n";

fs::path kept_folder() { return config_folder() / "tokenizers"; }

fs::path kept_path(std::string_view text) {
  return kept_folder() / (formatted("%016llx", static_cast<unsigned long long>(hash_bytes(text))) + "-" +
                          std::to_string(text.size()) + ".words");
}

/// The numbers of a file, in the machine's order of bytes, which the hash at its end covers, too.
template <class Number>
void put_numbers(std::string& bytes, const Number* numbers, std::size_t count) {
  bytes.append(reinterpret_cast<const char*>(numbers), count * sizeof(Number));
}

/// What is left of a file that is read from its beginning.
class KeptParts {
 public:
  explicit KeptParts(std::string_view bytes) : left_(bytes) {}

  /// `count` numbers; none where fewer are left.
  template <class Number>
  std::optional<std::vector<Number>> numbers(std::uint64_t count) {
    if (count > left_.size() / sizeof(Number)) return std::nullopt;
    std::vector<Number> read(static_cast<std::size_t>(count));
    std::memcpy(read.data(), left_.data(), read.size() * sizeof(Number));
    left_.remove_prefix(read.size() * sizeof(Number));
    return read;
  }
  std::optional<std::string_view> text(std::uint64_t length) {
    if (length > left_.size()) return std::nullopt;
    const std::string_view read = left_.substr(0, static_cast<std::size_t>(length));
    left_.remove_prefix(read.size());
    return read;
  }
  bool empty() const { return left_.empty(); }

 private:
  std::string_view left_;
};

std::optional<std::vector<WordTable::Word>> words_from(const std::vector<std::int32_t>& ids,
                                                       const std::vector<std::uint32_t>& lengths, KeptParts& parts) {
  std::vector<WordTable::Word> words;
  words.reserve(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto text = parts.text(lengths[i]);
    if (!text || ids[i] < 0 || ids[i] >= kMostTokenIds) return std::nullopt;
    words.push_back({std::string(*text), ids[i]});
  }
  return words;
}

bool are_merges(const std::vector<Bpe::Merge>& merges, std::size_t ids) {
  for (std::size_t i = 0; i < merges.size(); ++i) {
    const auto [pair, rank, id] = merges[i];
    if ((pair >> 32) >= ids || (pair & 0xFFFFFFFFu) >= ids || id < 0 || static_cast<std::size_t>(id) >= ids)
      return false;
    if (i > 0 && merges[i - 1].pair >= pair) return false;
  }
  return true;
}

std::optional<KeptWords> words_of_bytes(std::string_view bytes) {
  if (!bytes.starts_with(kKeptFormat) || bytes.size() < kKeptFormat.size() + sizeof(std::uint64_t)) return std::nullopt;
  std::uint64_t hash = 0;
  std::memcpy(&hash, bytes.data() + bytes.size() - sizeof hash, sizeof hash);
  bytes.remove_suffix(sizeof hash);
  if (hash_bytes(bytes) != hash) return std::nullopt;
  KeptParts parts(bytes.substr(kKeptFormat.size()));
  const auto counts = parts.numbers<std::uint64_t>(3);
  if (!counts) return std::nullopt;
  auto merges = parts.numbers<Bpe::Merge>((*counts)[0]);
  const auto ids = parts.numbers<std::int32_t>((*counts)[1]);
  const auto lengths = parts.numbers<std::uint32_t>((*counts)[1]);
  if (!merges || !ids || !lengths) return std::nullopt;
  auto words = words_from(*ids, *lengths, parts);
  const auto rest = parts.text((*counts)[2]);
  if (!words || !rest || !parts.empty()) return std::nullopt;
  WordTable table(*std::move(words));
  if (!are_merges(*merges, table.ids())) return std::nullopt;
  return KeptWords{std::string(*rest), Bpe::of_merges(std::move(table), {}, *std::move(merges))};
}

void remove_oldest(const fs::path& folder) {
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".words") files.emplace_back(entry.last_write_time(error), entry.path());
  std::sort(files.rbegin(), files.rend());
  for (std::size_t i = kMostKeptTokenizers; i < files.size(); ++i) fs::remove(files[i].second, error);
}

}  // namespace

std::optional<KeptWords> kept_words(std::string_view text) {
  if (text.size() < kLeastKeptTokenizer) return std::nullopt;
  const fs::path path = kept_path(text);
  if (!is_regular(path)) return std::nullopt;
  const auto bytes = read_file(path, 4 * text.size());
  return bytes ? words_of_bytes(*bytes) : std::nullopt;
}

std::string without_words(nlohmann::json& document, std::string_view text) {
  if (text.size() < kLeastKeptTokenizer || !document.is_object()) return {};
  const auto model = document.find("model");
  if (model == document.end() || !model->is_object()) return {};
  const auto words = model->find("vocab"), merges = model->find("merges");
  if (words == model->end() || merges == model->end() || !words->is_object() || !merges->is_array()) return {};
  nlohmann::json kept_apart[] = {nlohmann::json::object(), nlohmann::json::array()};
  words->swap(kept_apart[0]);
  merges->swap(kept_apart[1]);
  std::string rest = document.dump();
  words->swap(kept_apart[0]);
  merges->swap(kept_apart[1]);
  return rest;
}

void keep_words(std::string_view text, std::string_view rest, const Bpe& bpe) {
  const auto& words = bpe.words().words();
  std::string bytes(kKeptFormat);
  const std::uint64_t counts[] = {bpe.merges().size(), words.size(), rest.size()};
  put_numbers(bytes, counts, std::size(counts));
  put_numbers(bytes, bpe.merges().data(), bpe.merges().size());
  for (const WordTable::Word& word : words) put_numbers(bytes, &word.id, 1);
  for (const WordTable::Word& word : words) {
    const auto length = static_cast<std::uint32_t>(word.text.size());
    put_numbers(bytes, &length, 1);
  }
  for (const WordTable::Word& word : words) bytes += word.text;
  bytes += rest;
  const std::uint64_t hash = hash_bytes(bytes);
  put_numbers(bytes, &hash, 1);
  std::error_code error;
  fs::create_directories(kept_folder(), error);
  if (write_file(kept_path(text), bytes)) remove_oldest(kept_folder());
}

}  // namespace headlight
