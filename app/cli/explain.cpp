#include "explain/steps.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/formatted.h"
#include "base/utf8.h"
#include "cli/frame/question_command.h"
#include "cli/options/against_option.h"
#include "derived/inside.h"
#include "explain/moved_rows.h"
#include "math/block.h"
#include "model/batch_mask.h"
#include "model/head_text.h"
#include "words/explain_words.h"

namespace headlight {
namespace {

constexpr Index kPerLine = 8;
constexpr int kNumberWidth = 12;
constexpr std::size_t kFewTerms = 4;  // of a single number: they fit a line
constexpr std::size_t kMostMovedRows = 12;

/// The columns of a terminal that a text takes: two for wide East Asian characters, none for combining marks.
int display_width(std::string_view text) {
  int width = 0;
  for (const char32_t c : code_points(text)) {
    const auto point = static_cast<UChar32>(c);
    const int kind = u_charType(point);
    if (kind == U_NON_SPACING_MARK || kind == U_ENCLOSING_MARK || kind == U_FORMAT_CHAR) continue;
    const int east_asian = u_getIntPropertyValue(point, UCHAR_EAST_ASIAN_WIDTH);
    width += east_asian == U_EA_FULLWIDTH || east_asian == U_EA_WIDE ? 2 : 1;
  }
  return width;
}

std::string right_aligned(const std::string& text, int width) {
  return std::string(static_cast<std::size_t>(std::max(0, width - display_width(text))), ' ') + text;
}

/// A token's text on one line, with its index where there is nothing to see.
std::string label(const Tokens& tokens, Index index) {
  std::string shown;
  for (const char32_t c : code_points(tokens.tokens[static_cast<std::size_t>(index)].text))
    if (!u_iscntrl(static_cast<UChar32>(c))) append_utf8(shown, c);
  const bool blank = shown.find_first_not_of(' ') == std::string::npos;
  return blank ? "#" + std::to_string(index) : shown;
}

/// Cut to what a column has room for.
std::string short_label(const Tokens& tokens, Index index) {
  const std::string whole = label(tokens, index);
  std::string cut;
  for (const char32_t c : code_points(whole)) {
    std::string longer = cut;
    append_utf8(longer, c);
    if (display_width(longer) > kNumberWidth - 2) return cut + "…";
    cut = std::move(longer);
  }
  return whole;
}

std::string number_text(float value) { return formatted("%.6g", static_cast<double>(value)); }

std::string shape_text(const Shape& shape) {
  return "(" + std::to_string(shape.rows) + ", " + std::to_string(shape.cols) + ")";
}

/// A row of numbers, eight to a line; over keys each under its token.
void append_row(std::string& text, const Matrix& value, Index row, const Tokens* columns, const std::string& head) {
  for (Index first = 0; first < value.cols(); first += kPerLine) {
    const Index end = std::min(first + kPerLine, value.cols());
    if (columns) {
      text += std::string(head.size(), ' ');
      for (Index c = first; c < end; ++c) text += right_aligned(short_label(*columns, c), kNumberWidth);
      text += '\n';
    }
    text += first == 0 ? head : std::string(head.size(), ' ');
    for (Index c = first; c < end; ++c) text += right_aligned(number_text(value(row, c)), kNumberWidth);
    text += '\n';
  }
}

/// `dot 0.71 · scale 0.5`: the terms of a number with at most kFewTerms terms.
std::string few_terms(const Step& step) {
  std::string text;
  for (const StepTerm& term : step.terms) {
    text += (text.empty() ? "" : ", ") + term.from + " " + number_text(term.value);
    if (!term.times.empty()) text += " · " + term.times;
    if (!term.times.empty() && term.factor) text += " " + number_text(*term.factor);
  }
  return text;
}

std::string given_mask_text(const Trace& trace, const MatrixId& id) {
  const auto given = stretched_mask(trace.request, id.stack, id.layer, trace.mask(id.stack, id.layer));
  return given ? "    of a mask given as " + stretched_text(*given) : std::string();
}

/// Three answers to a row that may attend to nothing: pages mask in different ways.
std::string empty_row_text(const Trace& trace, const Step& step) {
  if (may_attend(trace.mask_of({step.id.layer, step.id.head, step.id.stack}), step.row)) return {};
  const auto each = [&](float fill) {
    const float weight = softmax_of_equal(trace.keys(step.id.stack), fill);
    return std::isnan(weight) ? std::string("NaN") : number_text(weight);
  };
  return "    of a row that may attend to nothing: 0 here, " + each(-std::numeric_limits<float>::infinity()) +
         " of -inf and the softmax, " + each(-1e9f) + " of -1e9 and the softmax";
}

void append_step(std::string& text, const Trace& trace, const Step& step) {
  text += "\n" + step.name + "  " + shape_text(step.shape) + "  " + step.title;
  if (step.formula != "learned" && step.formula != "given") text += ": " + step.formula;
  text += '\n';
  if (step.number) {
    text += right_aligned(number_text(step.value(0, 0)), 4 + kNumberWidth);
    if (!step.terms.empty() && step.terms.size() <= kFewTerms) text += "    from " + few_terms(step);
    if (is_mask(step.id.quantity)) text += given_mask_text(trace, step.id);
    if (step.name == "weight") text += empty_row_text(trace, step);
    text += '\n';
    return;
  }
  const bool over_keys = !step.addends && axes(trace, step.id).cols == Axis::keys;
  const Tokens* columns = over_keys ? &trace.key_tokens(step.id.stack) : nullptr;
  for (Index row = 0; row < step.value.rows(); ++row) {
    std::string head = "    ";
    if (step.value.rows() > 1) head = right_aligned("[" + std::to_string(step.row + row) + "]", 7);
    append_row(text, step.value, row, columns, head);
  }
}

Value numbers_json(const Matrix& value, Index row) {
  std::vector<Value> numbers;
  for (Index c = 0; c < value.cols(); ++c) numbers.push_back(spelled(value(row, c)));
  return json_list(numbers);
}

/// A number, a row of numbers, or a list of rows.
Value value_json(const Trace& trace, const Step& step) {
  if (step.number) return spelled(step.value(0, 0));
  const Axis rows = axes(trace, step.id).rows;
  if (step.addends || rows == Axis::queries || rows == Axis::keys || rows == Axis::one)
    return numbers_json(step.value, 0);
  std::vector<Value> list;
  for (Index row = 0; row < step.value.rows(); ++row) list.push_back(numbers_json(step.value, row));
  return json_list(list);
}

Value term_json(const StepTerm& term) {
  Members members{{"from", term.from}, {"value", spelled(term.value)}};
  if (!term.times.empty()) members.emplace_back("times", term.times);
  if (term.factor) members.emplace_back("factor", spelled(*term.factor));
  return json_object(members);
}

/// The rows of a matrix that differ; nothing where it is learned, or cannot be compared.
std::optional<std::vector<Index>> rows_that_moved(const Trace* before, const Trace& trace, const MatrixId& id) {
  if (!before || is_learned(id.quantity) || !can_compare(*before, trace, id)) return std::nullopt;
  return moved_rows(moved_cells(*before, trace, id, 0, shape(trace, id).rows));
}

/// `head.query  1 of 10 rows: 8`, of what the head's block reads and makes.
void append_moved(std::string& text, const Trace& before, const Trace& trace, const HeadRef& head) {
  std::vector<MatrixId> all = matrices_of_embedding(trace, head.stack);
  const std::vector<MatrixId> block = matrices_of(trace, head.stack, head.layer, head.head);
  all.insert(all.end(), block.begin(), block.end());
  std::size_t width = 0;
  for (const MatrixId& id : all) width = std::max(width, path(trace, id).size());
  std::string moved;
  for (const MatrixId& id : all) {
    const auto rows = rows_that_moved(&before, trace, id);
    if (!rows) continue;
    moved += "    " + padded(path(trace, id), width) + "  " + std::to_string(rows->size()) + " of " +
             std::to_string(shape(trace, id).rows);
    for (std::size_t i = 0; i < rows->size() && i <= kMostMovedRows; ++i)
      moved += (i == 0 ? ": " : " ") + (i < kMostMovedRows ? std::to_string((*rows)[i]) : "…");
    moved += '\n';
  }
  text += "\nmoved  " + (moved.empty() ? "nothing is compared: --against has another length\n"
                                       : "rows that differ from those of --against\n" + moved);
}

/// Every step with its numbers, at most eight to a line, under a title that names the two tokens and states how far
/// they are from each other. With another answer to compare with (else null) the rows of each matrix that differ
/// follow.
std::string explain_text(const Trace& trace, const HeadRef& head, const CellRef& cell, const std::vector<Step>& steps,
                         const Trace* before) {
  std::string text = label(trace.query_tokens(head.stack), cell.query) + " → " +
                     label(trace.key_tokens(head.stack), cell.key) + "\n" + std::string(stack_name(head.stack)) + ", " +
                     head_label(head) + ", query " + std::to_string(cell.query) + ", key " + std::to_string(cell.key) +
                     "\n";
  if (const std::string far = path_in_words(Language::en, trace, head, cell); !far.empty()) text += far + "\n";
  for (const Step& step : steps) append_step(text, trace, step);
  if (before) append_moved(text, *before, trace, head);
  return text;
}

/// [{"name", "title", "formula", "matrix", "shape", "value", "terms": [{"from", "value", "times", "factor"}]}]. Numbers
/// read back to the same float; an infinite one is the string "-inf". With another answer "moved": the rows of the
/// step's matrix that differ from it; not of what is learned, nor where the sizes differ.
Value explain_json(const Trace& trace, const std::vector<Step>& steps, const Trace* before) {
  const auto step_json = [&](const Step& step) {
    Members members{{"name", step.name},
                    {"title", step.title},
                    {"formula", step.formula},
                    {"matrix", path(trace, step.id)},
                    {"shape", json_list(std::vector<Index>{step.shape.rows, step.shape.cols})},
                    {"value", value_json(trace, step)},
                    {"terms", json_list(step.terms, term_json)}};
    if (const auto rows = rows_that_moved(before, trace, step.id)) members.emplace_back("moved", json_list(*rows));
    return json_object(members);
  };
  return json_list(steps, step_json, ",\n");
}

/// `before`: the answer to what --against asks; null where it is not given.
Answer explained(const Question& question, const Trace* before) {
  const std::vector<Step> steps = steps_of(*question.trace, question.head, question.cell);
  if (question.wants("json")) return explain_json(*question.trace, steps, before);
  return explain_text(*question.trace, question.head, question.cell, steps, before);
}

/// One sentence beside what --against asks.
Result<Answer> compared(Question question, const std::string& against, const QuestionCommand& command) {
  const std::vector<Request>& requests = question.asked.requests;
  if (requests.size() > 1)
    return bad_input("--against", "", "one sentence to compare", std::to_string(requests.size()));
  const auto before = TRY(answer_of(against, question.asked));
  question.trace = TRY(command.trace_of(requests.front(), question.warnings));
  return explained(question, before.trace.get());
}

ParsedCommand add_explain(Parser& parser, const Frontend&) {
  const QuestionCommand command(parser);
  command.take_cell();
  const auto against = std::make_shared<std::optional<std::string>>();
  parser.option("--against", *against,
                "Another question, in one string, --against '--text \"a b c\"': of each matrix of the layer "
                "the rows that differ",
                "'[SOURCE] [REQUEST]'");
  command.take_format({"text", "json"}, "text (default) or json");
  return [command, against]() -> Result<int> {
    if (!*against)
      return command.answers(SentencesAsked::each,
                             [](const Question& question) { return explained(question, nullptr); })();
    return command.answers(SentencesAsked::all,
                           [&](const Question& question) { return compared(question, **against, command); })();
  };
}

}  // namespace

const NamedCommand kExplain{"explain", "Every number behind one weight, step by step", R"(
headlight explain --text 我请李雷帮我订了去北京的机票 --head 0.1 --query 7 --key 4
headlight explain --head 0.1 --query 7 --key 4 --against '--text 我请李雷帮我订了去上海的机票'
With --format json: [{"name", "shape", "value", "terms": [{"from", "value"}]}], a list a sentence; a blocked score is
the string "-inf".)",
                            add_explain};

}  // namespace headlight
