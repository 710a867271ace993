#include "read/tokenizer/sentencepiece_tokenizer.h"

#include <bit>
#include <cmath>
#include <unordered_set>

#include "base/utf8.h"
#include "text/characters.h"
#include "text/subwords.h"

namespace headlight {
namespace {

enum class Wire { varint = 0, eight_bytes = 1, bytes = 2, four_bytes = 5 };

/// One field of a message: its number, and a number or bytes.
struct WireField {
  std::uint64_t number = 0;
  Wire wire = Wire::varint;
  std::uint64_t value = 0;
  std::string_view bytes = {};
};

/// The fields of a message, one after the other.
class Message {
 public:
  explicit Message(std::string_view bytes) : bytes_(bytes) {}

  bool at_end() const { return at_ == bytes_.size(); }

  /// Nothing where the bytes are no field.
  std::optional<WireField> next() {
    const auto tag = varint();
    if (!tag || *tag >> 3 == 0) return std::nullopt;
    WireField field{.number = *tag >> 3, .wire = static_cast<Wire>(*tag & 7)};
    std::optional<std::uint64_t> value;
    switch (field.wire) {
      case Wire::varint: value = varint(); break;
      case Wire::eight_bytes: value = fixed(8); break;
      case Wire::four_bytes: value = fixed(4); break;
      case Wire::bytes: {
        value = varint();
        if (!value || *value > bytes_.size() - at_) return std::nullopt;
        field.bytes = bytes_.substr(at_, static_cast<std::size_t>(*value));
        at_ += static_cast<std::size_t>(*value);
        break;
      }
      default: return std::nullopt;  // groups, which are obsolete
    }
    if (!value) return std::nullopt;
    field.value = *value;
    return field;
  }

 private:
  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_end()) return std::nullopt;
      const auto byte = static_cast<std::uint8_t>(bytes_[at_++]);
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  std::optional<std::uint64_t> fixed(std::size_t size) {
    if (bytes_.size() - at_ < size) return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<std::uint8_t>(bytes_[at_ + i]);
    at_ += size;
    return value;
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
};

/// Calls take(field) for each field; false where the bytes are no message or take returns false.
template <class Take>
bool each_field(std::string_view bytes, Take take) {
  Message message(bytes);
  while (!message.at_end()) {
    const auto field = message.next();
    if (!field || !take(*field)) return false;
  }
  return true;
}

Error no_message(std::string_view where, std::string_view what) {
  return bad_input(where, what, "a SentencePiece model", "bytes that are no protocol buffer of its form");
}

Result<SentencePieceModel::Piece> piece_from(std::string_view where, const std::string& what, std::string_view bytes) {
  SentencePieceModel::Piece piece;
  std::uint64_t kind = 1;
  const bool read = each_field(bytes, [&](const WireField& field) {
    if (field.number == 1 && field.wire == Wire::bytes) piece.text = field.bytes;
    else if (field.number == 2 && field.wire == Wire::four_bytes)
      piece.score = std::bit_cast<float>(static_cast<std::uint32_t>(field.value));
    else if (field.number == 3 && field.wire == Wire::varint) kind = field.value;
    else return field.number > 3;
    return true;
  });
  if (!read) return no_message(where, what);
  if (piece.text.empty()) return bad_input(where, what, "a text", "none");
  TRY(check_utf8(std::string(where) + ": " + what, piece.text));
  if (!std::isfinite(piece.score)) return bad_input(where, what, "a finite score", std::to_string(piece.score));
  if (kind < 1 || kind > 6) return bad_input(where, what, "a type from 1 to 6", std::to_string(kind));
  piece.kind = static_cast<SentencePieceModel::PieceKind>(kind);
  return piece;
}

}  // namespace

Result<SentencePieceModel> parse_sentencepiece_model(std::string_view where, std::string_view bytes) {
  SentencePieceModel model;
  std::optional<Error> error;
  std::uint64_t kind = 1, unknown_id = 0;
  std::unordered_set<std::string> texts;
  const auto trainer = [&](const WireField& field) {
    if (field.wire != Wire::varint) return field.number != 3 && field.number != 35 && field.number != 40;
    if (field.number == 3) kind = field.value;
    if (field.number == 35) model.byte_fallback = field.value != 0;
    if (field.number == 40) unknown_id = field.value;
    return true;
  };
  const auto normalizer = [&](const WireField& field) {
    if (field.number == 2 && field.wire == Wire::bytes) model.charsmap = field.bytes;
    return true;
  };
  const bool read = each_field(bytes, [&](const WireField& field) {
    if (field.number > 3) return true;
    if (field.wire != Wire::bytes) return false;
    if (field.number == 2) return each_field(field.bytes, trainer);
    if (field.number == 3) return each_field(field.bytes, normalizer);
    const std::string what = "piece " + std::to_string(model.pieces.size());
    auto piece = piece_from(where, what, field.bytes);
    if (!piece) error = piece.error();
    else if (model.pieces.size() == static_cast<std::size_t>(kMostTokenIds))
      error = bad_input(where, "pieces", "at most " + std::to_string(kMostTokenIds), "more");
    else if (piece->text.size() > kLongestWord)
      error = bad_input(where, what, "at most " + std::to_string(kLongestWord) + " bytes",
                        std::to_string(piece->text.size()));
    else if (!texts.insert(piece->text).second)
      error = bad_input(where, what, "each text once", quoted_word(piece->text) + " again");
    else model.pieces.push_back(*std::move(piece));
    return !error;
  });
  if (error) return *error;
  if (!read) return no_message(where, "");
  if (model.pieces.empty()) return bad_input(where, "pieces", "at least one", "none");
  if (kind < 1 || kind > 4) return bad_input(where, "model_type", "a number from 1 to 4", std::to_string(kind));
  model.kind = static_cast<SentencePieceModel::Kind>(kind);
  if (unknown_id >= model.pieces.size())
    return bad_input(where, "unk_id", "a piece of " + std::to_string(model.pieces.size()), std::to_string(unknown_id));
  model.unknown_id = static_cast<std::int64_t>(unknown_id);
  return model;
}

}  // namespace headlight
