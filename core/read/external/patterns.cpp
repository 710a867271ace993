#include "read/external/patterns.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/formatted.h"
#include "base/names.h"
#include "base/utf8.h"
#include "model/head_text.h"
#include "text/characters.h"

namespace headlight {
namespace {

constexpr float kRounding = -1e-6f;  // a negative number this small is a zero of another program's arithmetic

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return formatted("%.6g", value);
}

std::string row_name(std::size_t layer, std::size_t head, Index query) {
  return head_label({static_cast<Index>(layer), static_cast<Index>(head)}) + " query " + std::to_string(query);
}

Status check_size(std::string_view where, std::string_view what, std::string_view axis, std::size_t size, Index most) {
  if (size >= 1 && size <= static_cast<std::size_t>(most)) return Done{};
  return bad_input(where, what, "1 to " + std::to_string(most) + " " + std::string(axis), std::to_string(size));
}

/// The smallest number of all, and the largest.
std::pair<float, float> range_of(const std::vector<std::vector<Matrix>>& patterns) {
  float least = 0, most = 0;
  for (const auto& heads : patterns)
    for (const Matrix& weights : heads) {
      least = std::min(least, weights.minCoeff<Eigen::PropagateNumbers>());
      most = std::max(most, weights.maxCoeff<Eigen::PropagateNumbers>());
    }
  return {least, most};
}

/// Cells or rows that are named in one line: how many there are, and the first.
struct NamedOnes {
  std::size_t count = 0;
  std::string first = {};
  void add(const auto& name) {
    if (++count == 1) first = name();
  }
};

Status check_weights(std::string_view where, FoundPatterns& found, std::vector<Error>& warnings) {
  auto& patterns = found.stack.patterns;
  TRY(check_size(where, found.name, "layers", patterns.size(), kMaxLayers));
  TRY(check_size(where, found.name, "heads", patterns[0].size(), kMaxHeads));
  const auto [least, most] = range_of(patterns);
  const bool is_signed = least < kRounding * std::min(most, 1.0f);
  NamedOnes odd, missing, missing_rows, negative;
  for (std::size_t layer = 0; layer < patterns.size(); ++layer) {
    for (std::size_t head = 0; head < patterns[layer].size(); ++head) {
      Matrix& weights = patterns[layer][head];
      for (Index query = 0; query < weights.rows(); ++query) {
        double sum = weights.row(query).cast<double>().sum();
        const std::size_t missing_before = missing.count;
        const bool plain = least == 0 && std::isfinite(sum);  // nothing to name or to round
        if (!plain) sum = 0;
        for (Index key = plain ? weights.cols() : 0; key < weights.cols(); ++key) {
          float& weight = weights(query, key);
          const auto name = [&] { return row_name(layer, head, query) + " key " + std::to_string(key); };
          if (std::isinf(weight))
            return bad_input(where, found.name + ": " + name(), "a finite number",
                             number_text(static_cast<double>(weight)), ErrorCode::not_finite);
          if (std::isnan(weight)) missing.add(name);
          if (!is_signed) weight = weight < 0 ? 0.0f : weight;
          if (weight < 0) negative.add([&] { return name() + ": " + number_text(static_cast<double>(weight)); });
          sum += static_cast<double>(weight);
        }
        if (missing.count > missing_before) missing_rows.add([] { return std::string(); });
        if (is_signed || std::isnan(sum) || std::abs(sum - 1) <= found.tolerance || sum == 0) continue;
        odd.add([&] { return row_name(layer, head, query) + " sums to " + number_text(sum); });
      }
    }
  }
  const auto warn = [&](ErrorCode code, const std::string& line) {
    warnings.emplace_back(code, where, found.name + ": " + line);
  };
  const auto counted = [](std::size_t count, const std::string& one) {
    return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
  };
  if (missing.count > 0)
    warn(ErrorCode::not_finite, counted(missing.count, "NaN") + " in " + counted(missing_rows.count, "row") +
                                    " (the first, " + missing.first +
                                    "): counted as 0, and hatched in figures and the window");
  if (least == 0 && most == 0 && missing.count == 0) warn(ErrorCode::sum_not_one, "all weights are 0");
  if (is_signed)
    warn(ErrorCode::weight_below_zero, counted(negative.count, "number") + " below 0 (the first, " + negative.first +
                                           "): no weights; coloured on both sides of 0");
  if (odd.count > 0)
    warn(ErrorCode::sum_not_one, std::to_string(odd.count) +
                                     (odd.count == 1 ? " row of weights sums" : " rows of weights sum") +
                                     " to neither 1 nor 0 (" + (odd.count == 1 ? "" : "the first, ") + odd.first + ")");
  return Done{};
}

/// Cross-attention happens in the decoder's layers, from its tokens to the encoder's.
Status check_together(std::string_view where, const std::map<Stack, FoundPatterns>& found) {
  const auto cross = found.find(Stack::cross), encoder = found.find(Stack::encoder);
  if (cross == found.end()) return Done{};
  const FoundPatterns& own = found.at(Stack::self);
  const auto equal = [&](std::string_view axis, std::size_t size, std::size_t wanted, std::string_view of) -> Status {
    if (size == wanted) return Done{};
    return bad_input(where, cross->second.name,
                     std::to_string(wanted) + " " + std::string(axis) + ", as " + std::string(of),
                     std::to_string(size));
  };
  const ExternalStack& stack = cross->second.stack;
  TRY(equal("layers", stack.patterns.size(), own.stack.patterns.size(), own.name));
  TRY(equal("queries", stack.query_tokens.size(), own.stack.query_tokens.size(), own.name));
  if (encoder == found.end()) return Done{};
  return equal("keys", stack.key_tokens.size(), encoder->second.stack.key_tokens.size(), encoder->second.name);
}

}  // namespace

std::vector<std::vector<Matrix>> matrices_of(const std::vector<Index>& shape, const std::vector<float>& values) {
  std::vector<std::vector<Matrix>> matrices(static_cast<std::size_t>(shape[0]));
  const float* at = values.data();
  for (auto& heads : matrices)
    for (Index head = 0; head < shape[1]; ++head, at += shape[2] * shape[3])
      heads.emplace_back(Eigen::Map<const Matrix>(at, shape[2], shape[3]));
  return matrices;
}

namespace {

constexpr std::string_view kLaterPiece = "##";   // of BERT: a later piece of a word
constexpr std::string_view kGoesOn = "@@";       // of subword-nmt: the next piece belongs to the same word
constexpr std::string_view kEndOfWord = "</w>";  // of GPT and CLIP
constexpr std::string_view kSpecialTexts[] = {"[CLS]", "[SEP]",         "[PAD]", "<s>",   "</s>",
                                              "<pad>", "<|endoftext|>", "<bos>", "<eos>", "<|begin_of_text|>"};

bool is_special_text(const std::string& raw) {
  return std::find(std::begin(kSpecialTexts), std::end(kSpecialTexts), raw) != std::end(kSpecialTexts);
}

/// Whether these are bytes as GPT-2's vocabulary spells them: Ġ for a space, or letters that are text only together.
bool are_byte_letters(const std::vector<std::string>& texts) {
  const WordSpelling spelling{.byte_level = true};
  std::string bytes;
  bool plain = true, spaced = false;
  for (const std::string& text : texts) {
    if (is_special_text(text)) continue;
    for (const char32_t letter : code_points(text)) {
      if (!byte_of_letter(letter)) return false;
      plain = plain && letter < 0x80;
      spaced = spaced || letter == letter_of_byte(' ') || letter == letter_of_byte('\n');
    }
    bytes += bytes_of_word(spelling, text);
  }
  return !plain && (spaced || !first_invalid_utf8(bytes));
}

/// The mark of how these texts spell words.
WordSpelling spelling_of(const std::vector<std::string>& texts) {
  const auto any = [&](auto holds) { return std::any_of(texts.begin(), texts.end(), holds); };
  WordSpelling spelling{.byte_level = are_byte_letters(texts)};
  spelling.metaspace = any([](const std::string& text) { return text.starts_with("▁"); });
  spelling.byte_words = any([](const std::string& text) { return text.size() == 6 && text.starts_with("<0x"); });
  if (any([](const std::string& text) { return text.size() > kEndOfWord.size() && text.ends_with(kEndOfWord); }))
    spelling.suffix = kEndOfWord;
  if (any([](const std::string& text) { return text.size() > kGoesOn.size() && text.ends_with(kGoesOn); }))
    spelling.suffix = kGoesOn;
  if (any([](const std::string& text) { return text.size() > kLaterPiece.size() && text.starts_with(kLaterPiece); }))
    spelling.prefix = kLaterPiece;
  return spelling;
}

/// Whether a space stands between words: not beside Chinese and its like.
bool are_spaced(std::string_view before, std::string_view after) {
  constexpr char32_t kFirstWithout = 0x2E80, kHangul = 0xAC00, kAfterHangul = 0xD7B0, kForms = 0x1F000;
  const auto is_spaced = [](char32_t c) {
    return c < kFirstWithout || (c >= kHangul && c < kAfterHangul) || c >= kForms;
  };
  const std::vector<char32_t> left = code_points(before), right = code_points(after);
  return !left.empty() && !right.empty() && is_spaced(left.back()) && is_spaced(right.front());
}

}  // namespace

Tokens tokens_of(const std::vector<std::string>& texts) {
  const auto has_space = [](const std::string& raw) { return raw.starts_with(' ') || raw.ends_with(' '); };
  const WordSpelling spelling = spelling_of(texts);
  const bool spaces = spelling.byte_level || spelling.metaspace, ends = !spelling.suffix.empty();
  const bool pieces = spaces || ends || !spelling.prefix.empty();
  Tokens tokens;
  // Where no text shows how words are cut, every token is one.
  const bool words = !pieces && std::none_of(texts.begin(), texts.end(), has_space);
  tokens.has_words = pieces || words;
  bool goes_on = false;  // the word before does
  for (const std::string& given : texts) {
    const bool special = is_special_text(given), piece = given.starts_with(spelling.prefix) && !spelling.prefix.empty();
    const std::string range = special ? given : bytes_of_word(spelling, given);
    const bool marked = ends && given.size() > spelling.suffix.size() && given.ends_with(spelling.suffix);
    const bool continues = !tokens.tokens.empty() && !special && !tokens.tokens.back().special &&
                           (spaces ? !range.starts_with(' ')
                            : ends ? goes_on
                                   : piece);
    goes_on = marked == (spelling.suffix == kGoesOn);
    const std::size_t begin = tokens.text.size();
    const bool apart =
        (words || ends) && !continues && !tokens.tokens.empty() && are_spaced(tokens.tokens.back().raw, range);
    if (apart) tokens.text += ' ';
    tokens.text += range;
    const std::string raw = piece ? given : range;
    const std::string text = spelling.byte_level || spelling.byte_words ? visible(without_leading_space(raw))
                                                                        : std::string(without_leading_space(raw));
    tokens.tokens.push_back({.id = hashed_id(text),
                             .text = text,
                             .raw = raw,
                             .begin = begin,
                             .end = tokens.text.size(),
                             .special = special,
                             .continues = continues});
  }
  return tokens;
}

Tokens numbered_tokens(Index count) {
  std::vector<std::string> texts;
  for (Index i = 0; i < count; ++i) texts.push_back(std::to_string(i));
  return tokens_of(texts);
}

Result<PatchGrid> parse_grid(std::string_view text) {
  const std::vector<std::string_view> sides = split_at('x', text);
  PatchGrid grid;
  if (sides.size() == 2)
    grid.rows = parse_number<Index>(sides[0]).value_or(0), grid.cols = parse_number<Index>(sides[1]).value_or(0);
  constexpr auto kMost = static_cast<Index>(kMaxTokens);
  if (grid.rows >= 1 && grid.cols >= 1 && grid.rows <= kMost && grid.cols <= kMost / grid.rows) return grid;
  return bad_input("--grid", "", "rows and columns, 14x14, at most " + std::to_string(kMaxTokens) + " places",
                   printable(text));
}

namespace {

/// Gives the keys of each stack, and queries that are the same tokens, the places of a grid: the last of them, row
/// after row. Tokens before them, and places that have only numbers, are named.
Status lay_out(std::string_view where, const PatchGrid& grid, ExternalInputs& inputs) {
  for (auto& [stack, given] : inputs.stacks) {
    Tokens& keys = given.key_tokens;
    const auto count = static_cast<Index>(keys.size()), places = grid.rows * grid.cols;
    if (count < places)
      return bad_input(where, "--grid",
                       std::to_string(grid.rows) + "x" + std::to_string(grid.cols) + " = " + std::to_string(places) +
                           " keys, or more with class tokens before them",
                       std::to_string(count), ErrorCode::wrong_shape);
    const bool both = given.query_tokens == keys;
    auto picture = std::make_shared<PatchedPicture>();
    picture->grid = grid;
    bool named = true;  // by numbers alone
    for (std::size_t i = 0; i < keys.size(); ++i) named = named && keys.tokens[i].text == std::to_string(i);
    for (Index i = 0; i < count; ++i) {
      Token& token = keys.tokens[static_cast<std::size_t>(i)];
      const Index place = i - (count - places);
      if (named && place >= 0) token.text = std::to_string(place / grid.cols) + "," + std::to_string(place % grid.cols);
      else if (named && count - places == 1) token.text = "CLS";
      if (place < 0) picture->grid.leading.push_back(token.text), token.special = true;
    }
    keys.picture = std::move(picture);
    if (both) given.query_tokens = keys;
  }
  return Done{};
}

}  // namespace

Result<std::shared_ptr<const Model>> pattern_model(std::string_view where, std::map<Stack, FoundPatterns> found,
                                                   std::vector<Error>& warnings, const std::optional<PatchGrid>& grid) {
  if (found.size() == 1) {
    auto only = found.extract(found.begin());
    only.key() = Stack::self;
    found.insert(std::move(only));
  } else if (!found.contains(Stack::self)) {
    auto cross = found.extract(Stack::cross);
    cross.key() = Stack::self;
    warnings.emplace_back(ErrorCode::bad_value, where,
                          cross.mapped().name + ": shown as the decoder's attention, which the file does not have");
    found.insert(std::move(cross));
  }
  TRY(check_together(where, found));
  auto model = std::make_shared<Model>();
  ExternalInputs given;
  for (auto& [stack, patterns] : found) {
    TRY(check_weights(where, patterns, warnings));
    given.stacks.emplace(stack, std::move(patterns.stack));
  }
  if (grid) TRY(lay_out(where, *grid, given));
  const auto& self = given.stacks.at(Stack::self).patterns;
  Config& config = model->config;
  config = {.arch = given.stacks.size() == 1 ? Arch::encoder : Arch::encoder_decoder,
            .num_heads = static_cast<Index>(self[0].size()),
            .num_layers = static_cast<Index>(self.size()),
            .ffn = 0,
            .position = Position::none};
  config.d_model = config.num_heads;
  if (const auto encoder = given.stacks.find(Stack::encoder); encoder != given.stacks.end())
    config.encoder_layers = static_cast<Index>(encoder->second.patterns.size());
  model->name = std::filesystem::path(where).filename().string();
  model->given = std::move(given);
  return std::shared_ptr<const Model>(std::move(model));
}

}  // namespace headlight
