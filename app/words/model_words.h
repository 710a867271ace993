// The words of the model: its shape, and numbers typed by hand instead of a model.
#pragma once

#include "words/words.h"

namespace headlight {

/// The shape of a model and where its weights come from.
struct ModelWords {
  Words tip_controls{"Mask and model: what is computed.", "掩码与模型：计算什么。"};
  Words section_model{"Model", "模型"};
  Words trained_weights{"trained weights", "训练好的权重"};
  Words tip_trained{
      "Weights that were learned: from sentences of Headlight's grammar where it knows every word, else from English "
      "and Chinese text. Where no model has this shape, the weights are random.",
      "训练好的权重：语法认识每个词时，由 Headlight "
      "的语法例句训练而来；否则由中英文文本训练而来。没有此形状的模型时，权重是随机的。"};
  Words random_here{"random", "随机"};
  Words more{"More", "更多"};
  Words tip_more{"Scale, dropout, positions, norm, feed-forward, biases: what most readers never change.",
                 "缩放、随机失活、位置编码、归一化、前馈、偏置：大多数读者从不改动的部分。"};
  Words train_this_shape{"Train this shape", "训练此形状"};
  Words tip_train_this_shape{
      "Starts a training of this shape on the grammar at once, by the plan of the shipped models.",
      "立即用语法例句训练此形状，计划与自带的模型相同。"};
  Words d_model{"d_model", "模型维度 d_model"};
  Words tip_d_model{"Width of the vectors: how many numbers describe one token between the layers.",
                    "向量宽度：层与层之间用多少个数描述一个词元。"};
  Words heads{"heads", "头数"};
  Words tip_heads{"How many heads share the width; each works on d_k = d_model / heads numbers.",
                  "多少个头共享这个宽度；每个头处理 d_k = d_model / 头数 个数。"};
  Words layers{"layers", "层数"};
  Words tip_layers{"How many blocks stand one above the other.", "上下堆叠多少个模块。"};
  Words encoder_layers{"encoder layers", "编码器层数"};
  Words decoder_layers{"decoder layers", "解码器层数"};
  Words kv_heads{"key and value heads", "键值头数"};
  Words tip_kv_heads{"Fewer heads of keys and values than of queries: each is shared by a group.",
                     "键与值的头比查询少：每个由一组查询头共用。"};
  Words own_d_k{"own d_k", "自定 d_k"};
  Words tip_own_d_k{"The width of a head apart from d_model / heads.", "头的宽度不由 d_model / 头数 决定。"};
  Words d_k{"d_k", "d_k"};
  Words seed{"seed", "随机种子"};
  Words tip_seed{"Which random weights: the same seed gives the same numbers every time.",
                 "哪一组随机权重：相同的种子每次给出相同的数。"};
  Words positions{"positions", "位置编码"};
  Words tip_positions{
      "What tells the model where a word stands: nothing, sines and cosines or a learned vector added to its own, or a "
      "turn of query and key.",
      "告诉模型词在哪里的方式：没有、在向量上加正弦与余弦、加可学习的向量，或旋转查询与键。"};
  Words position_none{"none", "无"};
  Words position_sinusoidal{"sinusoidal", "正弦"};
  Words position_learned{"learned", "可学习"};
  Words position_rotary{"rotary", "旋转"};
  Words tied{"tied output", "共享输出词向量"};
  Words tip_tied{"The output layer uses the words' own vectors.", "输出层使用词本身的向量。"};
  Words section_block{"Block", "模块"};
  Words arch{"kind", "类型"};
  Words tip_arch{
      "An encoder looks both ways; a decoder begins with the causal mask; with both, the decoder reads the encoder's "
      "output.",
      "编码器向两边看；解码器默认使用因果掩码；两者都有时，解码器读取编码器的输出。"};
  Words encoder{"encoder", "编码器"};
  Words decoder{"decoder", "解码器"};
  Words encoder_decoder{"encoder-decoder", "编码器-解码器"};
  Words norm{"norm", "归一化"};
  Words tip_norm{"Whether each sublayer's sum is normalised after it, or its input before it.",
                 "归一化在残差相加之后，还是在子层输入之前。"};
  Words norm_post{"after", "之后"};
  Words norm_pre{"before", "之前"};
  Words norm_kind{"norm kind", "归一化方式"};
  Words tip_norm_kind{
      "LayerNorm takes the mean away and divides by the deviation; RMSNorm only divides by the root mean square.",
      "层归一化减去均值再除以标准差；均方根归一化只除以均方根。"};
  Words norm_layer{"LayerNorm", "层归一化"};
  Words norm_rms{"RMSNorm", "均方根"};
  Words feed_forward{"feed-forward", "前馈宽度"};
  Words tip_feed_forward{"Width of the feed-forward layer that follows attention; 0 leaves it out.",
                         "注意力之后前馈层的宽度；0 表示不用。"};
  Words gated{"gated", "门控"};
  Words tip_gated{"The hidden layer is multiplied by a second one that acts as a gate.",
                  "隐藏层再乘以另一个作为门的层。"};
  Words activation{"activation", "激活函数"};
  Words tip_activation{"The curve inside the feed-forward layer.", "前馈层中的非线性函数。"};
  Words bias{"bias", "偏置"};
  Words tip_bias{"Which of the projections and the feed-forward add a constant vector.",
                 "哪些投影以及前馈层加常数向量。"};
};
inline constexpr ModelWords kModelWords;

/// Numbers typed by hand: the dialog that takes a table, and the cells that can be changed.
struct NumberWords {
  Words title{"Numbers of your own", "自己的数值"};
  Words menu{"Numbers of your own …", "自己的数值 …"};
  Words formats{"Paste or type a table: NumPy, JSON or CSV; a row a line. Begin with X, scores or weights.",
                "粘贴或输入一张表：NumPy、JSON 或 CSV，一行一行。先给 X、打分或权重。"};
  Words table_hint{"A row a line, for example   0.2  1.0  0.5", "每行一行数，例如   0.2  1.0  0.5"};
  Words tables[7] = {{"X", "X"},     {"W_Q", "W_Q"},     {"W_K", "W_K"},     {"W_V", "W_V"},
                     {"W_O", "W_O"}, {"scores", "打分"}, {"weights", "权重"}};
  Words head{"head", "头"};
  Words one_more{"one more", "再加一个"};
  Words take{"Take", "采用"};
  Words tip_take{"Puts the table in; an empty text takes it away. Undo brings back what was there.",
                 "采用这张表；空文本则去掉它。撤销可恢复。"};
  Words waiting{"What was taken is kept here, and used as soon as all tables fit together.",
                "采用过的表先记在这里，各表能对上时一并使用。"};
  Words samples{"Examples", "示例"};
  Words sample_names[4] = {{"two words, two heads", "两个词、两个头"},
                           {"ten words of four numbers", "十个词，各四个数"},
                           {"a printed row", "一行印出的数"},
                           {"a printed matrix", "印出的矩阵"}};
  Words check{"Check these numbers", "检查这些数值"};
  Words nothing_wrong{"Nothing is wrong with them.", "没有发现问题。"};
  Words no_numbers{"There are none yet.", "还没有数值。"};
  Words set_to{"set to", "改为"};
  Words tip_set{"A number of your own: everything below it follows.", "这是你自己的数：改动后，后面的一切随之改变。"};
};
inline constexpr NumberWords kNumberWords;

}  // namespace headlight
