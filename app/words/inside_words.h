// The views of one block: its matrices, and the layer as a program.
#pragma once

#include "words/words.h"

namespace headlight {

struct InsideWords {
  Words numbers{"Numbers", "数值"};
  Words tip_numbers{"The numbers behind the pinned weight, in five lines; each opens to its steps. Key: %",
                    "固定的权重背后的各个数：五行，每行都能展开看各步。按键：%"};
  Words why{"Why?", "为什么？"};
  Words tip_why{"What wrote the score of the pinned cell: words, positions, earlier heads and feed-forwards. Key: %",
                "固定的单元格的打分由什么写成：词、位置、前面的头与前馈网络。按键：%"};
  Words score_and_sum{"score %, the sum of % terms: %", "打分 %，% 项之和：%"};
  Words before_mask{"   (before the mask, which blocks it)", "  （掩码之前；掩码屏蔽了它）"};
  Words in_query{"query of “%”", "“%”的查询"};
  Words in_key{"× key of “%”", "× “%”的键"};
  Words other_writers{"% others", "其余 % 个"};
  Words map_of_writers{"Rows: what wrote the query of “%”. Columns: what wrote the key of “%”.",
                       "行：“%”的查询由什么写成。列：“%”的键由什么写成。"};
  Words goes_to_writer{"Click: to %, which wrote it, with its strongest cell pinned",
                       "点击：去写下它的 %，并固定其最强的单元格"};
  Words norms_frozen{
      "Every norm is held at the size that its row gave it. A term is no cause: without its writer every norm would "
      "have another size.",
      "每个归一化都保持在该行给出的大小。一项并不是原因：没有写下它的部分，每个归一化的大小都会不同。"};
  Words trail{"From: ", "来自："};
  Words lens{"Lens", "逐层"};
  Words tip_lens_tab{"The guess after each layer, and what each head and feed-forward adds to a word. Key: %",
                     "每一层之后的猜测，以及每个头与前馈网络给一个词加多少。按键：%"};
  Words no_vocabulary{"This model has no output vocabulary: it guesses no words.", "这个模型没有输出词表：它不猜词。"};
  Words lens_next{"Below each word: the most probable next word, were that layer the last.",
                  "每个词下面：若那一层是最后一层，下一个最可能的词。"};
  Words lens_hidden{"“%” hidden: the most probable words in its place, were that layer the last.",
                    "遮住“%”：若那一层是最后一层，该处最可能的词。"};
  Words lens_in_place{"In the place of “%”: the most probable words, were that layer the last.",
                      "在“%”处：若那一层是最后一层，最可能的词。"};
  Words lens_word{"logit of", "logit："};
  Words most_probable{"the likeliest", "最可能的词"};
  Words no_word{"no word", "无"};
  Words tip_lens_word{"The word whose logit is split, or its id. A click on a word of the table takes it.",
                      "要拆分 logit 的词，或其编号。点击表中的词即可选用。"};
  Words tip_lens_minus{"The logit of this word is taken from it: what makes the one likelier than the other.",
                       "从中减去这个词的 logit：是什么让前者比后者更可能。"};
  Words tip_lens{"Click: splits the logit of this word", "点击：拆分这个词的 logit"};
  Words logit_and_sum{"logit of “%” %, the sum of % terms: %", "“%”的 logit %，% 项之和：%"};
  Words difference_and_sum{"logit of “%” − logit of “%” %, the sum of % terms: %",
                           "“%”的 logit − “%”的 logit %，% 项之和：%"};
  Words tip_line{"Opens the steps of this line, and its matrix beside it.", "展开这一行的各步，旁边显示它的矩阵。"};
  Words asks{"“%” asks", "“%”发问"};
  Words answers{"“%” answers", "“%”应答"};
  Words matches{"How well the two match: the score", "两者有多匹配：打分"};
  Words share{"Its share among % words: softmax", "在 % 个词里占多少：softmax"};
  Words share_of_tokens{"Its share among % tokens: softmax", "在 % 个词元里占多少：softmax"};
  Words share_by_hand{"Its share among %: set by hand, not by the softmax",
                      "在 % 个里占多少：手动设定，不由 softmax 得出"};
  Words hands_over{"“%” hands over its value", "“%”交出它的值"};
  Words weight_times_v{"weight × v", "权重 × v"};
  Words mask{"mask", "掩码"};
  Words way_of_data{"Diagram", "结构图"};
  Words tip_way{"The block as a diagram with its matrices; click one to look at it. Key to the next tab: %",
                "模块的结构图与各矩阵；点击查看。下一个标签的按键：%"};
  Words pin_for_steps{"Click a cell of a head first: its steps are told here.",
                      "先在某个头上点击一个单元格：这里会逐步说明它的计算。"};
  Words back{"Back", "返回"};
  Words tip_back{"To what was looked at before.", "回到之前查看的内容。"};
  Words click_for_terms{"Click a cell to see the numbers it was made of.", "点击单元格，查看它由哪些数得来。"};
  Words given_mask{"The mask was given as % = %.", "给定的掩码为 % = %。"};
  Words broadcast{" It is broadcast to %:", "广播为 %："};
  Words axis_repeated{" axis % (%) is repeated % times.", "轴 %（%）重复 % 次。"};
  Words fits_either{" With the other order of its axes it would fit too.", "换一种轴的次序也能对上。"};
  Words axis_queries{"queries", "查询"};
  Words axis_keys{"keys", "键"};
  Words axis_sentences{"sentences", "句子"};
  Words empty_row{"This row may attend to nothing. Each of its weights, depending on what masks:",
                  "这一行不能看任何词。每个权重取决于掩码的做法："};
  Words empty_zeros{"zeros, as here", "置零（本程序）"};
  Words empty_infinite{"−∞, then softmax", "−∞ 再 softmax"};
  Words empty_large{"−1e9, then softmax", "−1e9 再 softmax"};
  Words moved_rows{"% of % rows moved against A.", "与 A 相比，% / % 行变了。"};
  Words moved_by_edits{"% of % rows moved by the edits.", "% / % 行因改动而变。"};
  Words moved_by_hand{"A weight set by hand moves without its score.", "手动设定的权重不随打分而变。"};
  Words moved_since{"% of % rows moved when % became %.", "% / % 行随之改变（%改为%）。"};
  Words moved_by[5] = {
      {"", ""},
      {"Each row is made of its own row alone.", "每一行只由自己那一行得来。"},
      {"A score moves in the row and in the column of a word that moved.", "变了的词所在的行与列，打分都会变。"},
      {"The softmax moves every weight of a row in which a score moved.",
       "一行里有一个打分变了，softmax 会改变整行权重。"},
      {"Attention moves every row that looks at a word that moved.", "凡是看到变了的词的行，都会被注意力改变。"}};
  Words moved_by_ffn{"A feed-forward moves only its own row.", "前馈网络只改变自己那一行。"};
  Words sink_takes{"the sink takes %   ", "注意力汇占 %   "};
  Words gradients_and_path{"gradients, path length", "梯度、路径长度"};
  Words tip_gradients_and_path{
      "How strongly each row answers to its scores, with and without the scale; how many steps apart the "
      "two words are in a recurrent and a convolutional network.",
      "每一行对打分有多敏感（缩放与不缩放）；两个词在循环网络和卷积网络里相距几步。"};
  Words row_gradient{"∂A/∂score of this row: %", "这一行的 ∂A/∂打分：%"};
  Words unscaled_gradient{"; without the scale %", "；不缩放时 %"};
  Words scaled_gradient{"; scaled by 1/√d_k %", "；按 1/√d_k 缩放时 %"};
  Words gradient_of_scale{"× %: %", "× %：%"};
  Words tip_gradient{
      "How strongly the weights of a row answer to its scores, with this scale and with another: the size of diag(a) − "
      "aᵀa, 0 to 0.5. Near 0 one word has all of the weight, and nothing is learned through the row.",
      "一行的权重对打分有多敏感，用这个缩放与用另一个缩放：diag(a) − aᵀa 的大小，0 到 0.5。"
      "接近 0 时一个词占了全部权重，这一行就学不到东西。"};
  Words tip_path{
      "Vaswani et al. 2017, Table 1: between two words n apart a recurrent network needs n steps, convolutions of "
      "width k log_k (n + 1) layers, rounded up, attention one.",
      "Vaswani 等 2017，表 1：相距 n 的两词，循环网络需 n 步，宽 k 的卷积需 log_k (n+1) 层（取上整），注意力一步。"};
  Words in_the_batch{"in the batch %", "批次中 %"};
  Words no_such_matrix{"This model has no such matrix.", "这个模型没有这个矩阵。"};
};
inline constexpr InsideWords kInsideWords;

struct CodeWords {
  Words view_code{"Code", "代码"};
  Words tip_view_code{"The chosen head's layer as a program; each line beside the matrix it makes.",
                      "把所选头所在的层写成程序；每一行对应它算出的矩阵。"};
  Words tip_numpy{"NumPy, arrays (batch, heads, tokens, d_k).", "NumPy，数组为（批次，头，词元，d_k）。"};
  Words tip_einsum{"PyTorch with einsum, tokens first: (tokens, batch, heads, d_k).",
                   "PyTorch 的 einsum，词元在前：（词元，批次，头，d_k）。"};
  Words tip_matmul{"PyTorch with matmul: (batch, heads, tokens, d_k).", "PyTorch 的 matmul：（批次，头，词元，d_k）。"};
  Words tip_module{"PyTorch's nn.MultiheadAttention with these weights.",
                   "PyTorch 的 nn.MultiheadAttention，装入这些权重。"};
  Words block{"Whole block", "整个模块"};
  Words tip_block{"Norms, residual sums and the feed-forward too.", "也包括归一化、残差和前馈层。"};
  Words copy{"Copy", "复制"};
  Words tip_copy{"The program as text (%).", "复制程序文本（%）。"};
  Words save{"Save …", "保存 …"};
  Words tip_save{"The program and the .npz with its inputs; it runs with numpy or torch alone (%).",
                 "保存程序和它的输入 .npz；只需 numpy 或 torch 就能运行（%）。"};
  Words line_makes{"Makes % ; a click shows it.", "得到 %；点击查看。"};
};
inline constexpr CodeWords kCodeWords;

}  // namespace headlight
