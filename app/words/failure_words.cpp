#include "words/failure_words.h"

#include <algorithm>

namespace headlight {
namespace {

/// A part of a line, and what such a line means; the first that fits counts.
struct Meaning {
  std::string_view part;
  Words words;
};
constexpr Meaning kMeanings[] = {
    {"cancelled, nothing was written", kFailureWords.cancelled},
    {"the page's own numbers", kFailureWords.page_alone},
    {"has other weights than", kFailureWords.other_weights},
    {"No space left", kFailureWords.no_space},
    {"No such file", kFailureWords.absent},
    {"Permission denied", kFailureWords.not_allowed},
    {"Read-only file system", {"Nothing can be written there.", "那里不能写入。"}},
    {"a folder that can be made", {"Nothing can be written there.", "那里不能写入。"}},
    {"a writable", {"Nothing can be written there.", "那里不能写入。"}},
    {"a session of this version", {"A newer version of this program wrote it.", "它由更新版本的程序写成。"}},
    {"is not there", {"Something that the session needs is not there any more.", "会话所需的内容已不在。"}},
    {"of a training, which is not kept",
     {"A step of a training is not kept: only its newest model is.", "训练中的某一步不会保存，只保存最新的模型。"}},
    {"the lesson that was open", {"The lesson that was open is not there any more.", "之前打开的课程已不在。"}},

    // Files of weights.
    {"data_offsets", kFailureWords.too_short},
    {"bytes of data", kFailureWords.too_short},
    {"ends too early", kFailureWords.too_short},
    {"cut off", kFailureWords.too_short},
    {"floating-point numbers", {"It holds whole numbers in place of weights.", "其中是整数，不是权重。"}},
    {"quantiz", {"Its weights are quantized, which cannot be read here.", "它的权重经过量化，这里无法读取。"}},
    {"NaN or inf", {"It holds numbers that are not finite.", "其中有不是有限数的值。"}},
    {"nan or inf", {"It holds numbers that are not finite.", "其中有不是有限数的值。"}},
    {"an overflow", {"The numbers grew too large to compute with.", "数值变得太大，无法计算。"}},
    {"memory", kFailureWords.no_memory},
    {"GiB", kFailureWords.no_memory},
    {"found a file of 0 bytes", {"The file is empty.", "文件是空的。"}},
    {"an empty file", {"The file is empty.", "文件是空的。"}},

    // What is asked of a model.
    {"--ids", kFailureWords.no_tokenizer},
    {"id: expected 0 to", {"A number of a token is beyond the model's vocabulary.", "有词元编号超出模型的词表。"}},
    {"an id below", {"A number of a token is beyond the model's vocabulary.", "有词元编号超出模型的词表。"}},
    {"unk_token", {"The model has no token for what it does not know.", "这个模型没有表示未知词的词元。"}},
    {"tokenizer",
     {"Its tokenizer cannot be read, so a sentence cannot be cut into its words. Give it the numbers of its tokens.",
      "它的分词器无法读取，不能把句子切成它的词元。请输入词元的编号。"}},
    {"a line for each line of the text",
     {"The text and its target need as many lines as each other.", "两边的文本行数必须相同。"}},
    {"sentences: expected at most",
     {"These are more sentences than can be asked at once.", "句子太多，不能一次询问。"}},
    {"tokens of the batch", {"These sentences are too long to be asked at once.", "这些句子太长，不能一次询问。"}},
    {"target: tokens: expected at least one",
     {"The decoder has nothing to read yet: type what it is to go on from.",
      "解码器还没有可读的词：请输入它要接着写的内容。"}},
    {"tokens: expected at most", kFailureWords.too_long},
    {"can be switched off",
     {"This is attention alone, without a model whose heads could be switched off.",
      "这里只有注意力，没有可以关闭头的模型。"}},
    {"code: expected", {"This attention cannot be written as a program.", "这种注意力不能写成程序。"}},
    {"--block: expected", {"This block cannot be written as a program.", "这个模块不能写成程序。"}},
    {"copy as command", {"No command line says all that is shown.", "没有命令行能说出现在所显示的一切。"}},
    {"may attend to nothing",
     {"The mask leaves a word nothing to look at: its row is zeros.", "掩码使有的词什么都不能看：它的行全为零。"}},
    {"more than 1", {"Weights set by hand sum to more than 1 in a row.", "手动设定的权重在一行里加起来超过 1。"}},

    // Masks.
    {"mask: shape",
     {"The mask does not fit the sentence: it needs a row for each word that looks and a column for each "
      "word that is looked at.",
      "掩码与句子对不上：每个在看的词要有一行，每个被看的词要有一列。"}},
    {"mask: axes",
     {"The mask is of several sentences; give one of a single sentence.", "这是几个句子的掩码，请给一个句子的。"}},
    {"true, false, 1 or 0", {"A mask holds only true, false, 1 and 0.", "掩码里只能有 true、false、1 和 0。"}},
    {"a finite number or -inf", {"A mask holds only finite numbers and −∞.", "掩码里只能有有限的数和 −∞。"}},
    {"(queries, keys",
     {"A mask is a table: a row for each word that looks, a column for each word that is looked at.",
      "掩码是一张表：每个在看的词一行，每个被看的词一列。"}},
    {"mask: ",
     {"A mask is a table: a row for each word that looks, a column for each word that is looked at.",
      "掩码是一张表：每个在看的词一行，每个被看的词一列。"}},

    // Tables of numbers, and what is wrong in them.
    {"numbers, as in row 0", {"The rows are not of the same length.", "各行的长度不同。"}},
    {"expected a number", {"Something in the table is not a number.", "表里有的内容不是数。"}},
    {"every number, none left out", {"Dots leave numbers out; give all of them.", "省略号略去了一些数，请全部给出。"}},
    {"at least one number", {"There is no number in it.", "里面没有数。"}},
    {"a ] for every [", {"A bracket is not closed.", "有括号没有闭合。"}},
    {"expected one table", {"Something stands behind the table.", "表的后面还有别的内容。"}},
    {"x, scores or weights", {"X, scores or weights are needed first.", "先要有 X、打分或权重。"}},
    {"what the weights are multiplied with", {"X is needed first.", "先要有 X。"}},
    {"rows, one for each column",
     {"It needs a row for each column of what it is multiplied with.", "它的行数应等于与它相乘的表的列数。"}},
    {"a divisor of", {"The number of heads must divide the columns.", "头数必须整除列数。"}},
    {"--num-heads", {"The file does not say how many heads it has.", "文件没有说明有多少个头。"}},
    {"columns", {"Its columns do not fit the other tables.", "它的列数与其他表对不上。"}},
    {"not to 1", {"The weights of a row do not sum to 1.", "有一行的权重加起来不是 1。"}},
    {"a weight below 0", {"A weight is below 0.", "有的权重小于 0。"}},
    {"softmax of the columns",
     {"The softmax was taken over the columns, not the rows.", "softmax 按列算了，应当按行。"}},
    {"is not the softmax", {"A row is not the softmax of its scores.", "有一行不是其打分的 softmax。"}},
    {"multiplied by sqrt", {"The scores were multiplied by √d_k, not divided by it.", "打分乘了 √d_k，应当除以它。"}},
    {"not divided by sqrt", {"The scores were not divided by √d_k.", "打分没有除以 √d_k。"}},
    {"divided by d_k", {"The scores were divided by d_k, not by its root.", "打分除以了 d_k，应当除以它的平方根。"}},
    {"the transpose of", {"The scores are the transpose, k·qᵀ.", "打分是转置后的 k·qᵀ。"}},
    {"1 … t − 1",
     {"A causal mask lets each word see itself; here it does not.", "因果掩码应让每个词看到自己，这里没有。"}},
    {"scores: not x", {"The scores are not those of X.", "这些打分不是由 X 算出的。"}},

    // Training.
    {"another training",
     {"Another training is in that folder. Stop it first.", "那个文件夹里有别的训练，请先停止它。"}},
    {"to be stopped first", {"Another training goes on. Stop it first.", "有别的训练正在进行，请先停止它。"}},
    {"what a training left", {"Nothing of a training is in that folder.", "那个文件夹里没有训练的内容。"}},
    {"at most 1 together",
     {"The words that are hidden, swapped and kept are more than all words.",
      "隐藏、替换和保留的词加起来超过了全部。"}},
    {"one above 0",
     {"Nothing is asked for: hide, swap or keep some words.", "什么都没有问：请隐藏、替换或保留一些词。"}},
    {"all of them or none", {"A model is trained with all biases or none.", "训练时偏置要么全有，要么全无。"}},

    // What is no model, or damaged.
    {"config.json", kFailureWords.no_model},
    {"model.safetensors", kFailureWords.no_model},
    {"model_type", kFailureWords.no_model},
    {"kind: expected", {"It is of no kind that can be opened here.", "这不是能在这里打开的种类。"}},
    {"a file named", {"It is of no kind that can be opened here.", "这不是能在这里打开的种类。"}},
    {"schema", {"It is of another kind or version than can be opened.", "它的种类或版本不是能打开的。"}},
    {"JSON", kFailureWords.damaged},
    {"UTF-8", kFailureWords.damaged},
    {"header", kFailureWords.damaged},
    {"archive", kFailureWords.damaged},
    {"a NumPy array", kFailureWords.damaged},
    {"a safetensors file", kFailureWords.damaged},
    {"at most", {"It is larger than this program reads.", "超出了本程序能读的大小。"}},
};

}  // namespace

const Words& plain_words(std::string_view message) {
  // Folders may be called anything.
  const std::size_t colon = message.find(": "), slash = message.substr(0, colon).rfind('/');
  if (slash != std::string_view::npos) message.remove_prefix(slash + 1);
  const auto* const found = std::find_if(std::begin(kMeanings), std::end(kMeanings), [&](const Meaning& meaning) {
    return message.find(meaning.part) != std::string_view::npos;
  });
  return found == std::end(kMeanings) ? kFailureWords.other : found->words;
}

std::string all_failure_words() {
  std::string all;
  for (const Meaning& meaning : kMeanings) all.append(meaning.words.en).append(meaning.words.zh);
  return all;
}

}  // namespace headlight
