/* The engine of Headlight in process, for C and whatever calls C. docs/library.md describes it.

   Handles. What headlight_open, headlight_ask and the like return is freed once, by headlight_close or
   headlight_release; NULL is freed by doing nothing. A build without NDEBUG ends the program with a line where a handle
   is used after that. An answer holds what it needs of its model: either may be freed first. Strings and numbers that
   an answer lends are valid until it is released, and are not written.

   Errors. No function throws or ends the program. What fails gives NULL, or a number other than 0, and fills in the
   error, where one is given.

   Threads. Any number of threads may use a model or an answer at once; only freeing it must come last. The numbers are
   the same for any number of threads. There is no state beside the handles. */
#ifndef HEADLIGHT_H
#define HEADLIGHT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct headlight_model headlight_model;
typedef struct headlight_answer headlight_answer;

typedef struct headlight_error {
  char code[32];   /* "bad_value", "file_absent", "cancelled", …, as in error objects of `export --lines`; "": none */
  char line[4000]; /* one line of UTF-8: `file: what: expected …, found …` */
} headlight_error;

/* Whether a long computation goes on: 0 ends it, with the error "cancelled". Called on the caller's thread, about
   twenty times a second, and never in a computation that is shorter. NULL in place of a watch: it goes on. */
typedef struct headlight_watch {
  int (*goes_on)(void* context);
  void* context;
} headlight_watch;

#define HEADLIGHT_MOST_AXES 8

/* Numbers in C order. */
typedef struct headlight_view {
  const float* numbers;
  int32_t axes;
  int64_t shape[HEADLIGHT_MOST_AXES];
} headlight_view;

/* "1.0.0". Within a first number no function or field is taken away. */
const char* headlight_version(void);

/* Opens what SOURCE stands for on the command line: a folder, a file, the name of a model on this machine, a GGUF file,
   a tensors file, a session (what is left out of a question is as in its own), "shipped:decoder"; behind it perhaps
   #adapter=FOLDER. NULL: the shipped model that knows the words of the sentence. */
headlight_model* headlight_open(const char* source, const headlight_watch* watch, headlight_error* error);
void headlight_close(headlight_model* model);

/* The threads that later answers are computed with; 0, as at first: one for each processor. */
void headlight_set_threads(headlight_model* model, int threads);

/* Asks by the options of the command line, ended by NULL: {"--text", "the cat sat", "--mask", "causal", NULL}. Refused
   are those of the model's shape: it is open. Several lines of a text are several sentences. */
headlight_answer* headlight_ask(const headlight_model* model, const char* const* options, const headlight_watch* watch,
                                headlight_error* error);

/* Asks by the object `request` of an export or a session: {"text": "the cat sat", "mask": {"causal": true}}. What is
   left out is as after headlight_open. Refused: a request of another model. */
headlight_answer* headlight_ask_json(const headlight_model* model, const char* request, const headlight_watch* watch,
                                     headlight_error* error);

/* The answer to the same question with the next word of its decoder appended, drawn as `headlight generate` draws it
   (temperature 0: the most probable). The question must have one sentence. */
headlight_answer* headlight_step(const headlight_answer* answer, float temperature, uint64_t seed,
                                 const headlight_watch* watch, headlight_error* error);
void headlight_release(headlight_answer* answer);

/* The request as JSON, which headlight_ask_json answers by the same numbers. */
const char* headlight_request(const headlight_answer* answer);
/* The word that headlight_step appended: {"id": 5, "text": "cat", "probability": 0.7, "ends": false}; else NULL. */
const char* headlight_word(const headlight_answer* answer);

size_t headlight_num_sentences(const headlight_answer* answer);
/* The tokens of a sentence as a list of objects, as exports have it: "tokens", or where the sides differ "key_tokens",
   "target_tokens". NULL: there is no such sentence or list. */
const char* headlight_tokens(const headlight_answer* answer, size_t sentence, const char* name);

size_t headlight_num_warnings(const headlight_answer* answer);
const char* headlight_warning(const headlight_answer* answer, size_t index); /* NULL: there is none */

/* The arrays by the names of `headlight export --with qkv,scores`, of several sentences "0.attentions", "1.attentions".
   headlight_array takes the name of any other array of --with too ("ffn.hidden"), and the maps of --reduce in place of
   attentions ("mean:heads", "1.encoder_max:layers"). One that the engine holds as it is
   is lent; others are computed when they are first asked for. 0: there it is. */
size_t headlight_num_arrays(const headlight_answer* answer);
const char* headlight_array_name(const headlight_answer* answer, size_t index); /* NULL: there is none */
int headlight_array(const headlight_answer* answer, const char* name, headlight_view* view, headlight_error* error);

/* Rows of one head's pattern, "LAYER.HEAD" or "cross:LAYER.HEAD", into count × keys numbers of the caller's; no array
   of all heads is made. */
int headlight_rows(const headlight_answer* answer, size_t sentence, const char* head, int64_t first, int64_t count,
                   float* weights, headlight_error* error);

/* Writes what `headlight export -o FILE` writes: .json, .npz, .safetensors or .csv, whole or not at all. */
int headlight_write(const headlight_answer* answer, const char* file, const headlight_watch* watch,
                    headlight_error* error);

/* A number of the caller's from the logits of a patched answer, rows × words of one sentence. */
typedef double (*headlight_metric)(void* context, const float* logits, int64_t rows, int64_t words);

/* Puts what `clean` has at one place after another into the pass of `corrupt` ("heads", "residual", "ffn", "pattern",
   "q", "k" or "v" of the main stack, all tokens that both have), and asks the metric of each: (layers, heads) numbers,
   of "residual" and "ffn" (layers). `room` is that of `values`; both answers have one sentence and the same model. The
   watch is asked after each metric, and this thread does both. */
int headlight_patch(const headlight_answer* clean, const headlight_answer* corrupt, const char* at,
                    headlight_metric metric, void* context, double* values, size_t room, const headlight_watch* watch,
                    headlight_error* error);

#ifdef __cplusplus
}
#endif
#endif
