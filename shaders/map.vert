// A map's rectangle. Attributes are named, and placed, as in Dear ImGui's OpenGL 3 backend.

uniform mat4 projection;

in vec2 Position;
in vec2 UV;
in vec4 Color;

out vec2 place;     // (0, 0) … (1, 1) across the map
out float opacity;

void main() {
  place = UV;
  opacity = Color.a;
  gl_Position = projection * vec4(Position, 0.0, 1.0);
}
