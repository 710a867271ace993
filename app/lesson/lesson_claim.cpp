#include "lesson/lesson.h"

#include <nlohmann/json.hpp>

#include "derived/inside.h"
#include "explain/matrices.h"
#include "math/attention.h"
#include "math/output.h"
#include "model/head_text.h"
#include "read/json/json_fields.h"

namespace headlight {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMostPosition = 1u << 20;

/// `query` as a word, or `query_place` as a number.
void read_position(const JsonField& fields, const char* key, const char* index_key, WordPosition& position) {
  fields.read(key, position.word);
  if (fields.contains(index_key)) fields.read_integer(index_key, position.index.emplace(), kMostPosition);
}

void read_limit(const JsonField& field, std::optional<double>& limit) {
  if (field.is_missing()) return;
  if (field.value().is_number() && std::isfinite(field.value().get<double>())) limit = field.value().get<double>();
  else field.problem("a number");
}

void read_rows(const JsonField& field, Claim& claim) {
  const json& rows = field.value();
  if (!rows.is_array() || rows.size() != 2 || !rows[0].is_string() || !rows[1].is_string())
    return field.problem("two words");
  claim.kind = Claim::Kind::rows_apart;
  claim.query.word = rows[0].get<std::string>();
  claim.key.word = rows[1].get<std::string>();
}

/// Which number it is about.
void read_kind(const JsonField& fields, Claim& claim) {
  if (fields.contains("rows_apart")) return read_rows(fields.at("rows_apart"), claim);
  if (fields.contains("row_largest")) {
    claim.kind = Claim::Kind::row_largest;
    return;
  }
  const struct {
    const char* key;
    Claim::Kind kind;
  } named[] = {{"matrix", Claim::Kind::matrix}, {"next", Claim::Kind::next}, {"relation", Claim::Kind::relation}};
  for (const auto& one : named) {
    if (!fields.contains(one.key)) continue;
    claim.kind = one.kind;
    fields.read(one.key, claim.name);
    if (one.kind == Claim::Kind::matrix && !parse_matrix_name(claim.name))
      fields.at("matrix").problem("a matrix such as head.query");
    return;
  }
  read_position(fields, "query", "query_place", claim.query);
  read_position(fields, "key", "key_place", claim.key);
}

Result<Claim> claim_from_json(const std::string& where, const json& object) {
  if (!object.is_object()) return bad_input(where, "claims", "a list of objects", object.type_name());
  JsonProblems problems{where + ": claims"};
  const JsonField fields(object, "", problems);
  Claim claim;
  fields.read_integer("layer", claim.head.layer, static_cast<std::uint64_t>(kMaxLayers) - 1);
  fields.read_integer("head", claim.head.head, static_cast<std::uint64_t>(kMaxHeads) - 1);
  std::string stack = "self";
  fields.read("stack", stack);
  if (const auto parsed = parse_stack(stack)) claim.head.stack = *parsed;
  else fields.at("stack").problem("self, encoder or cross");
  read_kind(fields, claim);
  fields.read_integer("row", claim.cell.query, kMostPosition);
  fields.read_integer("column", claim.cell.key, kMostPosition);
  read_limit(fields.at("above"), claim.above);
  read_limit(fields.at("below"), claim.below);
  if (!claim.above && !claim.below) fields.at("above").problem("a number here or in below");
  if (problems.first) return *problems.first;
  return claim;
}

Result<Index> position_of(const Claim& claim, const Tokens& tokens, const WordPosition& position) {
  const auto found = find_position(tokens, position);
  if (!found) return bad_input(words_of(claim), position.word, "a word of the sentence", "none");
  return *found;
}

Result<double> weight_of(const Claim& claim, const Trace& trace) {
  const auto query = TRY(position_of(claim, trace.query_tokens(claim.head.stack), claim.query));
  const bool rows = claim.kind == Claim::Kind::rows_apart;
  const auto key = TRY(
      position_of(claim, rows ? trace.query_tokens(claim.head.stack) : trace.key_tokens(claim.head.stack), claim.key));
  const Matrix row = attention_rows(trace, claim.head, query, 1);
  if (!rows) return static_cast<double>(row(0, key));
  return static_cast<double>((row - attention_rows(trace, claim.head, key, 1)).cwiseAbs().maxCoeff());
}

Result<double> cell_of(const Claim& claim, const Trace& trace) {
  const MatrixId id = matrix_id(*parse_matrix_name(claim.name), claim.head);
  if (!exists(trace, id)) return bad_input(words_of(claim), "", "a matrix that this model has", claim.name);
  const Shape size = shape(trace, id);
  if (claim.cell.query >= size.rows || claim.cell.key >= size.cols)
    return bad_input(words_of(claim), "row, column",
                     "a cell of " + std::to_string(size.rows) + " × " + std::to_string(size.cols),
                     std::to_string(claim.cell.query) + ", " + std::to_string(claim.cell.key));
  return static_cast<double>(rows_of(trace, id, claim.cell.query, 1)(0, claim.cell.key));
}

Result<double> probability_of(const Claim& claim, const Trace& trace) {
  const auto row = trace.logits.size() > 0 ? find_word(*trace.model, claim.name) : std::nullopt;
  if (!row) return bad_input(words_of(claim), claim.name, "a word that the model knows", "none");
  return static_cast<double>(probabilities(trace.logits)(*row));
}

}  // namespace

Result<std::vector<Claim>> claims_from_json(const std::string& where, const json& list) {
  if (!list.is_array()) return bad_input(where, "claims", "a list of objects", list.type_name());
  std::vector<Claim> claims;
  for (const json& item : list) claims.push_back(TRY(claim_from_json(where, item)));
  return claims;
}

std::string words_of(const Claim& claim) {
  const std::string head = head_label(claim.head);
  const auto word = [](const WordPosition& position) {
    return position.index ? "token " + std::to_string(*position.index) : position.word;
  };
  switch (claim.kind) {
    case Claim::Kind::weight: return head + ", " + word(claim.query) + " → " + word(claim.key);
    case Claim::Kind::matrix:
      return claim.name + "[" + std::to_string(claim.cell.query) + ", " + std::to_string(claim.cell.key) + "]";
    case Claim::Kind::row_largest: return head + ", largest weight of a row";
    case Claim::Kind::rows_apart: return head + ", rows of " + claim.query.word + " and " + claim.key.word;
    case Claim::Kind::next: return "next word " + claim.name;
    case Claim::Kind::relation: return head + ", relation " + claim.name;
  }
  return {};
}

Result<double> claimed_number(const Claim& claim, const Document& document, const Trace& trace) {
  if (claim.kind == Claim::Kind::next) return probability_of(claim, trace);
  if (claim.kind == Claim::Kind::relation) {
    for (const RelationScore* score : relations_of(document, claim.head))
      if (score->relation == claim.name) return static_cast<double>(score->score.accuracy);
    return bad_input(words_of(claim), "", "a head that was chosen for it", "none");
  }
  const HeadRef& head = claim.head;
  if (!trace.has(head.stack) || head.layer >= trace.num_layers(head.stack) || head.head >= trace.num_heads(head.stack))
    return bad_input(words_of(claim), "", "a head that the model has", head_label(head));
  if (claim.kind == Claim::Kind::matrix) return cell_of(claim, trace);
  if (claim.kind != Claim::Kind::row_largest) return weight_of(claim, trace);
  const Matrix weights = attention_rows(trace, head, 0, trace.queries(head.stack));
  return static_cast<double>(weights.rowwise().maxCoeff().mean());
}

bool holds(const Claim& claim, double number) {
  return (!claim.above || number > *claim.above) && (!claim.below || number < *claim.below);
}

std::optional<Index> find_position(const Tokens& tokens, const WordPosition& position) {
  if (position.index) {
    if (*position.index < static_cast<Index>(tokens.size())) return *position.index;
    return std::nullopt;
  }
  std::string word = position.word;
  Index wanted = 1;
  if (const std::size_t mark = word.rfind('#'); mark != std::string::npos && mark > 0) {
    const auto count = parse_index(std::string_view(word).substr(mark + 1));
    if (count && *count > 0) {
      wanted = *count;
      word.resize(mark);
    }
  }
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (tokens.tokens[i].text == word && --wanted == 0) return static_cast<Index>(i);
  return std::nullopt;
}

}  // namespace headlight
