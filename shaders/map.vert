// A map's rectangle. Attributes are named, and placed, as in Dear ImGui's OpenGL 3 backend.

uniform mat4 projection;

in vec2 Position;
in vec2 UV;

noperspective out vec2 place;  // (0, 0) … (1, 1) across the map

void main() {
  place = UV;
  gl_Position = projection * vec4(Position, 0.0, 1.0);
}
