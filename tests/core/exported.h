// What the tests of the exports share: small answers, and the bytes that are written of them.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "math/forward.h"
#include "read/array/array.h"
#include "read/external/tensors_file.h"
#include "temporary_folder.h"
#include "write/export.h"

namespace headlight::exported {

using TracePtr = std::shared_ptr<const Trace>;

using Folder = TemporaryFolder;

/// An array of two axes.
inline Matrix matrix_of(const Array& array) {
  EXPECT_EQ(array.shape.size(), 2u);
  return Eigen::Map<const Matrix>(array.values.data(), array.shape[0], array.shape[1]);
}

inline Tokens plain_tokens(const std::vector<std::string>& texts) {
  Tokens tokens;
  for (const auto& text : texts) {
    const std::size_t begin = tokens.text.size();
    tokens.text += text;
    tokens.tokens.push_back(
        {.id = hashed_id(text), .text = text, .raw = text, .begin = begin, .end = tokens.text.size()});
  }
  return tokens;
}

inline TracePtr trace_of(const std::vector<std::string>& texts, bool causal = false, Index layers = 2) {
  Request request;
  request.config = {.d_model = 12, .num_heads = 3, .num_layers = layers, .ffn = 8};
  request.tokens = plain_tokens(texts);
  request.mask.causal = causal;
  auto trace = forward(request);
  EXPECT_TRUE(trace);
  return *trace;
}

/// The words that a model with fresh weights can predict.
inline std::shared_ptr<const Vocabulary> vocabulary_of(const std::vector<std::string>& words) {
  auto vocabulary = std::make_shared<Vocabulary>();
  vocabulary->words = words;
  for (const auto& word : words) vocabulary->ids.push_back(hashed_id(word));
  return vocabulary;
}

inline Request encoder_decoder_request(const std::vector<std::string>& source, const std::vector<std::string>& target) {
  Request request;
  request.config = {
      .arch = Arch::encoder_decoder, .d_model = 12, .num_heads = 3, .num_layers = 2, .encoder_layers = 1, .ffn = 8};
  request.vocabulary = vocabulary_of({"a", "b", "x", "y", "z"});
  request.tokens = plain_tokens(source);
  request.target = plain_tokens(target);
  request.mask.causal = true;
  return request;
}

inline TracePtr answered(const Request& request) {
  auto trace = forward(request);
  EXPECT_TRUE(trace) << trace.error().message();
  return *trace;
}

/// Weights that another program computed: `heads` heads of a 2 × 3 pattern.
inline TracePtr pattern_trace(Index heads) {
  auto model = std::make_shared<Model>();
  model->name = "elsewhere";
  model->config = {.num_heads = heads, .num_layers = 1, .ffn = 0, .position = Position::none};
  ExternalStack stack;
  stack.query_tokens = plain_tokens({"q0", "q1"});
  stack.key_tokens = plain_tokens({"k0", "k1", "k2"});
  stack.patterns.assign(1, std::vector<Matrix>(static_cast<std::size_t>(heads), Matrix::Constant(2, 3, 0.25f)));
  model->given = ExternalInputs{{{Stack::self, stack}}};
  model->blocks.resize(1);
  model->blocks[0].self.num_heads = model->blocks[0].self.num_kv_heads = heads;
  Request request{.model = model, .config = model->config};
  return answered(request);
}

inline TracePtr cross_trace() {
  const std::filesystem::path golden = std::filesystem::path(HEADLIGHT_TEST_DATA) / "golden";
  const auto file = read_tensors(golden / "tensors-cross-4x6/input.safetensors", std::nullopt);
  EXPECT_TRUE(file);
  Request request{.model = file->model, .config = file->model->config};
  request.mask = file->mask;
  return *forward(request);
}

inline Status write(const std::vector<TracePtr>& traces, Format format, const std::filesystem::path& file,
                    const ExportOptions& options = {}) {
  Progress progress;
  const std::vector<std::string> requests(traces.size(), R"({"text":"as asked"})");
  auto status = write_export(traces, requests, format, options, file, progress);
  EXPECT_TRUE(!status || progress.done == 1.0f);
  return status;
}

inline std::string bytes_written(const std::vector<TracePtr>& traces, Format format,
                                 const ExportOptions& options = {}) {
  const Folder folder;
  const auto status = write(traces, format, folder / "export", options);
  EXPECT_TRUE(status) << status.error().message();
  return *read_file(folder / "export");
}

}  // namespace headlight::exported
