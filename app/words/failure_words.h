// Errors in plain words, and what can be done.
#pragma once

#include <string>
#include <string_view>

#include "words/words.h"

namespace headlight {

struct FailureWords {
  Words cannot_open{"This could not be opened", "打不开"};
  Words cannot_ask{"This model cannot be asked this", "无法这样询问这个模型"};
  Words choose_another{"Choose another …", "另选一个……"};
  Words details{"Details", "详情"};
  Words go_back{"Go back", "返回"};
  Words undo_opening{"Back to the model before", "回到之前的模型"};
  Words one_word{"One word can only look at itself: every map is one square. Type a word more.",
                 "只有一个词，它只能看自己：每张图只有一格。请再输入一个词。"};

  Words where_is_model{"Where is it now? …", "它现在在哪里？……"};
  Words read_first{"Read the first % tokens", "只读前 % 个词元"};

  Words cancelled{"It was cancelled; nothing was written.", "已取消，没有写入任何文件。"};
  Words page_alone{"The model of this page is not there: these are the page's own numbers, without new words.",
                   "这个网页的模型不在：显示的是网页自带的数值，不能换词。"};
  Words other_weights{"The model there has other weights than the one the page was made of: the answer is this one's.",
                      "那里的模型与制作网页的模型权重不同：结果来自现在的模型。"};
  Words too_short{"Its file of weights ends too early. Perhaps it was not copied or downloaded completely.",
                  "权重文件提前结束，可能没有完整复制或下载。"};
  Words no_tokenizer{
      "It has no tokenizer, so a sentence cannot be cut into its words. Give it the numbers of its tokens, "
      "or put its tokenizer.json into the folder.",
      "它没有分词器，无法把句子切成它的词元。请输入词元的编号，或把它的 tokenizer.json 放进文件夹。"};
  Words no_memory{"There is not enough memory for it.", "内存不够。"};
  Words no_space{"The disk is full.", "磁盘已满。"};
  Words absent{"There is no such file or folder.", "没有这个文件或文件夹。"};
  Words not_allowed{"It may not be read by you.", "你没有读取它的权限。"};
  Words no_model{
      "The folder holds no model that can be read: its config.json, or its weights, are missing or of another "
      "kind.",
      "文件夹里没有能读取的模型：config.json 或权重缺失，或者是别的种类。"};
  Words damaged{"The file is damaged, or is of another kind than its name says.",
                "文件已损坏，或者不是其名称所说的种类。"};
  Words too_long{"The sentence is longer than this model can read.", "句子超出了这个模型能读的长度。"};
  Words other{"What it holds is not as expected.", "内容与预期不符。"};
};
inline constexpr FailureWords kFailureWords;

/// The meaning of the line of an error or a warning, without terms of file formats; `other` where it is not known.
const Words& plain_words(std::string_view message);

/// The meaning of the line of a Finding in Chinese, for the Chinese window: the lines themselves are English.
std::string_view finding_in_chinese(std::string_view line);

/// All of them, for the fonts.
std::string all_failure_words();

}  // namespace headlight
