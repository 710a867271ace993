#!/usr/bin/python3
"""Follows the recipes of docs/contributing.md in a copy of the tree, builds it, and uses what came of them: recipes.py SOURCE_TREE

A recipe is a function below: the files that it adds, and the lines that it puts beside others; each step says which. A test,
a tool with a command, a command of a question, an edit, a view that is a figure, a text, a family, an analysis. The engine
and the command line alone are built, so the panel of a view is not. HEADLIGHT_RECIPES: the folder of the copy; else one that
goes away."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

TREE = pathlib.Path(sys.argv[1]).resolve()


class Copy:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        files = subprocess.run(['git', '-C', TREE, 'ls-files', '-z'], stdout=subprocess.PIPE, check=True).stdout
        for name in files.decode().split('\0')[:-1]:
            if (TREE / name).is_file():
                (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(TREE / name, self.folder / name)

    def add(self, path, text):
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        assert not (self.folder / path).exists(), path
        (self.folder / path).write_text(text, encoding='utf-8')

    def put(self, path, beside, line, before=False):
        """Puts a line behind the only place that has this text, or before it."""
        text = (self.folder / path).read_text(encoding='utf-8')
        if text.count(beside) != 1:
            sys.exit(f'recipes: {path}: expected {beside!r} once, found it {text.count(beside)} times')
        (self.folder / path).write_text(text.replace(beside, line + beside if before else beside + line), encoding='utf-8')


def test(copy):
    copy.add('tests/core/recipe_test.cpp', '''// A recipe of docs/contributing.md.
#include <gtest/gtest.h>

#include "model/head_text.h"

namespace headlight {

TEST(Recipe, AHeadIsWrittenAsItIsRead) { EXPECT_EQ(head_text({1, 2}), "1.2"); }

}  // namespace headlight
''')


def tool(copy):
    copy.add('tools/recipe/README.md', '# tools/recipe\n\n| files | hold |\n| --- | --- |\n| `recipe_tool` | the room `tools/recipe` |\n')
    copy.add('tools/recipe/recipe_tool.h', '''#pragma once

#include "tool/tool.h"

namespace headlight {

extern const Tool kRecipeTool;

}  // namespace headlight
''')
    copy.add('tools/recipe/recipe_tool.cpp', '''#include "recipe/recipe_tool.h"

#include <cstdio>

#include "cli/frame/commands.h"
#include "cli/frame/tool_commands.h"

namespace headlight {
namespace {

constexpr NamedCommand kRecipe{"recipe", "A tool by the recipe", "", [](Parser&, const Frontend&) -> ParsedCommand {
                                 return [] {
                                   std::puts("a tool");
                                   return Result<int>(0);
                                 };
                               }};
constexpr const NamedCommand* kOfRecipe[] = {&kRecipe};
constexpr ToolCommands kRecipeCommands{.commands = kOfRecipe};

}  // namespace

const Tool kRecipeTool{.name = "recipe", .commands = &kRecipeCommands};

}  // namespace headlight
''')
    copy.put('CMakeLists.txt', 'set(HEADLIGHT_TOOLS train diagnose page study mcp', ' recipe')
    copy.put('CMakeLists.txt', 'if("mcp" IN_LIST HEADLIGHT_TOOLS)\n', '''if("recipe" IN_LIST HEADLIGHT_TOOLS)
  headlight_room(tools/recipe IN recipe LINKS room_cli_frame)
  list(APPEND TOOL_ROOMS room_recipe)
endif()
''', before=True)
    copy.put('tests/smoke/sizes.sh', '[tools/mcp]=663', ' [tools/recipe]=60')
    copy.put('app/main.cpp', '#ifdef HEADLIGHT_HAS_MCP\n#include', '#ifdef HEADLIGHT_HAS_RECIPE\n#include "recipe/recipe_tool.h"\n#endif\n', before=True)
    copy.put('app/main.cpp', '#ifdef HEADLIGHT_HAS_MCP\n      &', '#ifdef HEADLIGHT_HAS_RECIPE\n      &kRecipeTool,\n#endif\n', before=True)
    copy.put('tests/tools.cpp', '#include "mcp/mcp_tool.h"\n', '#include "recipe/recipe_tool.h"\n')
    copy.put('tests/tools.cpp', '&kMcpTool', ', &kRecipeTool')


def command(copy):
    copy.add('app/cli/largest.cpp', '''// The largest weight of a head.
#include "base/formatted.h"
#include "cli/frame/question_command.h"
#include "math/attention.h"

namespace headlight {
namespace {

Result<Answer> largest(const Question& question) {
  const Trace& trace = *question.trace;
  const float most = attention_rows(trace, *question.head, 0, trace.queries(question.head->stack)).maxCoeff();
  if (question.wants("json")) return Answer(json_object({{"largest", most}}));
  return Answer(formatted("%.3f\\n", static_cast<double>(most)));
}

ParsedCommand add_largest(Parser& parser, const Frontend&) {
  QuestionCommand command(parser);
  command.take_head();
  command.take_format({"text", "json"}, "text (default) or json");
  return command.answers(SentencesAsked::each, largest);
}

}  // namespace

const NamedCommand kLargest{"largest", "The largest weight of a head", "headlight largest --head 1.6", add_largest};

}  // namespace headlight
''')
    copy.put('app/cli/frame/commands.h', 'kCode, kSimilarity', ', kLargest')
    copy.put('app/cli/cli.cpp', '&kCode,     &kSimilarity', ', &kLargest')


def view(copy):
    copy.put('app/view/view_names.h', '    {.name = "relations", .grid = GridShow::relations},\n',
             '    {.name = "first", .figure = FigureKind::first},\n')
    copy.put('app/view/view_state.h', '  diagram,\n  matrix', ',\n  first')
    copy.put('app/figure/page.h', 'Drawing draw_head(const', 'Drawing draw_first(const FigureSubject& subject, const FigureOptions& options, '
             'const TextWidth& measure);\n', before=True)
    copy.add('app/views/heads/first_figure.cpp', '''// The first head of the answer.
#include "figure/page.h"

namespace headlight {

Drawing draw_first(const FigureSubject& subject, const FigureOptions& options, const TextWidth& measure) {
  FigureOptions first = options;
  first.head = {0, 0, options.head.stack};
  return draw_head(subject, first, measure);
}

}  // namespace headlight
''')
    copy.put('app/views/figure.cpp', '    case FigureKind::head: return', '    case FigureKind::first: return draw_first(subject, options, measure);\n',
             before=True)


def text(copy):
    copy.put('app/words/words.json', '"HeadNameWords": {', '\n      "recipe": ["by the recipe", "按步骤"],')


def family(copy):
    copy.put('core/read/hub/families.json', '  "families": [\n', '''    {
      "types": ["recipe-bert"],
      "source": "docs/contributing.md",
      "like": "bert"
    },
''')


def analysis(copy):
    copy.add('app/derived/word_count.h', '''// How many words an answer has.
#pragma once

#include <memory>

#include "base/progress.h"
#include "derived/weak_ref.h"
#include "model/trace.h"

namespace headlight {

struct WordCountQuestion {
  WeakRef<Trace> trace;
  friend bool operator==(const WordCountQuestion&, const WordCountQuestion&) = default;
};
struct WordCount {
  Index words = 0;
};
std::shared_ptr<const WordCount> count_words(const WordCountQuestion& question, Progress& progress);

}  // namespace headlight
''')
    copy.add('app/derived/word_count.cpp', '''#include "derived/word_count.h"

namespace headlight {

std::shared_ptr<const WordCount> count_words(const WordCountQuestion& question, Progress&) {
  const auto trace = question.trace.lock();
  return trace ? std::make_shared<const WordCount>(WordCount{trace->queries()}) : nullptr;
}

}  // namespace headlight
''')
    answers = 'app/session/answers.h'
    copy.put(answers, '#include "derived/word_changes.h"\n', '#include "derived/word_count.h"\n')
    copy.put(answers, '  Slot<Guess, guess_question, make_guess> guess;\n', '  Slot<WordCount, word_count_question, count_words> word_count;\n', before=True)
    copy.put(answers, 'std::optional<NearestQuestion> nearest_question(const AppState& state);\n',
             'std::optional<WordCountQuestion> word_count_question(const AppState& state);\n')
    copy.put(answers, '    visit(&A::comparison);\n', '    visit(&A::word_count);\n')
    copy.put('app/session/answers.cpp', 'Job changes_job(const', '''std::optional<WordCountQuestion> word_count_question(const AppState& state) {
  if (!state.trace) return std::nullopt;
  return WordCountQuestion{state.trace};
}

''', before=True)


RECIPES = test, tool, command, view, text, family, analysis


def follow(folder):
    copy = Copy(folder)
    for recipe in RECIPES:
        recipe(copy)
    build = copy.folder / 'build'
    log = copy.folder / 'log'
    with log.open('w') as out:
        for words in (['cmake', '--preset', 'release', '-B', build, '-D', 'HEADLIGHT_GUI=OFF'],
                      ['cmake', '--build', build, '--target', 'headlight', 'tests_core']):
            if subprocess.run(words, cwd=copy.folder, stdout=out, stderr=out).returncode:
                sys.exit('recipes: could not be built:\n' + '\n'.join(log.read_text().splitlines()[-40:]))
    program, model = build / 'headlight', copy.folder / 'recipe-model'
    shutil.copytree(copy.folder / 'tests/golden/bert', model)
    config = json.loads((model / 'config.json').read_text())
    (model / 'config.json').write_text(json.dumps({**config, 'model_type': 'recipe-bert'}))
    used = [([build / 'tests/tests_core', '--gtest_filter=Recipe.*'], '[  PASSED  ] 1 test'), ([program, 'recipe'], 'a tool'),
            ([program, 'largest', '--head', '1.6', '--format', 'json'], '{"largest":'), ([program, '--help'], 'largest'),
            ([program, 'figure', '--view', 'first', '-o', copy.folder / 'first.svg'], ''),
            ([program, 'export', model, '--ids', '2,3,4', '--format', 'csv'], 'Self,0,0,0,0,')]
    for words, expected in used:
        ran = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if ran.returncode or expected not in ran.stdout:
            sys.exit(f'recipes: {" ".join(map(str, words))}: expected {expected!r}, found {ran.returncode}: {ran.stdout[:300]}{ran.stderr[:300]}')
    for path, wanted in (('build/words/words_of_app/words/head_name_words.h', 'recipe'), ('first.svg', '<svg')):
        if wanted not in (copy.folder / path).read_text(encoding='utf-8', errors='replace'):
            sys.exit(f'recipes: {path}: expected {wanted}, found none')
    print(f'recipes: {len(RECIPES)} followed, built and used')


if __name__ == '__main__':
    kept = os.environ.get('HEADLIGHT_RECIPES')
    if kept:
        pathlib.Path(kept).mkdir(parents=True, exist_ok=True)
        follow(kept)
    else:
        with tempfile.TemporaryDirectory() as temporary:
            follow(temporary)
