// The words of trainings and lessons.
#pragma once

#include "words/words.h"

namespace headlight {

/// Training: its plan, its course, its results.
struct TrainWords {
  Words train_a_model{"Train a model", "训练一个模型"};
  Words train_explained{
      "A model learns sentences, and its heads are drawn while it does. Nothing is asked of any attention: only words "
      "are.",
      "模型学习句子，同时画出它的各个头。训练只问词，从不要求注意力怎样。"};
  Words tip_training_shape{"The shape is set by the controls at the left.", "形状由左侧的控件设定。"};
  Words task_masked{"Asked for: words of the sentence, hidden, swapped or left as they are.",
                    "要求：说出句中被隐藏、被替换或保持原样的词。"};
  Words task_causal{"Asked for: the next word, in every place.", "要求：在每个位置说出下一个词。"};
  Words task_translation{
      "Asked for: the next English word, in every place. Some of the words said so far are hidden or swapped, so that "
      "the Chinese must be looked at.",
      "要求：在每个位置说出下一个英文词。已说出的词有一部分被隐藏或替换，因此必须看中文。"};
  Words training_steps{"steps", "步数"};
  Words tip_training_steps{
      "How many times the weights are changed. A thousand steps show the first heads; the shipped model took twelve "
      "thousand.",
      "权重更新多少次。一千步就能看到最初的头；自带的模型用了一万二千步。"};
  Words training_batch{"sentences a step", "每步句数"};
  Words tip_training_batch{"Each step follows the mean gradient of so many sentences.",
                           "每一步沿这么多句子的平均梯度更新。"};
  Words learning_rate{"learning rate", "学习率"};
  Words tip_learning_rate{"How far a step goes at most: it rises over the first steps and falls along half a cosine.",
                          "每一步最多走多远：开头逐渐升高，之后按半个余弦下降。"};
  Words corpus{"sentences", "语料"};
  Words tip_corpus{
      "The sentences of Headlight's own grammar: its heads can be scored, as it is known which words belong together.",
      "Headlight 自己的语法例句：已知哪些词相关，因此可以给头打分。"};
  Words corpus_grammar{"grammar", "语法例句"};
  Words corpus_repeated{"random repeats", "随机重复"};
  Words tip_corpus_repeated{
      "Random words whose pieces come again: what follows a word is known only from what followed it before. A decoder "
      "of two layers learns induction from them.",
      "随机的词，成段重复：一个词后面是什么，只能从它上次出现时后面是什么得知。两层的解码器会从中学到归纳。"};
  Words corpus_text{"own text", "自己的文本"};
  Words tip_corpus_text{"A text file of your own, a sentence a line.", "自己的文本文件，每行一句。"};
  Words term_hide{"hide", "隐藏"};
  Words tip_term_hide{"This share of the words is hidden behind <mask> and asked for.",
                      "这个比例的词被 <mask> 遮住，要求说出原词。"};
  Words term_swap{"swap", "替换"};
  Words tip_term_swap{
      "This share of the words is replaced by others, and the right ones are asked for: a word must be checked against "
      "its partners.",
      "这个比例的词被换成别的词，要求说出原词：模型必须用相关的词来核对。"};
  Words term_keep{"keep as target", "保留并询问"};
  Words tip_term_keep{"This share of the words is left as it is and asked for.", "这个比例的词保持原样，也要求说出。"};
  Words term_family{"family swaps", "同类替换"};
  Words tip_term_family{"Of the swaps, this share takes a word that stands in the same places of the grammar.",
                        "替换时，这个比例用语法中同类的词。"};
  Words term_restore{"pronoun → noun", "代词 → 名词"};
  Words tip_term_restore{
      "In this share of the cases a pronoun is asked for the noun it stands for. The grammar tells the answer: such "
      "heads are supervised, and the card says so.",
      "在这个比例的情况下，要求代词说出它所指的名词。答案由语法给出：这类头是有监督的，说明卡会写明。"};
  Words tip_term_dropout{"This share of the weights and of what each part adds is left out at random in each step.",
                         "每一步随机丢弃这个比例的注意力权重和各部分的输出。"};
  Words term_smoothing{"label smoothing", "标签平滑"};
  Words tip_term_smoothing{"This share of what is asked for is spread evenly over all words.",
                           "把这个比例的目标平均分给所有的词。"};
  Words about{"about", "约"};
  Words tip_estimate{"At the pace of the last training of this shape, else estimated from its size.",
                     "按上次同形状训练的速度，否则按大小估计。"};
  Words advanced{"Advanced", "更多设置"};
  Words tip_advanced{"Steps, sentences, and what is asked for.", "步数、语料，以及所问的内容。"};
  Words start_training{"Start", "开始"};
  Words tip_start_training{"Starts the training (%). What it learns is kept on disk every few seconds.",
                           "开始训练（%）。学到的内容每隔几秒保存到磁盘。"};
  Words pause_training{"Pause", "暂停"};
  Words resume_training{"Go on", "继续"};
  Words tip_pause_training{"%. Going on later gives the same model to the bit.", "%。之后继续，得到的模型逐位相同。"};
  Words stop_training{"Stop and keep", "停止并保留"};
  Words tip_stop_training{"%. The model stays in its folder and can be gone on with.",
                          "%。模型留在它的文件夹中，之后可以继续。"};
  Words show_training{"Show its model", "查看其模型"};
  Words tip_show_training{"The sentence is answered by the model in training again.", "重新由训练中的模型回答句子。"};
  Words phase_preparing{"reading the sentences", "正在读取句子"};
  Words phase_running{"training", "训练中"};
  Words phase_paused{"paused", "已暂停"};
  Words phase_measuring{"scoring its heads", "正在给头打分"};
  Words phase_done{"done", "完成"};
  Words phase_stopped{"stopped and kept", "已停止并保留"};
  Words phase_failed{"failed", "失败"};
  Words training_step{"step", "步"};
  Words words_a_second{"words/s", "词/秒"};
  Words time_left{"left", "剩余"};
  Words seconds{"s", "秒"};
  Words minutes{"min", "分"};
  Words hours{"h", "小时"};
  Words loss{"loss: nats per word asked for", "损失：每个所问词的奈特数"};
  Words dashed_is_position{"dashed: what position alone reaches", "虚线：只靠位置能达到的得分"};
  Words share_right{"words said right", "说对的词"};
  Words scores_of_heads{"scores of the heads, on a sample", "各头得分（抽样）"};
  Words tip_scores_of_heads{
      "For each relation the head of the last layer that shows it best, on sentences that are never trained on: how "
      "often its strongest target is the right word.",
      "每种关系取最后一层中最能体现它的头，在从不训练的句子上：最强目标恰为正确词的比例。"};
  Words tip_time{"Drag to see the heads as they were at a step (%, %; % for the newest).",
                 "拖动以查看某一步时的头（%、%；% 为最新）。"};
  Words live{"live", "实时"};
  Words newest{"newest", "最新"};
  Words tip_newest{"The model as it is now.", "模型现在的样子。"};
  Words trained_earlier{"Trained earlier", "之前的训练"};
  Words go_on_with{"Go on with", "继续"};
  Words tip_continue_training{"Goes on where this training was left.", "从这次训练停下的地方继续。"};
  Words another_training{"Another one", "另一次训练"};
  Words tip_training_status{"A training goes on: click to look at it.", "训练正在进行：点击查看。"};
};
inline constexpr TrainWords kTrainWords;

/// The words around the lessons, and those that a window begins with the first time.
struct LessonWords {
  Words lessons{"Lessons", "课程"};
  Words tip_lessons{
      "A guided walk, from why attention to how it is learned: each step sets the window to what it speaks of. Key: %",
      "从为什么需要注意力到它怎样学会的一条路：每一步都把窗口设成它所讲的样子。按键：%"};
  Words step{"Step", "第"};
  Words attempt{"Try: ", "试试："};
  Words action{"“%”", "“%”"};
  Words action_with_keys{"“%” (%)", "“%”（%）"};
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
  /// The parts of the window, the first action, the help: a narrow window has the first sentences alone.
  Words greeting[5]{{"Each map is one head: the words of its rows look at those of its columns.",
                     "每张图是一个头：行里的词看列里的词。"},
                    {"Type a sentence of your own.", "请输入你自己的句子。"},
                    {"Stronger colour, more attention.", "颜色越强，注意力越多。"},
                    {"Point at a cell and it lights up in every head.", "指向一个格子，它会在每个头里亮起来。"},
                    {"Lessons (%) leads you through it step by step, and Keys (%) lists all that can be done.",
                     "“课程”（%）一步步带你走，“按键”（%）列出能做的一切。"}};
  Words begin{"Begin the first lesson →", "开始第一课 →"};
  Words tip_dismiss{"Read. These words will not come again.", "知道了，不再显示。"};
};
inline constexpr LessonWords kLessonWords;

}  // namespace headlight
