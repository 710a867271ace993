#include <algorithm>
#include <cmath>
#include <limits>

#include "views/sentence/sentence_parts.h"

namespace headlight {
namespace {

constexpr float kMostType = 40;

/// The sizes of type that are tried for so many lines, the largest first.
std::vector<float> types_of(std::size_t lines, const SentenceFrame& frame) {
  const float k = frame.k;
  const auto large = [&](float size) { return std::min(kMostType, std::round(size * k)); };
  if (lines == 1 && frame.low) return {20, 18, 17, 16, 15};
  if (lines == 1) return {large(26), large(23), large(20), 20, 18, 17, 16, 15};
  if (lines == 2 && frame.low) return {18, 17, 16, 15, 14};
  if (lines == 2) return {large(20), 20, 18, 17, 16, 15, 14};
  if (lines == 3) return {std::round(18 * std::min(k, 1.2f)), 18, 17, 16, 15, 14};
  if (lines == 4) return {15, 14, 13};
  return {13, 12};
}

/// How words of this size stand in a row.
struct WordPitch {
  float size, pad, gap;
  std::vector<float> widths;
  float sum(std::size_t first, std::size_t end) const {
    float width = -gap;
    for (std::size_t i = first; i < end; ++i) width += widths[i] + gap;
    return width;
  }
};

WordPitch pitch_of(const SentenceCanvas& canvas, const std::vector<SentenceWord>& words, float size, bool one) {
  WordPitch pitch{size,
                  size > 17          ? 6.0f
                  : one && size > 16 ? 4.0f
                                     : 3.0f,
                  size > 16 ? std::max(8.0f, 0.3f * size) : 5.0f,
                  {}};
  for (const SentenceWord& word : words) pitch.widths.push_back(canvas.width(word.label, size) + 2 * pitch.pad);
  return pitch;
}

/// Closing marks stay with the word before them.
bool begins_line_badly(const std::string& word) {
  constexpr std::string_view kMarks = " , . ; : ? ! ) ， 。 ！ ？ 、 ； ： ） 」 』 ” ";
  return kMarks.find(" " + word + " ") != std::string_view::npos;
}

/// The first words of so many lines that fit, with the fewest arcs over breaks and even lines; empty where none do.
std::vector<std::size_t> breaks_of(const SentenceCanvas& canvas, const std::vector<SentenceWord>& words,
                                   const WordPitch& pitch, const std::vector<SentenceArc>& arcs, std::size_t lines) {
  constexpr float kNever = std::numeric_limits<float>::infinity();
  const std::size_t count = words.size();
  std::vector<float> crossed(count + 1);
  for (const SentenceArc& arc : arcs)
    for (Index i = std::min(arc.query, arc.key) + 1; i <= std::max(arc.query, arc.key); ++i)
      crossed[static_cast<std::size_t>(i)] += 1;
  const float room = canvas.frame.box.w;
  const float mean = std::max(1.0f, pitch.sum(0, count) / static_cast<float>(lines));
  std::vector<std::vector<float>> cost(count + 1, std::vector<float>(lines + 1, kNever));
  std::vector<std::vector<std::size_t>> from(count + 1, std::vector<std::size_t>(lines + 1));
  cost[0][0] = 0;
  for (std::size_t end = 1; end <= count; ++end)
    for (std::size_t line = 1; line <= lines; ++line)
      for (std::size_t first = 0; first < end; ++first) {
        const float used = pitch.sum(first, end);
        if (cost[first][line - 1] == kNever || used > room) continue;
        const float uneven = used / mean - 1;
        const bool last = end == count;
        const float value = cost[first][line - 1] + (last ? 0 : crossed[end]) + 12 * uneven * uneven +
                            (!last && begins_line_badly(words[end].label) ? 6.0f : 0.0f);
        if (value < cost[end][line]) cost[end][line] = value, from[end][line] = first;
      }
  if (cost[count][lines] == kNever) return {};
  std::vector<std::size_t> breaks(lines);
  for (std::size_t end = count, line = lines; line > 0; --line) breaks[line - 1] = end = from[end][line];
  return breaks;
}

}  // namespace

SentenceFrame sentence_frame(const Box& box, float width, float height) {
  return {box, stage_growth(width, height), width >= 1400 ? 118.0f : width >= 1200 ? 98.0f : 76.0f, height < 700};
}

WordLines word_lines(const SentenceCanvas& canvas, const std::vector<SentenceWord>& words,
                     const std::vector<SentenceArc>& arcs) {
  const SentenceFrame& frame = canvas.frame;
  WordLines result;
  for (const std::size_t lines : {1, 2, 3, 4, 5, 6, 8})
    for (const float size : types_of(lines, frame)) {
      if (lines > words.size()) continue;
      const WordPitch pitch = pitch_of(canvas, words, size, lines == 1);
      const float begin = frame.box.x + (lines == 1 ? frame.gutter : 0), room = frame.box.right() - begin;
      std::vector<std::size_t> breaks{0};
      if (lines == 1 && pitch.sum(0, words.size()) > room) continue;
      if (lines > 1 && (breaks = breaks_of(canvas, words, pitch, arcs, lines)).empty()) continue;
      float gap = pitch.gap;
      if (lines == 1 && words.size() > 1)
        gap += std::clamp((room - pitch.sum(0, words.size())) / static_cast<float>(words.size() - 1), 0.0f,
                          std::max(0.0f, 56 * frame.k - gap));
      result = {size, pitch.pad, {}, lines};
      float x = begin + (words.size() == 1 ? std::max(0.0f, lone_column(frame) - pitch.widths[0]) / 2 : 0);
      for (std::size_t i = 0, line = 0; i < words.size(); ++i) {
        if (line + 1 < breaks.size() && i == breaks[line + 1]) ++line, x = begin;
        result.places.push_back({x, pitch.widths[i], line});
        x += pitch.widths[i] + gap;
      }
      return result;
    }
  // Words that are wider than the stage are cut off at its edge.
  result.lines = words.size();
  for (std::size_t i = 0; i < words.size(); ++i) result.places.push_back({frame.box.x, frame.box.w, i});
  return result;
}

}  // namespace headlight
