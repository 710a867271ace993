#include "bench/presses.h"

#include <functional>
#include <utility>

#include "bench/inputs.h"
#include "bench/measure.h"
#include "gui/imgui_input.h"

namespace headlight {
namespace {

constexpr int kLongestAnswer = 60;  // seconds
constexpr Index kPressedTokens = 128;

Error wrong_length(const DrawnWindow& window) {
  return bad_input("bench draw", "", std::to_string(kPressedTokens) + " tokens",
                   std::to_string(window.state.trace->queries()));
}

/// Seconds until what is done in the next frame is answered in a slot and on the screen, by turns as the window takes
/// them.
Result<double> until_answered(
    DrawnWindow& window, Commands commands = {},
    std::uint64_t (*version_of)(const AppState&) = [](const AppState& state) { return state.trace.version(); }) {
  const auto version = version_of(window.state);
  const double begin = seconds_now(), give_up = begin + kLongestAnswer;
  step_and_wait(window.state, window.loop, commands, begin);
  for (int frames = kFramesAfterEvent; seconds_now() < give_up; --frames) {
    window.loop.step(window.state, commands, seconds_now());
    show_frame(window.screen, window.state, window.loop, commands, seconds_now());
    if (version_of(window.state) != version && !is_stale(window.state)) return seconds_now() - begin;
    window.bell.wait(sleep_before_frame(window.loop, frames, seconds_now()));
  }
  return bad_input("bench draw", "", "an answer within " + std::to_string(kLongestAnswer) + " s", "none");
}

/// The median of all presses, and the lowest and highest.
Result<BenchRow> keys(const std::string& name, int presses, const std::function<Result<double>(int)>& press) {
  std::vector<double> seconds;
  for (int i = 0; i < presses; ++i) {
    const auto taken = press(i);
    if (!taken) return taken.error();
    if (i > 0) seconds.push_back(*taken);
  }
  return BenchRow{.name = name, .time = timing_of(std::move(seconds))};
}

/// Alt M, which shows and hides what is to come.
Result<BenchRow> key_on_shipped(const std::string& name, Stage& stage, std::unique_ptr<MapPainter> painter,
                                int presses) {
  DrawnWindow window(stage, std::move(painter), default_document(stage.resources.shipped.get()));
  for (int i = 0; i < kFramesAfterEvent; ++i) window.frame();
  return keys(name, presses, [&](int) {
    inject_key(Key::left_alt, true);
    inject_key(Key{'M'}, true);
    const auto taken = until_answered(window);
    inject_key(Key{'M'}, false);
    inject_key(Key::left_alt, false);
    window.loop.settle(window.state);
    for (int i = 0; i < kFramesAfterEvent; ++i) window.frame();
    return taken;
  });
}

Document ids_of_gpt2(Index tokens) {
  Document document;
  document.model = random_gpt2_small();
  document.mask.causal = true;
  for (Index i = 0; i < tokens; ++i) document.source.ids.push_back(i);
  return document;
}

/// One more word at the end of a text, of which all that came before is known.
Result<BenchRow> word_on_gpt2(const std::string& name, Stage& stage, std::unique_ptr<MapPainter> painter, int presses) {
  const Document document = ids_of_gpt2(kPressedTokens - 1);
  DrawnWindow window(stage, std::move(painter), document);
  return keys(name, presses, [&](int press) -> Result<double> {
    Commands shorter{SetIds{document.source.ids}};
    window.loop.step(window.state, shorter, seconds_now());
    window.loop.settle(window.state);
    for (int i = 0; i < kFramesAfterEvent; ++i) window.frame();
    Commands longer{AppendWord{Candidate{.id = 1000 + press, .text = {}, .probability = 0, .row = 0}}};
    const auto taken = until_answered(window, std::move(longer));
    if (window.state.trace && window.state.trace->queries() != kPressedTokens) return wrong_length(window);
    return taken;
  });
}

/// Another cell while *Why?* is open: its score split over what wrote query and key.
Result<BenchRow> cell_in_why(const std::string& name, Stage& stage, std::unique_ptr<MapPainter> painter, int presses,
                             Document document) {
  DrawnWindow window(stage, std::move(painter), std::move(document));
  if (window.state.trace->queries() != kPressedTokens) return wrong_length(window);
  update(window.state, ShowView{View::inside});
  update(window.state, ShowTab{InsideTab::why});
  window.loop.settle(window.state);
  return keys(name, presses, [&](int press) {
    for (int i = 0; i < kFramesAfterEvent; ++i) window.frame();
    const Index query = kPressedTokens - 1 - press % (kPressedTokens / 2);
    return until_answered(window, {Pin{CellRef{query, query / 2}}},
                          [](const AppState& state) { return state.writers.version(); });
  });
}

Result<BenchRow> why_on_shipped(const std::string& name, Stage& stage, std::unique_ptr<MapPainter> painter,
                                int presses) {
  Document document = default_document(stage.resources.shipped.get());
  for (Index i = 0; i < kPressedTokens; ++i) document.source.ids.push_back(10 + i % 40);
  return cell_in_why(name, stage, std::move(painter), presses, std::move(document));
}

Result<BenchRow> why_on_gpt2(const std::string& name, Stage& stage, std::unique_ptr<MapPainter> painter, int presses) {
  return cell_in_why(name, stage, std::move(painter), presses, ids_of_gpt2(kPressedTokens));
}

}  // namespace

std::vector<PressedRow> pressed_rows() {
  return {{"draw/key/shipped/T=10", 10, key_on_shipped},
          {"draw/key/gpt2-small/T=128", kPressedTokens, word_on_gpt2},
          {"draw/why/shipped/T=128", kPressedTokens, why_on_shipped},
          {"draw/why/gpt2-small/T=128", kPressedTokens, why_on_gpt2}};
}

}  // namespace headlight
