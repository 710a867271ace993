#include "gui/harness.h"

#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "assets/assets.h"
#include "base/file.h"
#include "base/utf8.h"
#include "derived/answer_comparison.h"
#include "math/attention.h"
#include "paper/figure_file.h"
#include "question/tokenizers.h"
#include "session/loop/startup.h"
#include "text/words.h"

namespace headlight {
namespace {

std::size_t hash_of(const Matrix& matrix) {
  const std::string_view bytes(reinterpret_cast<const char*>(matrix.data()),
                               static_cast<std::size_t>(matrix.size()) * sizeof(float));
  return std::hash<std::string_view>{}(bytes) ^ static_cast<std::size_t>(matrix.cols()) << 32;
}

Harness& current(void* user) { return *static_cast<Harness*>(user); }

void set_clipboard_functions(Harness* harness, const char* (*get)(void*), void (*set)(void*, const char*)) {
  ImGuiIO& io = ImGui::GetIO();
  io.ClipboardUserData = harness;
  io.GetClipboardTextFn = get;
  io.SetClipboardTextFn = set;
}

}  // namespace

void RecordingPainter::draw(ImDrawList&, const Matrix& weights, std::uint64_t version, ImVec2 min, ImVec2 max,
                            const ColourScale& scale, float opacity) {
  EXPECT_GT(weights.size(), 0);
  const auto [known, fresh] = contents_.emplace(version, hash_of(weights));
  EXPECT_TRUE(fresh || known->second == hash_of(weights)) << "version " << version << " has another content";
  drawn.push_back({weights, version, {min.x, min.y, max.x - min.x, max.y - min.y}, scale, opacity});
}

namespace {

/// Fonts and their atlas for all windows of the process: to draw the glyphs anew for each takes longer than most tests.
struct SharedFonts {
  ImFontAtlas atlas;
  Fonts fonts;

  SharedFonts() {
    const auto opened = fonts.open();
    EXPECT_TRUE(opened) << opened.error().message();
    fonts.keep(window_characters());
  }
};

SharedFonts& shared_fonts() {
  static SharedFonts shared;
  return shared;
}

}  // namespace

Harness::Harness(Document document, ImVec2 size, Settings settings) : fonts(shared_fonts().fonts), size_(size) {
  auto lexicon = read_lexicon();
  const auto folder = asset_folder();
  EXPECT_TRUE(lexicon && folder);
  lexicon_ = std::move(*lexicon);
  const auto text = read_file(*folder / "assets" / "samples.json");
  EXPECT_TRUE(text);
  samples = *parse_samples("samples.json", *text);

  context_ = ImGui::CreateContext(&shared_fonts().atlas);
  ImGui::SetCurrentContext(context_);
  prepare_headless();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = io.LogFilename = nullptr;
  io.ConfigWindowsMoveFromTitleBarOnly = true;
  inject_mouse_position({kFarAway, kFarAway});
  set_clipboard_functions(
      this,
      [](void* user) { return (current(user).pasted_ = current(user).fonts.shown(current(user).clipboard)).c_str(); },
      [](void* user, const char* copied) {
        Harness& harness = current(user);
        (harness.logged_ ? *harness.logged_ : harness.clipboard) = harness.fonts.typed(copied);
      });
  state = initial_state(lexicon_, std::move(document), std::move(settings));
  state.view.text.form = StageForm::map;  // tests of the sentence (sentence_stage_test.cpp) let the window choose
  loop = std::make_unique<Loop>(std::function<void()>([] {}), std::string{},
                                LoopOptions{.draw_figure = figure_drawer(), .preview_figure = figure_previewer()});
}

Harness::~Harness() {
  loop.reset();  // its workers read the lexicon
  ImGui::DestroyContext(context_);
}

void Harness::frame(int count) {
  for (; count > 0; --count) {
    now_ += static_cast<double>(seconds_);
    loop->step(state, commands, now_);
    draw();
    if (after_frame) after_frame();
  }
}

void Harness::draw() {
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = size_;
  io.DeltaTime = seconds_;
  const float unit = state.settings.ui_scale;
  apply_style(state.settings.theme, unit);
  fonts.use_latin_signs(state.settings.language == Language::en);
  fonts.prepare(unit);
  io.FontDefault = fonts.font(TextSize::body);  // also where another window had the atlas built
  ImGui::NewFrame();
  probe.clear();
  boxes.clear();
  maps.drawn.clear();
  if (logged_) ImGui::LogToClipboard();
  Gui gui{state,
          commands,
          fonts,
          maps,
          samples,
          {loop->computing(), loop->writing(), loop->computing_progress(), loop->writing_progress(), loop->sweeping(),
           loop->sweep_progress(), loop->reading(), loop->reading_progress()},
          unit,
          &probe,
          &boxes,
          moves ? &motion : nullptr,
          &texts};
  begin_motion(gui);
  draw_window(gui);
  if (logged_) ImGui::LogFinish();
  ImGui::Render();
}

void Harness::settle() {
  for (int round = 0; round < 3; ++round) {
    frame();
    loop->settle(state);
  }
  frame();
}

Box Harness::box(const std::string& name) const {
  const auto found = probe.find(name);
  if (found != probe.end()) return found->second;
  ADD_FAILURE() << "no control named " << name << " on the screen";
  return {};
}

ImVec2 Harness::cell_point(const std::string& map, CellRef cell) const {
  const Box plot = box(map);
  const Stack stack = state.view.chosen.stack;
  Region region{.num_queries = state.trace->queries(stack), .num_keys = state.trace->keys(stack)};
  if (map == "stage map") region = shown_region(state);
  const float row = static_cast<float>(cell.query - region.first_query);
  const float column = static_cast<float>(cell.key - region.first_key);
  return {plot.x + (column + 0.5f) * plot.w / static_cast<float>(region.num_keys),
          plot.y + (row + 0.5f) * plot.h / static_cast<float>(region.num_queries)};
}

DrawnMap Harness::map(const std::string& name) const {
  const Box place = box(name);
  for (const DrawnMap& drawn : maps.drawn)
    if (std::abs(drawn.box.x - place.x) < 0.5f && std::abs(drawn.box.y - place.y) < 0.5f) return drawn;
  ADD_FAILURE() << "no map was drawn at " << name;
  return {};
}

// Read back from the triangles: a quad whose corners are those of a glyph in the atlas is that character.
std::string Harness::words_on_screen() {
  frame();
  std::map<std::array<float, 4>, char32_t> characters;
  for (const TextSize size : {TextSize::small, TextSize::body, TextSize::title, TextSize::large})
    for (const ImFontGlyph& glyph : fonts.font(size)->Glyphs)
      if (glyph.Visible) characters[{glyph.U0, glyph.V0, glyph.U1, glyph.V1}] = glyph.Codepoint;
  std::string words;
  const ImDrawData& data = *ImGui::GetDrawData();
  for (int i = 0; i < data.CmdListsCount; ++i) {
    const auto& vertices = data.CmdLists[i]->VtxBuffer;
    for (int v = 0; v + 3 < vertices.Size;) {
      const ImVec2 first = vertices[v].uv, last = vertices[v + 2].uv;
      const auto found = characters.find({first.x, first.y, last.x, last.y});
      if (found != characters.end()) append_utf8(words, found->second);
      v += found != characters.end() ? 4 : 1;
    }
  }
  return fonts.typed(words);
}

bool Harness::says(const std::string& part) {
  std::string wanted = part;
  for (const char* space : {" ", "\u3000"})
    for (std::size_t at; (at = wanted.find(space)) != std::string::npos;) wanted.erase(at, std::strlen(space));
  return words_on_screen().find(wanted) != std::string::npos;
}

bool Harness::drew(ImU32 colour, const Box& place) const {
  const ImDrawData& data = *ImGui::GetDrawData();
  for (int i = 0; i < data.CmdListsCount; ++i)
    for (const ImDrawVert& vertex : data.CmdLists[i]->VtxBuffer)
      if (vertex.col == colour && place.contains(vertex.pos.x, vertex.pos.y)) return true;
  return false;
}

Box Harness::outline_of(const std::string& map, CellRef cell) const {
  const ImVec2 middle = cell_point(map, cell);
  const Box plot = box(map);
  const Region region = shown_region(state);
  const bool large = map == "stage map";
  const Stack stack = state.view.chosen.stack;
  const float w = plot.w / static_cast<float>(large ? region.num_keys : state.trace->keys(stack)) + 2;
  const float h = plot.h / static_cast<float>(large ? region.num_queries : state.trace->queries(stack)) + 2;
  return {middle.x - w / 2, middle.y - h / 2, w, h};
}

std::string Harness::tokens(TextSide side) const {
  std::string line;
  const Tokens* shown = shown_tokens(state, side);
  if (!shown) return line;
  for (const Token& token : shown->tokens) line += (line.empty() ? "" : "|") + (token.special ? "[PAD]" : token.raw);
  return line;
}

void GuiTest::start(Document document, ImVec2 size, Settings settings) {
  harness.reset();
  harness = std::make_unique<Harness>(std::move(document), size, std::move(settings));
  harness->settle();
}

Matrix weights_of(const Trace& trace, HeadRef head) {
  return attention_rows(trace, head, 0, trace.queries(head.stack));
}

testing::AssertionResult is_consistent(const AppState& state) {
  const Config& config = state.document.config;
  if (const auto possible = check(config); !possible) return testing::AssertionFailure() << possible.error().message();
  for (const TextSide side : {TextSide::source, TextSide::target}) {
    const TextInput& text = text_input(state.document, side);
    if (text.hand_cuts && !are_cuts(text.text, *text.hand_cuts))
      return testing::AssertionFailure() << "cuts that are none";
  }
  if (!state.requests.empty() && state.view.sentence >= state.requests.size())
    return testing::AssertionFailure() << "sentence " << state.view.sentence << " of " << state.requests.size();
  if (!state.trace) return testing::AssertionSuccess();
  const Trace& trace = *state.trace;
  const HeadRef head = state.view.chosen;
  if (!trace.has(head.stack)) return testing::AssertionFailure() << "a stack that is not there";
  const auto inside = [&](const std::optional<CellRef>& cell, Stack stack) {
    return !cell ||
           (cell->query >= 0 && cell->query < trace.queries(stack) && cell->key >= 0 && cell->key < trace.keys(stack));
  };
  const Stack hovered = state.view.hovered_head.value_or(head).stack;
  if (!inside(state.view.hovered, hovered) || !inside(state.view.pinned, head.stack))
    return testing::AssertionFailure() << "a cell outside";
  if (head.layer < 0 || head.layer >= trace.num_layers(head.stack) || head.head < 0 ||
      head.head >= trace.num_heads(head.stack))
    return testing::AssertionFailure() << "head " << head.layer << "." << head.head << " is not there";
  const Viewport& part = state.view.viewport;
  if (part.first_query < 0 || part.first_key < 0 || part.first_query + part.num_queries > trace.queries(head.stack) ||
      part.first_key + part.num_keys > trace.keys(head.stack))
    return testing::AssertionFailure() << "a view outside the pattern";
  const JointStack* joint = state.comparison ? state.comparison->heads->stack(head.stack) : nullptr;
  const Viewport& both = state.view.compared;
  if (joint && (both.first_query < 0 || both.first_key < 0 ||
                both.first_query + both.num_queries > static_cast<Index>(joint->queries.size()) ||
                both.first_key + both.num_keys > static_cast<Index>(joint->keys.size())))
    return testing::AssertionFailure() << "a view outside the joint axes";
  return testing::AssertionSuccess();
}

}  // namespace headlight
