#include "explain/lens.h"

#include "base/formatted.h"
#include "base/result.h"
#include "cli/frame/study.h"
#include "write/json.h"

namespace headlight {
namespace {

constexpr Index kMostTerms = 20;  // of an attribution for people

struct LensOptions {
  std::string token = {};
  MetricOptions metric = {};
  Index top = 5;
  StudyOptions study = {};
};

/// `right` is split, by default the most probable word; the logit of `wrong` is subtracted. Those of a pair replace the
/// words of the options.
Result<MetricWanted> wanted_of(const LensOptions& options, const Model& model, std::optional<Index> right,
                               std::optional<Index> wrong) {
  if (!options.metric.answers.empty() && !options.token.empty())
    return bad_input("--answers", "", "one word or two, without --token", "--token");
  if (options.token.empty() || right) return options.metric.wanted(model, right, wrong);
  const auto row = TRY(answer_row(model, "--token", options.token));
  return options.metric.wanted(model, row, wrong);
}

/// The answer for one sentence.
struct Lens {
  std::string token;  // the words follow it or, where it is masked, replace it
  Index query = 0;
  std::vector<std::vector<Candidate>> layers = {};  // the most probable words after each
  Candidate word = {};                              // that is split
  std::optional<Candidate> other = {};              // its logit is subtracted
  std::optional<LogitSplit> split = {};             // nothing where the output layer is not linear
  float softcap = 0;                                // the split is of the logits before it; 0: none
  std::string metric = {};                          // of --metric, in words …
  std::vector<double> measured = {};                // … and what it is after each layer
};

/// All but the words after each layer. `right` and `wrong` are those of a pair.
Result<Lens> lens_of(const Trace& trace, const LensOptions& options, std::optional<Index> right,
                     std::optional<Index> wrong, int threads, std::vector<Error>& warnings) {
  TRY(check_has_logits(trace, "lens"));
  Lens lens{.token = {}, .query = options.metric.query.value_or(trace.answering)};
  if (options.metric.query) TRY(check_answers("--query", lens.query, trace));
  lens.token = trace.query_tokens().tokens[static_cast<std::size_t>(lens.query)].text;
  const auto rows = TRY(wanted_of(options, *trace.model, right, wrong));
  const Vector last = probabilities(logit_rows(trace, lens.query, 1, Threads(threads)).row(0));
  lens.word = rows.right ? candidate(*trace.model, last, *rows.right) : most_probable(*trace.model, last, 1).front();
  if (rows.wrong) lens.other = candidate(*trace.model, last, *rows.wrong);
  if (rows.metric) {
    const auto metric = TRY(metric_of(trace, trace, rows));
    lens.metric = metric_text(*trace.model, metric);
    for (const Vector& logits : lens_logits(trace, lens.query, threads)) lens.measured.push_back(metric.of(logits));
  }
  lens.softcap = trace.model->output->softcap;
  auto split = split_logit(trace, lens.query, lens.word.row, rows.wrong);
  if (split) lens.split = std::move(*split);
  else warnings.push_back(split.error());
  return lens;
}

std::string split_text(const Lens& lens) {
  return "logit of " + lens.word.text + (lens.other ? " minus that of " + lens.other->text : std::string()) +
         (lens.softcap > 0 ? ", before the soft cap of the logits" : "");
}

/// What a term is of, in tables: a difference or a probability beside it is of the capped logits.
const char* term_kind(const Lens& lens) { return lens.softcap > 0 ? "uncapped_logit" : "logit"; }

std::string lens_text(const Lens& lens, const Trace& trace) {
  const bool is_encoder = trace.request.config.arch == Arch::encoder;
  std::string text = classifies(*trace.model)
                         ? "taken for:\n"
                         : (is_encoder ? "in place of token " : "after token ") + std::to_string(lens.query) + ", " +
                               word_in_table(lens.token) + ":\n";
  for (std::size_t layer = 0; layer < lens.layers.size(); ++layer) {
    text += "layer " + std::to_string(layer);
    if (!lens.metric.empty()) text += formatted("  %.6f |", lens.measured[layer]);
    for (const Candidate& word : lens.layers[layer])
      text += formatted("  %.6f ", static_cast<double>(word.probability)) + word_in_table(word.text);
    text += "\n";
  }
  if (!lens.metric.empty()) text += "before the line: the " + word_in_table(lens.metric) + "\n";
  if (!lens.split) return text;
  text += word_in_table(split_text(lens)) + formatted(": %.6f, the sum of %s: %.6f\n", lens.split->logit,
                                                      counted(std::ssize(lens.split->terms), "term").c_str(),
                                                      lens.split->sum);
  std::vector<NamedTerm> terms;
  for (const LogitTerm& term : lens.split->terms) terms.push_back({writer_name(term.from), term.value});
  return text + largest_terms(std::move(terms), kMostTerms);
}

Value lens_json(const Lens& lens) {
  std::size_t layer = 0;
  const auto layer_json = [&](const std::vector<Candidate>& words) {
    Members members{{"layer", layer++}, {"top", Value::of_json(json_candidates(words))}};
    if (!lens.metric.empty()) members.emplace_back("metric", lens.measured[layer - 1]);
    return json_object(members);
  };
  const auto term_json = [](const LogitTerm& term) {
    return json_object({{"from", writer_name(term.from)}, {"logit", term.value}});
  };
  std::string word = json_candidates({lens.word});
  Members members{{"query", lens.query},
                  {"token", lens.token},
                  {"layers", json_list(lens.layers, layer_json)},
                  {"word", Value::of_json(word.substr(1, word.size() - 2))},  // without the list's brackets
                  {"attribution", json_list(lens.split ? lens.split->terms : std::vector<LogitTerm>(), term_json)}};
  if (!lens.metric.empty()) members.emplace_back("metric", lens.metric);
  if (lens.split) members.insert(members.end(), {{"logit", lens.split->logit}, {"sum", lens.split->sum}});
  if (lens.split && lens.softcap > 0) members.emplace_back("softcap", lens.softcap);
  if (lens.other) {
    const std::string other = json_candidates({*lens.other});
    members.emplace_back("other", Value::of_json(other.substr(1, other.size() - 2)));
  }
  return json_object(members);
}

Table lens_table(const Lens& lens) {
  Table table{{"what", "layer", "rank", "text", "value"}};
  for (std::size_t layer = 0; layer < lens.layers.size(); ++layer)
    for (std::size_t rank = 0; rank < lens.layers[layer].size(); ++rank)
      table.rows.push_back(
          {"probability", layer, rank, lens.layers[layer][rank].text, lens.layers[layer][rank].probability});
  for (std::size_t layer = 0; layer < lens.measured.size(); ++layer)
    table.rows.push_back({"metric", layer, {}, lens.metric, lens.measured[layer]});
  if (lens.split)
    for (const LogitTerm& term : lens.split->terms)
      table.rows.push_back({term_kind(lens), {}, {}, writer_name(term.from), term.value});
  return table;
}

Arrays lens_arrays(const Lens& lens) {
  std::vector<float> ids, chances, logits;
  for (const auto& words : lens.layers)
    for (const Candidate& word : words) {
      ids.push_back(static_cast<float>(word.id));
      chances.push_back(word.probability);
    }
  const std::vector<Index> shape{static_cast<Index>(lens.layers.size()),
                                 static_cast<Index>(lens.layers.front().size())};
  Arrays arrays;
  if (!ids.empty()) arrays = {array_of("ids", shape, ids), array_of("probabilities", shape, chances)};
  arrays.push_back(array_of_texts("token", {lens.token}));
  arrays.push_back(array_of_texts("metric", {lens.metric.empty() ? split_text(lens) : lens.metric}));
  if (!lens.metric.empty())
    arrays.push_back(
        array_of("measured", {shape.front()}, std::vector<float>(lens.measured.begin(), lens.measured.end())));
  if (!lens.split) return arrays;
  std::vector<Writer> writers;
  for (const LogitTerm& term : lens.split->terms) {
    logits.push_back(static_cast<float>(term.value));
    writers.push_back(term.from);
  }
  arrays.push_back(array_of("logit", {1}, {static_cast<float>(lens.split->logit)}));
  arrays.push_back(array_of("attribution", {static_cast<Index>(logits.size())}, logits));
  arrays.push_back(array_of_writers("writers", writers));
  return arrays;
}

/// Of one sentence: after each layer the probability of the right word and, with a wrong one, how much larger its logit
/// is; and what each writer adds to its logit, or to the difference.
Result<std::vector<StudyCell>> cells_of(const StudyTraces& traces, const LensOptions& options) {
  const Trace& trace = *traces.clean;
  std::vector<Error> warnings;
  const auto lens = TRY(lens_of(trace, options, traces.right, traces.wrong, traces.threads, warnings));
  std::vector<StudyCell> cells;
  const std::vector<Vector> layers = lens_logits(trace, lens.query, traces.threads);
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    const Vector& logits = layers[layer];
    const std::string at = std::to_string(layer);
    cells.push_back({{"probability", at, ""}, static_cast<double>(probabilities(logits)(lens.word.row))});
    if (lens.other)
      cells.push_back({{"difference", at, ""},
                       static_cast<double>(logits(lens.word.row)) - static_cast<double>(logits(lens.other->row))});
  }
  for (std::size_t layer = 0; layer < lens.measured.size(); ++layer)
    cells.push_back({{std::string(name(*options.metric.metric)), std::to_string(layer), ""}, lens.measured[layer]});
  if (lens.split)
    for (const LogitTerm& term : lens.split->terms)
      cells.push_back({{term_kind(lens), "", writer_name(term.from)}, term.value});
  return cells;
}

Result<Answer> answer(const Question& question, const LensOptions& options) {
  auto lens = TRY(lens_of(*question.trace, options, {}, {}, question.threads, question.warnings));
  lens.layers = lens_words(*question.trace, lens.query, options.top, question.threads);
  if (question.wants("json")) return Answer(lens_json(lens));
  if (question.wants("csv")) return Answer(lens_table(lens));
  if (question.wants("npz")) return Answer(lens_arrays(lens));
  return Answer(lens_text(lens, *question.trace));
}

ParsedCommand add_lens(Parser& parser, const Frontend&) {
  const QuestionCommand command(parser);
  const auto options = std::make_shared<LensOptions>();
  parser.option("--token", options->token, "The word that is split, or its id; as --answers with one word");
  parser.option("--top", options->top, "Words after each layer, 5 by default", "K").within(0, 1e6);
  parser.section("What is split, and measured after each layer");
  add_metric_options(parser, options->metric);
  if (const StudyWays* ways = study_ways()) ways->add_options(parser, options->study, "");
  command.take_format({"text", "csv", "json", "npz"}, "text (default), csv, json or npz");
  const ParsedCommand each =
      command.answers(SentencesAsked::each, [options](const Question& question) { return answer(question, *options); });
  return [options, command, each]() -> Result<int> {
    if (!options->study.given()) return each();
    return study_ways()->run(command, options->study,
                             {.columns = {"what", "layer", "from"},
                              .title = "lens: the right word after each layer, and what adds to its logit",
                              .options = "lens|" + options->metric.text() + "|" + options->token,
                              .with_corrupt = false,
                              .answer = [&](const StudyTraces& traces) { return cells_of(traces, *options); }});
  };
}

}  // namespace

const NamedCommand kLens{"lens", "The guess after each layer, and what each head adds to the score of a word", R"(
headlight lens shipped:decoder --text 我请李雷帮 --top 3
headlight lens shipped:decoder --text 我请李雷帮 --token 我 --format json
Words: the final norm and the output layer, applied to the residual stream after each layer (logit lens).
Terms: what each writer of that stream adds to the word's logit, the final norm frozen; they sum to it.
With --format json: {"query", "token", "layers": [{"layer", "top"}], "word", "attribution": [{"from", "logit"}],
"logit", "sum"}, a line a sentence.)",
                         add_lens};

}  // namespace headlight
