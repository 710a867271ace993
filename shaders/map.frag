// The colour of one pixel of a map: its cell's weight, placed on the colour map as position_on_map() does.
// With LOGARITHMIC where the scale is, with HATCHED where blocked cells are large enough for lines: a processor that
// draws does for every pixel whatever stands here, taken or not.

uniform sampler2D weights;       // a page of matrices, one float a texel
uniform sampler2D colours;       // 256 colours a row
uniform ivec2 first;             // the page's texel that holds cell (0, 0)
uniform ivec2 cells;             // keys (columns), queries (rows)
uniform int row;                 // of colours
uniform float gain;              // from weights to positions on the colour map
uniform float zero;              // the position of 0, and of what is no number
uniform float decades;
uniform float least;             // what is below is blocked
uniform vec3 blocked_tint;
uniform vec3 blocked_line;
uniform vec3 blocked_ground;
uniform float period;            // pixels from line to line, across
uniform float opacity;

noperspective in vec2 place;

out vec4 colour;

float position_on_map(float weight) {
#ifdef LOGARITHMIC
  return weight > 0.0 ? clamp(1.0 + log2(weight * gain) * 0.30102999566 / decades, 0.0, 1.0) : 0.0;
#else
  return isnan(weight) ? zero : clamp(zero + weight * gain, 0.0, 1.0);
#endif
}

// One calm pixel-wide diagonal every few pixels of the screen, running on from cell to cell.
vec3 blocked() {
#ifdef HATCHED
  float away = abs(mod(gl_FragCoord.x - gl_FragCoord.y, period) - floor(0.5 * period)) * 0.70710678;
  return mix(blocked_ground, blocked_line, clamp(1.0 - away, 0.0, 1.0));
#else
  return blocked_tint;
#endif
}

void main() {
  ivec2 cell = clamp(ivec2(place * vec2(cells)), ivec2(0), cells - 1);
  float weight = texelFetch(weights, first + cell, 0).r;
  vec3 fresh = texelFetch(colours, ivec2(int(position_on_map(weight) * 255.0 + 0.5), row), 0).rgb;
  colour = vec4(weight < least ? blocked() : fresh, opacity);
}
