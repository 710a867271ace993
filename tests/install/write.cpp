// Writes attention, queries, keys, values and scores to a file; its ending is the format: .npz, .safetensors or .json.
#include <headlight/math/forward.h>
#include <headlight/read/hub/checkpoint.h>
#include <headlight/read/tokenizer/tokenizer_file.h>
#include <headlight/write/export.h>
#include <cstdio>

using namespace headlight;

int fail(const Error& error) { return std::fprintf(stderr, "%s\n", error.message().c_str()), 2; }

int main(int argc, char** argv) {
  if (argc != 4) return std::puts("write FOLDER TEXT FILE"), 2;
  const Result<Checkpoint> checkpoint = read_checkpoint(argv[1]);
  if (!checkpoint) return fail(checkpoint.error());
  const Result<TokenizerFile> tokenizer = read_tokenizer(argv[1]);
  if (!tokenizer) return fail(tokenizer.error());
  Request request{.model = checkpoint->model, .config = checkpoint->model->config};
  const Result<Tokens> tokens = encode(*tokenizer->tokenizer, argv[2], true);
  if (!tokens) return fail(tokens.error());
  request.tokens = *tokens;
  request.mask.causal = true;
  const Result<std::shared_ptr<const Trace>> trace = forward(request);
  if (!trace) return fail(trace.error());
  const ExportOptions options{.queries_keys_values = true, .scores = true};
  const Format format = format_of(argv[3]).value_or(Format::json);
  const Status written = write_export({*trace}, {""}, format, options, argv[3], unwatched());
  return written ? 0 : fail(written.error());
}
