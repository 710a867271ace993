#include <cstdio>

#include "cli/commands.h"
#include "cli/request_options.h"
#include "session/export.h"

namespace headlight {
namespace {

struct Options {
  explicit Options(CLI::App& command) : request(command) {}
  RequestOptions request;
  std::string file, format;
  std::vector<std::string> with;
};

Result<int> run(const Options& options) {
  const auto lexicon = read_lexicon();
  if (!lexicon) return lexicon.error();
  const auto start = options.request.start();
  if (!start) return start.error();

  ExportOptions arrays;
  for (const auto& name : options.with) {
    if (name == "qkv") arrays.queries_keys_values = true;
    else if (name == "scores") arrays.scores = true;
    else return bad_input("--with", "", "qkv or scores", name);
  }
  const std::optional<std::filesystem::path> file =
      options.file.empty() || options.file == "-" ? std::nullopt : std::optional<std::filesystem::path>(options.file);
  const auto format = !options.format.empty() ? parse_format(options.format)
                      : file                  ? format_for(*file)
                                              : Result<Format>(Format::json);
  if (!format) return format.error();

  const Document& document = start->session.document;
  const auto requests = requests_of(document, *lexicon);
  if (!requests) return requests.error();
  Progress progress;
  std::vector<std::string> warnings;
  const auto written = export_document(document, *requests, *format, arrays, file, progress, nullptr, &warnings,
                                       options.request.threads());
  if (!written) return written.error();
  for (const auto& warning : warnings) std::fprintf(stderr, "warning: %s\n", warning.c_str());
  return 0;
}

}  // namespace

Run add_export(CLI::App& program) {
  CLI::App* command = program.add_subcommand("export", "The numbers: attention of every layer and head");
  command->footer("headlight export --text 我请李雷帮我订了去北京的机票 --mask causal -o attention.json\n"
                  "headlight export weights.safetensors --format npz --with qkv,scores -o attention.npz");
  auto options = std::make_shared<Options>(*command);
  command->add_option("-o,--output", options->file, "The file to write, whole or not at all; default: standard output");
  command->add_option("--format", options->format,
                      "json, npz, safetensors or csv; default: by the ending of -o, else json");
  command->add_option("--with", options->with, "Further arrays: qkv (queries, keys, values), scores (before the softmax)")
      ->delimiter(',')
      ->allow_extra_args(false);  // what follows is the SOURCE
  return [options] { return run(*options); };
}

}  // namespace headlight
