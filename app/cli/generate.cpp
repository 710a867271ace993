#include <cmath>

#include "base/file.h"
#include "base/formatted.h"
#include "cli/commands.h"
#include "cli/options/format_option.h"
#include "cli/options/request_options.h"
#include "document/tokenizers.h"
#include "math/forward.h"
#include "math/generate.h"
#include "write/json.h"
#include "write/number.h"

namespace headlight {
namespace {

struct GenerateArguments {
  explicit GenerateArguments(Parser& command) : request(command) {}
  RequestOptions request;
  std::string format = "text";
  std::vector<std::string> with;
  Index count = 10;
  Sampling sampling;
  bool attentions = false;
};

/// One step as JSON: the word, the tokens that it was said after, and how they were attended to.
Status write_step(const Trace& trace, const Candidate& word, Index step, bool attentions, Output& output) {
  std::string text = "{\"step\":" + std::to_string(step) + ",\"id\":" + std::to_string(word.id) +
                     ",\"text\":" + json_string(word.text) + ",\"probability\":";
  append_number(text, word.probability);
  output.write(text + ",\"tokens\":" + json_texts(trace.query_tokens()));
  if (attentions) {
    output.write(",\"attention\":");
    Progress progress;
    Work work(progress, 0);
    if (const auto written = write_attention(trace, output, work); !written) return written;
  }
  output.write("}");
  return Done{};
}

/// Writes on from one request, at most to where the model says that the text ends: as text each word at once, as JSON
/// into `output`.
Status write_on(Request request, const Tokenizers* tokenizers, const GenerateArguments& options, Output& output,
                std::vector<std::string>& warnings) {
  const bool json = options.format == "json";
  std::shared_ptr<const Trace> trace;
  if (json) output.write("{\"steps\":[");
  for (Index step = 1; step <= options.count; ++step) {
    Progress progress;
    auto next = forward(request, progress, trace.get(), options.request.threads());
    if (!next) return next.error();
    trace = std::move(*next);
    if (step == 1) warnings.insert(warnings.end(), trace->warnings.begin(), trace->warnings.end());
    auto word = next_word(*trace, options.sampling);
    if (!word) return word.error();
    word->probability = probabilities(trace->logits)(word->row);  // the model's own, whatever the temperature
    if (json) {
      if (step > 1) output.write(",");
      if (const auto written = write_step(*trace, *word, step, options.attentions, output); !written) return written;
    } else {
      const auto printed = print(std::to_string(step) + "\t" + word_in_table(word->text) +
                                 formatted("\t%.6f\n", static_cast<double>(word->probability)));
      if (!printed) return printed.error();
    }
    if (is_end(tokenizers, word->id)) break;
    request = extended(std::move(request), *word);
  }
  if (json) output.write("],\"tokens\":" + json_texts(query_tokens(request)) + "}\n");
  return Done{};
}

Result<int> run_generate(GenerateArguments& options) {
  for (const std::string& name : options.with) {
    if (name != "attentions") return bad_input("--with", "", "attentions", name);
    options.attentions = true;
  }
  if (options.attentions && options.format != "json") return bad_input("--with", "", "--format json", options.format);
  const float temperature = options.sampling.temperature;
  if (!(std::isfinite(temperature) && temperature >= 0.0f))
    return bad_input("--temperature", "", "0 or more", std::to_string(temperature));
  const auto asked = options.request.ask();
  if (!asked) return asked.error();
  std::vector<std::string> warnings = asked->start.warnings;
  const Tokenizers* tokenizers = asked->start.session.document.tokenizers.get();
  Output output = Output::to_standard_output();
  for (std::size_t i = 0; i < asked->requests.size(); ++i) {
    if (i > 0 && options.format == "text")
      if (const auto printed = print("\n"); !printed) return printed.error();
    if (const auto written = write_on(asked->requests[i], tokenizers, options, output, warnings); !written)
      return written.error();
  }
  if (const auto written = output.commit(); !written) return written.error();
  print_warnings(warnings);
  return 0;
}

}  // namespace

ParsedCommand add_generate(Parser& program) {
  Parser command = program.command("generate", "Lets a decoder write on, token by token");
  command.footer(
      "headlight generate shipped:decoder --text 我请李雷 --count 5\n"
      "headlight generate shipped:translator --target I --temperature 0.8 --sampling-seed 3 --format json");
  auto options = std::make_shared<GenerateArguments>(command);
  command.option("--count", options->count, "Words, 10 by default", "N").within(1, 16384);
  command.option("--temperature", options->sampling.temperature,
                 "0 (default): always the most probable word; 1: as probable as the model says", "T");
  command.option("--sampling-seed", options->sampling.seed, "Which words are drawn, 0 by default", "N");
  add_format(command, options->format, "text (default): step, word, probability; or json");
  command.option("--with", options->with, "attentions: with json, how each step attended").list();
  return [options] { return run_generate(*options); };
}

}  // namespace headlight
