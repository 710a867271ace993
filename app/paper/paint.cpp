#include "paper/fonts.h"

#include <cairo.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/utf8.h"

namespace headlight {
namespace {

/// Smaller cells (points) are tinted where they are blocked; larger ones are hatched.
constexpr float kLeastHatched = 1.5f;

void set_colour(cairo_t* cairo, Rgb colour, float opacity = 1) {
  cairo_set_source_rgba(cairo, colour.r / 255.0, colour.g / 255.0, colour.b / 255.0, static_cast<double>(opacity));
}

void add_rectangle(cairo_t* cairo, const Box& box) {
  cairo_rectangle(cairo, static_cast<double>(box.x), static_cast<double>(box.y), static_cast<double>(box.w),
                  static_cast<double>(box.h));
}

/// The same with round corners.
void add_rounded(cairo_t* cairo, const Box& box, float corner) {
  const double r = static_cast<double>(corner), quarter = std::acos(-1.0) / 2;
  const double left = static_cast<double>(box.x) + r, right = static_cast<double>(box.right()) - r;
  const double top = static_cast<double>(box.y) + r, bottom = static_cast<double>(box.bottom()) - r;
  cairo_new_sub_path(cairo);
  cairo_arc(cairo, right, top, r, -quarter, 0);
  cairo_arc(cairo, right, bottom, r, 0, quarter);
  cairo_arc(cairo, left, bottom, r, quarter, 2 * quarter);
  cairo_arc(cairo, left, top, r, 2 * quarter, 3 * quarter);
  cairo_close_path(cairo);
}

void move_to(cairo_t* cairo, Point at) { cairo_move_to(cairo, static_cast<double>(at.x), static_cast<double>(at.y)); }
void line_to(cairo_t* cairo, Point at) { cairo_line_to(cairo, static_cast<double>(at.x), static_cast<double>(at.y)); }

/// In the colour that is set.
void fill_triangle(cairo_t* cairo, const std::array<Point, 3>& corners) {
  move_to(cairo, corners[0]);
  line_to(cairo, corners[1]);
  line_to(cairo, corners[2]);
  cairo_close_path(cairo);
  cairo_fill(cairo);
}

/// The part of the box that `count` cells of a row cover.
Box run_box(const Cells& cells, Index row, Index first, Index count) {
  const float w = cells.box.w / static_cast<float>(cells.weights->cols());
  const float h = cells.box.h / static_cast<float>(cells.weights->rows());
  return {cells.box.x + static_cast<float>(first) * w, cells.box.y + static_cast<float>(row) * h,
          static_cast<float>(count) * w, h};
}

float cell_side(const Cells& cells) {
  return std::min(cells.box.w / static_cast<float>(cells.weights->cols()),
                  cells.box.h / static_cast<float>(cells.weights->rows()));
}

/// The fill of a cell; of a hatched one the background of its lines.
Rgb fill_of(const Cells& cells, float weight) {
  if (!is_blocked(cells.scale, weight)) return colour_of(cells.scale, weight);
  return cell_side(cells) < kLeastHatched ? blocked_colours(cells.scale.theme).tint : colour_of(cells.scale, 0);
}

/// Calm diagonals that run on from one blocked cell to the next.
void hatch(cairo_t* cairo, const Cells& cells) {
  const float side = cell_side(cells);
  if (side < kLeastHatched) return;
  bool any = false;
  cairo_save(cairo);
  cairo_new_path(cairo);
  for (Index i = 0; i < cells.weights->rows(); ++i)
    for (Index j = 0, end = 0; j < cells.weights->cols(); j = end) {
      end = j + 1;
      if (!is_blocked(cells.scale, (*cells.weights)(i, j))) continue;
      while (end < cells.weights->cols() && is_blocked(cells.scale, (*cells.weights)(i, end))) ++end;
      add_rectangle(cairo, run_box(cells, i, j, end - j));
      any = true;
    }
  if (any) {
    cairo_clip(cairo);
    const float period = std::clamp(side / 2.5f, 1.6f, 5.0f);
    const Box& box = cells.box;
    for (float away = period; away < box.w + box.h; away += period) {
      move_to(cairo, {box.x + away, box.y});
      line_to(cairo, {box.x + away - box.h, box.bottom()});
    }
    cairo_set_line_width(cairo, std::clamp(static_cast<double>(period) / 5, 0.3, 0.7));
    set_colour(cairo, blocked_colours(cells.scale.theme).line);
    cairo_stroke(cairo);
  }
  cairo_restore(cairo);
}

void fill_as_shapes(cairo_t* cairo, const Cells& cells) {
  cairo_set_antialias(cairo, CAIRO_ANTIALIAS_NONE);
  for (Index i = 0; i < cells.weights->rows(); ++i)
    for (Index j = 0; j < cells.weights->cols(); ++j) {
      if (std::isnan((*cells.weights)(i, j))) continue;
      // Cells overlap the next ones a little: else viewers show the background as hairlines between them.
      Box box = run_box(cells, i, j, 1);
      box.w = std::min(box.w + 0.2f, cells.box.right() - box.x);
      box.h = std::min(box.h + 0.2f, cells.box.bottom() - box.y);
      add_rectangle(cairo, box);
      set_colour(cairo, fill_of(cells, (*cells.weights)(i, j)));
      cairo_fill(cairo);
    }
  cairo_set_antialias(cairo, CAIRO_ANTIALIAS_DEFAULT);
}

/// Fills the box with an image of width × height pixels, each as `pixel` (row, column) gives it, unsmoothed. ARGB.
template <class Pixel>
void fill_with_pixels(cairo_t* cairo, const Box& box, int width, int height, bool holes, Pixel pixel,
                      float opacity = 1) {
  cairo_surface_t* image = cairo_image_surface_create(holes ? CAIRO_FORMAT_ARGB32 : CAIRO_FORMAT_RGB24, width, height);
  unsigned char* data = cairo_image_surface_get_data(image);
  const int stride = cairo_image_surface_get_stride(image);
  for (int y = 0; data && y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const std::uint32_t argb = pixel(y, x);
      std::memcpy(data + y * stride + 4 * x, &argb, sizeof argb);
    }
  cairo_surface_mark_dirty(image);
  cairo_save(cairo);
  cairo_translate(cairo, static_cast<double>(box.x), static_cast<double>(box.y));
  cairo_scale(cairo, static_cast<double>(box.w) / width, static_cast<double>(box.h) / height);
  cairo_set_source_surface(cairo, image, 0, 0);
  cairo_pattern_set_filter(cairo_get_source(cairo), CAIRO_FILTER_NEAREST);
  cairo_rectangle(cairo, 0, 0, width, height);
  cairo_clip(cairo);
  cairo_paint_with_alpha(cairo, static_cast<double>(opacity));
  cairo_restore(cairo);
  cairo_surface_destroy(image);
}

std::uint32_t argb_of(Rgb colour) {
  return 0xFF000000u | static_cast<std::uint32_t>(colour.r) << 16 | static_cast<std::uint32_t>(colour.g) << 8 |
         colour.b;
}

struct Painter {
  cairo_t* cairo;
  PaperFonts& fonts;
  bool shapes;

  void operator()(const Cells& cells) const {
    if (cells.weights->size() == 0) return;
    const bool holes = cells.weights->array().isNaN().any();
    if (shapes && cells.opacity >= 1) fill_as_shapes(cairo, cells);
    else
      fill_with_pixels(
          cairo, cells.box, static_cast<int>(cells.weights->cols()), static_cast<int>(cells.weights->rows()), holes,
          [&](int row, int column) {
            const float weight = (*cells.weights)(row, column);
            return std::isnan(weight) ? 0u : argb_of(fill_of(cells, weight));
          },
          cells.opacity);
    hatch(cairo, cells);
  }
  void operator()(const Image& image) const {
    const Picture& seen = image.picture->seen;
    fill_with_pixels(cairo, image.box, static_cast<int>(seen.width), static_cast<int>(seen.height), false,
                     [&](int row, int column) {
                       const std::uint8_t* of = &seen.pixels[static_cast<std::size_t>((row * seen.width + column) * 3)];
                       return argb_of({of[0], of[1], of[2]});
                     });
  }
  void operator()(const Ramp& ramp) const {
    const auto& map =
        ramp.scale.diverging ? diverging_map(ramp.scale.theme) : colour_map(ramp.scale.theme, ramp.scale.colours);
    fill_with_pixels(cairo, ramp.box, 256, 1, false,
                     [&](int, int column) { return argb_of(map[static_cast<std::size_t>(column)]); });
  }
  void operator()(const Rectangle& rectangle) const {
    if (rectangle.corner > 0) add_rounded(cairo, rectangle.box, rectangle.corner);
    else add_rectangle(cairo, rectangle.box);
    if (rectangle.fill) {
      set_colour(cairo, *rectangle.fill, rectangle.opacity);
      cairo_fill_preserve(cairo);
    }
    if (rectangle.line) {
      set_colour(cairo, *rectangle.line);
      cairo_set_line_width(cairo, static_cast<double>(rectangle.width));
      cairo_stroke_preserve(cairo);
    }
    cairo_new_path(cairo);
  }
  void operator()(const Stroke& line) const {
    move_to(cairo, line.from);
    line_to(cairo, line.to);
    set_colour(cairo, line.colour);
    cairo_set_line_width(cairo, static_cast<double>(line.width));
    cairo_stroke(cairo);
    if (line.head > 0) fill_triangle(cairo, arrow_head(line));
  }
  void operator()(const Curve& curve) const {
    move_to(cairo, curve.from);
    const double middle = static_cast<double>((curve.from.x + curve.to.x) / 2);
    cairo_curve_to(cairo, middle, static_cast<double>(curve.from.y), middle, static_cast<double>(curve.to.y),
                   static_cast<double>(curve.to.x), static_cast<double>(curve.to.y));
    set_colour(cairo, curve.colour, curve.opacity);
    cairo_set_line_width(cairo, static_cast<double>(curve.width));
    cairo_stroke(cairo);
  }
  void operator()(const Path& path) const {
    move_to(cairo, path.points.front());
    for (std::size_t i = 1; i + 2 < path.points.size(); i += 3) {
      const Point *a = &path.points[i], *b = a + 1, *end = a + 2;
      cairo_curve_to(cairo, static_cast<double>(a->x), static_cast<double>(a->y), static_cast<double>(b->x),
                     static_cast<double>(b->y), static_cast<double>(end->x), static_cast<double>(end->y));
    }
    set_colour(cairo, path.colour, path.opacity);
    cairo_set_line_width(cairo, static_cast<double>(path.width));
    const double dashes[] = {static_cast<double>(path.dash), static_cast<double>(path.dash) * 2 / 3};
    if (path.dash > 0) cairo_set_dash(cairo, dashes, 2, 0);
    cairo_stroke(cairo);
    cairo_set_dash(cairo, nullptr, 0, 0);
    if (path.head > 0) fill_triangle(cairo, arrow_head(path));
  }
  void operator()(const Text& text) const {
    set_colour(cairo, text.colour);
    const float below = kInkMiddle * text.size;  // the base line, under the middle
    switch (text.turn) {
      case TextRotation::level: {
        const float x = bounds(text).x;
        fonts.draw(cairo, text.text, text.size, x, text.at.y + below);
        break;
      }
      case TextRotation::upwards:
        cairo_save(cairo);
        cairo_translate(cairo, static_cast<double>(text.at.x), static_cast<double>(text.at.y));
        cairo_rotate(cairo, -std::acos(-1.0) / 2);
        fonts.draw(cairo, text.text, text.size, 0, below);
        cairo_restore(cairo);
        break;
      case TextRotation::stacked: {
        float y = bounds(text).y + text.size / 2;
        for (const char32_t c : code_points(text.text)) {
          std::string one;
          append_utf8(one, c);
          fonts.draw(cairo, one, text.size, text.at.x - fonts.width(one, text.size) / 2, y + below);
          y += text.size;
        }
        break;
      }
    }
  }
};

Index cells_of(const Drawing& drawing) {
  Index count = 0;
  for (const Item& item : drawing.items)
    if (const auto* cells = std::get_if<Cells>(&item)) count += cells->weights->size();
  return count;
}

}  // namespace

void paint(_cairo* cairo, const Drawing& drawing, PaperFonts& fonts) {
  cairo_font_options_t* exact = cairo_font_options_create();
  cairo_font_options_set_hint_style(exact, CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(exact, CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_antialias(exact, CAIRO_ANTIALIAS_GRAY);
  cairo_set_font_options(cairo, exact);
  cairo_font_options_destroy(exact);
  set_colour(cairo, drawing.background);
  cairo_paint(cairo);  // to the last pixel, whole or not
  const Painter painter{cairo, fonts, cells_of(drawing) <= kMostShapes};
  for (const Item& item : drawing.items) std::visit(painter, item);
}

}  // namespace headlight
