#include "question/question_fields.h"

#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

#include "base/formatted.h"
#include "model/batch_mask.h"
#include "model/head_text.h"
#include "read/external/mask_file.h"
#include "words/question_words.h"

namespace headlight {
namespace {

using nlohmann::json;

constexpr const char* kMaskTrue = "--mask-true";

/// Of an additive mask false blocks, a number is added to the score.
json addend_json(float addend) { return std::isinf(addend) ? json(false) : json(addend); }

/// Its rows, or those of each head.
json given_mask_json(const MaskSpec& mask) {
  json heads = json::array();
  for (Index head = 0; head < mask.heads; ++head) {
    const Matrix given = given_of_head(mask, head);
    json& rows = heads.emplace_back(json::array());
    for (Index i = 0; i < given.rows(); ++i) {
      json& row = rows.emplace_back(json::array());
      for (Index j = 0; j < given.cols(); ++j) row.push_back(addend_json(given(i, j)));
    }
  }
  return mask.heads > 1 ? heads : heads.front();
}

std::optional<float> addend_of(const json& cell) {
  if (cell.is_boolean()) return cell.get<bool>() ? 0.0f : -std::numeric_limits<float>::infinity();
  if (cell.is_number() && std::isfinite(cell.get<float>())) return cell.get<float>();
  return std::nullopt;
}

void read_given(const JsonField& field, MaskSpec& mask) {
  json rows = field.value();
  const auto has_rows = [](const json& list) {
    return list.is_array() && !list.empty() && list[0].is_array() && !list[0].empty();
  };
  if (has_rows(rows) && rows[0][0].is_array()) {  // of each head
    json all = json::array();
    for (const json& head : rows) {
      if (!has_rows(head) || head.size() != rows[0].size()) return field.problem("as many rows of each head");
      all.insert(all.end(), head.begin(), head.end());
    }
    mask.heads = static_cast<Index>(rows.size());
    rows = std::move(all);
  }
  if (!has_rows(rows)) return field.problem("rows of numbers");
  if (const auto odd = odd_row(rows)) return field.problem("rows of equal length", rows[*odd]);
  Matrix matrix(static_cast<Index>(rows.size()), static_cast<Index>(rows[0].size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t j = 0; j < rows[i].size(); ++j) {
      const auto value = addend_of(rows[i][j]);
      if (!value) return field.problem("numbers, true or false", rows[i][j]);
      matrix(static_cast<Index>(i), static_cast<Index>(j)) = *value;
    }
  }
  mask.given = std::make_shared<const Matrix>(std::move(matrix));
}

/// The same of three axes: {"shape", "added", "sentences_first", "heads"}, the last axis running fastest.
json batch_mask_json(const BatchMask& mask) {
  json added = json::array();
  for (const float value : mask.addends) added.push_back(addend_json(value));
  json object{{"shape", mask.shape}, {"added", std::move(added)}};
  if (mask.sentences_first) object["sentences_first"] = true;
  if (mask.heads > 1) object["heads"] = mask.heads;
  return object;
}

void read_batch(const JsonField& field, MaskSpec& mask) {
  constexpr const char* kExpected = "{\"shape\": [three sizes], \"added\": [a number, true or false each]}";
  BatchMask batch;
  if (!field.value().is_object() || !field.contains("shape") || !field.contains("added"))
    return field.problem(kExpected);
  const json &shape = field.value()["shape"], &added = field.value()["added"];
  if (!shape.is_array() || shape.size() != batch.shape.size() || !added.is_array())
    return field.problem(kExpected, shape);
  if (field.contains("heads") && !is_whole(field.value()["heads"], 1, kMaxBatchTokens))
    return field.problem(kExpected, field.value()["heads"]);
  if (field.contains("heads")) batch.heads = field.value()["heads"].get<Index>();
  auto size = static_cast<std::size_t>(batch.heads);
  for (std::size_t axis = 0; axis < batch.shape.size(); ++axis) {
    if (!is_whole(shape[axis], 1, kMaxBatchTokens)) return field.problem(kExpected, shape[axis]);
    batch.shape[axis] = shape[axis].get<Index>();
    size *= shape[axis].get<std::size_t>();
  }
  if (size != added.size()) return field.problem(std::to_string(size) + " numbers, as its shape says", shape);
  for (const json& cell : added) {
    const auto value = addend_of(cell);
    if (!value) return field.problem("numbers, true or false", cell);
    batch.addends.push_back(*value);
  }
  field.read("sentences_first", batch.sentences_first);
  mask.batch = std::make_shared<const BatchMask>(std::move(batch));
}

void read_painted(const JsonField& field, MaskSpec& mask) {
  constexpr const char* kExpected = "a list of [query, key, 0 or 1]";
  if (!field.value().is_array()) return field.problem(kExpected);
  for (const json& cell : field.value()) {
    if (!cell.is_array() || cell.size() != 3 || !is_whole(cell[0], 0, kMaxTokens - 1) ||
        !is_whole(cell[1], 0, kMaxTokens - 1) || !is_whole(cell[2], 0, 1))
      return field.problem(kExpected, cell);
    paint(mask.painted, {cell[0].get<Index>(), cell[1].get<Index>(), cell[2].get<int>() != 0});
  }
}

struct MaskNames {
  const char *name, *option, *help;
  Stack stack;
};

bool has_two_stacks(const Document& document) { return config_of(document).arch == Arch::encoder_decoder; }

/// Which of true and false blocks without --mask-true: of weights that were computed before what fits them, else
/// true may attend. A note says where that is not certain.
MaskSpec mask_of_truth(const MaskNames& names, const Document& document, const GivenOptions& given, MaskSpec mask) {
  const auto note = [&](const char* line) {
    if (given.notes)
      given.notes->emplace_back(ErrorCode::bad_value, given.word(names.option), std::string("mask: ") + line);
  };
  const ExternalStack* stack = nullptr;
  if (has_own_inputs(document) && document.model->given->stacks.contains(names.stack))
    stack = &document.model->given->stacks.at(names.stack);
  if (stack && !stack->patterns.empty()) {
    MaskSpec turned = with_true_blocking(mask);
    const bool keeps = blocks_only_zeros(stack->patterns, mask), blocks = blocks_only_zeros(stack->patterns, turned);
    if (keeps != blocks) {
      note(keeps ? "true may attend: where it is false the weights are 0 (--mask-true blocks: the other way)"
                 : "true is blocked: there the weights are 0 (--mask-true keeps: the other way)");
      return keeps ? mask : turned;
    }
  }
  const auto leaves_none = [](const MaskSpec& one) {
    return one.given && (one.given->array() != 0).rowwise().all().any();
  };
  if (stack || (leaves_none(mask) && !leaves_none(with_true_blocking(mask))))
    note("true is read as may attend; --mask-true blocks, as torch.nn has it, reads it the other way");
  return mask;
}

Status take_mask(const MaskNames& names, Document& document, const GivenOptions& given) {
  if (!given.has(names.option)) {  // --mask-true alone
    for (const char* other : {"--encoder-mask", "--cross-mask", "--layer-mask"})
      if (given.has(other)) return Done{};
    return bad_input(kMaskTrue, "", "a mask from a file, --mask FILE", "none");
  }
  if (!attention_size(document, names.stack))
    return bad_input(names.option, "", "an encoder-decoder", "a model of one stack");
  bool either = false;
  auto mask = TRY(parse_mask_option(names.option, given.word(names.option), given, &either));
  if (either) mask = mask_of_truth(names, document, given, std::move(mask));
  mask_of(document, names.stack) = std::move(mask);
  return Done{};
}

void put_mask(const MaskNames& names, const Document& document, OptionWords& words) {
  if (names.stack != Stack::self && !has_two_stacks(document)) return;
  const MaskSpec& mask = mask_of(document, names.stack);
  MaskSpec usual;
  usual.causal =
      names.stack == Stack::self && !has_own_inputs(document) && is_causal_by_default(config_of(document).arch);
  if (mask != usual) words.add(names.option, mask_option_word(mask, words));
}

QuestionField mask_field(const MaskNames& names) {
  QuestionField row{FieldPart::mask, names.name, kQuestionWords.mask};
  row.options = {FieldOption(names.option, OptionKind::word, "", names.help)};
  if (names.stack == Stack::self)
    row.options.emplace_back(kMaskTrue, OptionKind::word, "blocks|keeps",
                             "What true or 1 means in masks of files: keeps (default) or, as torch.nn has it, blocks; "
                             "of arrays without it what fits their weights");
  row.is_same = same_by([names](const Document& d) -> const MaskSpec& { return mask_of(d, names.stack); });
  row.take = [names](Document& d, const GivenOptions& given) { return take_mask(names, d, given); };
  row.put = [names](const Document& d, OptionWords& words) { put_mask(names, d, words); };
  row.write = [names](const Document& d, json& object) {
    const MaskSpec& mask = mask_of(d, names.stack);
    if (names.stack == Stack::self || has_two_stacks(d) || mask != MaskSpec{}) object[names.name] = mask_json(mask);
  };
  row.read = [names](const JsonField& fields, Document& d) {
    if (fields.contains(names.name)) mask_of(d, names.stack) = mask_from_json(fields.at(names.name));
  };
  return row;
}

Status take_dropout(Document& document, const GivenOptions& given) {
  Edits& edits = document.edits;
  if (given.has("--dropout-seed"))
    edits.dropout_seed = parse_number<std::uint64_t>(given.word("--dropout-seed")).value_or(0);
  if (!given.has("--dropout")) return Done{};
  edits.dropout = parse_number<float>(given.word("--dropout")).value_or(-1.0f);
  if (edits.dropout >= 0.0f && edits.dropout < 1.0f) return Done{};
  return bad_input("--dropout", "", "0 or more and less than 1", shortest_text(edits.dropout));
}

QuestionField dropout_field() {
  QuestionField row{FieldPart::edits, "dropout", kQuestionWords.dropout};
  row.options = {FieldOption("--dropout", OptionKind::number, "P", "Each weight becomes 0 with this probability"),
                 FieldOption("--dropout-seed", OptionKind::count, "N", "Which weights those are, 0 by default")};
  row.is_same = same_by([](const Document& d) { return std::pair(d.edits.dropout, d.edits.dropout_seed); });
  row.take = take_dropout;
  row.put = [](const Document& d, OptionWords& words) {
    if (d.edits.dropout == 0) return;
    words.add("--dropout", shortest_text(d.edits.dropout));
    if (d.edits.dropout_seed != 0) words.add("--dropout-seed", std::to_string(d.edits.dropout_seed));
  };
  row.write = [](const Document& d, json& object) {
    if (d.edits.dropout == 0 && d.edits.dropout_seed == 0) return;
    object["dropout"] = d.edits.dropout;
    object["dropout_seed"] = d.edits.dropout_seed;
  };
  row.read = [](const JsonField& fields, Document& d) {
    fields.read("dropout", d.edits.dropout);
    if (!(d.edits.dropout >= 0.0f && d.edits.dropout < 1.0f)) fields.at("dropout").problem("0 or more and less than 1");
    fields.read_integer("dropout_seed", d.edits.dropout_seed, std::numeric_limits<std::uint64_t>::max());
  };
  return row;
}

}  // namespace

json mask_json(const MaskSpec& mask) {
  json object{{"causal", mask.causal}, {"padding", mask.padding}};
  if (mask.window) object["window"] = *mask.window;
  if (mask.chunk > 0) object["chunk"] = mask.chunk;
  if (mask.prefix > 0) object["prefix"] = mask.prefix;
  if (mask.batch) object["batch"] = batch_mask_json(*mask.batch);
  else if (mask.given) object["given"] = given_mask_json(mask);
  if (!mask.painted.empty()) {
    json cells = json::array();
    for (const auto& cell : mask.painted) cells.push_back({cell.query, cell.key, cell.allowed ? 1 : 0});
    object["painted"] = std::move(cells);
  }
  return object;
}

MaskSpec mask_from_json(const JsonField& object) {
  constexpr auto kMost = static_cast<std::uint64_t>(kMaxMaskTokens);
  MaskSpec mask;
  object.read("causal", mask.causal);
  object.read("padding", mask.padding);
  if (object.contains("window")) object.read_integer("window", mask.window.emplace(), kMost);
  object.read_integer("chunk", mask.chunk, kMost);
  object.read_integer("prefix", mask.prefix, kMost);
  if (object.contains("given")) read_given(object.at("given"), mask);
  if (object.contains("batch")) read_batch(object.at("batch"), mask);
  if (object.contains("painted")) read_painted(object.at("painted"), mask);
  return mask;
}

std::optional<AttentionSize> attention_size(const Document& document, Stack stack) {
  const Config& config = config_of(document);
  const auto of_blocks = [](const StackWeights& weights) {
    return AttentionSize{static_cast<Index>(weights.blocks.size()), weights.blocks.front().self.num_heads};
  };
  if (has_own_inputs(document)) {
    const auto& stacks = document.model->given->stacks;
    const auto at = stacks.find(stack);
    if (at == stacks.end()) return std::nullopt;
    const auto& patterns = at->second.patterns;
    if (patterns.empty()) return AttentionSize{1, config.num_heads};
    return AttentionSize{static_cast<Index>(patterns.size()), static_cast<Index>(patterns.front().size())};
  }
  if (stack != Stack::self && config.arch != Arch::encoder_decoder) return std::nullopt;
  if (!document.model)
    return AttentionSize{stack == Stack::encoder ? config.layers_of_encoder() : config.num_layers, config.num_heads};
  return stack == Stack::encoder ? of_blocks(*document.model->encoder) : of_blocks(*document.model);
}

Result<AttentionSize> known_size(const char* option, const Document& document, std::optional<Stack> stack,
                                 std::string_view found) {
  const auto size = stack ? attention_size(document, *stack) : std::nullopt;
  if (size) return *size;
  const bool two_stacks = attention_size(document, Stack::encoder).has_value();
  return bad_input(option, "", two_stacks ? "self:, encoder: or cross:" : "no stack, the model has one", found);
}

Result<MaskSpec> parse_mask_option(const char* option, const std::string& text, const GivenOptions& given,
                                   bool* either) {
  const bool stated = given.has(kMaskTrue), blocks = stated && given.word(kMaskTrue) == "blocks";
  if (stated && !blocks && given.word(kMaskTrue) != "keeps")
    return bad_input(kMaskTrue, "", "blocks or keeps", given.word(kMaskTrue));
  if (text.ends_with(".npy") || text.ends_with(".json")) {
    std::vector<Error> notes;
    bool boolean = false;
    auto mask = TRY(read_mask(text, notes, &boolean));
    if (given.notes) given.notes->insert(given.notes->end(), notes.begin(), notes.end());
    if (stated && !boolean)
      return bad_input(kMaskTrue, "", "a mask of true and false", text + ", numbers to be added to the scores");
    if (either) *either = boolean && !stated;
    return blocks ? with_true_blocking(std::move(mask)) : std::move(mask);
  }
  auto words = parse_mask_words(option, text);
  if (words && stated && option == std::string_view("--mask"))
    return bad_input(kMaskTrue, "", "a mask from a file", text);
  if (words) return *words;
  return bad_input(option, "",
                   "none, or causal, padding, window:N, chunk:N, prefix:N with + between them, FILE.npy or FILE.json",
                   text);
}

std::string mask_option_word(const MaskSpec& mask, OptionWords& words) {
  const char* found = !mask.painted.empty() ? "painted cells" : mask.given || mask.batch ? "a mask from a file" : "";
  if (*found && !words.refused)
    words.refused =
        bad_input("copy as command", "mask", "what an option can say (a saved session can be named in its place)",
                  found, ErrorCode::not_a_command);
  return mask_words(mask);
}

QuestionField number_field(const char* name, Words change, const char* option, const char* help,
                           std::optional<float> Edits::*value) {
  QuestionField row{FieldPart::edits, name, change, {{option, OptionKind::number, "X", help}}};
  row.is_same = same_by([value](const Document& d) { return d.edits.*value; });
  row.take = [option, value](Document& d, const GivenOptions& given) -> Status {
    TRY(check_scaled(option, d, Stack::self, 0));
    if (std::isfinite((d.edits.*value = parse_number<float>(given.word(option))).value_or(NAN))) return Done{};
    return bad_input(option, "", "a finite number", given.word(option));
  };
  row.put = [option, value](const Document& d, OptionWords& words) {
    if (d.edits.*value) words.add(option, shortest_text(*(d.edits.*value)));
  };
  row.write = [name, value](const Document& d, json& object) {
    if (d.edits.*value) object[name] = *(d.edits.*value);
  };
  row.read = [name, value](const JsonField& fields, Document& d) { fields.read(name, d.edits.*value); };
  row.text = [value](const Document& d) { return d.edits.*value ? shortest_text(*(d.edits.*value)) : "—"; };
  return row;
}

template <class Enum>
QuestionField choice_field(const char* name, Words change, const char* option, const char* help, Names names,
                           Enum Edits::*value) {
  QuestionField row{FieldPart::edits, name, change, {{option, OptionKind::word, "", help}}};
  row.is_same = same_by([value](const Document& d) { return d.edits.*value; });
  row.take = [option, names, value](Document& d, const GivenOptions& given) -> Status {
    const auto found = value_named<Enum>(names, given.word(option));
    if (!found) return bad_input(option, "", listed(names, " or "), given.word(option));
    d.edits.*value = *found;
    return Done{};
  };
  row.text = [names, value](const Document& d) { return std::string(name_in(names, d.edits.*value)); };
  row.put = [option, value, text = row.text](const Document& d, OptionWords& words) {
    if (d.edits.*value != Edits{}.*value) words.add(option, text(d));
  };
  row.write = [name, value, text = row.text](const Document& d, json& object) {
    if (d.edits.*value != Edits{}.*value) object[name] = text(d);
  };
  row.read = [name, names, value](const JsonField& fields, Document& d) {
    fields.read_choice(name, d.edits.*value, names);
  };
  return row;
}

QuestionFields attention_fields() {
  static constexpr std::string_view kOffAs[] = {"zero", "mean"};
  return {
      mask_field({"mask", "--mask",
                  "none, or causal, padding, window:N, chunk:N, prefix:N with + between them, or FILE.npy, "
                  "FILE.json: [query][key], true or 1 = may attend",
                  Stack::self}),
      mask_field({"encoder_mask", "--encoder-mask", "The same for the encoder of an encoder-decoder", Stack::encoder}),
      mask_field({"cross_mask", "--cross-mask", "The same for its cross-attention", Stack::cross}),
      number_field("scale", kQuestionWords.scale, "--scale", "Multiplies the scores in place of 1/sqrt(d_k)",
                   &Edits::scale),
      heads_off_field(),
      choice_field("off_as", kQuestionWords.off_as, "--off-as",
                   "zero (default): such a head has no output; mean: its mean over the sentence", kOffAs,
                   &Edits::off_as),
      weights_field(),
      layer_edits_field(),
      dropout_field()};
}

void write_edits(const Edits& edits, json& object, const QuestionFields& fields) {
  Document document;
  document.edits = edits;
  for (const QuestionField& field : fields)
    if (field.part == FieldPart::edits) field.write(document, object);
}

void read_edits(const JsonField& object, Edits& edits, const QuestionFields& fields) {
  Document document;
  for (const QuestionField& field : fields)
    if (field.part == FieldPart::edits) field.read(object, document);
  edits = std::move(document.edits);
}

}  // namespace headlight
