// Switches off one head after another, and prints how far the next word's distribution moves (KL, in nats).
#include <headlight/math/forward.h>
#include <headlight/math/output.h>
#include <headlight/read/hub/checkpoint.h>
#include <headlight/read/tokenizer/tokenizer_file.h>
#include <cstdio>

using namespace headlight;

int fail(const Error& error) { return std::fprintf(stderr, "%s\n", error.message().c_str()), 2; }

std::vector<double> next_word(const Trace& trace) { return log_probabilities(logit_rows(trace, trace.answering, 1)); }

int main(int argc, char** argv) {
  if (argc != 3) return std::puts("heads_off FOLDER TEXT"), 2;
  const Result<Checkpoint> checkpoint = read_checkpoint(argv[1]);
  if (!checkpoint) return fail(checkpoint.error());
  const Result<TokenizerFile> tokenizer = read_tokenizer(argv[1]);
  if (!tokenizer) return fail(tokenizer.error());
  Request request{.model = checkpoint->model, .config = checkpoint->model->config};
  const Result<Tokens> tokens = encode(*tokenizer->tokenizer, argv[2], true);
  if (!tokens) return fail(tokens.error());
  request.tokens = *tokens;
  request.mask.causal = true;
  const Result<std::shared_ptr<const Trace>> usual = forward(request);
  if (!usual) return fail(usual.error());
  if (const Status words = check_has_logits(**usual, argv[1]); !words) return fail(words.error());
  for (Index layer = 0; layer < (*usual)->num_layers(); ++layer)
    for (Index head = 0; head < (*usual)->num_heads(); ++head) {
      request.edits.off = {{.layer = layer, .head = head}};
      const auto without = forward(request, unwatched(), usual->get());  // layers below it are copied
      if (!without) return fail(without.error());
      std::printf("%td.%td %.9g\n", layer, head, divergence(next_word(**usual), next_word(**without)));
    }
}
