#include "gl/map_texture.h"

#include <epoxy/gl.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <deque>

#include "base/file.h"
#include "gui/frame/imgui_compat.h"

namespace headlight {
namespace {

constexpr int kSmallestSlot = 16, kLargestSlot = 512;
constexpr int kPageSide = 2048, kSlotsASide = 16;
constexpr std::size_t kOwnTexels = std::size_t{1} << 26;  // 256 MiB of separate textures, where that is enough

/// Without texels yet; bound. Its texels are read one at a time.
unsigned nearest_texture() {
  GLuint texture = 0;
  glGenTextures(1, &texture);
  glBindTexture(GL_TEXTURE_2D, texture);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
  return texture;
}

unsigned float_texture(int width, int height) {
  const unsigned texture = nearest_texture();
  glTexImage2D(GL_TEXTURE_2D, 0, GL_R32F, width, height, 0, GL_RED, GL_FLOAT, nullptr);
  return texture;
}

constexpr const char* kAttributes[] = {"Position", "UV"};

/// The colours' texture: for each theme its diverging map, then the others.
constexpr int kColourRows = 2 * (kAllColourMaps + 1);

int row_of(const ColourScale& scale) {
  const int map = scale.diverging ? 0 : 1 + static_cast<int>(scale.colours);
  return static_cast<int>(scale.theme) * (kAllColourMaps + 1) + map;
}

/// The error of the driver about a shader or a program, in a line; nothing where `status` is good.
template <class GetStatus, class GetLog>
std::optional<std::string> objection(unsigned object, GLenum status, GetStatus get_status, GetLog get_log) {
  GLint is_well = 0;
  get_status(object, status, &is_well);
  if (is_well) return std::nullopt;
  char log[512] = "";
  get_log(object, sizeof log, nullptr, log);
  std::string first_line{log};
  first_line.resize(std::min(first_line.size(), first_line.find('\n')));
  return first_line;
}

/// `defines` are lines.
Result<unsigned> compile(const std::filesystem::path& file, GLenum stage, const std::string& defines = {}) {
  const auto source = TRY(read_file(file, std::size_t{1} << 20));
  const GLuint shader = glCreateShader(stage);
  const std::string text = "#version 330 core\n" + defines + "#line 1\n" + source;
  const char* lines = text.c_str();
  glShaderSource(shader, 1, &lines, nullptr);
  glCompileShader(shader);
  const auto wrong = objection(shader, GL_COMPILE_STATUS, glGetShaderiv, glGetShaderInfoLog);
  if (!wrong) return shader;
  glDeleteShader(shader);
  return bad_input(file.string(), "shader", "GLSL 3.30 that compiles", *wrong);
}

Result<unsigned> link(const std::filesystem::path& shaders, const std::string& defines) {
  const auto vertex = TRY(compile(shaders / "map.vert", GL_VERTEX_SHADER));
  const auto fragment = compile(shaders / "map.frag", GL_FRAGMENT_SHADER, defines);
  if (!fragment) {
    glDeleteShader(vertex);
    return fragment.error();
  }
  const GLuint program = glCreateProgram();
  for (const unsigned shader : {vertex, *fragment}) {
    glAttachShader(program, shader);
    glDeleteShader(shader);  // lives on in the program
  }
  glLinkProgram(program);
  const auto wrong = objection(program, GL_LINK_STATUS, glGetProgramiv, glGetProgramInfoLog);
  if (!wrong) return program;
  glDeleteProgram(program);
  return bad_input(shaders.string(), "map.vert and map.frag", "shaders that link", *wrong);
}

/// map.frag as one kind of map needs it, with the locations of its uniforms.
struct Program {
  unsigned id = 0;
  unsigned fitted_to = 0;  // the backend's program whose attribute locations it has
  int projection = -1, first = -1, cells = -1, row = -1, gain = -1, zero = -1, decades = -1, least = -1,
      blocked_tint = -1, blocked_line = -1, blocked_ground = -1, period = -1, opacity = -1;
};
constexpr int kLogarithmic = 1, kHatched = 2;  // their sum is a program's index
using Programs = std::array<Program, 4>;

void delete_programs(const Programs& programs) {
  for (const Program& program : programs) glDeleteProgram(program.id);
}

// The backend has set its vertex array up for its program: this one must expect each attribute at the same location.
void fit(Program& program, unsigned backend_program) {
  if (backend_program == program.fitted_to) return;
  program.fitted_to = backend_program;
  for (const char* attribute : kAttributes) {
    const GLint location = glGetAttribLocation(backend_program, attribute);
    assert(location >= 0);
    glBindAttribLocation(program.id, static_cast<unsigned>(location), attribute);
  }
  glLinkProgram(program.id);
  const auto uniform = [&](const char* name) { return glGetUniformLocation(program.id, name); };
  program.projection = uniform("projection");
  program.first = uniform("first");
  program.cells = uniform("cells");
  program.row = uniform("row");
  program.gain = uniform("gain");
  program.zero = uniform("zero");
  program.decades = uniform("decades");
  program.least = uniform("least");
  program.blocked_tint = uniform("blocked_tint");
  program.blocked_line = uniform("blocked_line");
  program.blocked_ground = uniform("blocked_ground");
  program.period = uniform("period");
  program.opacity = uniform("opacity");
  glUseProgram(program.id);
  glUniform1i(uniform("weights"), 0);
  glUniform1i(uniform("colours"), 1);
}

class GlMapPainter final : public MapPainter {
 public:
  GlMapPainter(const Programs& programs, unsigned colours) : programs_(programs), colours_(colours) {}
  GlMapPainter(const GlMapPainter&) = delete;
  ~GlMapPainter() override {
    glDeleteTextures(1, &colours_);
    for (const auto& [picture, texture] : pictures_) glDeleteTextures(1, &texture);
    delete_programs(programs_);
  }

  void draw(ImDrawList& list, const Matrix& weights, std::uint64_t version, ImVec2 min, ImVec2 max,
            const ColourScale& scale, float opacity) override;
  void draw_picture(ImDrawList& list, const std::shared_ptr<const PatchedPicture>& picture, ImVec2 min,
                    ImVec2 max) override;
  int uploads() const { return pages_.uploads(); }

 private:
  // The data of a draw command, which is rendered after draw() has returned.
  struct Drawing {
    GlMapPainter* painter;
    MapSlot slot;
    ColourScale scale;
    float pixels_a_cell;  // along the shorter side
    float opacity;
  };
  static void on_render(const ImDrawList*, const ImDrawCmd* command) {
    const auto& drawing = *static_cast<const Drawing*>(command->UserCallbackData);
    drawing.painter->use(drawing);
  }
  void use(const Drawing& drawing);

  Programs programs_;
  unsigned colours_;
  MapPages pages_;
  std::map<std::weak_ptr<const PatchedPicture>, unsigned, std::owner_less<>> pictures_;  // as textures
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
  // Where there are more cells than pixels the graphics card has what the pixels show. That depends on where in its
  // pixel a map begins, not on the pixel.
  const ImVec2 pixels = ImGui::GetIO().DisplayFramebufferScale;
  MapKey key{.version = version};
  const auto crowd = [](float& from, float& to, float scaled, Index cells, PixelSpan& of_key) {
    const PixelSpan on{from * scaled, to * scaled};
    if (!is_crowded(on, cells)) return;
    of_key = {on.begin - std::floor(on.begin), on.end - std::floor(on.begin)};
    const PixelRange range = pixels_of(on);
    from = static_cast<float>(range.first) / scaled;
    to = static_cast<float>(range.first + range.count) / scaled;
  };
  const float pixels_a_cell = std::min((max.x - min.x) * pixels.x / static_cast<float>(weights.cols()),
                                       (max.y - min.y) * pixels.y / static_cast<float>(weights.rows()));
  crowd(min.x, max.x, pixels.x, weights.cols(), key.columns);
  crowd(min.y, max.y, pixels.y, weights.rows(), key.rows);
  if (min.x >= max.x || min.y >= max.y) return;
  const bool is_pooled = key != MapKey{.version = version};
  key.diverging = is_pooled && scale.diverging;
  auto slot = pages_.find(key, frame_);
  if (!slot)
    slot = is_pooled ? pages_.add(pooled_map(weights, key.rows, key.columns, key.diverging), key, frame_)
                     : pages_.add(weights, key, frame_);
  drawings_.push_back({this, *slot, scale, pixels_a_cell, opacity});
  list.AddCallback(on_render, &drawings_.back());
  list.AddImage(texture_id(slot->texture), min, max);
  list.AddCallback(ImDrawCallback_ResetRenderState, nullptr);
}

void GlMapPainter::draw_picture(ImDrawList& list, const std::shared_ptr<const PatchedPicture>& picture, ImVec2 min,
                                ImVec2 max) {
  std::erase_if(pictures_, [](const auto& held) {
    const bool gone = held.first.expired();
    if (gone) glDeleteTextures(1, &held.second);
    return gone;
  });
  auto at = pictures_.find(picture);
  if (at == pictures_.end()) {
    at = pictures_.emplace(picture, nearest_texture()).first;
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);  // where it has more pixels than the screen
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, static_cast<GLsizei>(picture->seen.width),
                 static_cast<GLsizei>(picture->seen.height), 0, GL_RGB, GL_UNSIGNED_BYTE, picture->seen.pixels.data());
    glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  }
  list.AddImage(texture_id(at->second), min, max);
}

void GlMapPainter::use(const Drawing& drawing) {
  const ColourScale& scale = drawing.scale;
  const bool logarithmic = scale.scale == Scale::log && !scale.diverging;
  const bool hatched = drawing.slot.negative && drawing.pixels_a_cell >= 3;
  Program& program = programs_[static_cast<std::size_t>((logarithmic ? kLogarithmic : 0) + (hatched ? kHatched : 0))];
  GLint backend_program = 0;
  glGetIntegerv(GL_CURRENT_PROGRAM, &backend_program);
  const auto backend = static_cast<unsigned>(backend_program);
  float projection[16];
  glGetUniformfv(backend, glGetUniformLocation(backend, "ProjMtx"), projection);
  fit(program, backend);

  const BlockedColours blocked = blocked_colours(scale.theme);
  const auto set_colour = [](int location, Rgb c) {
    glUniform3f(location, static_cast<float>(c.r) / 255, static_cast<float>(c.g) / 255, static_cast<float>(c.b) / 255);
  };
  glUseProgram(program.id);
  glUniformMatrix4fv(program.projection, 1, GL_FALSE, projection);
  glUniform2i(program.first, drawing.slot.x, drawing.slot.y);
  glUniform2i(program.cells, drawing.slot.columns, drawing.slot.rows);
  glUniform1i(program.row, row_of(scale));
  const float gain = (scale.diverging ? 0.5f : 1.0f) / (scale.top - scale.bottom);
  glUniform1f(program.gain, gain);
  glUniform1f(program.zero, scale.diverging ? 0.5f : -scale.bottom * gain);
  glUniform1f(program.decades, ColourScale::kDecades);
  glUniform1f(program.least, scale.diverging ? -3e38f : 0.0f);
  set_colour(program.blocked_tint, blocked.tint);
  set_colour(program.blocked_line, blocked.line);
  set_colour(program.blocked_ground, background_of(scale.theme));
  // A half beside whole pixels: a cell's side is not the same to the last bit in every map, the period must be.
  glUniform1f(program.period, std::clamp(std::floor((drawing.pixels_a_cell + 0.5f) / 3), 5.0f, 12.0f));
  glUniform1f(program.opacity, std::floor(drawing.opacity * 255 + 0.5f) / 255);
  if (drawing.opacity >= 1) glDisable(GL_BLEND);
  glActiveTexture(GL_TEXTURE1);
  glBindSampler(1, 0);
  glBindTexture(GL_TEXTURE_2D, colours_);
  glActiveTexture(GL_TEXTURE0);
}

}  // namespace

MapPages::~MapPages() {
  for (const auto& [key, held] : held_)
    if (held.side == 0) glDeleteTextures(1, &held.at.texture);
  if (!pages_.empty()) glDeleteTextures(static_cast<GLsizei>(pages_.size()), pages_.data());
}

std::optional<MapSlot> MapPages::find(const MapKey& key, int frame) {
  const auto found = held_.find(key);
  if (found == held_.end()) return std::nullopt;
  found->second.frame = frame;
  return found->second.at;
}

MapSlot MapPages::add(const Matrix& weights, const MapKey& key, int frame) {
  const int rows = static_cast<int>(weights.rows()), columns = static_cast<int>(weights.cols());
  const int longer = std::max(rows, columns);
  Held held;
  held.frame = frame;
  held.texels = static_cast<std::size_t>(weights.size());
  if (longer <= kLargestSlot) {
    held.side = std::max(kSmallestSlot, static_cast<int>(std::bit_ceil(static_cast<unsigned>(longer))));
    held.at = take_slot(held.side, frame);
  } else {
    held.at = own_texture(weights, frame);
  }
  held.at.rows = rows, held.at.columns = columns;
  held.at.negative = (weights.array() < 0).any();
  glBindTexture(GL_TEXTURE_2D, held.at.texture);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  glTexSubImage2D(GL_TEXTURE_2D, 0, held.at.x, held.at.y, columns, rows, GL_RED, GL_FLOAT, weights.data());
  ++uploads_;
  held_.emplace(key, held);
  return held.at;
}

MapSlot MapPages::take_slot(int side, int frame) {
  auto& slots = free_[side];
  if (slots.empty()) {
    if (const auto old = oldest(false, side, frame); old != held_.end()) {
      const MapSlot slot = old->second.at;
      held_.erase(old);
      return slot;
    }
    const int across = std::min(kSlotsASide, kPageSide / side);
    const unsigned page = float_texture(across * side, across * side);
    pages_.push_back(page);
    for (int i = across * across - 1; i >= 0; --i) slots.push_back({page, i % across * side, i / across * side});
  }
  const MapSlot slot = slots.back();
  slots.pop_back();
  return slot;
}

MapSlot MapPages::own_texture(const Matrix& weights, int frame) {
  GLint largest = 0;
  glGetIntegerv(GL_MAX_TEXTURE_SIZE, &largest);
  assert(weights.rows() <= largest && weights.cols() <= largest);
  const auto texels = static_cast<std::size_t>(weights.size());
  while (own_texels_ + texels > kOwnTexels) {
    const auto old = oldest(true, 0, frame);
    if (old == held_.end()) break;
    glDeleteTextures(1, &old->second.at.texture);
    own_texels_ -= old->second.texels;
    held_.erase(old);
  }
  own_texels_ += texels;
  return {float_texture(static_cast<int>(weights.cols()), static_cast<int>(weights.rows())), 0, 0};
}

std::map<MapKey, MapPages::Held>::iterator MapPages::oldest(bool own, int side, int frame) {
  auto best = held_.end();
  for (auto it = held_.begin(); it != held_.end(); ++it) {
    const Held& held = it->second;
    if ((held.side == 0) != own || held.side != side || held.frame >= frame - 1) continue;
    if (best == held_.end() || held.frame < best->second.frame) best = it;
  }
  return best;
}

int uploads(const MapPainter& painter) { return static_cast<const GlMapPainter&>(painter).uploads(); }

Result<std::unique_ptr<MapPainter>> make_map_painter(const std::filesystem::path& shaders) {
  Programs programs{};
  for (int kind = 0; kind < static_cast<int>(programs.size()); ++kind) {
    const std::string defines =
        std::string(kind & kLogarithmic ? "#define LOGARITHMIC\n" : "") + (kind & kHatched ? "#define HATCHED\n" : "");
    auto program = link(shaders, defines);
    if (!program) {
      delete_programs(programs);
      return program.error();
    }
    programs[static_cast<std::size_t>(kind)].id = *program;
  }

  std::array<Rgb, 256 * kColourRows> rows;
  const auto fill = [&](const ColourScale& scale, const std::array<Rgb, 256>& map) {
    std::copy(map.begin(), map.end(), rows.begin() + 256 * row_of(scale));
  };
  for (const Theme theme : {Theme::light, Theme::dark}) {
    fill({.theme = theme, .diverging = true}, diverging_map(theme));
    for (int map = 0; map < kAllColourMaps; ++map) {
      const auto colours = static_cast<ColourMap>(map);
      fill({.theme = theme, .colours = colours}, colour_map(theme, colours));
    }
  }
  const unsigned colours = nearest_texture();
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, 256, kColourRows, 0, GL_RGB, GL_UNSIGNED_BYTE, rows.data());
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  return std::unique_ptr<MapPainter>(new GlMapPainter(programs, colours));
}

}  // namespace headlight
