#include "words/failure_words.h"

#include <algorithm>

namespace headlight {
namespace {

// Said of several lines.
constexpr Words kNotWritable{"Nothing can be written there.", "那里不能写入。"};
constexpr Words kNotFinite{"It holds numbers that are not finite.", "其中有不是有限数的值。"};
constexpr Words kEmpty{"The file is empty.", "文件是空的。"};
constexpr Words kNoSuchToken{"A number of a token is beyond the model's vocabulary.", "有词元编号超出模型的词表。"};
constexpr Words kMaskTable{
    "A mask is a table: a row for each word that looks, a column for each word that is looked at.",
    "掩码是一张表：每个在看的词一行，每个被看的词一列。"};
constexpr Words kNoSuchKind{"It is of no kind that can be opened here.", "这不是能在这里打开的种类。"};

/// A part of a line, and what such a line means.
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
    {"Read-only file system", kNotWritable},
    {"a folder that can be made", kNotWritable},
    {"a writable", kNotWritable},
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
    {"NaN or inf", kNotFinite},
    {"nan or inf", kNotFinite},
    {"an overflow", {"The numbers grew too large to compute with.", "数值变得太大，无法计算。"}},
    {"memory", kFailureWords.no_memory},
    {"GiB", kFailureWords.no_memory},
    {"found a file of 0 bytes", kEmpty},
    {"an empty file", kEmpty},

    // What is asked of a model.
    {"--ids", kFailureWords.no_tokenizer},
    {"id: expected 0 to", kNoSuchToken},
    {"an id below", kNoSuchToken},
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
    {"(queries, keys", kMaskTable},
    {"mask: ", kMaskTable},

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
    {"kind: expected", kNoSuchKind},
    {"a file named", kNoSuchKind},
    {"schema", {"It is of another kind or version than can be opened.", "它的种类或版本不是能打开的。"}},
    {"JSON", kFailureWords.damaged},
    {"UTF-8", kFailureWords.damaged},
    {"header", kFailureWords.damaged},
    {"archive", kFailureWords.damaged},
    {"a NumPy array", kFailureWords.damaged},
    {"a safetensors file", kFailureWords.damaged},
    {"at most", {"It is larger than this program reads.", "超出了本程序能读的大小。"}},
};

/// What the check of a checkpoint found.
struct FindingMeaning {
  std::string_view part, chinese;
};
constexpr FindingMeaning kFindingMeanings[] = {
    {"every one has its place", "权重张量各就各位，一个不少。"},
    {"needed neither for attention", "有些权重与注意力和预测无关，没有使用。"},
    {"not the sines and cosines", "存储的位置向量与公式算出的不同，按存储的使用。"},
    {"so the model has no output layer", "没有存储输出层，所以不能预测词。"},
    {"which the model has in its place", "同一处有两份不同的权重，使用了其中一份。"},
    {"missing, taken as zero", "缺少一项权重，按零处理。"},
    {"no part of", "有不属于这种模型的权重，没有使用。"},
    {"the token vectors themselves", "输出层就是词元向量，与 config.json 所说一致。"},
    {"config.json says it is not the token vectors", "config.json 说输出层不是词元向量，但二者数值相同。"},
    {"have a vector", "分词器的每个编号都有词元向量。"},
    {"less than the", "分词器有的编号没有对应的词元向量。"},
    {"the same number everywhere", "有一个权重处处相同，可能没有加载。"},
    {"as before any training", "所有归一化参数都是 1 和 0，与训练之前一样。"},
    {"expected heads that choose", "很多注意力头几乎均匀：模型可能没有训练，或者加载有误。"},
    {"heads almost uniform", "注意力头有取舍，不是处处均匀。"},
    {"no answers were compared", "模型旁边没有参考结果，所以没有比较。"},
    {"not compared", "参考结果中的这一项，这个模型没有，所以没有比较。"},
    {"as the reference", "与参考结果一致。"},
    {"as with this mistake", "与参考结果的差别，正像犯了这个错误："},
    {"differences of at most", "与参考结果不同。"},
    {"expected answers beside the ids", "参考文件里只有编号，没有结果。"},
};

/// The first row of a table of meanings whose part stands in the line; null: none does.
template <class Row, std::size_t size>
const Row* row_of(const Row (&table)[size], std::string_view line) {
  const Row* const found =
      std::find_if(table, table + size, [&](const Row& row) { return line.find(row.part) != std::string_view::npos; });
  return found == table + size ? nullptr : found;
}

}  // namespace

const Words& plain_words(std::string_view message) {
  // Folders may be called anything.
  const std::size_t colon = message.find(": "), slash = message.substr(0, colon).rfind('/');
  if (slash != std::string_view::npos) message.remove_prefix(slash + 1);
  const Meaning* const meaning = row_of(kMeanings, message);
  return meaning ? meaning->words : kFailureWords.other;
}

std::string_view finding_in_chinese(std::string_view line) {
  const FindingMeaning* const meaning = row_of(kFindingMeanings, line);
  return meaning ? meaning->chinese : plain_words(line).zh;
}

std::string all_failure_words() {
  std::string all;
  for (const Meaning& meaning : kMeanings) all.append(meaning.words.en).append(meaning.words.zh);
  for (const FindingMeaning& meaning : kFindingMeanings) all.append(meaning.chinese);
  return all;
}

}  // namespace headlight
