#include <memory>

#include "base/formatted.h"
#include "base/within.h"
#include "cli/commands.h"
#include "cli/options/format_option.h"
#include "cli/options/request_options.h"
#include "cli/split_text.h"
#include "explain/lens.h"
#include "math/forward.h"
#include "write/csv.h"
#include "write/json.h"

namespace headlight {
namespace {

constexpr Index kMostTerms = 20;  // of an attribution for people

struct LensArguments {
  explicit LensArguments(Parser& command) : request(command) {}
  RequestOptions request;
  std::optional<Index> query;
  std::string token;
  Index top = 5;
  std::string format = "text";
};

/// The answer for one sentence.
struct LensAnswer {
  std::shared_ptr<const Trace> trace;
  Index query = 0;
  std::vector<std::vector<Candidate>> layers;  // the most probable words after each
  Candidate word = {};                         // that is split
  std::optional<LogitSplit> split = {};        // nothing where the output layer is not linear
};

Result<LensAnswer> lens_of(const Request& request, const LensArguments& options, std::vector<std::string>& warnings) {
  Progress progress;
  const auto computed = forward(request, progress, nullptr, options.request.threads());
  if (!computed) return computed.error();
  const Trace& trace = **computed;
  if (const auto valid = check_has_logits(trace, "lens"); !valid) return valid.error();
  LensAnswer answer{.trace = *computed, .query = options.query.value_or(trace.answering), .layers = {}};
  if (const auto valid = check_within("--query", "", answer.query, trace.queries()); !valid) return valid.error();
  const int threads = options.request.threads();
  answer.layers = lens_words(trace, answer.query, options.top, threads);
  const Vector last = probabilities(logit_rows(trace, answer.query, 1, Threads(threads)).row(0));
  if (options.token.empty()) {
    answer.word = most_probable(*trace.model, last, 1).front();
  } else {
    const auto row = find_word(*trace.model, options.token);
    if (!row) return bad_input("--token", "", "a word of the vocabulary, or its id", "'" + options.token + "'");
    answer.word = candidate(*trace.model, last, *row);
  }
  warnings.insert(warnings.end(), trace.warnings.begin(), trace.warnings.end());
  auto split = split_logit(trace, answer.query, answer.word.row);
  if (split) answer.split = std::move(*split);
  else warnings.push_back(split.error().message);
  return answer;
}

const std::string& token_text(const LensAnswer& answer) {
  return answer.trace->query_tokens().tokens[static_cast<std::size_t>(answer.query)].text;
}

std::string lens_text(const LensAnswer& answer) {
  const bool in_place = answer.trace->request.config.arch == Arch::encoder;
  std::string text = (in_place ? "in place of token " : "after token ") + std::to_string(answer.query) + ", " +
                     word_in_table(token_text(answer)) + ":\n";
  for (std::size_t layer = 0; layer < answer.layers.size(); ++layer) {
    text += "layer " + std::to_string(layer);
    for (const Candidate& word : answer.layers[layer])
      text += formatted("  %.6f ", static_cast<double>(word.probability)) + word_in_table(word.text);
    text += "\n";
  }
  if (!answer.split) return text;
  text += "logit of " + word_in_table(answer.word.text) +
          formatted(": %.6f, the sum of %zu terms: %.6f\n", answer.split->logit, answer.split->terms.size(),
                    answer.split->sum);
  std::vector<NamedTerm> terms;
  for (const LogitTerm& term : answer.split->terms) terms.push_back({writer_name(term.from), term.value});
  return text + largest_terms(std::move(terms), kMostTerms);
}

/// One object, one line.
std::string lens_json(const LensAnswer& answer) {
  std::string json =
      "{\"query\":" + std::to_string(answer.query) + ",\"token\":" + json_string(token_text(answer)) + ",\"layers\":[";
  for (std::size_t layer = 0; layer < answer.layers.size(); ++layer)
    json.append(layer > 0 ? "," : "")
        .append("{\"layer\":" + std::to_string(layer) + ",\"top\":" + json_candidates(answer.layers[layer]) + "}");
  json += "],\"word\":" + json_candidates({answer.word}).substr(1);
  json.back() = ',';  // in place of the list's bracket
  json += "\"attribution\":[";
  if (!answer.split) return json + "]}\n";
  for (const LogitTerm& term : answer.split->terms) {
    if (json.back() == '}') json += ',';
    json.append("{\"from\":").append(json_string(writer_name(term.from))).append(",\"logit\":");
    append_value(json, term.value);
    json += '}';
  }
  append_value(json += "],\"logit\":", answer.split->logit);
  append_value(json += ",\"sum\":", answer.split->sum);
  return json + "}\n";
}

std::string lens_csv(const LensAnswer& answer, const std::string& sentence) {
  std::string csv;
  for (std::size_t layer = 0; layer < answer.layers.size(); ++layer) {
    for (std::size_t rank = 0; rank < answer.layers[layer].size(); ++rank) {
      const Candidate& word = answer.layers[layer][rank];
      csv += "probability," + std::to_string(layer) + "," + std::to_string(rank) + "," + csv_field(word.text) + ",";
      append_value(csv, static_cast<double>(word.probability));
      csv += sentence + "\n";
    }
  }
  if (!answer.split) return csv;
  for (const LogitTerm& term : answer.split->terms) {
    append_value(csv += "logit,,," + writer_name(term.from) + ",", term.value);
    csv += sentence + "\n";
  }
  return csv;
}

std::vector<ArrayStream> lens_arrays(const LensAnswer& answer) {
  std::vector<float> ids, chances, logits;
  for (const auto& words : answer.layers) {
    for (const Candidate& word : words) {
      ids.push_back(static_cast<float>(word.id));
      chances.push_back(word.probability);
    }
  }
  const std::vector<Index> shape{static_cast<Index>(answer.layers.size()),
                                 static_cast<Index>(answer.layers.front().size())};
  std::vector<ArrayStream> arrays;
  if (!ids.empty()) arrays = {array_of("ids", shape, ids), array_of("probabilities", shape, chances)};
  if (!answer.split) return arrays;
  std::vector<Writer> writers;
  for (const LogitTerm& term : answer.split->terms) {
    logits.push_back(static_cast<float>(term.value));
    writers.push_back(term.from);
  }
  arrays.push_back(array_of("logit", {1}, {static_cast<float>(answer.split->logit)}));
  arrays.push_back(array_of("attribution", {static_cast<Index>(logits.size())}, logits));
  arrays.push_back(array_of_writers("writers", writers));
  return arrays;
}

Result<int> run_lens(const LensArguments& options) {
  const auto asked = options.request.ask();
  if (!asked) return asked.error();
  const bool several = asked->requests.size() > 1;
  const std::string header = "what,layer,rank,text,value";
  std::string text = options.format == "csv" ? header + (several ? ",sentence\n" : "\n") : "";
  std::vector<std::vector<ArrayStream>> arrays;
  std::vector<std::string> warnings = asked->start.warnings;
  for (std::size_t i = 0; i < asked->requests.size(); ++i) {
    const auto answer = lens_of(asked->requests[i], options, warnings);
    if (!answer) return answer.error();
    if (options.format == "json") text += lens_json(*answer);
    else if (options.format == "csv") text += lens_csv(*answer, several ? "," + std::to_string(i) : "");
    else if (options.format == "npz") arrays.push_back(lens_arrays(*answer));
    else text += (i > 0 ? "\n" : "") + lens_text(*answer);
  }
  const auto printed = options.format == "npz" ? print_npz(std::move(arrays)) : print(text);
  if (printed) print_warnings(warnings);
  return printed;
}

}  // namespace

ParsedCommand add_lens(Parser& program) {
  Parser command =
      program.command("lens", "The guess after each layer, and what each head adds to the score of a word");
  command.footer(
      "headlight lens shipped:decoder --text 我请李雷帮 --top 3\n"
      "headlight lens shipped:decoder --text 我请李雷帮 --token 我 --format json\n"
      "Words: the final norm and the output layer, applied to the residual stream after each layer (logit lens).\n"
      "Terms: what each writer of that stream adds to the word's logit, the final norm frozen; they sum to it.\n"
      "With --format json: {\"query\", \"token\", \"layers\": [{\"layer\", \"top\"}], \"word\", \"attribution\": "
      "[{\"from\", \"logit\"}],\n"
      "\"logit\", \"sum\"}, a line a sentence.");
  auto options = std::make_shared<LensArguments>(command);
  command.option("--query", options->query,
                 "The token whose stream is read, from 0; default: the last one, of an encoder the masked one", "N");
  command.option("--token", options->token, "The word that is split, or its id; default: the most probable one");
  command.option("--top", options->top, "Words after each layer, 5 by default", "K").within(0, 1000000);
  add_number_format(command, options->format);
  return [options] { return run_lens(*options); };
}

}  // namespace headlight
