// The words around the lessons, and those that a window begins with the first time.
#pragma once

#include "words/words.h"

namespace headlight {

struct LessonWords {
  Words lessons{"Lessons", "课程"};
  Words tip_lessons{
      "A guided walk, from why attention to how it is learned: each step sets the window to what it speaks of. Key: %",
      "从为什么需要注意力到它怎样学会的一条路：每一步都把窗口设成它所讲的样子。按键：%"};
  Words step{"Step", "第"};
  Words attempt{"Try: ", "试试："};
  Words tip_done{"The tick is there while the window is as the step asks.", "窗口符合这一步的要求时，这里就有一个勾。"};
  Words previous{"Back", "上一步"};
  Words next{"Next", "下一步"};
  Words next_lesson{"Next lesson", "下一课"};
  Words tip_previous{"The step before, and its state. Key: %", "上一步，以及它的状态。按键：%"};
  Words tip_next{"The next step, and its state. What you changed stays in Undo. Key: %",
                 "下一步，以及它的状态。你的改动仍可撤销找回。按键：%"};
  Words set_again{"Reset step", "重置这一步"};
  Words tip_set_again{"Back to how this step begins.", "回到这一步开始时的样子。"};
  Words leave{"×", "×"};
  Words tip_leave{"Leave the lesson. Everything stays as it is.", "离开课程，一切保持原样。"};
  /// The parts of the window, the first action, the help.
  Words greeting[5]{{"Each map is one head.", "每张图是一个头。"},
                    {"A row is the word that looks, a column the word it looks at.", "行是在看的词，列是被看的词。"},
                    {"Stronger colour, more attention.", "颜色越强，注意力越多。"},
                    {"Point at a cell and it lights up in every head; then type a sentence of your own at the top.",
                     "指向一个格子，它会在每个头里亮起来；然后在上方输入你自己的句子。"},
                    {"Lessons (%) leads you through it step by step, and Keys (%) lists all that can be done.",
                     "“课程”（%）一步步带你走，“按键”（%）列出能做的一切。"}};
  Words begin{"Begin the first lesson →", "开始第一课 →"};
  Words tip_dismiss{"Read. These words will not come again.", "知道了，不再显示。"};
};
inline constexpr LessonWords kLessonWords;

}  // namespace headlight
