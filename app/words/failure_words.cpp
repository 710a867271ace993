#include "words/failure_words.h"

#include <cstddef>
#include <iterator>

namespace headlight {
namespace {

struct Meaning {
  ErrorCode code;
  Words words;
};
/// In the order of the codes.
constexpr Meaning kMeanings[] = {
    {ErrorCode::bad_value, {"What it holds is not as expected.", "内容与预期不符。"}},

    {ErrorCode::cancelled, {"It was cancelled; nothing was written.", "已取消，没有写入任何文件。"}},
    {ErrorCode::file_absent, {"There is no such file or folder.", "没有这个文件或文件夹。"}},
    {ErrorCode::permission_denied, {"It may not be read by you.", "你没有读取它的权限。"}},
    {ErrorCode::not_writable, {"Nothing can be written there.", "那里不能写入。"}},
    {ErrorCode::no_space, {"The disk is full.", "磁盘已满。"}},
    {ErrorCode::no_memory, {"There is not enough memory for it.", "内存不够。"}},
    {ErrorCode::file_empty, {"The file is empty.", "文件是空的。"}},
    {ErrorCode::file_too_short,
     {"The file ends too early. Perhaps it was not copied or downloaded completely.",
      "文件提前结束，可能没有完整复制或下载。"}},
    {ErrorCode::file_damaged,
     {"The file is damaged, or is of another kind than its name says.", "文件已损坏，或者不是其名称所说的种类。"}},
    {ErrorCode::too_large, {"It is larger than this program reads.", "超出了本程序能读的大小。"}},
    {ErrorCode::unknown_kind, {"It is of no kind that can be opened here.", "这不是能在这里打开的种类。"}},
    {ErrorCode::unknown_schema,
     {"It is of another kind or version than can be opened.", "它的种类或版本不是能打开的。"}},

    {ErrorCode::not_a_model,
     {"The folder holds no model that can be read: its config.json, or its weights, are missing or of another kind.",
      "文件夹里没有能读取的模型：config.json 或权重缺失，或者是别的种类。"}},
    {ErrorCode::half_downloaded, {"The model was not downloaded completely.", "模型没有下载完整。"}},
    {ErrorCode::unknown_model_type, {"Models of this type cannot be read here.", "这里不能读取这种类型的模型。"}},
    {ErrorCode::bad_config,
     {"A value in its config.json is not one that can be read.", "它的 config.json 里有不能读取的值。"}},
    {ErrorCode::missing_tensor, {"A tensor of the model is missing.", "缺少模型的一个张量。"}},
    {ErrorCode::wrong_shape, {"A tensor has another shape than the model needs.", "有张量的形状与模型需要的不同。"}},
    {ErrorCode::whole_numbers, {"It holds whole numbers in place of weights.", "其中是整数，不是权重。"}},
    {ErrorCode::quantized_weights,
     {"Its weights are quantized, which cannot be read here.", "它的权重经过量化，这里无法读取。"}},
    {ErrorCode::not_finite, {"It holds numbers that are not finite.", "其中有不是有限数的值。"}},
    {ErrorCode::overflow, {"The numbers grew too large to compute with.", "数值变得太大，无法计算。"}},
    {ErrorCode::heads_unknown, {"The file does not say how many heads it has.", "文件没有说明有多少个头。"}},

    {ErrorCode::no_tokenizer,
     {"It has no tokenizer, so a sentence cannot be cut into its words. Give it the numbers of its tokens, "
      "or put its tokenizer.json into the folder.",
      "它没有分词器，无法把句子切成它的词元。请输入词元的编号，或把它的 tokenizer.json 放进文件夹。"}},
    {ErrorCode::bad_tokenizer,
     {"Its tokenizer cannot be read, so a sentence cannot be cut into its words. Give it the numbers of its tokens.",
      "它的分词器无法读取，不能把句子切成它的词元。请输入词元的编号。"}},
    {ErrorCode::no_unknown_token,
     {"The model has no token for what it does not know.", "这个模型没有表示未知词的词元。"}},
    {ErrorCode::unknown_token_id,
     {"A number of a token is beyond the model's vocabulary.", "有词元编号超出模型的词表。"}},
    {ErrorCode::not_utf8, {"It is not a text in UTF-8.", "这不是 UTF-8 文本。"}},
    {ErrorCode::no_tokens, {"There is no word to look at.", "没有可以看的词。"}},
    {ErrorCode::too_many_tokens,
     {"The sentence is longer than this model can read.", "句子超出了这个模型能读的长度。"}},
    {ErrorCode::no_target,
     {"The decoder has nothing to read yet: type what it is to go on from.",
      "解码器还没有可读的词：请输入它要接着写的内容。"}},
    {ErrorCode::lines_differ,
     {"The text and its target need as many lines as each other.", "两边的文本行数必须相同。"}},
    {ErrorCode::too_many_sentences,
     {"These are more sentences than can be asked at once.", "句子太多，不能一次询问。"}},
    {ErrorCode::batch_too_long, {"These sentences are too long to be asked at once.", "这些句子太长，不能一次询问。"}},

    {ErrorCode::attention_alone,
     {"This is attention alone, without a model whose heads could be switched off.",
      "这里只有注意力，没有可以关闭头的模型。"}},
    {ErrorCode::attention_not_code, {"This attention cannot be written as a program.", "这种注意力不能写成程序。"}},
    {ErrorCode::block_not_code, {"This block cannot be written as a program.", "这个模块不能写成程序。"}},
    {ErrorCode::not_a_command, {"No command line says all that is shown.", "没有命令行能说出现在所显示的一切。"}},
    {ErrorCode::empty_row,
     {"The mask leaves a word nothing to look at: its row is zeros.", "掩码使有的词什么都不能看：它的行全为零。"}},
    {ErrorCode::weights_above_one,
     {"Weights set by hand sum to more than 1 in a row.", "手动设定的权重在一行里加起来超过 1。"}},

    {ErrorCode::not_a_mask,
     {"A mask is a table: a row for each word that looks, a column for each word that is looked at.",
      "掩码是一张表：每个在看的词一行，每个被看的词一列。"}},
    {ErrorCode::mask_shape,
     {"The mask does not fit the sentence: it needs a row for each word that looks and a column for each word that "
      "is looked at.",
      "掩码与句子对不上：每个在看的词要有一行，每个被看的词要有一列。"}},
    {ErrorCode::mask_of_several,
     {"The mask is of several sentences; give one of a single sentence.", "这是几个句子的掩码，请给一个句子的。"}},
    {ErrorCode::mask_not_boolean, {"A mask holds only true, false, 1 and 0.", "掩码里只能有 true、false、1 和 0。"}},
    {ErrorCode::mask_not_finite, {"A mask holds only finite numbers and −∞.", "掩码里只能有有限的数和 −∞。"}},

    {ErrorCode::not_a_number, {"Something in the table is not a number.", "表里有的内容不是数。"}},
    {ErrorCode::no_numbers, {"There is no number in it.", "里面没有数。"}},
    {ErrorCode::numbers_left_out, {"Dots leave numbers out; give all of them.", "省略号略去了一些数，请全部给出。"}},
    {ErrorCode::ragged_rows, {"The rows are not of the same length.", "各行的长度不同。"}},
    {ErrorCode::open_bracket, {"A bracket is not closed.", "有括号没有闭合。"}},
    {ErrorCode::more_than_a_table, {"Something stands behind the table.", "表的后面还有别的内容。"}},
    {ErrorCode::needs_scores, {"X, scores or weights are needed first.", "先要有 X、打分或权重。"}},
    {ErrorCode::needs_x, {"X is needed first.", "先要有 X。"}},
    {ErrorCode::wrong_rows,
     {"It needs a row for each column of what it is multiplied with.", "它的行数应等于与它相乘的表的列数。"}},
    {ErrorCode::wrong_columns, {"Its columns do not fit the other tables.", "它的列数与其他表对不上。"}},
    {ErrorCode::heads_divide, {"The number of heads must divide the columns.", "头数必须整除列数。"}},

    {ErrorCode::sum_not_one, {"The weights of a row do not sum to 1.", "有一行的权重加起来不是 1。"}},
    {ErrorCode::weight_below_zero, {"A weight is below 0.", "有的权重小于 0。"}},
    {ErrorCode::softmax_of_columns,
     {"The softmax was taken over the columns, not the rows.", "softmax 按列算了，应当按行。"}},
    {ErrorCode::not_softmax, {"A row is not the softmax of its scores.", "有一行不是其打分的 softmax。"}},
    {ErrorCode::scores_multiplied,
     {"The scores were multiplied by √d_k, not divided by it.", "打分乘了 √d_k，应当除以它。"}},
    {ErrorCode::scores_not_divided, {"The scores were not divided by √d_k.", "打分没有除以 √d_k。"}},
    {ErrorCode::scores_divided_twice,
     {"The scores were divided by d_k, not by its root.", "打分除以了 d_k，应当除以它的平方根。"}},
    {ErrorCode::scores_transposed, {"The scores are the transpose, k·qᵀ.", "打分是转置后的 k·qᵀ。"}},
    {ErrorCode::mask_without_self,
     {"A causal mask lets each word see itself; here it does not.", "因果掩码应让每个词看到自己，这里没有。"}},
    {ErrorCode::scores_not_of_x, {"The scores are not those of X.", "这些打分不是由 X 算出的。"}},

    {ErrorCode::folder_in_use,
     {"Another training is in that folder. Stop it first.", "那个文件夹里有别的训练，请先停止它。"}},
    {ErrorCode::training_goes_on, {"Another training goes on. Stop it first.", "有别的训练正在进行，请先停止它。"}},
    {ErrorCode::no_training, {"Nothing of a training is in that folder.", "那个文件夹里没有训练的内容。"}},
    {ErrorCode::hides_more_than_all,
     {"The words that are hidden, swapped and kept are more than all words.",
      "隐藏、替换和保留的词加起来超过了全部。"}},
    {ErrorCode::hides_nothing,
     {"Nothing is asked for: hide, swap or keep some words.", "什么都没有问：请隐藏、替换或保留一些词。"}},
    {ErrorCode::biases_differ, {"A model is trained with all biases or none.", "训练时偏置要么全有，要么全无。"}},

    {ErrorCode::newer_session, {"A newer version of this program wrote it.", "它由更新版本的程序写成。"}},
    {ErrorCode::source_gone, {"Something that the session needs is not there any more.", "会话所需的内容已不在。"}},
    {ErrorCode::step_not_kept,
     {"A step of a training is not kept: only its newest model is.", "训练中的某一步不会保存，只保存最新的模型。"}},
    {ErrorCode::lesson_gone, {"The lesson that was open is not there any more.", "之前打开的课程已不在。"}},
    {ErrorCode::page_alone,
     {"The model of this page is not there: these are the page's own numbers, without new words.",
      "这个网页的模型不在：显示的是网页自带的数值，不能换词。"}},
    {ErrorCode::other_weights,
     {"The model there has other weights than the one the page was made of: the answer is this one's.",
      "那里的模型与制作网页的模型权重不同：结果来自现在的模型。"}},

    {ErrorCode::tensors_complete,
     {"Every tensor of weights is used, and none is missing.", "权重张量各就各位，一个不少。"}},
    {ErrorCode::tensor_not_needed,
     {"Some weights serve neither attention nor the next word and are not used.",
      "有些权重与注意力和预测无关，没有使用。"}},
    {ErrorCode::foreign_tensor,
     {"Some weights are no part of such a model and are not used.", "有不属于这种模型的权重，没有使用。"}},
    {ErrorCode::tensor_as_zero, {"A weight is missing and taken as zero.", "缺少一项权重，按零处理。"}},
    {ErrorCode::tensor_stored_twice,
     {"Two different weights are stored for one; one of them is used.", "同一处有两份不同的权重，使用了其中一份。"}},
    {ErrorCode::positions_stored,
     {"The stored positions are not those of the formula; they are used as stored.",
      "存储的位置向量与公式算出的不同，按存储的使用。"}},
    {ErrorCode::no_output_layer,
     {"No output layer is stored, so no word can be predicted.", "没有存储输出层，所以不能预测词。"}},
    {ErrorCode::output_tied,
     {"The output layer is the token vectors, as config.json says.", "输出层就是词元向量，与 config.json 所说一致。"}},
    {ErrorCode::output_equal,
     {"config.json says that the output layer is not the token vectors, but their numbers are the same.",
      "config.json 说输出层不是词元向量，但二者数值相同。"}},
    {ErrorCode::ids_have_vectors,
     {"Every number of the tokenizer has a token vector.", "分词器的每个编号都有词元向量。"}},
    {ErrorCode::ids_without_vectors,
     {"Some numbers of the tokenizer have no token vector.", "分词器有的编号没有对应的词元向量。"}},
    {ErrorCode::weights_constant,
     {"A weight is the same number everywhere: perhaps it was not loaded.", "有一个权重处处相同，可能没有加载。"}},
    {ErrorCode::norms_untrained,
     {"All norms are 1 and 0, as before any training.", "所有归一化参数都是 1 和 0，与训练之前一样。"}},
    {ErrorCode::heads_choose, {"The heads choose: they are not uniform everywhere.", "注意力头有取舍，不是处处均匀。"}},
    {ErrorCode::heads_uniform,
     {"Many heads are almost uniform: perhaps the model is untrained, or loaded wrong.",
      "很多注意力头几乎均匀：模型可能没有训练，或者加载有误。"}},
    {ErrorCode::no_reference,
     {"No reference stands beside the model, so nothing was compared.", "模型旁边没有参考结果，所以没有比较。"}},
    {ErrorCode::not_compared,
     {"The model does not have this part of the reference; it was not compared.",
      "参考结果中的这一项，这个模型没有，所以没有比较。"}},
    {ErrorCode::as_reference, {"It agrees with the reference.", "与参考结果一致。"}},
    {ErrorCode::differs_from_reference, {"It differs from the reference.", "与参考结果不同。"}},
    {ErrorCode::as_with_mistake,
     {"It differs from the reference as with this mistake:", "与参考结果的差别，正像犯了这个错误："}},
    {ErrorCode::reference_without_answers,
     {"The reference holds only ids, no answers.", "参考文件里只有编号，没有结果。"}},
};

consteval bool is_complete() {
  for (std::size_t i = 0; i < std::size(kMeanings); ++i)
    if (kMeanings[i].code != static_cast<ErrorCode>(i)) return false;
  return std::size(kMeanings) == kErrorCodes;
}
static_assert(is_complete());

}  // namespace

const Words& failure_words(ErrorCode code) { return kMeanings[static_cast<std::size_t>(code)].words; }

std::string all_failure_words() {
  std::string all;
  for (const Meaning& meaning : kMeanings) all.append(meaning.words.en).append(meaning.words.zh);
  return all;
}

}  // namespace headlight
