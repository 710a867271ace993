#include "code/program.h"

#include "base/file.h"
#include "base/utf8.h"
#include "code/program_writer.h"
#include "write/npz.h"

namespace headlight {
namespace {

std::string shape_of(const std::vector<Index>& shape) {
  std::string text = "(";
  for (const Index size : shape) text.append(text.size() > 1 ? ", " : "").append(std::to_string(size));
  return text + (shape.size() == 1 ? ",)" : ")");
}

Status check_program(const std::vector<std::shared_ptr<const Trace>>& sentences, const ProgramOptions& options) {
  const Trace& trace = *sentences.front();
  const MatrixSource source(trace, matrix_id(Quantity::attention_input, options.head));
  if (source.pattern)
    return bad_input("code", "", "queries, keys and values to compute with", "weights that another program computed",
                     ErrorCode::attention_not_code);
  if (options.block && source.bare)
    return bad_input("--block", "", "a model's block", "one attention of a tensors file", ErrorCode::block_not_code);
  if (source.attention && source.attention->distances)
    return bad_input("code", "", "scores of queries and keys", "scores of distances besides (DeBERTa)",
                     ErrorCode::attention_not_code);
  if (options.block && source.block && source.block->experts)
    return bad_input("--block", "", "one feed-forward", "a mixture of experts", ErrorCode::block_not_code);
  return Done{};
}

}  // namespace

Result<Program> program_of(const std::vector<std::shared_ptr<const Trace>>& sentences, const ProgramOptions& options) {
  TRY(check_program(sentences, options));
  if (options.dialect == Dialect::module) {
    std::vector<Stack> written{options.head.stack};
    const MatrixId id = matrix_id(Quantity::attention_input, options.head);
    if (options.block && MatrixSource(*sentences.front(), id).block->cross) written = {Stack::self, Stack::cross};
    for (const auto& sentence : sentences)
      for (const Stack stack : written) TRY(check_module(*sentence, {options.head.layer, 0, stack}));
  }
  return ProgramWriter(sentences, options).write();
}

std::string line_text(const ProgramLine& line, std::size_t column) {
  if (line.shape.empty()) return line.text;
  const std::size_t width = count_characters(line.text);
  return line.text + std::string(width + 2 > column ? 2 : column - width, ' ') + "# " + shape_of(line.shape) +
         (line.axes.empty() ? "" : "  " + line.axes);
}

std::string program_text(const Program& program) {
  std::string text;
  for (const ProgramLine& line : program.lines) text += line_text(line) + "\n";
  return text;
}

std::filesystem::path inputs_beside(const std::filesystem::path& file) {
  std::filesystem::path inputs = file;
  return inputs.replace_extension(".npz");
}

Status check_program_name(const std::filesystem::path& file) {
  if (file.extension() == ".py") return Done{};
  return bad_input(file.string(), "ending", ".py", file.has_extension() ? file.extension().string() : "none");
}

Status write_program(const Program& program, const std::filesystem::path& file) {
  TRY(check_program_name(file));
  const std::filesystem::path inputs = inputs_beside(file);
  auto output = TRY(Output::to_file(inputs));
  Progress progress;
  TRY(write_npz(program.inputs, scratch_for(inputs), output, progress));
  TRY(output.commit());
  return write_file(file, program_text(program));
}

}  // namespace headlight
