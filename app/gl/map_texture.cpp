#include "gl/map_texture.h"

#include <epoxy/gl.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <deque>
#include <string>

#include "base/file.h"
#include "gl/map_pages.h"
#include "gui/imgui_compat.h"

namespace headlight {
namespace {

constexpr const char* kAttributes[] = {"Position", "UV", "Color"};

/// The colours' texture: for each theme its diverging map, then the others.
constexpr int kColourRows = 2 * (kColourMaps + 1);

int row_of(const ColourScale& scale) {
  const int map = scale.diverging ? 0 : 1 + static_cast<int>(scale.colours);
  return static_cast<int>(scale.theme) * (kColourMaps + 1) + map;
}

Result<unsigned> compile(const std::filesystem::path& file, GLenum stage) {
  const auto source = read_file(file, std::size_t{1} << 20);
  if (!source) return source.error();
  const GLuint shader = glCreateShader(stage);
  const char* text = source->c_str();
  glShaderSource(shader, 1, &text, nullptr);
  glCompileShader(shader);
  GLint compiled = 0;
  glGetShaderiv(shader, GL_COMPILE_STATUS, &compiled);
  if (compiled) return shader;
  char log[512] = "";
  glGetShaderInfoLog(shader, sizeof log, nullptr, log);
  glDeleteShader(shader);
  std::string first_line{log};
  first_line.resize(std::min(first_line.size(), first_line.find('\n')));
  return bad_input(file.string(), "shader", "GLSL 3.30 that compiles", first_line);
}

class GlMapPainter final : public MapPainter {
 public:
  GlMapPainter(unsigned program, unsigned colours) : program_(program), colours_(colours) {}
  GlMapPainter(const GlMapPainter&) = delete;
  ~GlMapPainter() override {
    glDeleteTextures(1, &colours_);
    glDeleteProgram(program_);
  }

  void draw(ImDrawList& list, const Matrix& weights, std::uint64_t version, ImVec2 min, ImVec2 max,
            const ColourScale& scale, float opacity) override;
  int uploads() const { return pages_.uploads(); }

 private:
  // What a draw command needs when the frame is rendered, after draw() has returned.
  struct Drawing {
    GlMapPainter* painter;
    MapPlace place;
    int rows, columns;
    ColourScale scale;
  };
  static void on_render(const ImDrawList*, const ImDrawCmd* command) {
    const auto& drawing = *static_cast<const Drawing*>(command->UserCallbackData);
    drawing.painter->use(drawing);
  }
  void use(const Drawing& drawing);
  void fit_to(unsigned backend_program);
  int uniform(const char* name) const { return glGetUniformLocation(program_, name); }

  unsigned program_, colours_;
  unsigned fitted_to_ = 0;  // the backend's program whose attribute locations ours has
  int backend_projection_ = -1;
  struct {
    int projection, first, cells, row, diverging, logarithmic, top, inverse_top, decades, blocked_line, blocked_tint;
  } at_{};
  MapPages pages_;
  std::deque<Drawing> drawings_;  // of one frame; a deque, as commands point into it
  int frame_ = -1;
};

void GlMapPainter::draw(ImDrawList& list, const Matrix& weights, std::uint64_t version, ImVec2 min, ImVec2 max,
                        const ColourScale& scale, float opacity) {
  const ImVec2 clip_min = list.GetClipRectMin(), clip_max = list.GetClipRectMax();
  if (weights.size() == 0 || min.x >= clip_max.x || min.y >= clip_max.y || max.x <= clip_min.x || max.y <= clip_min.y)
    return;
  if (const int frame = ImGui::GetFrameCount(); frame != frame_) {
    frame_ = frame;
    drawings_.clear();
  }
  const MapPlace place = pages_.place(weights, version, frame_);
  drawings_.push_back({this, place, static_cast<int>(weights.rows()), static_cast<int>(weights.cols()), scale});
  list.AddCallback(on_render, &drawings_.back());
  list.AddImage(texture_id(place.texture), min, max, {0, 0}, {1, 1},
                IM_COL32(255, 255, 255, static_cast<int>(std::min(std::max(opacity, 0.f), 1.f) * 255 + 0.5f)));
  list.AddCallback(reset_render_state(), nullptr);
}

void GlMapPainter::use(const Drawing& drawing) {
  GLint backend_program = 0;
  glGetIntegerv(GL_CURRENT_PROGRAM, &backend_program);
  fit_to(static_cast<unsigned>(backend_program));
  float projection[16];
  glGetUniformfv(fitted_to_, backend_projection_, projection);

  const ColourScale& scale = drawing.scale;
  const BlockedColours blocked = blocked_colours(scale.theme);
  const auto set_colour = [](int location, Rgb c) {
    glUniform3f(location, static_cast<float>(c.r) / 255, static_cast<float>(c.g) / 255, static_cast<float>(c.b) / 255);
  };
  glUseProgram(program_);
  glUniformMatrix4fv(at_.projection, 1, GL_FALSE, projection);
  glUniform2i(at_.first, drawing.place.x, drawing.place.y);
  glUniform2i(at_.cells, drawing.columns, drawing.rows);
  glUniform1i(at_.row, row_of(scale));
  glUniform1i(at_.diverging, scale.diverging);
  glUniform1i(at_.logarithmic, scale.scale == Scale::log);
  glUniform1f(at_.top, scale.top);
  glUniform1f(at_.inverse_top, 1 / scale.top);
  glUniform1f(at_.decades, ColourScale::kDecades);
  set_colour(at_.blocked_line, blocked.line);
  set_colour(at_.blocked_tint, blocked.tint);
  glActiveTexture(GL_TEXTURE1);
  glBindSampler(1, 0);
  glBindTexture(GL_TEXTURE_2D, colours_);
  glActiveTexture(GL_TEXTURE0);
}

// The backend has set its vertex array up for its own program: ours must expect each attribute at the same location.
void GlMapPainter::fit_to(unsigned backend_program) {
  if (backend_program == fitted_to_) return;
  fitted_to_ = backend_program;
  backend_projection_ = glGetUniformLocation(backend_program, "ProjMtx");
  assert(backend_projection_ >= 0);
  for (const char* attribute : kAttributes) {
    const GLint location = glGetAttribLocation(backend_program, attribute);
    assert(location >= 0);
    glBindAttribLocation(program_, static_cast<unsigned>(location), attribute);
  }
  glLinkProgram(program_);
  at_ = {uniform("projection"),  uniform("first"),   uniform("cells"),        uniform("row"),
         uniform("diverging"), uniform("logarithmic"), uniform("top"),     uniform("inverse_top"),  uniform("decades"),
         uniform("blocked_line"), uniform("blocked_tint")};
  glUseProgram(program_);
  glUniform1i(uniform("weights"), 0);
  glUniform1i(uniform("colours"), 1);
}

}  // namespace

int uploads(const MapPainter& painter) { return static_cast<const GlMapPainter&>(painter).uploads(); }

Result<std::unique_ptr<MapPainter>> make_map_painter(const std::filesystem::path& shaders) {
  const auto vertex = compile(shaders / "map.vert", GL_VERTEX_SHADER);
  if (!vertex) return vertex.error();
  const auto fragment = compile(shaders / "map.frag", GL_FRAGMENT_SHADER);
  if (!fragment) {
    glDeleteShader(*vertex);
    return fragment.error();
  }
  const GLuint program = glCreateProgram();
  for (const unsigned shader : {*vertex, *fragment}) {
    glAttachShader(program, shader);
    glDeleteShader(shader);  // lives on in the program
  }
  glLinkProgram(program);
  GLint linked = 0;
  glGetProgramiv(program, GL_LINK_STATUS, &linked);
  if (!linked) {
    char log[512] = "";
    glGetProgramInfoLog(program, sizeof log, nullptr, log);
    glDeleteProgram(program);
    return bad_input(shaders.string(), "map.vert and map.frag", "shaders that link", log);
  }

  std::array<Rgb, 256 * kColourRows> rows;
  const auto fill = [&](const ColourScale& scale, const std::array<Rgb, 256>& map) {
    std::copy(map.begin(), map.end(), rows.begin() + 256 * row_of(scale));
  };
  for (const Theme theme : {Theme::light, Theme::dark}) {
    fill({.theme = theme, .diverging = true}, diverging_map(theme));
    for (int map = 0; map < kColourMaps; ++map) {
      const auto colours = static_cast<ColourMap>(map);
      fill({.theme = theme, .colours = colours}, colour_map(theme, colours));
    }
  }
  GLuint colours = 0;
  glGenTextures(1, &colours);
  glBindTexture(GL_TEXTURE_2D, colours);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, 256, kColourRows, 0, GL_RGB, GL_UNSIGNED_BYTE, rows.data());
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  return std::unique_ptr<MapPainter>(new GlMapPainter(program, colours));
}

}  // namespace headlight
