#include "page/view/page_window.h"

#include "page/page_action_words.h"

namespace headlight {
namespace {

void name_page(Gui& gui) {
  gui.push(Browse{Browser::Purpose::figure, {}});
  gui.push(NameFile{"page.html"});
}

constexpr ToolAction kPageActions[] = {
    {"make_page",
     Act::copy_command,
     {Act::count, ActionGroup::files, kPageActionWords.make_page, {}, nullptr, name_page}}};

}  // namespace

const ToolWindow kPageWindow{.actions = kPageActions};

}  // namespace headlight
