#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "figure/drawing/curve.h"
#include "figure/labels.h"
#include "gui/actions/actions.h"
#include "gui/frame/draw.h"
#include "gui/frame/imgui_compat.h"
#include "train/train_words.h"
#include "train/view/train.h"
#include "words/relation_words.h"

namespace headlight {
namespace {

constexpr float kLineWidth = 1.5f;
constexpr float kLeastPlot = 60;  // the height of the curve of the loss where there is little room

struct CurvePoint {
  double step = 0, value = 0;
};

std::string brief(double number) { return formatted("%g", number); }

CurveFrame frame_of(Gui& gui, const TrainingRun& run, float height) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float left = ImGui::CalcTextSize("0.00").x + 6 * gui.unit, below = ImGui::GetFontSize() + 3 * gui.unit;
  const float width = ImGui::GetContentRegionAvail().x, above = 3 * gui.unit;
  CurveFrame frame;
  frame.plot = {std::round(at.x + left), std::round(at.y + above), width - left - 4 * gui.unit, height - above - below};
  frame.last = shown_steps(run.step, run.plan.steps());
  ImGui::Dummy({width, height});
  return frame;
}

/// Lines at round values and steps, with their numbers.
void draw_axes(Gui& gui, const CurveFrame& frame) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const Palette& colours = gui.colours();
  const float text = ImGui::GetFontSize();
  const auto most = [&](float room, float each) { return std::max(2, static_cast<int>(room / (each * text))); };
  for (const double value : round_ticks(frame.bottom, frame.top, most(frame.plot.h, 2))) {
    const float y = std::round(frame.y(value)) + 0.5f;
    list.AddLine({frame.plot.x, y}, {frame.plot.right(), y}, colours.line, gui.unit);
    const std::string label = brief(value);
    list.AddText({frame.plot.x - 4 * gui.unit - ImGui::CalcTextSize(label.c_str()).x, std::round(y - text / 2)},
                 colours.dim, label.c_str());
  }
  float free_from = frame.plot.x - text;
  for (const double step : round_ticks(frame.first, frame.last, most(frame.plot.w, 5))) {
    const std::string label = brief(step);
    const float width = ImGui::CalcTextSize(label.c_str()).x;
    const float x = std::clamp(frame.x(step) - width / 2, frame.plot.x - width / 2, frame.plot.right() - width);
    if (x < free_from) continue;
    list.AddText({std::round(x), frame.plot.bottom() + 2 * gui.unit}, colours.dim, label.c_str());
    free_from = x + width + text;
  }
}

void draw_curve(Gui& gui, const CurveFrame& frame, const std::vector<CurvePoint>& points, ImU32 colour) {
  std::vector<ImVec2> line;
  for (const CurvePoint& point : points)
    if (std::isfinite(point.value)) line.push_back({frame.x(point.step), frame.y(point.value)});
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (line.size() == 1) list.AddCircleFilled(line.front(), 2 * gui.unit, colour);
  else if (!line.empty())
    list.AddPolyline(line.data(), static_cast<int>(line.size()), colour, 0, kLineWidth * gui.unit);
}

/// Where the time slider stands.
void draw_now(Gui& gui, const CurveFrame& frame, const TrainingRun& run) {
  const float x = std::round(frame.x(static_cast<double>(run.shown.value_or(run.step)))) + 0.5f;
  ImGui::GetWindowDrawList()->AddLine({x, frame.plot.y}, {x, frame.plot.bottom()},
                                      run.shown ? gui.colours().accent : gui.colours().faint, gui.unit);
}

/// The title of a plot and, at the right, a number in its curve's colour.
void plot_title(Gui& gui, const Words& title, const std::string& right) {
  dim_text(gui, gui.word(title));
  const FontScope small(gui, TextSize::small);
  const float width = ImGui::CalcTextSize(right.c_str()).x + 2 * gui.unit;
  ImGui::SameLine(std::max(ImGui::GetCursorPosX(), ImGui::GetContentRegionMax().x - width));
  ImGui::TextUnformatted(right.c_str());
}

void loss_plot(Gui& gui, const TrainingRun& run, float height) {
  const auto& points = run.losses.points;
  double top = 0;
  std::vector<CurvePoint> line;
  for (const LossPoint& point : points) {
    line.push_back({static_cast<double>(point.last()), point.loss()});
    if (std::isfinite(point.loss())) top = std::max(top, point.loss());
  }
  plot_title(gui, kTrainWords.loss, points.empty() ? "" : formatted("%.3f", points.back().loss()));
  const FontScope small(gui, TextSize::small);
  CurveFrame frame = frame_of(gui, run, height);
  frame.top = top > 0 ? top * 1.05 : 1;
  draw_axes(gui, frame);
  draw_curve(gui, frame, line, gui.colours().text);
  draw_now(gui, frame, run);
  gui.name_box("loss curve", frame.plot);
}

/// The same relation in another report: which head shows a word best may change, and with it their order.
const RelationScore* same_relation(const RelationScore& wanted, const RelationReport& report) {
  for (const RelationScore& one : report.relations)
    if (one.relation == wanted.relation) return &one;
  return nullptr;
}

/// The label at the end of a curve: its name, and its value at the slider's step.
struct EndLabel {
  std::string name, text;
  float y = 0;  // of the curve's end
  ImU32 colour = 0;
};

/// The labels from top to bottom, none over another, each as near to its curve as there is room.
void draw_end_labels(Gui& gui, const CurveFrame& frame, std::vector<EndLabel> labels) {
  const float text = ImGui::GetFontSize(), x = frame.plot.right() + 8 * gui.unit;
  std::ranges::stable_sort(labels, [](const EndLabel& a, const EndLabel& b) { return a.y < b.y; });
  float free_from = frame.plot.y - text / 2;
  // Of more than there is room for, those with the best scores are named.
  const auto room = static_cast<std::size_t>(std::max(1.0f, (frame.plot.h + text) / text));
  if (labels.size() > room) labels.resize(room);
  const float most = frame.plot.bottom() - text * static_cast<float>(labels.size());
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const float latest = most + text * static_cast<float>(i);
    const float y = std::round(std::max(free_from, std::min(labels[i].y - text / 2, latest)));
    list.AddLine({frame.plot.right() + gui.unit, labels[i].y}, {x - 2 * gui.unit, y + text / 2}, labels[i].colour,
                 gui.unit);
    list.AddText({x, y}, labels[i].colour, labels[i].text.c_str());
    gui.name_box(labels[i].name, {x, y, ImGui::CalcTextSize(labels[i].text.c_str()).x, text});
    free_from = y + text;
  }
}

/// The score of position alone.
void draw_dashes(Gui& gui, const CurveFrame& frame, double value, ImU32 colour) {
  const float y = std::round(frame.y(value)) + 0.5f, dash = 4 * gui.unit;
  for (float x = frame.plot.x; x < frame.plot.right(); x += 2 * dash)
    ImGui::GetWindowDrawList()->AddLine({x, y}, {std::min(x + dash, frame.plot.right()), y}, colour, gui.unit);
}

/// The relation as a curve's label, in words, no longer than a third of the plot.
std::string relation_words(Gui& gui, const RelationScore& one) {
  return gui.fonts.shown(relation_in_words(gui.state.settings.language, one));
}

void score_plot(Gui& gui, const TrainingRun& run, float height) {
  dim_text(gui, gui.word(run.scores.empty() ? kTrainWords.share_right : kTrainWords.scores_of_heads));
  if (!run.scores.empty()) explain_item(gui, kTrainWords.tip_scores_of_heads);
  const FontScope small(gui, TextSize::small);
  const Theme theme = gui.state.settings.theme;
  const std::vector<RelationScore> none, &relations = run.scores.empty() ? none : run.scores.front().report->relations;
  const ScorePoint* now = run.scores.empty() ? nullptr : scores_at(run, run.shown.value_or(run.step));
  std::vector<EndLabel> labels;
  float widest = ImGui::CalcTextSize(gui.word(kTrainWords.share_right)).x;
  for (std::size_t r = 0; r < relations.size(); ++r) {
    const RelationScore* one = now ? same_relation(relations[r], *now->report) : nullptr;
    const std::string score = one ? " " + score_text(one->score.accuracy) : "";
    labels.push_back({"legend " + relations[r].relation, relation_words(gui, relations[r]) + score, 0,
                      to_imgui(series_colour(r, theme))});
    widest = std::max(widest, ImGui::CalcTextSize(labels.back().text.c_str()).x);
  }
  CurveFrame frame = frame_of(gui, run, height);
  frame.plot.w -= std::min(widest + 12 * gui.unit, frame.plot.w * 0.55f);
  draw_axes(gui, frame);
  std::vector<CurvePoint> right;
  for (const LossPoint& point : run.losses.points)
    right.push_back({static_cast<double>(point.last()), point.share_right()});
  draw_curve(gui, frame, right, gui.colours().faint);
  for (std::size_t r = 0; r < relations.size(); ++r) {
    std::vector<CurvePoint> line;
    for (const ScorePoint& point : run.scores)
      if (const RelationScore* one = same_relation(relations[r], *point.report))
        line.push_back({static_cast<double>(point.step), one->score.accuracy});
    draw_curve(gui, frame, line, labels[r].colour);
    draw_dashes(gui, frame, relations[r].kind_offset, labels[r].colour);
    labels[r].y = frame.y(line.empty() ? 0 : line.back().value);
  }
  const double last = right.empty() || !std::isfinite(right.back().value) ? 0 : right.back().value;
  labels.push_back({"legend right", gui.word(kTrainWords.share_right), frame.y(last), gui.colours().dim});
  draw_end_labels(gui, frame, std::move(labels));
  draw_now(gui, frame, run);
  gui.name_box("score curves", frame.plot);
  if (run.scores.empty()) return;
  dim_text(gui, gui.word(kTrainWords.dashed_is_position));
}

/// The step at a position of the slider: a kept step, or the newest.
std::optional<Index> step_near(const TrainingRun& run, double step) {
  const Shot* shot = nearest_shot(run, static_cast<Index>(std::llround(step)));
  if (!shot || std::abs(static_cast<double>(run.step) - step) <= std::abs(static_cast<double>(shot->step) - step))
    return std::nullopt;
  return shot->step;
}

/// The steps that are kept as marks on a line, and the one that is looked at.
void time_slider(Gui& gui, const TrainingRun& run) {
  const FontScope small(gui, TextSize::small);
  const float height = 20 * gui.unit;
  CurveFrame frame = frame_of(gui, run, height + ImGui::GetFontSize() + 3 * gui.unit);
  frame.plot.h = height;
  ImGui::SetCursorScreenPos({frame.plot.x, frame.plot.y});
  ImGui::InvisibleButton("time", {frame.plot.w, height});
  gui.name_box("time", frame.plot, BoxKind::slider);
  const bool held = ImGui::IsItemActive(), hovered = ImGui::IsItemHovered();
  explain_item(gui, kTrainWords.tip_time,
               {act_of_tool("earlier_step"), act_of_tool("later_step"), act_of_tool("newest_step")});
  if (held) {
    const auto wanted = step_near(run, frame.step_at(ImGui::GetIO().MousePos.x));
    if (wanted != run.shown || !shows_training(gui.state)) gui.push(ChooseShot{wanted});
  }
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const Palette& colours = gui.colours();
  const float y = std::round(frame.plot.y + height / 2);
  list.AddLine({frame.plot.x, y}, {frame.plot.right(), y}, colours.line, 2 * gui.unit);
  list.AddLine({frame.plot.x, y}, {frame.x(static_cast<double>(run.step)), y}, colours.dim, 2 * gui.unit);
  for (const Shot& shot : run.shots) {
    const float x = std::round(frame.x(static_cast<double>(shot.step))) + 0.5f;
    list.AddLine({x, y - 3 * gui.unit}, {x, y + 3 * gui.unit}, colours.dim, gui.unit);
  }
  const float x = frame.x(static_cast<double>(run.shown.value_or(run.step)));
  list.AddCircleFilled({x, y}, (held || hovered ? 7.0f : 6.0f) * gui.unit, run.shown ? colours.accent : colours.dim,
                       24);
  ImGui::SetCursorScreenPos({frame.plot.x, frame.plot.y + height});
  ImGui::AlignTextToFramePadding();
  const std::string at =
      std::string(gui.word(kTrainWords.training_step)) + " " + std::to_string(run.shown.value_or(run.step));
  ImGui::TextUnformatted(at.c_str());
  ImGui::SameLine(0, 8 * gui.unit);
  const bool newest = !run.shown && shows_training(gui.state);
  if (flat_button(gui, "newest", gui.word(is_working(run) ? kTrainWords.live : kTrainWords.newest), newest))
    gui.push(ChooseShot{});
  explain_item(gui, kTrainWords.tip_newest);
}

}  // namespace

void training_curves(Gui& gui, const TrainingRun& run, float height) {
  const float text = gui.fonts.pixels(TextSize::small);
  const float plots = height - 6 * text - 64 * gui.unit;  // beside them: two titles, the legend, the slider
  const float each = std::clamp(plots / 2, 84 * gui.unit, 240 * gui.unit);
  // The names of the curves need more height than the curve of the loss does.
  const std::size_t names = run.scores.empty() ? 1 : run.scores.front().report->relations.size() + 1;
  const float named = (static_cast<float>(names) + 0.5f) * text + 6 * gui.unit;
  const float scores = std::max(each, std::min(named, plots - kLeastPlot * gui.unit));
  loss_plot(gui, run, std::min(each, std::max(kLeastPlot * gui.unit, plots - scores)));
  score_plot(gui, run, scores);
  time_slider(gui, run);
}

}  // namespace headlight
