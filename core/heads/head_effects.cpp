#include "heads/head_effects.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

#include "base/parallel.h"
#include "heads/head_measures.h"
#include "math/output.h"
#include "model/head_text.h"

namespace headlight {
namespace {

constexpr int kMostAtOnce = 16;                    // passes side by side
constexpr double kMostBytes = 1024.0 * 1048576.0;  // of their answers together

/// The logarithms of softmax(logits): as finite as the logits are.
std::vector<double> log_probabilities(const Matrix& logits) {
  const double largest = static_cast<double>(logits.maxCoeff());
  double sum = 0;
  for (Index i = 0; i < logits.size(); ++i) sum += std::exp(static_cast<double>(logits.data()[i]) - largest);
  const double normalizer = largest + std::log(sum);
  std::vector<double> result;
  for (Index i = 0; i < logits.size(); ++i) result.push_back(static_cast<double>(logits.data()[i]) - normalizer);
  return result;
}

/// The parts of the answer before the change that are compared.
struct Before {
  const Trace& trace;
  std::vector<Index> places;               // empty: no output layer
  std::vector<std::vector<double>> words;  // log-probabilities, one list a position
};

Before before_of(const Trace& trace) {
  Before before{.trace = trace, .places = {}, .words = {}};
  if (trace.logits.size() == 0) return before;
  before.places = asked_places(trace);
  for (const Index place : before.places) before.words.push_back(log_probabilities(logit_rows(trace, place, 1)));
  return before;
}

void compare_words(const Before& before, const Trace& after, HeadEffect& effect) {
  double divergence = 0, top = 0;
  for (std::size_t i = 0; i < before.places.size(); ++i) {
    const std::vector<double>& was = before.words[i];
    const std::vector<double> is = log_probabilities(logit_rows(after, before.places[i], 1));
    double sum = 0;
    for (std::size_t word = 0; word < was.size(); ++word) sum += std::exp(was[word]) * (was[word] - is[word]);
    divergence += std::max(0.0, sum);  // what is below 0 is rounding
    const auto best = static_cast<std::size_t>(std::max_element(was.begin(), was.end()) - was.begin());
    top += std::exp(is[best]) - std::exp(was[best]);
  }
  const auto count = static_cast<double>(before.places.size());
  effect.change = static_cast<float>(divergence / count);
  effect.top_word = static_cast<float>(top / count);
}

float hidden_change(const Trace& before, const Trace& after) {
  const auto& tokens = before.query_tokens().tokens;
  double difference = 0, size = 0;
  for (Index query = 0; query < before.last_hidden_state().rows(); ++query) {
    if (tokens[static_cast<std::size_t>(query)].pad) continue;
    const auto was = before.last_hidden_state().row(query).cast<double>().eval();
    difference += (after.last_hidden_state().row(query).cast<double>() - was).squaredNorm();
    size += was.squaredNorm();
  }
  return size > 0 ? static_cast<float>(std::sqrt(difference / size)) : 0.0f;
}

/// What one answer keeps, roughly: queries, keys, values, z and hidden states, and the thumbnails.
double bytes_of_answer(const Trace& trace) {
  double floats = 0;
  for (const Stack stack : kStacks)
    if (trace.has(stack))
      floats += static_cast<double>(trace.num_layers(stack)) *
                (5.0 * static_cast<double>(trace.queries(stack) * trace.request.config.d_model) +
                 static_cast<double>(trace.num_heads(stack) * std::min(trace.queries(stack), kThumbnail) *
                                     std::min(trace.keys(stack), kThumbnail)));
  return 4 * floats;
}

/// How many passes go side by side on so many threads (0: one for each processor).
int at_once(int threads) {
  const int all = threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  return std::min(all, kMostAtOnce);
}

}  // namespace

std::vector<Index> asked_places(const Trace& trace) {
  std::vector<Index> places;
  const auto& tokens = trace.query_tokens().tokens;
  if (trace.request.config.arch != Arch::encoder) return {trace.answering};
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (is_masked(tokens[i])) places.push_back(static_cast<Index>(i));
  return places;
}

Result<std::optional<std::vector<HeadEffect>>> head_effects(const Trace& trace, Progress& progress, int threads) {
  const std::vector<HeadRef> heads = heads_of(trace);
  if (trace.attention(heads.front().stack, 0).patterns)
    return bad_input("effect", "", "a model, in which heads can be switched off", "attention alone",
                     ErrorCode::attention_alone);
  const float begin = progress.begin, share = progress.share;
  const Before before = before_of(trace);
  const bool side_by_side = bytes_of_answer(trace) * kMostAtOnce <= kMostBytes;
  std::vector<HeadEffect> effects(heads.size());
  std::vector<std::optional<Error>> errors(heads.size());
  std::atomic<bool> stopped = false;
  progress.done = begin;
  progress.share = 0;  // the passes are counted here
  const auto without = [&](Index i) {
    const auto at = static_cast<std::size_t>(i);
    effects[at].head = heads[at];
    Request request = trace.request;
    switch_off(request.edits, heads[at], true);
    const auto after = forward(request, progress, &trace, side_by_side ? 1 : threads);
    if (!after) return void(errors[at] = inside("head " + head_label(heads[at]) + " off", after.error()));
    if (!*after) return void(stopped = true);
    if (before.places.empty()) effects[at].change = hidden_change(trace, **after);
    else compare_words(before, **after, effects[at]);
    progress.advance(share / static_cast<float>(heads.size()));
  };
  // Side by side short passes wait for each other less than the parts of one.
  parallel_for(static_cast<Index>(heads.size()), Threads(side_by_side ? at_once(threads) : 1, &progress.stop), without);
  progress.share = share;
  if (stopped || progress.stop) return std::optional<std::vector<HeadEffect>>{};
  for (const auto& error : errors)
    if (error) return *error;
  progress.done = begin + share;
  return std::optional(std::move(effects));
}

}  // namespace headlight
