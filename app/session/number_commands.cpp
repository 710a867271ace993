#include "session/number_commands.h"

#include <cmath>

#include "base/formatted.h"
#include "session/state_rules.h"

namespace headlight {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";

/// The numbers become what is asked about. A document that asks about something else begins anew.
Status use_numbers(AppState& state, OwnNumbers numbers, CommandKind kind) {
  auto made = TRY(model_of_numbers("numbers", numbers));
  Document& document = edited(state, kind);
  const Config shape = config_of(document);
  if (!document.numbers) {
    document = Document{};
    state.session_path.clear();  // another question: saving it must not replace the session before
  }
  document.model = std::move(made.model);
  document.model_path = std::string(kNumbersSource) + numbers_json(numbers);
  document.mask.given = std::move(made.mask.given);
  document.mask.heads = made.mask.heads;
  document.numbers = std::make_shared<const OwnNumbers>(std::move(numbers));
  drop_foreign_edits(document, shape);
  ask_again(state);
  return Done{};
}

Result<OwnNumbers> with_typed(const AppState& state, const TakeNumbers& command) {
  const std::string name(kOwnTableNames[static_cast<std::size_t>(command.table)]);
  const OwnNumbers* now = typed_numbers(state);
  OwnNumbers numbers = now ? *now : OwnNumbers{};
  const std::size_t begin = command.text.find_first_not_of(kSpaces);
  if (begin == std::string::npos) return with_own_table(std::move(numbers), command.table, command.head, std::nullopt);
  if (command.text[begin] == '{') return parse_own_numbers("numbers", command.text);
  auto table = TRY(parse_number_table(name, command.text));
  return with_own_table(std::move(numbers), command.table, command.head, std::move(table));
}

/// The cell of x·W, of a weight that is stored (out, in): one table of each head, or one of all heads side by side.
std::optional<OwnCell> weight_cell(const OwnNumbers& numbers, OwnTable table, Index head, Index width,
                                   const MatrixCell& cell) {
  const std::size_t count = count_of(numbers, table);
  if (count == 0) return std::nullopt;
  const bool in_one = count == 1;
  return OwnCell{table, in_one ? 0 : static_cast<std::size_t>(head), cell.col, cell.row + (in_one ? head * width : 0)};
}

}  // namespace

const OwnNumbers* typed_numbers(const AppState& state) {
  const auto& dialog = state.view.numbers;
  if (dialog && dialog->waiting && dialog->beside == state.document.numbers) return dialog->waiting.get();
  return state.document.numbers.get();
}

NumbersDialog dialog_on(const AppState& state, OwnTable table, std::size_t head) {
  NumbersDialog dialog;
  if (state.view.numbers) dialog = *state.view.numbers;
  const OwnNumbers* numbers = typed_numbers(state);
  const NumberTable* now = numbers ? own_table(*numbers, table, head) : nullptr;
  dialog.table = table;
  dialog.head = head;
  dialog.text = now ? typed_table(*now) : std::string();
  dialog.problem.reset();
  return dialog;
}

NumbersDialog dialog_on_first(const AppState& state) {
  const OwnNumbers* numbers = typed_numbers(state);
  for (std::size_t i = 0; numbers && i < std::size(kOwnTableNames); ++i)
    if (const auto table = static_cast<OwnTable>(i); count_of(*numbers, table) > 0) return dialog_on(state, table);
  return dialog_on(state, OwnTable::x);
}

void take_numbers(AppState& state, const TakeNumbers& command, CommandKind kind) {
  const auto numbers = with_typed(state, command);
  const bool there = numbers && state.document.numbers && *state.document.numbers == *numbers;
  const Status used = there ? Status(Done{}) : numbers ? use_numbers(state, *numbers, kind) : Status(numbers.error());
  if (used) end_gesture(state);
  if (!state.view.numbers) return;
  NumbersDialog& dialog = *state.view.numbers;
  dialog.problem = used ? std::optional<Error>() : used.error();
  if (used) {
    dialog.waiting.reset();
    dialog.table = command.table;
    dialog.head = command.head;
    dialog.text = command.text;  // as it was typed
  } else if (numbers) {
    dialog.waiting = std::make_shared<const OwnNumbers>(*numbers);
    dialog.beside = state.document.numbers;
  }
}

void set_own_number(AppState& state, const SetOwnNumber& command, CommandKind kind) {
  const OwnCell& cell = command.cell;
  if (!state.document.numbers) return;
  const NumberTable* before = own_table(*state.document.numbers, cell.table, cell.head);
  if (!before || cell.row < 0 || cell.row >= before->numbers.rows() || cell.column < 0 ||
      cell.column >= before->numbers.cols())
    return;
  const bool finite = std::isfinite(command.value), blocks = cell.table == OwnTable::scores && command.value < 0;
  if (!finite && !blocks) return;  // −∞ blocks a score; nothing else that is no number can be set
  NumberTable changed = *before;
  changed.numbers(cell.row, cell.column) = command.value;
  const Status used =
      use_numbers(state, with_own_table(*state.document.numbers, cell.table, cell.head, std::move(changed)), kind);
  if (!used) state.notice = notice_of(used.error());
}

std::optional<OwnCell> own_cell(const AppState& state, const MatrixId& matrix, const MatrixCell& cell) {
  if (!state.document.numbers || !state.trace || !exists(*state.trace, matrix)) return std::nullopt;
  const OwnNumbers& numbers = *state.document.numbers;
  const MatrixId id = origin(*state.trace, matrix);
  const Shape size = shape(*state.trace, id);
  const auto cell_of = [&]() -> std::optional<OwnCell> {
    if (numbers.x) {
      switch (id.quantity) {
        case Quantity::given_query:
        case Quantity::given_key:
        case Quantity::given_value: return OwnCell{OwnTable::x, 0, cell.row, cell.col};
        case Quantity::query_weight: return weight_cell(numbers, OwnTable::w_q, id.head, size.rows, cell);
        case Quantity::key_weight: return weight_cell(numbers, OwnTable::w_k, id.head, size.rows, cell);
        case Quantity::value_weight: return weight_cell(numbers, OwnTable::w_v, id.head, size.rows, cell);
        case Quantity::output_weight: return OwnCell{OwnTable::w_o, 0, cell.col, cell.row};
        default: return std::nullopt;
      }
    }
    const bool scores = id.quantity == Quantity::scores || id.quantity == Quantity::given_query;
    if (numbers.scores && scores) return OwnCell{OwnTable::scores, 0, cell.row, cell.col};
    const bool weights =
        id.quantity == Quantity::given_weights || id.quantity == Quantity::weights || id.quantity == Quantity::softmax;
    if (!numbers.scores && weights) return OwnCell{OwnTable::weights, 0, cell.row, cell.col};
    return std::nullopt;
  };
  const auto own = cell_of();
  const NumberTable* table = own ? own_table(numbers, own->table, own->head) : nullptr;
  if (!table || own->row >= table->numbers.rows() || own->column >= table->numbers.cols()) return std::nullopt;
  return own;
}

std::string typed_table(const NumberTable& table) {
  std::string text;
  if (!table.column_labels.empty()) {
    bool separate = false;
    for (const std::string& label : table.column_labels) text += (std::exchange(separate, true) ? "\t" : "") + label;
    text += '\n';
  }
  for (Index row = 0; row < table.numbers.rows(); ++row) {
    if (!table.row_labels.empty()) text += table.row_labels[static_cast<std::size_t>(row)] + "\t";
    for (Index column = 0; column < table.numbers.cols(); ++column) {
      if (column > 0) text += '\t';
      if (!append_number(text, table.numbers(row, column))) text += "-inf";
    }
    text += '\n';
  }
  return text;
}

}  // namespace headlight
