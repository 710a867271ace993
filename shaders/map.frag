#version 330 core
// The colour of one pixel of a map: its cell's weight, placed on the colour map as position_on_map() does.
// Where several cells share a pixel the largest weight shows, so that a single bright cell never vanishes.

uniform sampler2D weights;       // a page of matrices, one float a texel; blocked: negative, or -inf where diverging
uniform sampler2D colours;       // 256 colours a row
uniform ivec2 first;             // the page's texel that holds cell (0, 0)
uniform ivec2 cells;             // keys (columns), queries (rows)
uniform int row;                 // of colours
uniform bool diverging;
uniform bool logarithmic;
uniform float top;
uniform float inverse_top;
uniform float decades;
uniform vec3 blocked_line;
uniform vec3 blocked_tint;

in vec2 place;
in float opacity;

out vec4 colour;

// The cells from `from` to before `to` that a pixel `reach` cells long covers. A little less than half to either side:
// a neighbour that only rounding touches is not covered.
void covered(float cell, float reach, int count, out int from, out int to) {
  from = clamp(int(floor(cell - 0.4995 * reach)), 0, count - 1);
  to = clamp(int(ceil(cell + 0.4995 * reach)), 1, count);
}

// The number that shows where several share a pixel: the largest, of a diverging map the one farthest from zero. Where
// there is no number the others show.
float brighter(float a, float b) {
  if (isnan(a)) return b;
  if (isnan(b)) return a;
  if (!diverging) return max(a, b);
  if (a < -3e38) return b;
  if (b < -3e38) return a;
  return abs(b) > abs(a) ? b : a;
}

float weight_here(vec2 cell, vec2 reach) {
  ivec2 here = clamp(ivec2(floor(cell)), ivec2(0), cells - 1);
  float largest = texelFetch(weights, first + here, 0).r;
  ivec2 from = here, to = here;  // nothing more to look at where a cell covers a pixel or more
  if (reach.x > 1.0 || reach.y > 1.0) {
    to = here + 1;
    if (reach.x > 1.0) covered(cell.x, reach.x, cells.x, from.x, to.x);
    if (reach.y > 1.0) covered(cell.y, reach.y, cells.y, from.y, to.y);
  }
  for (int y = from.y; y < to.y; ++y)
    for (int x = from.x; x < to.x; ++x) largest = brighter(largest, texelFetch(weights, first + ivec2(x, y), 0).r);
  return largest;
}

float position_on_map(float weight) {
  if (diverging) return isnan(weight) ? 0.5 : clamp(0.5 + 0.5 * weight * inverse_top, 0.0, 1.0);
  if (!(weight > 0.0)) return 0.0;
  if (weight >= top) return 1.0;
  float part = weight * inverse_top;
  if (logarithmic) part = 1.0 + log2(part) * 0.30102999566 / decades;
  return clamp(part, 0.0, 1.0);
}

vec3 on_map(float position) {
  return texelFetch(colours, ivec2(int(position * 255.0 + 0.5), row), 0).rgb;
}

// One calm pixel-wide diagonal every few pixels of the screen, running on from cell to cell.
vec3 blocked(vec2 pixels_a_cell) {
  float smaller = min(pixels_a_cell.x, pixels_a_cell.y);
  if (smaller < 3.0) return blocked_tint;
  // A half beside whole pixels: a cell's side is not the same to the last bit at every pixel, the period must be.
  float period = clamp(floor((smaller + 0.5) / 3.0), 5.0, 12.0);
  float away = abs(mod(gl_FragCoord.x - gl_FragCoord.y, period) - floor(0.5 * period)) * 0.70710678;
  return mix(on_map(diverging ? 0.5 : 0.0), blocked_line, clamp(1.0 - away, 0.0, 1.0));
}

void main() {
  vec2 cell = place * vec2(cells);
  vec2 reach = fwidth(cell);  // cells a pixel
  float weight = weight_here(cell, reach);
  bool is_blocked = weight < (diverging ? -3e38 : 0.0);
  colour = vec4(is_blocked ? blocked(1.0 / reach) : on_map(position_on_map(weight)), opacity);
}
