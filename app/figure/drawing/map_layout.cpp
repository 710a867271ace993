#include "figure/drawing/map_layout.h"

#include <unicode/uchar.h>
#include <algorithm>
#include <cmath>

#include "base/formatted.h"
#include "base/utf8.h"

namespace headlight {
namespace {

constexpr std::size_t kLongestLabel = 16;  // characters
constexpr std::size_t kLongestStack = 4;   // characters one above the other
constexpr float kGap = 0.3f;               // between label and cells, in lines of text

/// Of no ink: control characters and the spaces of Unicode.
bool is_blank(char32_t c) {
  return c <= U' ' || (c >= 0x7F && c <= 0xA0) || c == 0x1680 || (c >= 0x2000 && c <= 0x200B) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000 || c == 0xFEFF;
}

}  // namespace

float stage_growth(float width, float height) {
  constexpr float kWidth = 1440, kHeight = 900, kMost = 1.8f, kSteps = 8;
  return std::floor(std::clamp(std::min(width / kWidth, height / kHeight), 1.0f, kMost) * kSteps) / kSteps;
}

std::string axis_label(const Token& token) {
  std::string label;
  std::size_t characters = 0;
  const auto points = code_points(token.text);
  const bool blank = std::ranges::all_of(points, is_blank);
  for (const char32_t point : points) {
    if (is_picture_modifier(point) && !label.empty()) continue;
    if (is_picture(point)) {
      label += (label.empty() ? "" : " ") + character_name(point);
      continue;
    }
    if (++characters > kLongestLabel) {
      append_utf8(label, U'…');
      break;
    }
    if (point == U'\n' || point == U'\r') append_utf8(label, U'⏎');
    else if (blank || point < U' ' || (point >= 0x7F && point < 0xA0)) append_utf8(label, U'␣');
    else append_utf8(label, point);
  }
  return label;
}

std::string piece_label(const Token& token) {
  const std::string label = axis_label(token);
  if (token.special || token.pad) return label;
  if (token.raw.starts_with("##") && !token.text.starts_with("##")) return "##" + label;
  const bool spaced = token.raw.starts_with("\u0120") || token.raw.starts_with("\u2581");  // Ġ, ▁
  return spaced && !label.starts_with("␣") ? "␣" + label : label;
}

bool stands_upright(std::string_view label) {
  for (const char32_t c : code_points(label)) {
    const bool wide = (c >= 0x2E80 && c <= 0x9FFF) || (c >= 0xAC00 && c <= 0xD7AF) || (c >= 0xF900 && c <= 0xFAFF) ||
                      (c >= 0xFF00 && c <= 0xFF60) || (c >= 0x20000 && c <= 0x3FFFF);
    if (!wide) return false;
  }
  return true;
}

bool stands_in_column(std::string_view label) {
  const std::size_t characters = code_points(label).size();
  return characters == 1 || (characters <= kLongestStack && stands_upright(label));
}

void LabelMetrics::add(std::string_view label, float width) {
  const std::size_t characters = code_points(label).size();
  upright = (longest == 0 || upright) && stands_upright(label);
  widest = std::max(widest, width);
  longest = std::max(longest, characters);
  if (stands_in_column(label)) most_standing = std::max(most_standing, characters);
  else widest_turned = std::max(widest_turned, width);
}

std::vector<RoleRun> role_runs(const std::vector<Token>& tokens, Index first, Index count) {
  std::vector<RoleRun> runs;
  for (Index i = 0; i < count; ++i) {
    const ChatRole role = tokens[static_cast<std::size_t>(first + i)].role;
    if (role == ChatRole::none) continue;
    const bool goes_on = !runs.empty() && runs.back().role == role && runs.back().first + runs.back().count == i;
    if (goes_on) ++runs.back().count;
    else runs.push_back({i, 1, role});
  }
  return runs;
}

Index label_step(float text, float pitch) {
  const auto step = [&](float least) {
    return std::max<Index>(1, static_cast<Index>(std::ceil(text * least / pitch)));
  };
  const Index all = step(kLabelPitch);
  return all == 1 ? 1 : std::max(all, step(kThinnedPitch));
}

void thin_labels(MapLayout& layout, float text) {
  layout.row_step = label_step(text, layout.cell);
  layout.column_step = layout.columns == ColumnLabels::horizontal ? 1 : layout.row_step;
}

MapLayout layout_map(const Box& area, Index rows, Index columns, const LabelMetrics& row_labels,
                     const LabelMetrics& column_labels, float text, float largest_cell) {
  MapLayout layout;
  const float count_rows = static_cast<float>(rows), count_columns = static_cast<float>(columns);
  const float gap = text * kGap;
  // Labels may take this much of the area before they are left out.
  const float most_left = area.w * 0.42f, most_top = area.h * 0.42f;

  const float left = row_labels.widest + gap;
  layout.rows = row_labels.widest > 0 && left <= most_left;
  const float width = area.w - (layout.rows ? left : 0);

  // The size of the cells without column labels decides which kind of label fits above them.
  const float roomy = std::min({width / count_columns, area.h / count_rows, largest_cell});
  const float stacked = static_cast<float>(column_labels.longest) * text;
  const float turned = std::max(column_labels.widest_turned, static_cast<float>(column_labels.most_standing) * text);
  float top = 0;
  if (column_labels.widest > 0) {
    const bool wide_cells = column_labels.widest + gap <= std::min(roomy, (area.h - text) / count_rows);
    if (wide_cells) layout.columns = ColumnLabels::horizontal, top = text + gap;
    else if (column_labels.upright && column_labels.longest <= kLongestStack)
      layout.columns = ColumnLabels::stacked, top = stacked + gap;
    else layout.columns = ColumnLabels::rotated, top = turned + gap;
    if (top > most_top) layout.columns = ColumnLabels::none, top = 0;
  }

  const float x = std::ceil(area.x + (layout.rows ? left : 0)), y = std::ceil(area.y + top);
  float cell = std::min({(area.right() - x) / count_columns, (area.bottom() - y) / count_rows, largest_cell});
  if (cell >= 4) cell = std::floor(cell);  // whole pixels keep cells equal
  layout.cell = std::max(cell, 0.001f);
  layout.plot = {x, y, layout.cell * count_columns, layout.cell * count_rows};
  thin_labels(layout, text);
  return layout;
}

std::optional<CellRef> cell_at(const MapLayout& layout, Index rows, Index columns, float x, float y) {
  if (!layout.plot.contains(x, y)) return std::nullopt;
  const auto row = static_cast<Index>((y - layout.plot.y) / layout.cell);
  const auto column = static_cast<Index>((x - layout.plot.x) / layout.cell);
  return CellRef{std::clamp<Index>(row, 0, rows - 1), std::clamp<Index>(column, 0, columns - 1)};
}

Box cell_box(const MapLayout& layout, Index row, Index column) {
  return {layout.plot.x + static_cast<float>(column) * layout.cell,
          layout.plot.y + static_cast<float>(row) * layout.cell, layout.cell, layout.cell};
}

std::string character_name(char32_t character) {
  constexpr std::size_t kLongest = 24;
  char name[128];
  UErrorCode status = U_ZERO_ERROR;
  const auto length = u_charName(static_cast<UChar32>(character), U_UNICODE_CHAR_NAME, name, sizeof name, &status);
  if (U_FAILURE(status) || length <= 0) return formatted("U+%04X", static_cast<unsigned>(character));
  std::string text(name, static_cast<std::size_t>(length));
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (text.size() <= kLongest) return text;
  return text.substr(0, text.rfind(' ', kLongest));
}

bool is_picture(char32_t character) {
  // Below the first picture, a watch, ICU is not asked: about each letter of a long text that costs a frame a
  // millisecond.
  constexpr char32_t kFirst = 0x231A;
  return character >= kFirst && u_hasBinaryProperty(static_cast<UChar32>(character), UCHAR_EMOJI_PRESENTATION);
}

bool is_picture_modifier(char32_t character) {
  constexpr char32_t kJoiner = 0x200D, kAsPicture = 0xFE0F;
  return character == kJoiner || character == kAsPicture ||
         (character > kAsPicture && u_hasBinaryProperty(static_cast<UChar32>(character), UCHAR_EMOJI_MODIFIER));
}

}  // namespace headlight
