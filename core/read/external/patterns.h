// Attention that another program computed: its weights, checked, become a Model that holds them instead of inputs.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "model/weights.h"
#include "read/array/array.h"

namespace headlight {

/// Patterns as a file has them: [layer][head] (T, S) with the tokens of both sides, and the path of the attention in
/// it.
struct FoundPatterns {
  std::string name;
  ExternalStack stack;
  double tolerance = 1e-3;  // of the sum of a row: what rounding to the numbers of the file comes to
};

/// The matrices of an array (layers, heads, T, S): [layer][head] (T, S).
std::vector<std::vector<Matrix>> matrices_of(const std::vector<Index>& shape, const std::vector<float>& values);

/// Tokens of these texts; their ranges tile the joined text, a space between words of alphabets that have one.
/// Spellings of vocabularies are read: Ġ and its like (bytes), ▁ and <0xE6>, ## before later pieces, @@ behind pieces
/// that go on, </w> behind words. Where none is, and none begins or ends with a space, each is a word. The usual names
/// of special tokens are special.
Tokens tokens_of(const std::vector<std::string>& texts);
/// 0, 1, … `count` − 1.
Tokens numbered_tokens(Index count);

/// Text, spelling and flags of the tokens as an export of Headlight has them; what a token does not state is unchanged.
/// Tokens that were added, not typed, have no bytes of the text. Padding is not marked again, for what its mask did to
/// the weights is in them already. An Error where the list has another length than `tokens`, naming the field.
Status take_details(std::string_view where, const std::string& field, const nlohmann::json& list, Tokens& tokens);

/// `14x14`, rows and columns of keys that are patches of a picture or positions of a board.
Result<PatchGrid> parse_grid(std::string_view text);

/// Only the weights are known, so the configuration states no more than the numbers of layers and heads. A single stack
/// is `self` whatever its name in the file; so is the cross-attention where the decoder's self-attention is missing.
/// Numbers may be NaN (a warning names the first) and below 0 (then they are signed; rounding down to −1e-6 counts as
/// 0), not infinite; a row need not sum to 1, as after
/// dropout, but that is a warning. With a grid the last keys are its places, row after row, and those before them class
/// tokens; of an Error a stack has fewer keys. Errors name `where`, the stack and the index.
Result<std::shared_ptr<const Model>> pattern_model(std::string_view where, std::map<Stack, FoundPatterns> found,
                                                   std::vector<Error>& warnings,
                                                   const std::optional<PatchGrid>& grid = {});

}  // namespace headlight
