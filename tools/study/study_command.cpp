#include "base/formatted.h"
#include "cli/frame/commands.h"
#include "cli/frame/values.h"
#include "study/read_study.h"

namespace headlight {
namespace {

struct StudyArguments {
  std::string study, format = "text";
  Index slurm = 0;
};

/// A study of a file or a folder, and how far it is.
struct StudyState {
  StudyStatement statement = {};
  Index rows = 0, errors = 0;
  std::vector<Index> by_file = {};
};

/// Those that are stated, each once, in the order in which they were last stated.
std::vector<StudyState> states_of(const StudyRows& rows) {
  std::vector<StudyState> states;
  for (const StudyStatement& one : rows.statements()) {
    std::erase_if(states, [&](const StudyState& other) { return other.statement.study == one.study; });
    states.push_back({.statement = one, .by_file = std::vector<Index>(rows.files().size())});
  }
  for (StudyState& state : states)
    for (const auto& [number, row] : rows.of_study(state.statement.study)) {
      ++state.rows;
      state.errors += row->error.empty() ? 0 : 1;
      ++state.by_file[row->file];
    }
  return states;
}

std::string file_name_of(const std::string& file) { return std::filesystem::path(file).filename().string(); }

std::string shell_words(const std::vector<std::string>& words) {
  return joined_texts(words, " ", [](const std::string& word) { return shell_word(word, ",@%"); });
}

std::string state_text(const StudyState& state, const StudyRows& rows) {
  const StudyStatement& statement = state.statement;
  std::string text =
      shell_words(statement.words) + "\n" + std::to_string(state.rows) + " of " + counted(statement.pairs, "row");
  if (state.errors > 0) text += ", " + std::to_string(state.errors) + " of them without numbers";
  text += "; model " + statement.model + ", version " + statement.version + ", " + statement.machine + "\n";
  std::vector<std::vector<std::string>> lines;
  for (std::size_t i = 0; i < rows.files().size(); ++i)
    if (state.by_file[i] > 0 || is_locked(rows.files()[i]))
      lines.push_back({"  " + file_name_of(rows.files()[i]), counted(state.by_file[i], "row"),
                       is_locked(rows.files()[i]) ? "being written" : ""});
  return text + aligned_text(lines);
}

Value state_json(const StudyState& state, const StudyRows& rows) {
  std::vector<Value> files;
  for (std::size_t i = 0; i < rows.files().size(); ++i)
    files.push_back(
        json_object({{"file", rows.files()[i]}, {"rows", state.by_file[i]}, {"writing", is_locked(rows.files()[i])}}));
  const StudyStatement& statement = state.statement;
  return json_object({{"study", statement.study},
                      {"command", json_list(statement.words)},
                      {"rows", state.rows},
                      {"pairs", statement.pairs},
                      {"errors", state.errors},
                      {"model", statement.model},
                      {"version", statement.version},
                      {"machine", statement.machine},
                      {"files", json_list(files)}});
}

/// An array of so many shards, and the same file again for what depends on it.
std::string slurm_text(const StudyStatement& statement, const std::string& study, Index shards) {
  const std::string program = "\"${HEADLIGHT:-headlight}\" " + shell_words(statement.words);
  const std::string folder = shell_word(study, ",@%");
  const std::string last = std::to_string(shards - 1), count = std::to_string(shards);
  return "#!/bin/bash\n"
         "#SBATCH --job-name=headlight-study\n"
         "#SBATCH --array=0-" +
         last +
         "\n"
         "#SBATCH --requeue\n"
         "#SBATCH --open-mode=append\n"
         "#SBATCH --output=%x-%a.txt\n"
         "# This file, say study.sbatch, is submitted twice, in the folder where the study was begun:\n"
         "#   array=$(sbatch --parsable study.sbatch)\n"
         "#   sbatch --dependency=afterany:$array --array=0 --export=ALL,GATHER=1 study.sbatch\n"
         "# A shard that is submitted again goes on where it ended. HEADLIGHT names the program.\n"
         "set -eu\n"
         "if [ -n \"${GATHER-}\" ]; then\n"
         "  exec " +
         program + " --gather " + folder +
         " --format csv >study.csv\n"
         "fi\n"
         "exec " +
         program + " --threads \"${SLURM_CPUS_PER_TASK:-1}\" --resume " + folder + " --shard \"$SLURM_ARRAY_TASK_ID/" +
         count + "\"\n";
}

Result<int> run_study_command(const StudyArguments& arguments) {
  if (files_of_study(arguments.study).empty())
    return bad_input(arguments.study, "", "what --resume wrote: a file, or a folder with .jsonl files", "none");
  std::vector<Error> problems;
  if (arguments.slurm == 0 && (arguments.format == "csv" || arguments.format == "npz")) {
    const auto study = TRY(read_study(arguments.study, 0, problems));
    TRY(print_answers({study_answer(arguments.format, study.question, study.values, study.summaries)}));
    return print_warnings(problems), 0;
  }
  const auto rows = TRY(StudyRows::open(arguments.study, {}, false, problems));
  const std::vector<StudyState> states = states_of(rows);
  print_warnings(problems);
  if (states.empty()) return bad_input(arguments.study, "", "a line that states the study", "none");
  if (arguments.slurm > 0) return print(slurm_text(states.back().statement, arguments.study, arguments.slurm));
  const auto json_of = [&](const StudyState& state) { return state_json(state, rows); };
  if (arguments.format == "json") return print_json(json_object({{"studies", json_list(states, json_of)}}));
  return print(joined_texts(states, "\n", [&](const StudyState& state) { return state_text(state, rows); }));
}

ParsedCommand add_study(Parser& parser, const Frontend&) {
  const auto arguments = std::make_shared<StudyArguments>();
  parser.option("STUDY", arguments->study, "The file or the folder that --resume wrote").required();
  parser.option("--slurm", arguments->slurm, "A batch file of so many shards for Slurm; nothing is submitted", "N")
      .within(1, 100000);
  parser
      .option("--format", arguments->format,
              "text (default) or json: how far it is; csv or npz: what its rows have in common")
      .one_of({"text", "json", "csv", "npz"});
  return [arguments] { return run_study_command(*arguments); };
}

}  // namespace

extern const NamedCommand kStudy{"study", "How far a study of many pairs is, and a batch file for its shards", R"(
headlight study rows/
headlight study rows/ --slurm 100
A study is what --pairs FILE --resume STUDY keeps, of patch, lens, why or heads --effect (docs/studies.md).)",
                                 add_study};

}  // namespace headlight
