// An attention, or a block, as a program for NumPy or PyTorch: its lines as data, each with the tensor that it makes,
// and the arrays that it reads. The lines follow the recipes of core/explain.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/names.h"
#include "base/result.h"
#include "explain/matrices.h"
#include "write/arrays.h"

namespace headlight {

/// numpy: arrays (b, h, i, d). einsum: PyTorch with torch.einsum, tokens first, (i, b, h, d). matmul: PyTorch with
/// torch.matmul, (b, h, i, d). module: torch.nn.MultiheadAttention with the weights copied into it.
/// b: sentences, i: queries, j: keys, h: heads, d: columns of a head.
enum class Dialect { numpy, einsum, matmul, module };
inline constexpr std::string_view kDialectNames[] = {"numpy", "einsum", "matmul", "module"};
inline std::string_view name(Dialect dialect) { return name_in(kDialectNames, dialect); }

/// What a statement does: computes a tensor; reads one of the .npz; takes a part of what the statement before returned.
enum class LineKind { computes, reads_input, takes_part };

/// A statement, a comment or an empty line.
struct ProgramLine {
  std::string text;
  std::string makes = {};              // the tensor that it makes; empty: none
  std::vector<Index> shape = {};       // of that tensor, the batch included
  std::string axes = {};               // a word or letter for each of them: "b h i d"
  std::optional<MatrixId> shows = {};  // the matrix of the explanation that the tensor holds, of the chosen head
  LineKind kind = LineKind::computes;
};

struct Program {
  Dialect dialect = Dialect::numpy;
  std::vector<ProgramLine> lines;
  std::vector<ArrayStream> inputs;  // of its .npz
};

struct ProgramOptions {
  HeadRef head = {};  // its layer and stack are written; the lines show the matrices of this head
  Dialect dialect = Dialect::numpy;
  bool block = false;                         // the whole block: norms, residual sums and feed-forward
  std::string inputs_file = "attention.npz";  // beside the program
};

/// The program of the sentences of one batch, answers of one model, all of the same number of tokens.
/// Errors: weights that another program computed; a block of a tensors file; a block with a mixture of experts; scores
/// of distances besides (DeBERTa); what nn.MultiheadAttention does not have (rotary positions, norms of queries and
/// keys, a seeded dropout, weights set by hand, heads of another width).
Result<Program> program_of(const std::vector<std::shared_ptr<const Trace>>& sentences, const ProgramOptions& options);

/// The statement with its shape as a comment behind it, in column `column` where there is room:
/// `q = x @ W_Q.T + b_Q    # (1, 10, 64)  b i hd`.
std::string line_text(const ProgramLine& line, std::size_t column = 72);

/// The whole file.
std::string program_text(const Program& program);

/// The file of the inputs of a program file: beside it, .npz instead of .py.
std::filesystem::path inputs_beside(const std::filesystem::path& file);

/// Writes the inputs beside `file`, then the program: where the program is, its inputs are. Errors: an ending other
/// than .py, a file that cannot be written.
Status write_program(const Program& program, const std::filesystem::path& file);

/// An Error where the name of a program does not end in .py.
Status check_program_name(const std::filesystem::path& file);

}  // namespace headlight
