// Errors and findings in plain words, and what can be done.
#pragma once

#include "base/error_code.h"
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
};
inline constexpr FailureWords kFailureWords;

/// What an error, a warning or a finding of this code means, without terms of file formats.
const Words& failure_words(ErrorCode code);

}  // namespace headlight
