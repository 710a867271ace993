#include "gui/actions/look.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <numeric>

#include "gui/frame/kept_texts.h"
#include "math/attention.h"
#include "session/head_grid.h"
#include "session/lesson_commands.h"
#include "session/shown.h"
#include "view/view_names.h"
#include "view/viewport.h"

namespace headlight {
namespace {

/// In the Inside view the cell whose terms are shown.
void move_look(Gui& gui, Index rows, Index columns) {
  const Look& look = gui.state.view.look;
  if (!exists(*gui.state.trace, look.matrix)) return;
  const Shape size = shape(*gui.state.trace, look.matrix);
  const MatrixCell from = look.cell.value_or(MatrixCell{});
  const MatrixCell to{std::clamp<Index>(from.row + (look.cell ? rows : 0), 0, size.rows - 1),
                      std::clamp<Index>(from.col + (look.cell ? columns : 0), 0, size.cols - 1)};
  gui.push(LookAt{{look.matrix, to}});
}

/// In Compare; cells that neither answer has are stepped over.
void move_joint_cell(Gui& gui, Index rows, Index columns) {
  const AppState& state = gui.state;
  if (!is_of_now(state)) return;
  const JointStack* stack = state.comparison->heads->stack(state.view.chosen.stack);
  if (!stack) return;
  const auto from = lit_joint_cell(state, *stack);
  CellRef cell = from ? CellRef{from->query + rows, from->key + columns} : CellRef{};
  const auto inside = [&] {
    return cell.query >= 0 && cell.key >= 0 && cell.query < static_cast<Index>(stack->queries.size()) &&
           cell.key < static_cast<Index>(stack->keys.size());
  };
  for (; inside(); cell = {cell.query + rows, cell.key + columns}) {
    const CellsBehind cells = cells_behind(*stack, cell);
    if (cells.a || cells.b) return gui.push(Pin{cells.b, cells.b ? std::nullopt : cells.a});
  }
}

void move_pinned(Gui& gui, Index rows, Index columns) {
  const Trace& trace = *gui.state.trace;
  const Stack stack = gui.state.view.chosen.stack;
  const auto from = gui.state.view.pinned ? gui.state.view.pinned : gui.state.view.hovered;
  CellRef cell = from.value_or(CellRef{});
  if (const FoldedStack* folded = shown_fold(gui.state, stack))
    return gui.push(Pin{moved(folded->fold, cell, from ? rows : 0, from ? columns : 0)});
  if (from)
    cell = {std::clamp<Index>(cell.query + rows, 0, trace.queries(stack) - 1),
            std::clamp<Index>(cell.key + columns, 0, trace.keys(stack) - 1)};
  gui.push(Pin{cell});
}

/// In a text: the chosen word, or the last of several, by words and by lines.
void move_word(Gui& gui, Index lines, Index words) {
  const AppState& state = gui.state;
  const FoldedStack* folded = shown_fold(state, state.view.chosen.stack);
  const bool queries = !state.view.text.columns;
  const FoldedAxis* axis = folded_axis(folded, queries);
  const auto count =
      axis ? static_cast<Index>(axis->groups.size())
           : (queries ? state.trace->queries(state.view.chosen.stack) : state.trace->keys(state.view.chosen.stack));
  const std::vector<Index> chosen = words_of_tokens(axis, shade_choice(state.view).words);
  const TextLines* laid_out =
      gui.texts ? gui.texts->last(queries || shaded_texts(*state.trace, folded, state.view.chosen.stack).one) : nullptr;
  Index word = chosen.empty() ? 0 : chosen.back();
  if (!chosen.empty()) word = std::clamp<Index>(word + words, 0, count - 1);
  if (lines != 0 && laid_out && static_cast<Index>(laid_out->words.size()) == count)
    word = laid_out->below(word, lines);
  gui.push(Pin{cell_of_word(state, queries, axis ? axis->tokens_of(word).first : word)});
}

const FoldedMaps::Possible* foldable(const AppState& state) {
  if (!state.folded || looks_at_matrices(state.view.view) || shown_maps(state, state.view.chosen.stack)) return nullptr;
  const auto& possible = state.folded->possible[static_cast<std::size_t>(state.view.chosen.stack)];
  return possible.too_long ? nullptr : &possible;
}

}  // namespace

std::optional<CellRef> pinned_joint_cell(const AppState& state, const JointStack& stack) {
  return joint_cell(stack, state.view.pinned, state.view.pinned_kept);
}

std::optional<CellRef> lit_joint_cell(const AppState& state, const JointStack& stack) {
  const auto hovered = joint_cell(stack, state.view.hovered, state.view.hovered_kept);
  return hovered ? hovered : pinned_joint_cell(state, stack);
}

void choose_head(Gui& gui, Index layers, Index heads) {
  const Trace& trace = *gui.state.trace;
  HeadRef head = gui.state.view.chosen;
  const std::vector<HeadRef> order = gui.shown_heads.empty() ? shown_order(gui.state) : gui.shown_heads;
  if (!order.empty() && layers == 0) {
    const auto count = static_cast<Index>(order.size());
    const Index at = std::ranges::find(order, head) - order.begin();
    return gui.push(ChooseHead{order[static_cast<std::size_t>((at + heads + count) % count)]});
  }
  if (!gui.shown_heads.empty()) {  // of the nearest layer with one that is shown, the nearest
    const auto distance = [&](const HeadRef& to) {
      return std::pair((to.layer - head.layer) * layers, std::abs(to.head - head.head));
    };
    const HeadRef* nearest = nullptr;
    for (const HeadRef& to : gui.shown_heads)
      if (distance(to).first > 0 && (!nearest || distance(to) < distance(*nearest))) nearest = &to;
    if (nearest) gui.push(ChooseHead{*nearest});
    return;
  }
  const Index all = trace.num_heads(head.stack);
  head.layer = std::clamp<Index>(head.layer + layers, 0, trace.num_layers(head.stack) - 1);
  head.head = (head.head + heads + all) % all;
  gui.push(ChooseHead{head});
}

void step_stack(Gui& gui, bool back) {
  const AppState& state = gui.state;
  std::vector<Stack> stacks;
  for (const Stack stack : kStacks)
    if (state.trace->has(stack)) stacks.push_back(stack);
  const auto at = static_cast<std::size_t>(std::ranges::find(stacks, state.view.chosen.stack) - stacks.begin());
  const Stack next = stacks[(at + (back ? stacks.size() - 1 : 1)) % stacks.size()];
  gui.push(ChooseHead{{state.view.chosen.layer, state.view.chosen.head, next}});
}

/// To the patch beside; from the tokens before the patches along these, and down from them to the first patch. Where
/// queries are no patches, to the query beside.
void move_patch(Gui& gui, Index rows, Index columns) {
  const PatchGrid& grid = gui.state.trace->key_tokens().picture->grid;
  const ShadeChoice choice = shade_choice(gui.state);
  Index token = choice.words.front();
  if (!is_all_of_picture(*gui.state.trace)) {
    token = std::clamp<Index>(token + rows + columns, 0, gui.state.trace->queries() - 1);
    gui.push(Pin{cell_of_word(gui.state, true, token)});
    return;
  }
  const Index patch = token - grid.first();
  if (patch < 0) token = rows > 0 ? grid.first() : std::clamp<Index>(token + columns, 0, grid.first() - 1);
  else if (const Index row = patch / grid.cols + rows; row < 0) token = grid.first() > 0 ? 0 : token;
  else
    token = grid.first() + std::min(row, grid.rows - 1) * grid.cols +
            std::clamp<Index>(patch % grid.cols + columns, 0, grid.cols - 1);
  gui.push(Pin{cell_of_word(gui.state, !choice.columns, token)});
}

void move_cell(Gui& gui, Index rows, Index columns) {
  if (shows_matrix(gui.state.view)) move_look(gui, rows, columns);
  else if (shows_text(gui.state) && shows_picture(gui.state)) move_patch(gui, rows, columns);
  else if (shows_text(gui.state)) move_word(gui, rows, columns);
  else if (stage_form(gui.state) == StageForm::sentence) move_in_sentence(gui, rows, columns);
  else if (gui.state.view.view == View::compare && compared_trace(gui.state)) move_joint_cell(gui, rows, columns);
  else move_pinned(gui, rows, columns);
}

void change_text_look(Gui& gui, const std::function<void(TextLook&)>& change) {
  TextLook look = gui.state.view.text;
  change(look);
  gui.push(SetTextLook{std::move(look)});
}

void turn_text(Gui& gui) {
  const bool columns = !gui.state.view.text.columns;
  const Stack stack = gui.state.view.chosen.stack;
  const auto& pinned = gui.state.view.pinned;
  const bool one = shaded_texts(*gui.state.trace, shown_fold(gui.state, stack), stack).one;
  // The word stays the chosen one.
  if (one && pinned) gui.push(Pin{cell_of_word(gui.state, !columns, columns ? pinned->query : pinned->key)});
  change_text_look(gui, [&](TextLook& look) {
    look.columns = columns;
    if (!one) look.words.clear();  // of the other text
  });
}

void step_text_heads(Gui& gui) {
  change_text_look(
      gui, [](TextLook& look) { look.heads = static_cast<ShadeHeads>((static_cast<int>(look.heads) + 1) % 3); });
}

void show_picture_alone(Gui& gui) {
  change_text_look(gui, [](TextLook& look) { look.cover = look.cover > 0 ? 0 : kUsualCover; });
}

CellRef cell_of_word(const AppState& state, bool query, Index token) {
  const HeadRef& head = state.view.chosen;
  const Trace& trace = *state.trace;
  if (!query) {
    const bool square = head.stack != Stack::cross && token < trace.queries(head.stack);
    return {square ? token : state.view.pinned ? state.view.pinned->query : 0, token};
  }
  Index key = 0;
  const FoldedStack* folded = shown_fold(state, head.stack);
  const auto group = folded ? folded->fold.queries.group(token) : std::nullopt;
  if (group) folded->map(head).row(*group).maxCoeff(&key), key = folded->fold.keys.tokens_of(key).first;
  else attention_rows(trace, head, token, 1).row(0).maxCoeff(&key);
  return {token, key};
}

void step_dialect(Gui& gui, bool back) {
  CodeLook code = gui.state.view.code;
  constexpr std::size_t kDialects = std::size(kDialectNames);
  code.dialect =
      static_cast<Dialect>((static_cast<std::size_t>(code.dialect) + (back ? kDialects - 1 : 1)) % kDialects);
  gui.push(SetCode{code});
}

void step_code_line(Gui& gui, bool back) {
  const Listing* listing = gui.state.listing.get();
  if (!listing) return;
  const Trace& trace = *listing->question.trace;
  const std::vector<std::size_t> made = listing->lines_that_make(gui.state.view.look.matrix);
  const auto count = static_cast<std::ptrdiff_t>(listing->lines.size());
  std::ptrdiff_t at =
      made.empty() ? (back ? count : -1) : static_cast<std::ptrdiff_t>(back ? made.front() : made.back());
  for (at += back ? -1 : 1; at >= 0 && at < count; at += back ? -1 : 1) {
    const auto& shows = listing->lines[static_cast<std::size_t>(at)].shows;
    if (shows && exists(trace, *shows)) return gui.push(LookAt{{*shows, std::nullopt}});
  }
}

void step_grid(Gui& gui, bool back) {
  std::vector<GridShow> forms{GridShow::maps, GridShow::all, GridShow::relations};
  if (!has_more_heads(gui.state)) std::erase(forms, GridShow::all);
  const auto now = std::ranges::find(forms, shown_grid(gui.state)) - forms.begin();
  const auto count = static_cast<std::ptrdiff_t>(forms.size());
  gui.push(ShowGrid{forms[static_cast<std::size_t>((now + (back ? count - 1 : 1)) % count)]});
}

void step_map_kind(Gui& gui, bool back) {
  constexpr int kKinds = std::size(kMapKindNames);
  gui.push(ShowMaps{static_cast<MapKind>((static_cast<int>(gui.state.view.maps) + (back ? kKinds - 1 : 1)) % kKinds)});
}

void step_order(Gui& gui, bool back) {
  const HeadOrder& now = gui.state.view.order;
  std::vector<HeadOrder> orders = head_orders();
  std::size_t at = 0;
  while (at + 1 < orders.size() && name(orders[at]) != name(now)) ++at;
  HeadOrder next = orders[(at + (back ? orders.size() - 1 : 1)) % orders.size()];
  next.ascending = now.ascending;
  gui.push(OrderHeads{next});
}

void step_differences(Gui& gui, bool back) {
  const int now = static_cast<int>(gui.state.view.differences);
  gui.push(OrderDifferences{static_cast<DifferenceOrder>((now + (back ? 3 : 1)) % 4)});
}

void begin_search(Gui& gui) {
  const AppState& state = gui.state;
  HeadSearch find = state.view.find;
  if (!find.on && find.words == WordPair{} && state.trace && state.view.pinned)
    find.words = words_of_cell(state, *state.view.pinned);
  find.on = true;
  gui.push(FindHeads{std::move(find)});
  gui.push(FocusFind{true});
}

void show_patch(Gui& gui, bool on, bool stopped) {
  PatchLook look = gui.state.view.patch;
  look.on = on;
  look.stopped = stopped;
  gui.push(SetPatch{look});
  gui.push(ShowView{View::compare});
}

void show_lens(Gui& gui) {
  gui.push(ShowView{View::inside});
  gui.push(ShowTab{InsideTab::lens});
}

void step_tab(Gui& gui) {
  gui.push(ShowTab{static_cast<InsideTab>((static_cast<std::size_t>(gui.state.view.tab) + 1) % std::size(kTabNames))});
}

void explain_cell(Gui& gui, const CellRef& cell, InsideTab tab) {
  gui.push(ShowView{View::inside});
  gui.push(ShowTab{tab});
  gui.push(LookAt{look_of_weight(gui.state.view.chosen, cell)});
}

void zoom(Gui& gui, float factor) {
  const AppState& state = gui.state;
  const Stack stack = state.view.chosen.stack;
  const auto& lit = state.view.pinned ? state.view.pinned : state.view.hovered;
  const Index queries = state.trace->queries(stack), keys = state.trace->keys(stack);
  const CellRef around = lit.value_or(CellRef{queries / 2, keys / 2});
  gui.push(SetViewport{zoomed(state.view.viewport, queries, keys, factor, around)});
}

void zoom_compared(Gui& gui, float factor) {
  const AppState& state = gui.state;
  const JointStack* stack = state.comparison ? state.comparison->heads->stack(state.view.chosen.stack) : nullptr;
  if (!stack) return;
  const auto queries = static_cast<Index>(stack->queries.size()), keys = static_cast<Index>(stack->keys.size());
  const CellRef around = lit_joint_cell(state, *stack).value_or(CellRef{queries / 2, keys / 2});
  gui.push(SetComparedPart{zoomed(state.view.compared, queries, keys, factor, around)});
}

std::vector<Index> all_heads_of_layer(const AppState& state) {
  std::vector<Index> heads(static_cast<std::size_t>(state.trace->num_heads(state.view.chosen.stack)));
  std::iota(heads.begin(), heads.end(), Index{0});
  return heads;
}

void change_threshold(Gui& gui, float factor) {
  FlowLook flow = gui.state.view.flow;
  const float moved = flow.threshold * factor;
  if (factor > 1) flow.threshold = std::min(1.0f, std::max(kLeastThreshold, moved));
  else flow.threshold = moved < kLeastThreshold ? 0 : moved;
  gui.push(SetFlow{flow});
}

bool can_fold(const AppState& state, bool FoldChoice::*which) {
  const FoldedMaps::Possible* possible = foldable(state);
  return possible && possible->choice.*which;
}

void toggle_fold(Gui& gui, bool FoldChoice::*which) {
  FoldChoice fold = gui.state.view.fold;
  fold.*which = !(fold.*which);
  gui.push(SetFold{fold});
}

bool can_choose_pair_part(const AppState& state) {
  const FoldedMaps::Possible* possible = foldable(state);
  return possible && folds_tokens(state.view.view) && possible->choice.pair != PairPart::all;
}

void step_pair_part(Gui& gui, bool back) {
  FoldChoice fold = gui.state.view.fold;
  fold.pair = static_cast<PairPart>((static_cast<int>(fold.pair) + (back ? 4 : 1)) % 5);
  gui.push(SetFold{fold});
}

void step_sentence(Gui& gui, bool back) {
  const std::size_t count = gui.state.requests.size();
  gui.push(ChooseSentence{(gui.state.view.sentence + (back ? count - 1 : 1)) % count});
}

void turn_page(Gui& gui, bool back) {
  const Lesson* lesson = current_lesson(gui.state);
  if (!lesson) return;
  const LessonPosition& position = *gui.state.view.lesson;
  if (back && position.step > 0) return gui.push(GoToStep{position.step - 1});
  if (!back && position.step + 1 < lesson->steps.size()) return gui.push(GoToStep{position.step + 1});
  if (back && position.lesson > 0) {
    const std::size_t before = position.lesson - 1;
    gui.push(OpenLesson{before});
    return gui.push(GoToStep{(*gui.state.lessons)[before].steps.size() - 1});
  }
  if (!back && position.lesson + 1 < gui.state.lessons->size()) gui.push(OpenLesson{position.lesson + 1});
}

}  // namespace headlight
