// Opens a checkpoint, asks a sentence under a causal mask and prints the rows of one head.
#include <headlight/math/attention.h>
#include <headlight/math/forward.h>
#include <headlight/read/hub/checkpoint.h>
#include <headlight/read/tokenizer/tokenizer_file.h>
#include <cstdio>

using namespace headlight;

int fail(const Error& error) { return std::fprintf(stderr, "%s\n", error.message().c_str()), 2; }

int main(int argc, char** argv) {
  if (argc != 3) return std::puts("rows FOLDER TEXT"), 2;
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
  const Matrix weights = attention_rows(**trace, {.layer = 0, .head = 1}, 0, (*trace)->queries());
  for (Index i = 0; i < weights.rows(); ++i)
    for (Index j = 0; j < weights.cols(); ++j)
      std::printf("%.9g%c", weights(i, j), j + 1 < weights.cols() ? ' ' : '\n');
}
