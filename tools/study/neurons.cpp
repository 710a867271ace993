#include "explain/patch/neurons.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "base/formatted.h"
#include "cli/frame/question_command.h"
#include "cli/options/print.h"
#include "study/patch_question.h"

namespace headlight {
namespace {

constexpr std::size_t kUnasked = 10;  // neurons that are listed where none are named
constexpr Index kWordsAround = 8;     // of a token, for people

struct NeuronOptions {
  std::vector<std::string> layers, neurons;
  Index top = 5;
};

/// An activation, and the token where it is.
struct Firing {
  float value = 0;
  Index sentence = 0, token = 0;
};

/// Over all tokens of all sentences but padding.
struct NeuronRow {
  HeadRef neuron = {};
  double sum = 0;
  Index tokens = 0;
  std::vector<Firing> top = {};  // the largest first, of equal ones the first

  double mean() const { return sum / static_cast<double>(tokens); }
  void take(const Firing& one, std::size_t most) {
    sum += static_cast<double>(one.value), ++tokens;
    if (top.size() == most && !(one.value > top.back().value)) return;
    if (top.size() == most) top.pop_back();
    top.insert(std::ranges::upper_bound(top, one.value, std::ranges::greater{}, &Firing::value), one);
  }
};

using NeuronRows = std::vector<NeuronRow>;
using Traces = std::vector<std::shared_ptr<const Trace>>;

/// Those that are wanted, in order. Errors: what is not there.
Result<NeuronRows> wanted_neurons(const Trace& trace, const NeuronOptions& options) {
  std::vector<Index> layers;
  std::vector<LayerHeads> chosen;
  TRY(read_places(options.layers, "--at-neurons", options.neurons, Stack::self, layers, chosen));
  NeuronRows rows;
  for (const Stack stack : {Stack::encoder, Stack::self}) {
    if (!trace.has(stack)) continue;
    for (const Index layer : layers) TRY(check_within("--at-layers", "", layer, trace.num_layers(stack)));
    for (Index layer = 0; layer < trace.num_layers(stack); ++layer)
      for (Index neuron = 0; neuron < num_neurons(trace, stack, layer); ++neuron)
        if (const HeadRef one{layer, neuron, stack}; is_chosen(one, layers, chosen)) rows.push_back({one});
  }
  for (const LayerHeads& one : chosen)
    if (std::ranges::none_of(rows, [&](const NeuronRow& row) { return is_chosen(row.neuron, {}, {one}); }))
      return bad_input("--at-neurons", "", "neurons of the model's feed-forwards",
                       std::to_string(one.layer) + "." + (one.head ? std::to_string(*one.head) : "*"));
  if (rows.empty()) return bad_input("neurons", "", "a model with feed-forwards without experts", "none");
  return rows;
}

/// One sentence more.
void take_sentence(const Trace& trace, Index sentence, std::size_t most, NeuronRows& rows) {
  std::optional<HeadRef> layer;
  Matrix activations;
  for (NeuronRow& row : rows) {
    const HeadRef of{row.neuron.layer, 0, row.neuron.stack};
    if (layer != of) activations = neuron_activations(trace, of.stack, of.layer), layer = of;
    const Tokens& tokens = trace.query_tokens(of.stack);
    for (Index token = 0; token < activations.rows(); ++token)
      if (!tokens.tokens[static_cast<std::size_t>(token)].pad)
        row.take({activations(token, row.neuron.head), sentence, token}, most);
  }
}

const Tokens& tokens_of(const Traces& traces, const NeuronRow& row, const Firing& one) {
  return traces[static_cast<std::size_t>(one.sentence)]->query_tokens(row.neuron.stack);
}

std::string token_text(const Traces& traces, const NeuronRow& row, const Firing& one) {
  return tokens_of(traces, row, one).tokens[static_cast<std::size_t>(one.token)].text;
}

/// The words around a token, itself in brackets; of a picture the token alone.
std::string surroundings(const Tokens& tokens, Index at) {
  if (tokens.picture) return tokens.tokens[static_cast<std::size_t>(at)].text;
  std::string text;
  for (Index i = std::max<Index>(0, at - kWordsAround);
       i < std::min<Index>(std::ssize(tokens.tokens), at + kWordsAround); ++i) {
    const std::string word = word_in_table(tokens.tokens[static_cast<std::size_t>(i)].text);
    text += i == at ? "[" + word + "]" : word;
  }
  return text;
}

std::string text_of(const Traces& traces, const NeuronRows& rows) {
  std::string text;
  for (const NeuronRow& row : rows) {
    const HeadRef& at = row.neuron;
    text += stack_prefix(at.stack) + "L" + std::to_string(at.layer) + "·N" + std::to_string(at.head) +
            formatted(": mean %.4f of ", row.mean()) + counted(row.tokens, "token") + "\n";
    std::vector<std::vector<std::string>> lines;
    for (const Firing& one : row.top)
      lines.push_back({"  " + formatted("%.4f", static_cast<double>(one.value)),
                       "sentence " + std::to_string(one.sentence) + ", token " + std::to_string(one.token),
                       surroundings(tokens_of(traces, row, one), one.token)});
    text += aligned_text(lines);
  }
  return text;
}

Table table_of(const Traces& traces, const NeuronRows& rows) {
  Table table{{"stack", "layer", "neuron", "mean", "activation", "sentence", "token", "text"}};
  for (const NeuronRow& row : rows)
    for (const Firing& one : row.top)
      table.rows.push_back({stack_name(row.neuron.stack), row.neuron.layer, row.neuron.head, row.mean(), one.value,
                            one.sentence, one.token, token_text(traces, row, one)});
  return table;
}

Value json_of(const Traces& traces, const NeuronRows& rows) {
  const auto neuron = [&](const NeuronRow& row) {
    const auto firing = [&](const Firing& one) {
      return json_object({{"activation", one.value},
                          {"sentence", one.sentence},
                          {"token", one.token},
                          {"text", token_text(traces, row, one)}});
    };
    return json_object({{"stack", stack_name(row.neuron.stack)},
                        {"layer", row.neuron.layer},
                        {"neuron", row.neuron.head},
                        {"mean", row.mean()},
                        {"top", json_list(row.top, firing)}});
  };
  return json_object({{"sentences", traces.size()}, {"neurons", json_list(rows, neuron, ",\n")}});
}

/// (neurons, 2), (neurons), and (neurons, top, 3): activation, sentence, token.
Arrays arrays_of(const NeuronRows& rows) {
  std::vector<float> places, means, top;
  for (const NeuronRow& row : rows) {
    for (const Index number : {row.neuron.layer, row.neuron.head}) places.push_back(static_cast<float>(number));
    means.push_back(static_cast<float>(row.mean()));
    for (const Firing& one : row.top)
      for (const float number : {one.value, static_cast<float>(one.sentence), static_cast<float>(one.token)})
        top.push_back(number);
  }
  const Index count = std::ssize(rows), firings = std::ssize(rows.front().top);
  Arrays arrays{array_of("neurons", {count, 2}, places), array_of("mean", {count}, means)};
  if (std::ssize(top) == count * firings * 3) arrays.push_back(array_of("top", {count, firings, 3}, top));
  return arrays;
}

Result<Answer> answer(const Question& question, const NeuronOptions& options, const QuestionCommand& command) {
  Traces traces;
  NeuronRows rows;
  Progress progress;
  const ProgressReport report("neurons", &progress);
  for (const Request& request : question.asked.requests) {
    traces.push_back(TRY(command.trace_of(request, question.warnings)));
    if (rows.empty()) rows = TRY(wanted_neurons(*traces.back(), options));
    take_sentence(*traces.back(), std::ssize(traces) - 1, static_cast<std::size_t>(options.top), rows);
    progress.done = static_cast<float>(traces.size()) / static_cast<float>(question.asked.requests.size());
  }
  std::erase_if(rows, [](const NeuronRow& row) { return row.top.empty(); });
  if (rows.empty()) return bad_input("neurons", "tokens", "at least one that is not padding", "none");
  if (options.layers.empty() && options.neurons.empty()) {
    std::ranges::stable_sort(rows, std::ranges::greater{}, [](const NeuronRow& row) { return row.top.front().value; });
    rows.resize(std::min(rows.size(), kUnasked));
  }
  if (question.wants("csv")) return Answer(table_of(traces, rows));
  if (question.wants("json")) return Answer(json_of(traces, rows));
  return question.wants("npz") ? Answer(arrays_of(rows)) : Answer(text_of(traces, rows));
}

ParsedCommand add_neurons(Parser& parser, const Frontend&) {
  const QuestionCommand command(parser);
  const auto options = std::make_shared<NeuronOptions>();
  parser
      .option("--at-neurons", options->neurons,
              "These neurons, LAYER.NUMBER or LAYER.*; default: the ten that are most active", "NEURONS")
      .list();
  parser.option("--at-layers", options->layers, "All neurons of these layers", "LAYERS").list();
  parser.option("--top", options->top, "So many tokens of each neuron, 5 by default", "K").within(1, 1000);
  command.take_format({"text", "csv", "json", "npz"}, "text (default), csv, json or npz");
  return command.answers(SentencesAsked::all,
                         [options, command](const Question& question) { return answer(question, *options, command); });
}

}  // namespace

extern const NamedCommand kNeurons{"neurons", "Where the neurons of a model are most active in many sentences", R"(
headlight neurons CHECKPOINT --text - <sentences.txt
headlight neurons CHECKPOINT --text - --at-neurons 3.17,4.* --top 20 --format csv <sentences.txt
A neuron is one of the hidden activations of a feed-forward, after its function and its gate. What one does to an
answer: headlight patch --at neurons.)",
                                   add_neurons};

}  // namespace headlight
