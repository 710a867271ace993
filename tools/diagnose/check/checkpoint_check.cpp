#include "diagnose/check/checkpoint_check.h"

#include <algorithm>
#include <cmath>
#include <system_error>

#include "base/formatted.h"
#include "math/attention.h"
#include "read/array/npz.h"
#include "read/gguf/gguf_tokenizer.h"

namespace headlight {
namespace {

/// Of the entropy that a row can have: heads of trained models lie below, most of them far.
constexpr double kUniform = 0.98;
constexpr Index kSampleTokens = 24;
constexpr const char* kReference = "reference.npz";
constexpr std::size_t kMostReferenceBytes = std::size_t{1} << 30;  // opened unasked, so not as large as a tensors file

/// A weight is rarely the same everywhere once it was trained, or drawn.
bool is_constant(const Linear& linear) {
  if (linear.is_identity()) return false;
  const float first = weight_rows(linear, 0, 1)(0, 0);
  constexpr Index kRows = 64;
  for (Index row = 0; row < linear.outputs(); row += kRows)
    if ((weight_rows(linear, row, std::min(kRows, linear.outputs() - row)).array() != first).any()) return false;
  return linear.outputs() * linear.inputs() > 1;
}

bool is_fresh(const NormWeights& norm) {
  return (norm.scale.array() == 1.0f).all() && (norm.shift.size() == 0 || norm.shift.isZero(0));
}

/// The mean over its rows of a head's entropy, as a share of the largest that the mask allows (rows of three keys on).
std::optional<double> evenness(const Trace& trace, const HeadRef& head) {
  const Mask& mask = trace.mask_of(head);
  const Matrix weights = attention_rows(trace, head, 0, mask.queries());
  double sum = 0;
  Index rows = 0;
  for (Index query = 0; query < mask.queries(); ++query) {
    Index allowed = 0;
    double entropy = 0;
    for (Index key = 0; key < mask.keys(); ++key) {
      if (mask.allowed(query, key)) ++allowed;
      const double weight = weights(query, key);
      if (weight > 0) entropy -= weight * std::log(weight);
    }
    if (allowed < 3) continue;
    sum += entropy / std::log(static_cast<double>(allowed));
    ++rows;
  }
  return rows > 0 ? std::optional(sum / static_cast<double>(rows)) : std::nullopt;
}

std::string stack_word(const Trace& trace, Stack stack) {
  if (!trace.encoder) return {};
  return stack == Stack::self ? "decoder " : stack == Stack::encoder ? "encoder " : "cross-attention ";
}

class Checker {
 public:
  Checker(const std::filesystem::path& folder, std::shared_ptr<const Model> model, const std::vector<Error>& warnings,
          ClassRules rules, const AskedPicture* picture, Progress& progress)
      : folder_(folder),
        model_(std::move(model)),
        warnings_(warnings),
        rules_(rules),
        picture_(picture),
        progress_(progress) {}

  std::vector<Finding> check() {
    add_warnings();
    check_weights(*model_, model_->encoder ? "decoder " : "");
    if (model_->encoder) check_weights(*model_->encoder, "encoder ");
    check_norms();
    check_tying();
    check_vocabulary();
    check_answers();
    // Answers that agree are proof; what only looks like a mistake is then worth knowing and no more.
    if (agrees_with_reference(findings_))
      for (const std::size_t doubt : doubts_) findings_[doubt].severity = Severity::note;
    return std::move(findings_);
  }

 private:
  void add(Severity severity, std::string line, ErrorCode code) {
    findings_.emplace_back(severity, std::move(line), code);
  }
  void add(Severity severity, const Error& error) { findings_.emplace_back(severity, error); }

  /// A warning of what a wrongly loaded checkpoint looks like, and a rightly loaded one may.
  void add_doubt(std::string line, ErrorCode code) {
    doubts_.push_back(findings_.size());
    add(Severity::warning, std::move(line), code);
  }

  void add_warnings() {
    bool whole = true;
    for (const Error& warning : warnings_) {
      const bool expected = warning.code == ErrorCode::tensor_not_needed;
      add(expected ? Severity::note : Severity::warning, warning);
      whole = whole && expected;
    }
    if (whole) add(Severity::good, "tensors: none is missing, and none is unknown", ErrorCode::tensors_complete);
  }

  void check_weights(const StackWeights& stack, const std::string& name) {
    for (std::size_t layer = 0; layer < stack.blocks.size(); ++layer) {
      const BlockWeights& block = stack.blocks[layer];
      const std::string where = name + "layer " + std::to_string(layer) + " ";
      std::vector<std::pair<const char*, const Linear*>> weights = {
          {"gate", &block.gate}, {"up", &block.up}, {"down", &block.down}};
      const auto add_attention = [&](const AttentionWeights& attention) {
        weights.insert(weights.end(), {{"query", &attention.query},
                                       {"key", &attention.key},
                                       {"value", &attention.value},
                                       {"output", &attention.output}});
      };
      add_attention(block.self);
      if (block.cross) add_attention(*block.cross);
      if (block.experts) {
        weights.emplace_back("router", &block.experts->router);
        for (const Experts::Expert& expert : block.experts->all)
          weights.insert(
              weights.end(),
              {{"expert's gate", &expert.gate}, {"expert's up", &expert.up}, {"expert's down", &expert.down}});
      }
      for (const auto& [part, linear] : weights)
        if (is_constant(*linear))
          add_doubt(where + part + ": expected weights, found the same number everywhere: untouched?",
                    ErrorCode::weights_constant);
    }
  }

  void check_norms() {
    std::size_t norms = 0, fresh = 0;
    for (const StackWeights* stack :
         {static_cast<const StackWeights*>(model_.get()), model_->encoder ? &*model_->encoder : nullptr}) {
      if (stack == nullptr) continue;
      for (const BlockWeights& block : stack->blocks)
        for (const NormWeights* norm : {&block.attention_norm, block.has_ffn() ? &block.ffn_norm : nullptr,
                                        block.attention_after_norm ? &*block.attention_after_norm : nullptr,
                                        block.ffn_after_norm ? &*block.ffn_after_norm : nullptr}) {
          if (norm == nullptr || norm->is_identity()) continue;
          ++norms, fresh += is_fresh(*norm);
        }
    }
    if (norms > 0 && norms == fresh)
      add_doubt(
          "norms: expected trained ones, found 1 and 0 in all " + std::to_string(norms) + ", as before any training",
          ErrorCode::norms_untrained);
  }

  void check_tying() {
    if (!model_->output || !model_->embeddings.tokens) return;
    const auto &words = model_->embeddings.tokens, &output = model_->output->weight;
    if (words == output) {
      add(Severity::good, "output layer: the token vectors themselves, as config.json says", ErrorCode::output_tied);
    } else if (same_weights(*words, *output)) {
      add(Severity::note, "output layer: config.json says it is not the token vectors, but the numbers are the same",
          ErrorCode::output_equal);
    }
  }

  void check_vocabulary() {
    const StackWeights& reader = model_->encoder ? *model_->encoder : *model_;
    if (!reader.embeddings.tokens) return;
    const auto file = tokenizer_at(folder_, rules_);
    if (!file) {
      add(file.error().code == ErrorCode::no_tokenizer ? Severity::note : Severity::warning, file.error());
      return;
    }
    const auto vocabulary = vocabulary_of(*file->tokenizer);
    const std::vector<std::string>& words = vocabulary->words;
    const auto last = std::find_if(words.rbegin(), words.rend(), [](const std::string& word) { return !word.empty(); });
    const Index ids = words.rend() - last, rows = reader.embeddings.tokens->outputs();
    const std::string where = file->file.filename().string() + ": ids";
    if (ids > rows)
      add(Severity::error, bad_input(where, "", "less than the " + std::to_string(rows) + " token vectors",
                                     std::to_string(ids - 1) + ", which has none", ErrorCode::ids_without_vectors));
    else add(Severity::good, where + ": all " + std::to_string(ids) + " have a vector", ErrorCode::ids_have_vectors);
    for (const std::string& rule : file->rules) add(Severity::note, "ids: " + rule, ErrorCode::ids_have_vectors);
  }

  void check_answers() {
    const auto path = folder_ / kReference;
    std::error_code error;
    std::optional<ArrayFile> reference;
    std::optional<Request> request;
    if (std::filesystem::exists(path, error)) {
      auto file = read_npz(path, kMostReferenceBytes);
      if (!file) return add(Severity::error, file.error());
      auto asked =
          request_of(path.string(), *file, model_, picture_ && !picture_->is_example ? &picture_->tokens : nullptr);
      if (!asked) return add(Severity::error, asked.error());
      reference = std::move(*file);
      request = std::move(*asked);
    } else {
      add(Severity::note, std::string(kReference) + ": not beside the model, so no answers were compared",
          ErrorCode::no_reference);
      request = sample();
    }
    if (!request) return;
    const auto answer = forward(*request, progress_);
    if (!answer) return add(Severity::error, answer.error());
    if (!*answer) return findings_.clear();
    if (reference)
      for (Finding& finding : compare_answers(path.filename().string(), *reference, **answer))
        findings_.push_back(std::move(finding));
    if (reference && gravest(findings_) == Severity::error)
      if (auto mistake = diagnose_answers(path.filename().string(), *reference, **answer))
        findings_.push_back(std::move(*mistake));
    check_uniformity(**answer);
  }

  /// Ids from all over the vocabulary, or the picture.
  std::optional<Request> sample() const {
    if (picture_) return request_of_picture(model_, picture_->tokens);
    const auto spread = [](const StackWeights& stack, Index count) {
      const Index rows = stack.embeddings.tokens->outputs();
      std::vector<std::int64_t> ids;
      for (Index i = 0; i < count; ++i) ids.push_back(rows * (2 * i + 1) / (2 * count));
      return ids;
    };
    const StackWeights& reader = model_->encoder ? *model_->encoder : *model_;
    if (!reader.embeddings.tokens || !model_->embeddings.tokens) return std::nullopt;
    Index count = kSampleTokens;
    for (const StackWeights* stack : {&reader, static_cast<const StackWeights*>(model_.get())}) {
      if (stack->longest) count = std::min(count, stack->longest->tokens);
      const Embeddings& embeddings = stack->embeddings;
      if (embeddings.positions.size() > 0)
        count = std::min(count, embeddings.positions.rows() - embeddings.first_position);
    }
    return request_of_ids(model_, spread(reader, count),
                          model_->encoder ? spread(*model_, count) : std::vector<std::int64_t>{}, {});
  }

  void check_uniformity(const Trace& trace) {
    Index heads = 0, even = 0, all = 0;
    std::string even_layer;  // the first of which every head is
    for (const Stack stack : kStacks) {
      if (!trace.has(stack)) continue;
      for (Index layer = 0; layer < trace.num_layers(stack); ++layer) {
        Index measured = 0, even_here = 0;
        for (Index head = 0; head < trace.num_heads(stack); ++head) {
          const auto share = evenness(trace, {.layer = layer, .head = head, .stack = stack});
          measured += share.has_value();
          even_here += share.value_or(0) > kUniform;
        }
        heads += measured, even += even_here, all += trace.num_heads(stack);
        if (measured > 1 && even_here == measured && even_layer.empty())
          even_layer = stack_word(trace, stack) + "layer " + std::to_string(layer);
      }
    }
    if (heads == 0) return;
    const std::string count =
        std::to_string(even) + " of " + counted(heads, "head") + " almost uniform" +
        (all > heads ? " (" + std::to_string(all - heads) + " more see no three words at once)" : "");
    if (even == heads)
      add_doubt(
          "attention: expected heads that choose, found " + count + ": a model before its training, or loaded wrong",
          ErrorCode::heads_uniform);
    else if (!even_layer.empty())
      add_doubt("attention: expected heads that choose, found " + count + ", all those of " + even_layer +
                    " among them: weights that were never filled?",
                ErrorCode::heads_uniform);
    else add(Severity::good, "attention: " + count, ErrorCode::heads_choose);
  }

  const std::filesystem::path& folder_;
  const std::shared_ptr<const Model> model_;
  const std::vector<Error>& warnings_;
  ClassRules rules_;
  const AskedPicture* picture_;
  Progress& progress_;
  std::vector<Finding> findings_;
  std::vector<std::size_t> doubts_;  // their indices among the findings
};

}  // namespace

std::vector<Finding> check_checkpoint(const std::filesystem::path& folder, Progress& progress) {
  const auto checkpoint = read_checkpoint(folder, progress);
  if (!checkpoint) return {{Severity::error, checkpoint.error()}};
  if (!checkpoint->model) return {};
  return check_checkpoint(folder, checkpoint->model, checkpoint->warnings, progress);
}

std::vector<Finding> check_checkpoint(const std::filesystem::path& folder, const std::shared_ptr<const Model>& model,
                                      const std::vector<Error>& warnings, Progress& progress, ClassRules rules) {
  return check_checkpoint(folder, model, warnings, progress, rules, nullptr);
}

std::vector<Finding> check_checkpoint(const std::filesystem::path& folder, const std::shared_ptr<const Model>& model,
                                      const std::vector<Error>& warnings, Progress& progress, ClassRules rules,
                                      const AskedPicture* picture) {
  return Checker(folder, model, warnings, rules, picture, progress).check();
}

}  // namespace headlight
