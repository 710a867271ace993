#include "page/cli/page_tool.h"

#include "cli/frame/commands.h"
#include "cli/frame/tool_commands.h"
#include "page/page.h"
#include "page/page_template.h"
#include "question/tokenizers.h"
#include "read/external/page_text.h"
#include "session/tool_state.h"
#if HEADLIGHT_GUI
#include "page/view/page_window.h"
#endif

namespace headlight {

extern const NamedCommand kPage, kSite;

namespace {

Result<std::optional<std::vector<Finding>>> check_if_page(const std::filesystem::path& file) {
  if (!names_page(file)) return std::optional<std::vector<Finding>>();
  const auto lexicon = TRY(read_lexicon());
  return std::optional(TRY(check_page(file, lexicon, unwatched())));
}

constexpr const NamedCommand* kOfPage[] = {&kPage, &kSite};
constexpr ToolCommands kPageCommands{.commands = kOfPage, .check_file = check_if_page};
constexpr ToolState kPageState{.draws = with_pages, .previews = with_page_sizes};
#if HEADLIGHT_GUI
constexpr const ToolWindow* kWindow = &kPageWindow;
#else
constexpr const ToolWindow* kWindow = nullptr;
#endif

}  // namespace

const Tool kPageTool{
    .name = "page", .words = page_texts, .state = &kPageState, .commands = &kPageCommands, .window = kWindow};

}  // namespace headlight
