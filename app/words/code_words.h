// The view of the layer as a program.
#pragma once

#include "words/words.h"

namespace headlight {

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
