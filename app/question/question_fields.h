// Every field of a Document once: its names, its help, and how it is written as options, as JSON and in words. The
// options of the command line, sessions, the command that is copied, the difference between two questions, the name of
// a change and the goals of lessons walk this table; `--help-request --format json` prints its options. A new field is
// a member of Document or Edits and a row here; the engine alone knows its effect.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/names.h"
#include "base/result.h"
#include "question/document.h"
#include "read/external/page_attention.h"
#include "read/json/json_fields.h"

namespace headlight {

/// The value behind an option: none; a word; a number; a whole number, also below 0; one from 0; whole numbers with
/// commas between them; such words; a word each time that the option is given.
enum class OptionKind { flag, word, number, integer, count, numbers, list, repeated };

struct FieldOption {
  const char* name;
  OptionKind kind;
  const char* takes;  // what the help calls the value; empty: its type
  const char* help;
  std::vector<const char*> excludes = {};  // options that it does not go with; they stand in the table too
  const char* needs = nullptr;             // the option that it goes with

  // Clang 14 makes no aggregates in parentheses.
  FieldOption(const char* n, OptionKind k, const char* t, const char* h, std::vector<const char*> e = {},
              const char* other = nullptr)
      : name(n), kind(k), takes(t), help(h), excludes(std::move(e)), needs(other) {}
};

/// The options that were given, and the words behind each: of a flag none.
struct GivenOptions {
  std::map<std::string, std::vector<std::string>, std::less<>> words = {};
  std::string source = {};              // SOURCE, for messages
  std::vector<Error>* notes = nullptr;  // about files that were read; null: they are not wanted
  bool has_standard_input = true;       // which '-' reads; else it is a text

  bool has(std::string_view option) const { return words.find(option) != words.end(); }
  /// The word behind an option that was given, the last one where there are several.
  const std::string& word(std::string_view option) const { return words.find(option)->second.back(); }
  /// All of them; none where it was not given.
  std::span<const std::string> all(std::string_view option) const;
};

/// Options with their values, as a command line has them; or the Error of a value that no option gives.
struct OptionWords {
  std::vector<std::string> words = {};
  std::optional<Error> refused = {};

  void add(const char* option) { words.emplace_back(option); }
  void add(const char* option, std::string value) {
    add(option);
    words.push_back(std::move(value));
  }
};

/// The parts of a question, in the order of the table. Options of the model are taken first.
enum class FieldPart { text, model, mask, edits };

struct QuestionField {
  FieldPart part;
  const char* name;   // in JSON, in messages and in goals of lessons
  Words change = {};  // the message where this field changed; empty: no separate message
  std::vector<FieldOption> options = {};
  /// Whether two documents have the same value.
  std::function<bool(const Document&, const Document&)> is_same = {};
  /// Takes those options that were given; one of them was. The document has its model, and what stands above in the
  /// table.
  std::function<Status(Document&, const GivenOptions&)> take = {};
  /// Adds the options that give this value, none where it is the default.
  std::function<void(const Document&, OptionWords&)> put = {};
  /// Writes the field into an object, or leaves it out; and reads it where it is there.
  std::function<void(const Document&, nlohmann::json&)> write = {};
  std::function<void(const JsonField&, Document&)> read = {};
  /// The value in a word or two, for messages and for the difference of two questions; none: it is described elsewhere.
  std::function<std::string(const Document&)> text = {};
};
using QuestionFields = std::vector<QuestionField>;

/// The table.
const QuestionFields& question_fields();

// Its parts, each in a separate file.
QuestionFields text_fields();
QuestionFields model_fields();
QuestionFields attention_fields();  // masks and edits

/// A row of a number in Edits that may be left out: all that such an edit needs.
QuestionField number_field(const char* name, Words change, const char* option, const char* help,
                           std::optional<float> Edits::*value);

/// QuestionField::is_same of what `get` finds in a document.
template <class Get>
auto same_by(Get get) {
  return [get](const Document& a, const Document& b) { return get(a) == get(b); };
}

/// `1,2,3`.
std::string joined_numbers(const auto& numbers) {
  std::string list;
  for (const auto number : numbers) list.append(list.empty() ? "" : ",").append(std::to_string(number));
  return list;
}

/// Takes the options of one part of the table into a document.
Status take_fields(Document& document, const GivenOptions& given, FieldPart part,
                   const QuestionFields& fields = question_fields());

/// SOURCE and the options that ask this question (cli/options/request_options.h). Errors: a setting without an option,
/// such as cells painted by hand.
Result<std::vector<std::string>> request_words(const Document& document,
                                               const QuestionFields& fields = question_fields());

/// A mask as JSON: {"causal", "padding"}, and of window, chunk, prefix, given, batch and painted what there is.
nlohmann::json mask_json(const MaskSpec& mask);
MaskSpec mask_from_json(const JsonField& object);

/// The fields of FieldPart::edits alone, as pages have them.
void write_edits(const Edits& edits, nlohmann::json& object, const QuestionFields& fields = attention_fields());
void read_edits(const JsonField& object, Edits& edits, const QuestionFields& fields = attention_fields());

/// The attention of a page (docs/page.md) with its masks, in every layer, and its edits. `answer` is the object of its
/// data that has `stacks`. Errors name `where` and the field.
Result<PageAttention> page_of_answer(const std::string& where, const nlohmann::json& answer,
                                     const PageNumbers& beside = {});
/// Gives every layer the Mask that `masks` and the layer's edit ask for. Errors: a mask of another shape.
Status resolve_masks(const std::string& where, PageAttention& page);

/// The source of a document with inputs instead of a text, for messages; and the source of its model, which of numbers
/// does not include the numbers.
std::string inputs_in_words(const Document& document);
std::string source_in_words(const Document& document);

// What the rows of masks and edits share.

/// Layers and heads of an attention.
struct AttentionSize {
  Index layers = 0, heads = 0;
};
/// Nothing where the document has no such attention.
std::optional<AttentionSize> attention_size(const Document& document, Stack stack);
/// The same, or an Error that names the option; of no stack too. `found` is what the option was given.
Result<AttentionSize> known_size(const char* option, const Document& document, std::optional<Stack> stack,
                                 std::string_view found);

/// An Error of an option that scales scores, of weights that another program computed.
Status check_scaled(const char* option, const Document& document, Stack stack, Index layer);

/// The mask behind an option: words, or a file, whose notes are added to those of `given`. `either` becomes whether its
/// true may block as well as keep.
Result<MaskSpec> parse_mask_option(const char* option, const std::string& text, const GivenOptions& given,
                                   bool* either = nullptr);
/// The words of a mask. No option gives a mask that came from a file or was painted: `words` is refused.
std::string mask_option_word(const MaskSpec& mask, OptionWords& words);

// Rows in a separate file (edit_fields.cpp).
QuestionField picture_field();  // picture_input.cpp
QuestionField heads_off_field();
QuestionField weights_field();
QuestionField layer_edits_field();
QuestionField padding_field();

}  // namespace headlight
