"""What each recipe of docs/contributing.md changes in files that exist: (file, text that stands there once, what stands
there instead). The files that it adds are in the folder of its name beside this script."""

# A recipe, and its heading in the document.
HEADINGS = {'test': 'How to add a test', 'tool': 'How to add a tool', 'command': 'How to add a command',
            'view': 'How to add a view', 'analysis': 'How to add an analysis', 'family': 'How to add a family'}

CHANGES = {
    'test': [],
    'tool': [
        ('CMakeLists.txt', 'set(HEADLIGHT_TOOLS train diagnose page study mcp ',
         'set(HEADLIGHT_TOOLS train diagnose page study mcp followed '),
        ('CMakeLists.txt', 'if("mcp" IN_LIST HEADLIGHT_TOOLS)\n',
         'if("followed" IN_LIST HEADLIGHT_TOOLS)\n'
         '  headlight_room(tools/followed IN followed LINKS room_cli_frame)\n'
         '  list(APPEND TOOL_ROOMS room_followed)\n'
         'endif()\n'
         'if("mcp" IN_LIST HEADLIGHT_TOOLS)\n'),
        ('app/main.cpp', '#ifdef HEADLIGHT_HAS_MCP\n#include',
         '#ifdef HEADLIGHT_HAS_FOLLOWED\n#include "followed/followed_tool.h"\n#endif\n#ifdef HEADLIGHT_HAS_MCP\n#include'),
        ('app/main.cpp', '#ifdef HEADLIGHT_HAS_MCP\n      &kMcpTool',
         '#ifdef HEADLIGHT_HAS_FOLLOWED\n      &kFollowedTool,\n#endif\n#ifdef HEADLIGHT_HAS_MCP\n      &kMcpTool'),
        ('tests/tools.cpp', '#include "diagnose/cli/diagnose_tool.h"\n',
         '#include "diagnose/cli/diagnose_tool.h"\n#include "followed/followed_tool.h"\n'),
        ('tests/tools.cpp', '&kStudyTool, &kMcpTool', '&kStudyTool,\n                                          &kFollowedTool, &kMcpTool'),
        ('tests/CMakeLists.txt', 'diagnose/app study/app ${WINDOW_TESTS}', 'diagnose/app study/app followed ${WINDOW_TESTS}'),
        ('tests/smoke/sizes.sh', ' [tools/mcp]=', ' [tools/followed]=40\n  [tools/mcp]='),
        ('docs/command-line.md', '\nheadlight mcp ', '\nheadlight followed \nheadlight mcp '),
        ('docs/command-line.md', '\n| `mcp` |', '\n| `followed` | says that its tool is there |\n| `mcp` |'),
        ('README.md', '\n| [The library]', '\n| [A followed recipe](docs/followed.md) | a tool |\n| [The library]'),
        ('README.zh.md', '\n| [程序库]', '\n| [遵循的配方](docs/followed.md) | 一个工具 |\n| [程序库]'),
        ('tests/smoke/contract.sh', 'what PATH\n', 'what PATH\nfollowed followed\n'),
    ],
    'command': [
        ('app/cli/frame/commands.h', 'kCode, kSimilarity;', 'kCode, kSimilarity, kLargest;'),
        ('app/cli/cli.cpp', '&kCode,     &kSimilarity};', '&kCode,     &kSimilarity, &kLargest};'),
        ('app/cli/cli.cpp', '{"similarity"},\n', '{"similarity"},\n                             {"largest"},\n'),
        ('docs/command-line.md', '\nheadlight similarity', '\nheadlight largest     [SOURCE] [REQUEST] [--head LAYER.HEAD] [--format text|json]\nheadlight similarity'),
        ('docs/command-line.md', '\n| `similarity` |', '\n| `largest` | prints the largest weight of a head |\n| `similarity` |'),
        ('tests/smoke/contract.sh', 'what PATH\n', 'what PATH\nlargest --head --format text json\n'),
        ('tests/app/program.h', '"similarity", "bench", ', '"similarity", "largest",\n                                              "bench", '),
    ],
    'view': [
        ('app/view/view_names.h', '    {.name = "train", .view = View::train},\n',
         '    {.name = "followed", .view = View::followed, .figure = FigureKind::followed},\n'
         '    {.name = "train", .view = View::train},\n'),
        ('app/view/view_state.h', 'compare, code, study };', 'compare, code, study, followed };'),
        ('app/view/view_state.h', '  diagram,\n  matrix\n', '  diagram,\n  matrix,\n  followed\n'),
        ('app/figure/page.h', 'Drawing draw_flow(', 'Drawing draw_followed(const FigureSubject& subject, const FigureOptions& options, '
         'const TextWidth& measure);\nDrawing draw_flow('),
        ('app/views/figure.cpp', '    case FigureKind::patch:\n',
         '    case FigureKind::followed: return draw_followed(subject, options, measure);\n    case FigureKind::patch:\n'),
        ('CMakeLists.txt', 'foreach(VIEW heads sentence', 'foreach(VIEW followed heads sentence'),
        ('CMakeLists.txt', 'app/views/flow/panel app/views', 'app/views/flow/panel app/views/followed/panel app/views'),
        ('app/gui/shell/window_layout.cpp', '#include "views/flow/panel/flow.h"\n',
         '#include "views/flow/panel/flow.h"\n#include "views/followed/panel/followed_panel.h"\n'),
        ('app/gui/shell/window_layout.cpp', '    case View::flow: return',
         '    case View::followed: return region(gui, "followed", box, false, true, followed_panel);\n    case View::flow: return'),
        ('app/gui/shell/top_bar.cpp', '    {View::compare, kCompareWords.view',
         '    {View::followed, kWindowWords.view_followed, kWindowWords.tip_view_followed},\n    {View::compare, kCompareWords.view'),
        ('app/gui/shell/file_choices.cpp', '  kind("figure layers"',
         '  kind("figure followed", gui.word(kWindowWords.view_followed), FigureKind::followed);\n  kind("figure layers"'),
        ('app/gui/actions/actions.h', 'look_back, show_flow, \\', 'look_back, show_flow, show_followed, \\'),
        ('app/gui/actions/actions.cpp', '    {Act::show_compare, Group::views',
         '    {Act::show_followed, Group::views, kActionWords.show_followed, {}, nullptr, push_value<ShowView{View::followed}>},\n'
         '    {Act::show_compare, Group::views'),
        ('app/README.md', '`flow`, `heads`,', '`flow`, `followed`, `heads`,'),
        ('app/words/words.json', '      "view_train": ', '      "view_followed": ["Followed", "跟随"],\n'
         '      "tip_view_followed": ["Each word beside the word it looks at most.", "每个词旁边是它看得最多的词。"],\n      "view_train": '),
        ('app/words/words.json', '      "show_compare": ', '      "show_followed": ["The word that each word looks at most", "每个词看得最多的词"],\n'
         '      "show_compare": '),
        ('docs/formats.md', '`show_flow`, ', '`show_flow`, `show_followed`, '),
    ],
    'analysis': [
        ('app/session/answers.h', '#include "derived/word_changes.h"\n',
         '#include "derived/word_changes.h"\n#include "derived/word_count.h"\n'),
        ('app/session/answers.h', '// Functions that answer with more than', 'std::optional<WordCountQuestion> word_count_question(const AppState& state);\n\n'
         '// Functions that answer with more than'),
        ('app/session/answers.h', '  Slot<Detail, ', '  Slot<WordCount, word_count_question, count_words> word_count;\n  Slot<Detail, '),
        ('app/session/answers.h', '    visit(&A::comparison);\n', '    visit(&A::comparison), visit(&A::word_count);\n'),
        ('app/session/answers.cpp', 'Job changes_job(',
         'std::optional<WordCountQuestion> word_count_question(const AppState& state) {\n'
         '  if (!state.trace) return std::nullopt;\n'
         '  return WordCountQuestion{state.trace};\n'
         '}\n\nJob changes_job('),
    ],
    'family': [
        ('core/read/hub/families.json', '    {\n      "types": ["mpnet"],',
         '    {\n      "types": ["followed"],\n      "source": "docs/contributing.md",\n      "like": "ernie",\n'
         '      "classes": ["FollowedForMaskedLM"]\n    },\n    {\n      "types": ["mpnet"],'),
        ('tests/golden/make_families.py', '"ernie": encoders.ernie, ',
         '"ernie": encoders.ernie, "followed": lambda: followed(*encoders.ernie()), '),
        ('tests/golden/make_families.py', '\n\nCASES = {', '\n\ndef followed(config, *others):\n'
         '    """A family that is another one under its own name."""\n'
         '    return {**config, "model_type": "followed", "architectures": ["FollowedForMaskedLM"]}, *others\n'
         '\n\nCASES = {'),
        ('tests/math/checkpoint_golden_test.cpp', '"family-ernie", ', '"family-ernie",\n                    "family-followed", '),
        ('tests/core/checkpoint_config_test.cpp', '      {"bert", "model_type", 3, ',
         '      {"family-followed", "hidden_act", "mish", "hidden_act: expected relu"},\n      {"bert", "model_type", 3, '),
        ('docs/models.md', '| DistilBERT / ELECTRA', '| Followed | 2 | float32 | 2.7e-7 |\n| DistilBERT / ELECTRA'),
    ],
}
