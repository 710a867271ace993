// The mask, the scale, and what is changed by hand.
#pragma once

#include "words/words.h"

namespace headlight {

struct MaskWords {
  Words section_mask{"Mask", "掩码"};
  Words causal{"hide later words (causal)", "遮住后面的词（因果）"};
  Words causal_brief{"causal", "因果"};  // in the row of controls
  Words tip_causal{"No word may look at words after it.", "任何词都不能看它后面的词。"};
  Words padding{"hide padding", "遮住填充"};
  Words tip_padding{"No word may look at padding tokens.", "任何词都不能看填充词元。"};
  Words pad_last{"padding tokens", "填充词元数"};
  Words paint{"Paint mask", "绘制掩码"};
  Words paint_brief{"paint", "绘制"};
  Words paint_hint{"click or drag over cells to block or allow them", "点击或拖过单元格以屏蔽或允许"};
  Words tip_paint{"Click or drag over cells to block or allow them. Words of several tokens are shown token by token.",
                  "点击或拖过单元格以屏蔽或允许。由多个词元组成的词会按词元显示。"};
  Words clear_paint{"Clear painted", "清除绘制"};
  Words custom{"custom", "自定义"};
  Words mask_from_file{"from a file", "来自文件"};
  Words remove{"Remove", "移除"};
  Words all_layers{"all layers", "所有层"};
  Words tip_scope{"Whether mask and scale are changed in every layer, or in the chosen head's layer alone.",
                  "掩码与缩放作用于所有层，还是只作用于所选头所在的层。"};
  Words clear_layer{"Same as the others", "与其他层相同"};
  Words section_scores{"Scores", "打分"};
  Words scale_automatic{"scale 1/√d_k", "缩放 1/√d_k"};
  Words scale{"scale", "缩放"};
  Words tip_scale{"What the products q·k are multiplied by before the softmax; larger makes attention sharper.",
                  "点积 q·k 在 softmax 之前乘以的数；越大注意力越集中。"};
  Words dropout{"dropout", "随机失活"};
  Words tip_dropout{"Each weight is left out with this probability, as in training; the others grow to make up for it.",
                    "像训练时那样，每个权重以此概率被丢弃，其余相应放大。"};
  Words drop_others{"Drop others", "换一组失活"};
  Words heads_off{"off means", "关闭即输出"};
  Words tip_off_as{"The output of a head that is off: nothing, or its mean over the sentence.",
                   "关闭的头输出什么：零，或它在句中的平均值。"};
  Words off_zero{"nothing", "无"};
  Words off_mean{"its average", "平均值"};
  Words all_on{"All on again", "全部打开"};
  Words weights_by_hand{"weights by hand", "手动权重"};
  Words clear_weights{"As computed", "恢复计算值"};
  Words tip_weight{"Sets this weight; the others of its row share the rest. Everything after it is computed with it.",
                   "设定这个权重；同一行的其余权重分享剩下的部分。之后的一切都按它计算。"};
  Words section_parts{"Parts of this layer", "这一层的组成部分"};
  Words parts[4] = {{"residual connections", "残差连接"},
                    {"norms", "归一化"},
                    {"scaling by 1/√d_k", "按 1/√d_k 缩放"},
                    {"feed-forward", "前馈网络"}};
  Words tip_parts[4] = {
      {"Off: each sublayer outputs f(x) in place of x + f(x).", "关闭后：每个子层输出 f(x)，而不是 x + f(x)。"},
      {"Off: nothing in this layer is normed.", "关闭后：这一层不做任何归一化。"},
      {"Off: the scores are q·k; the softmax of large scores is nearly one-hot, and its gradient vanishes.",
       "关闭后：打分就是 q·k；打分大时 softmax 几乎是独热的，梯度趋于零。"},
      {"Off: the feed-forward is left out; each row stays what the attention made.",
       "关闭后：跳过前馈网络，每一行保持注意力的结果。"}};
  Words parts_on{"All parts on again", "全部部分打开"};
  Words tip_parts_on{"Residual connections, norms and feed-forwards of all layers are there again.",
                     "所有层的残差连接、归一化与前馈网络恢复。"};
  Words set_by_hand{"set by hand", "手动设定"};
  Words by_hand{"by hand", "手动"};
};
inline constexpr MaskWords kMaskWords;

}  // namespace headlight
