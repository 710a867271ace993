/* Opens a model, asks a sentence under a causal mask with a head off, and prints the rows of one head. */
#include <headlight.h>
#include <stdio.h>

static int fail(const headlight_error* error) { return fprintf(stderr, "%s: %s\n", error->code, error->line), 2; }

int main(int argc, char** argv) {
  headlight_error error;
  if (argc != 3) return puts("ask MODEL TEXT"), 2;
  headlight_model* model = headlight_open(argv[1], NULL, &error);
  if (!model) return fail(&error);
  const char* question[] = {"--text", argv[2], "--mask", "causal", "--off", "1.0", NULL};
  headlight_answer* answer = headlight_ask(model, question, NULL, &error);
  headlight_close(model); /* the answer holds what it needs of it */
  if (!answer) return fail(&error);

  headlight_view weights; /* layers, heads, queries, keys */
  if (headlight_array(answer, "attentions", &weights, &error)) return fail(&error);
  const float* row = weights.numbers + 1 * weights.shape[2] * weights.shape[3]; /* layer 0, head 1 */
  for (int64_t i = 0; i < weights.shape[2]; ++i)
    for (int64_t j = 0; j < weights.shape[3]; ++j, ++row) printf("%.9g%c", *row, j + 1 < weights.shape[3] ? ' ' : '\n');
  for (size_t i = 0; i < headlight_num_warnings(answer); ++i) fprintf(stderr, "%s\n", headlight_warning(answer, i));
  headlight_release(answer);
  return 0;
}
