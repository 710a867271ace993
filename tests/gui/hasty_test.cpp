// What thousands of hasty clicks, keys and edits do to the window: nothing impossible.
#include <iterator>
#include <random>

#include "gui/harness.h"

namespace headlight {
namespace {

// A fixed seed: the same input every time.
class HastyHands {
 public:
  explicit HastyHands(Harness& harness, const std::filesystem::path& folder) : h_(harness), folder_(folder) {
    h_.after_frame = [this] { keep_off_the_disk(); };
  }

  void act() {
    switch (pick(12)) {
      case 0:
      case 1: click_somewhere(); break;
      case 2:
      case 3: click_something(); break;
      case 4:
      case 5: press_a_key(); break;
      case 6: drag_somewhere(); break;
      case 7: type_something(); break;
      case 8: h_.wheel(static_cast<float>(pick(5)) - 2); break;
      case 9: say_something(); break;
      case 10: h_.move_to(somewhere()); break;
      case 11: pick(4) == 0 ? h_.settle() : h_.frame(); break;
    }
    if (h_.state.quit || h_.state.document.source.text.size() > 300 || h_.state.document.config.d_model > 96 ||
        h_.state.document.config.num_layers > 4 || h_.state.settings.ui_scale > 1.5f) {
      h_.state.quit = false;
      Settings settings = h_.state.settings;
      settings.ui_scale = 1;
      h_.push(Reset{}, EndGesture{}, SetSettings{settings});
    }
  }

 private:
  std::size_t pick(std::size_t count) { return random_() % count; }
  ImVec2 somewhere() { return {static_cast<float>(pick(1280)), static_cast<float>(pick(800))}; }

  /// Nothing outside the folder is listed, read or written.
  void keep_off_the_disk() {
    std::erase_if(h_.commands, [&](const Command& command) {
      const auto outside = [&](const std::string& path) {
        return !path.empty() && !path.starts_with(folder_.string());
      };
      if (const auto* browse = command.as<Browse>()) return outside(browse->folder);
      if (const auto* open = command.as<OpenPath>()) return outside(open->path);
      if (const auto* save = command.as<SaveSession>()) return outside(save->path);
      if (const auto* target = command.as<ExportTo>()) return outside(target->path);
      return false;
    });
  }

  void quick_click_at(ImVec2 at, int button) {
    inject_mouse_position(at);
    h_.frame();
    h_.press(button);
    inject_mouse_button(button, false);
    h_.frame();
  }
  void click_somewhere() { quick_click_at(somewhere(), pick(5) == 0 ? 1 : 0); }
  void click_something() {
    auto chosen = h_.probe.begin();
    std::advance(chosen, static_cast<std::ptrdiff_t>(pick(h_.probe.size())));
    const Box box = chosen->second;
    quick_click_at({box.x + box.w * static_cast<float>(pick(9) + 1) / 10, box.y + box.h / 2}, pick(5) == 0 ? 1 : 0);
  }
  void press_a_key() {
    constexpr Key kKeys[] = {
        Key{'M'},   Key{'P'},    Key{'X'},    Key{'D'},    Key{'H'},       Key{'L'},          Key{'S'},
        Key{'O'},   Key{'W'},    Key{'G'},    Key{'N'},    Key{'T'},       Key{'Z'},          Key{'Y'},
        Key{'E'},   Key{'A'},    Key{'C'},    Key{'V'},    Key::equal,     Key::minus,        Key::home,
        Key::enter, Key::escape, Key::escape, Key::escape, Key::backspace, Key::left_bracket, Key::right_bracket,
        Key::left,  Key::right,  Key::up,     Key::down,   Key::f1,        Key::slash,        Key::del,
        Key::tab,   Key{'K'},    Key{'R'},    Key{'F'},    Key{'B'},       Key{'J'},          Key{'I'},
        Key::comma, Key::period, Key{'0'},    Key{'1'},    Key{'2'},       Key{'3'},          Key{'9'},
        Key{'U'},   Key{'Q'},    Key::space};
    constexpr Key kModifiers[] = {Key::left_shift, Key::left_ctrl, Key::left_alt, Key::left_alt};
    const Key key = kKeys[pick(std::size(kKeys))], modifier = kModifiers[pick(4)];
    const bool modified = pick(2) == 0;
    if (modified) inject_key(modifier, true);
    inject_key(key, true);
    h_.frame();
    inject_key(key, false);
    if (modified) inject_key(modifier, false);
    h_.frame();
  }
  void drag_somewhere() {
    inject_mouse_position(somewhere());
    h_.frame();
    const int button = pick(4) == 0 ? 1 : 0;
    h_.press(button);
    for (std::size_t i = pick(4) + 1; i > 0; --i) {
      inject_mouse_position(somewhere());
      h_.frame();
    }
    inject_mouse_button(button, false);
    h_.frame();
  }
  void type_something() {
    const std::u32string_view kCharacters = U"我请李雷 ab.\u200D😀𠮷é\u0301ꀀ\U000F0000";
    if (pick(2) == 0 && h_.has("text")) quick_click_at({h_.box("text").x + 20, h_.box("text").y + 8}, 0);
    for (std::size_t i = pick(4) + 1; i > 0; --i) h_.fonts.input(kCharacters[pick(kCharacters.size())]);
    h_.frame(2);
  }
  void say_something() {
    const auto index = [&](std::size_t below) { return static_cast<Index>(pick(below)); };
    const auto cell = [&] { return CellRef{index(30), index(30)}; };
    const auto stack = [&] { return kStacks[pick(3)]; };
    const auto head = [&] { return HeadRef{index(6), index(20), stack()}; };
    const char* kTexts[] = {"",
                            " ",
                            "\n",
                            "我",
                            "我爱\n你\n\n他",
                            "ab cd\r\nef",
                            "The animal didn't",
                            "👨‍👩‍👧𠮷",
                            "\u3000\u200b"};
    switch (pick(23)) {
      case 0: h_.push(SetText{kTexts[pick(std::size(kTexts))]}); break;
      case 1: h_.push(ToggleCut{pick(40), pick(2) == 0 ? TextSide::source : TextSide::target}); break;
      case 2: h_.push(SetPad{pick(20)}); break;
      case 3: h_.push(PaintCell{cell(), pick(2) == 0}); break;
      case 4: h_.push(Pin{cell()}); break;
      case 5: h_.push(ChooseHead{head()}); break;
      case 6: h_.push(ChooseSentence{pick(4)}); break;
      case 7: h_.push(GiveMask{pick(2) == 0 ? nullptr : std::make_shared<const Matrix>(Matrix::Zero(10, 10))}); break;
      case 8: h_.push(SetViewport{{index(8), 4, index(8), 4}}); break;
      case 9: h_.push(SetScale{pick(2) == 0 ? std::nullopt : std::optional(3e38f)}); break;
      case 10: h_.push(OpenPath{HEADLIGHT_TEST_DATA "/golden/tensors-cross-4x6/input.safetensors"}); break;
      case 11: h_.push(SetTarget{kTexts[pick(std::size(kTexts))]}); break;
      case 12: h_.push(SwitchHead{head(), pick(2) == 0}); break;
      case 13: h_.push(SetWeight{head(), cell(), static_cast<float>(pick(5)) / 4}); break;
      case 14: h_.push(SetLayerScale{stack(), index(6), 0.5f}); break;
      case 15: h_.push(SetMask{pick(2) == 0, true, stack(), index(6)}); break;
      case 16: h_.push(Generate{index(6), {}}); break;
      case 17: h_.push(ChoosePrefix{pick(12)}); break;
      case 18: h_.push(ShowView{View::inside}, ShowTab{static_cast<InsideTab>(pick(4))}); break;
      case 19: {
        const auto quantity = static_cast<Quantity>(pick(static_cast<std::size_t>(Quantity::probabilities) + 1));
        h_.push(LookAt{{matrix_id(quantity, head()), MatrixCell{index(30), index(300)}}});
        break;
      }
      case 20: h_.push(LookBack{}); break;
      case 21: h_.push(SetDropout{0.25f * static_cast<float>(pick(3)), pick(3)}); break;
      case 22: {
        Config config = h_.state.document.config;
        config.arch = static_cast<Arch>(pick(3));
        h_.push(SetConfig{config});
        break;
      }
    }
  }

  Harness& h_;
  std::filesystem::path folder_;
  std::mt19937 random_{20170612};
};

TEST(HastyHandsTest, NothingTheyDoLeavesAnImpossibleState) {
  TemporaryFolder folder;
  Settings settings;
  settings.folder = folder.path().string();
  Document document;
  document.config.d_model = 16;
  Harness harness(document, {1280, 800}, settings);
  harness.settle();
  HastyHands hands(harness, folder.path());
  for (int i = 0; i < 2000; ++i) {
    hands.act();
    ASSERT_TRUE(is_consistent(harness.state)) << "after act " << i;
  }
  harness.settle();
  EXPECT_TRUE(is_consistent(harness.state));
  harness.push(SetSettings{settings}, Browse{}, ShowHelp{false}, Reset{}, EndGesture{}, SetViewport{}, ShowView{},
               ChoosePrefix{});
  harness.settle();
  EXPECT_FALSE(is_stale(harness.state));
  EXPECT_EQ(harness.tokens(), "The| animal| didn't| cross| the| street| because| it| was| tired")
      << "and the window works as before";
}

}  // namespace
}  // namespace headlight
