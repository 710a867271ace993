// The words around the lessons, and those that a window begins with the first time.
#pragma once

#include <string>

#include "gui/frame/strings.h"

namespace headlight {

inline constexpr Words kLessons{"Lessons", "课程"};
inline constexpr Words kTipLessons{
    "A guided walk, from why attention to how it is learned: each step sets the window to what it speaks of. Key: F2",
    "从为什么需要注意力到它怎样学会的一条路：每一步都把窗口设成它所讲的样子。按键：F2"};
inline constexpr Words kStep{"Step", "第"};
inline constexpr Words kOfSteps{"of", "步，共"};
inline constexpr Words kAfterSteps{"", "步"};
inline constexpr Words kTry{"Try: ", "试试："};
inline constexpr Words kTipDone{"The tick is there while the window is as the step asks.",
                                "窗口符合这一步的要求时，这里就有一个勾。"};
inline constexpr Words kPrevious{"Back", "上一步"};
inline constexpr Words kNext{"Next", "下一步"};
inline constexpr Words kNextLesson{"Next lesson", "下一课"};
inline constexpr Words kTipPrevious{"The step before, and its state. Key: Ctrl Page Up",
                                    "上一步，以及它的状态。按键：Ctrl Page Up"};
inline constexpr Words kTipNext{"The next step, and its state. What you changed stays in Undo. Key: Ctrl Page Down",
                                "下一步，以及它的状态。你的改动仍可撤销找回。按键：Ctrl Page Down"};
inline constexpr Words kSetAgain{"Reset step", "重置这一步"};
inline constexpr Words kTipSetAgain{"Back to how this step begins.", "回到这一步开始时的样子。"};
inline constexpr Words kLeave{"×", "×"};
inline constexpr Words kTipLeave{"Leave the lesson. Everything stays as it is.", "离开课程，一切保持原样。"};

// In the list of everything that can be done.
inline constexpr Words kBeginLesson{"Lesson", "课程"};
inline constexpr Words kNextOfLesson{"Next step of the lesson", "课程的下一步"};
inline constexpr Words kPreviousOfLesson{"Previous step of the lesson", "课程的上一步"};
inline constexpr Words kLeaveLesson{"Leave the lesson", "离开课程"};

/// What is seen, what to do first, where help is.
inline constexpr Words kGreeting[] = {
    {"Each map is one head: a row is the word that looks, a column the word it looks at; more colour, more attention.",
     "每张图是一个头：行是在看的词，列是被看的词；颜色越强，注意力越多。"},
    {"Point at a cell and it lights up in every head; then type a sentence of your own at the top.",
     "指向一个格子，它会在每个头里亮起来；然后在上方输入你自己的句子。"},
    {"Lessons (F2) leads you through it step by step, and Keys (F1) lists all that can be done.",
     "“课程”（F2）一步步带你走，“按键”（F1）列出能做的一切。"}};
inline constexpr Words kBegin{"Begin the first lesson →", "开始第一课 →"};
inline constexpr Words kTipDismiss{"Read. These words will not come again.", "知道了，不再显示。"};

/// All characters of these words in both languages.
std::string all_lesson_words();

}  // namespace headlight
