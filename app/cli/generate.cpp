#include "math/generate.h"

#include <cmath>

#include "base/file.h"
#include "base/formatted.h"
#include "cli/frame/question_command.h"
#include "math/forward.h"
#include "question/tokenizers.h"
#include "write/json.h"

namespace headlight {
namespace {

struct GenerateOptions {
  std::vector<std::string> with;
  Index count = 10;
  Sampling sampling;
};

Status check(const GenerateOptions& options) {
  for (const std::string& name : options.with)
    if (name != "attentions") return bad_input("--with", "", "attentions", name);
  const float temperature = options.sampling.temperature;
  if (std::isfinite(temperature) && temperature >= 0.0f) return Done{};
  return bad_input("--temperature", "", "0 or more", shortest_text(temperature));
}

/// Opens a JSON object: all but its last brace.
std::string open_object(const Members& members) {
  std::string text = json_object(members).json();
  text.pop_back();
  return text;
}

/// One step as JSON: the word, the tokens before it, and how they were attended to.
Status write_step(const Trace& trace, const Candidate& word, Index step, bool attentions, Output& output) {
  output.write(open_object({{"step", step},
                            {"id", word.id},
                            {"text", word.text},
                            {"probability", word.probability},
                            {"tokens", Value::of_json(json_texts(trace.query_tokens()))}}));
  if (attentions) {
    output.write(",\"attention\":");
    Progress progress;
    Work work(progress, 0);
    TRY(write_attention(trace, output, work));
  }
  output.write("}");
  return Done{};
}

/// Generates from one request, at most to the token that ends the text: as text each word at once, as JSON into
/// `output`.
Status generate(Request request, const Question& question, const GenerateOptions& options, Output& output) {
  const bool json = question.wants("json");
  const Tokenizers* tokenizers = question.asked.document().tokenizers.get();
  std::shared_ptr<const Trace> trace;
  if (json) output.write("{\"steps\":[");
  for (Index step = 1; step <= options.count; ++step) {
    trace = TRY(forward(request, unwatched(), trace.get(), question.threads));
    if (step == 1) question.warnings.insert(question.warnings.end(), trace->warnings.begin(), trace->warnings.end());
    auto word = TRY(next_word(*trace, options.sampling));
    word.probability = probabilities(trace->logits)(word.row);  // the model's, whatever the temperature
    if (json) {
      if (step > 1) output.write(",");
      TRY(write_step(*trace, word, step, !options.with.empty(), output));
    } else {
      TRY(print(std::to_string(step) + "\t" + word_in_table(word.text) +
                formatted("\t%.6f\n", static_cast<double>(word.probability))));
    }
    if (is_end(tokenizers, word.id)) break;
    request = extended(std::move(request), word);
  }
  if (json) output.write("],\"tokens\":" + json_texts(query_tokens(request)) + "}\n");
  return Done{};
}

/// Prints each word while the next one is computed.
Result<Answer> answer(const Question& question, const GenerateOptions& options) {
  if (!options.with.empty() && !question.wants("json"))
    return bad_input("--with", "", "--format json", question.format);
  Output output = Output::to_standard_output();
  const ProgressReport report(question.wants("text") && prints_on_terminal() ? "" : "generate");
  for (std::size_t i = 0; i < question.asked.requests.size(); ++i) {
    if (i > 0 && question.wants("text")) TRY(print("\n"));
    TRY(generate(question.asked.requests[i], question, options, output));
  }
  TRY(output.commit());
  return Answer(Done{});
}

ParsedCommand add_generate(Parser& parser, const Frontend&) {
  const QuestionCommand command(parser);
  const auto options = std::make_shared<GenerateOptions>();
  parser.option("--count", options->count, "Words, 10 by default", "N").within(1, 16384);
  parser.option("--temperature", options->sampling.temperature,
                "0 (default): always the most probable word; 1: as probable as the model says", "T");
  parser.option("--sampling-seed", options->sampling.seed, "Which words are drawn, 0 by default", "N");
  command.take_format({"text", "json"}, "text (default): step, word, probability; or json");
  parser.option("--with", options->with, "attentions: with json, how each step attended").list();
  return command.answers(
      SentencesAsked::all, [options](const Question& question) { return answer(question, *options); },
      [options] { return check(*options); });
}

}  // namespace

const NamedCommand kGenerate{"generate", "Lets a decoder write on, token by token", R"(
headlight generate shipped:decoder --text 我请李雷 --count 5
headlight generate shipped:translator --target I --temperature 0.8 --sampling-seed 3 --format json)",
                             add_generate};

}  // namespace headlight
