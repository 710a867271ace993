#include "library/headlight.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <memory>
#include <optional>
#include <span>

#include "base/utf8.h"
#include "library/held.h"
#include "math/attention.h"
#include "model/head_text.h"

using namespace headlight;

namespace {

/// Ends a build without NDEBUG where the handle was freed before.
template <class State>
void check_open([[maybe_unused]] const LibraryHandle<State>& handle, [[maybe_unused]] const char* function) {
#ifndef NDEBUG
  if (handle.mark == LibraryHandle<State>::kOpen) return;
  std::fprintf(stderr, "%s: expected an open handle, found one that was freed\n", function);
  std::abort();
#endif
}

template <class Of>
void free_handle(Of* handle, const char* function) {
  if (!handle) return;
  check_open(*handle, function);
#if defined(NDEBUG) || defined(__SANITIZE_ADDRESS__)
  delete handle;
#else
  handle->mark = Of::kFreed;
  handle->state.reset();
#endif
}

void copy_text(std::string_view text, char* to, std::size_t room) {
  const std::string_view fits = beginning(text, room - 1);
  to[fits.copy(to, fits.size())] = '\0';
}

void clear(headlight_error* error) {
  if (error) error->code[0] = error->line[0] = '\0';
}

void fill(headlight_error* error, const Error& found) {
  if (!error) return;
  copy_text(name(found.code), error->code, sizeof error->code);
  copy_text(printable_message(found.message()), error->line, sizeof error->line);
}

/// What the body returns; nothing where that is an Error, or where it threw, which the error says.
template <class Body>
auto guarded(headlight_error* error, const Body& body) noexcept -> std::optional<std::decay_t<decltype(*body())>> {
  try {
    clear(error);
    auto made = body();
    if (made) return std::optional<std::decay_t<decltype(*body())>>(*std::move(made));
    fill(error, made.error());
  } catch (...) {
    try {
      fill(error, thrown_error());
    } catch (...) {  // no memory for its line
      if (error) std::snprintf(error->code, sizeof error->code, "no_memory");
      if (error) std::snprintf(error->line, sizeof error->line, "memory: expected enough for this, found no more");
    }
  }
  return std::nullopt;
}

/// The state behind a handle.
template <class State>
Result<std::shared_ptr<State>> opened(const LibraryHandle<State>* handle, const char* function) {
  if (!handle) return bad_input(function, "", "a handle", "NULL");
  check_open(*handle, function);
  return handle->state;
}

/// Computes on another thread, while the caller's asks whether it goes on.
template <class Compute>
auto watched(const headlight_watch* watch, const Compute& compute) {
  Progress progress;
  if (!watch || !watch->goes_on) return compute(progress);
  auto computed = std::async(std::launch::async, [&] { return compute(progress); });
  while (computed.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready)
    if (!progress.stop && watch->goes_on(watch->context) == 0) progress.stop = true;
  return computed.get();
}

/// What a handle lends or counts; null or 0 where the body finds none.
template <class Body>
auto lent(const Body& body) noexcept {
  const auto found = guarded(nullptr, body);
  return found ? *found : std::decay_t<decltype(*found)>();
}

/// What functions return that only do something.
template <class Body>
int failed(headlight_error* error, const Body& body) noexcept {
  return guarded(error, body) ? 0 : 1;
}

/// A new handle of the state that the body makes.
template <class Of, class Body>
Of* handle_of(headlight_error* error, const Body& body) noexcept {
  const auto made = guarded(error, [&]() -> Result<Of*> {
    auto state = TRY(body());
    auto handle = std::make_unique<Of>();
    handle->state = std::move(state);
    return handle.release();
  });
  return made ? *made : nullptr;
}

}  // namespace

struct headlight_model : LibraryHandle<HeldModel> {};
struct headlight_answer : LibraryHandle<const HeldAnswer> {};

const char* headlight_version(void) { return HEADLIGHT_VERSION; }

headlight_model* headlight_open(const char* source, const headlight_watch* watch, headlight_error* error) {
  return handle_of<headlight_model>(
      error, [&] { return watched(watch, [&](Progress& progress) { return hold_model(source, progress); }); });
}

void headlight_close(headlight_model* model) { free_handle(model, "headlight_close"); }

void headlight_set_threads(headlight_model* model, int threads) {
  if (!model) return;
  check_open(*model, "headlight_set_threads");
  model->state->threads = std::max(0, std::min(threads, 1024));
}

headlight_answer* headlight_ask(const headlight_model* model, const char* const* options, const headlight_watch* watch,
                                headlight_error* error) {
  return handle_of<headlight_answer>(error, [&]() -> AskedResult {
    const auto state = TRY(opened(model, "headlight_ask"));
    std::vector<std::string> words;
    for (; options && *options; ++options) words.emplace_back(*options);
    return watched(watch, [&](Progress& progress) { return ask_words(*state, words, progress); });
  });
}

headlight_answer* headlight_ask_json(const headlight_model* model, const char* request, const headlight_watch* watch,
                                     headlight_error* error) {
  return handle_of<headlight_answer>(error, [&]() -> AskedResult {
    const auto state = TRY(opened(model, "headlight_ask_json"));
    if (!request) return bad_input("request", "", "an object", "NULL");
    return watched(watch, [&](Progress& progress) { return ask_object(*state, request, progress); });
  });
}

headlight_answer* headlight_step(const headlight_answer* answer, float temperature, uint64_t seed,
                                 const headlight_watch* watch, headlight_error* error) {
  return handle_of<headlight_answer>(error, [&]() -> AskedResult {
    const auto state = TRY(opened(answer, "headlight_step"));
    const Sampling sampling{.temperature = temperature, .seed = seed};
    return watched(watch, [&](Progress& progress) { return next_step(*state, sampling, progress); });
  });
}

void headlight_release(headlight_answer* answer) { free_handle(answer, "headlight_release"); }

const char* headlight_request(const headlight_answer* answer) {
  return lent([&]() -> Result<const char*> { return TRY(opened(answer, "headlight_request"))->request.c_str(); });
}

const char* headlight_word(const headlight_answer* answer) {
  return lent([&]() -> Result<const char*> {
    const std::string& word = TRY(opened(answer, "headlight_word"))->word;
    return word.empty() ? nullptr : word.c_str();
  });
}

size_t headlight_num_sentences(const headlight_answer* answer) {
  return lent([&]() -> Result<std::size_t> { return TRY(opened(answer, "headlight_num_sentences"))->traces.size(); });
}

const char* headlight_tokens(const headlight_answer* answer, size_t sentence, const char* name) {
  return lent([&]() -> Result<const char*> {
    return TRY(opened(answer, "headlight_tokens"))->tokens(sentence, name ? name : "");
  });
}

size_t headlight_num_warnings(const headlight_answer* answer) {
  return lent([&]() -> Result<std::size_t> { return TRY(opened(answer, "headlight_num_warnings"))->warnings.size(); });
}

const char* headlight_warning(const headlight_answer* answer, size_t index) {
  return lent([&]() -> Result<const char*> {
    const auto& warnings = TRY(opened(answer, "headlight_warning"))->warnings;
    return index < warnings.size() ? warnings[index].c_str() : nullptr;
  });
}

size_t headlight_num_arrays(const headlight_answer* answer) {
  return lent([&]() -> Result<std::size_t> { return TRY(opened(answer, "headlight_num_arrays"))->names.size(); });
}

const char* headlight_array_name(const headlight_answer* answer, size_t index) {
  return lent([&]() -> Result<const char*> {
    const auto& names = TRY(opened(answer, "headlight_array_name"))->names;
    return index < names.size() ? names[index].c_str() : nullptr;
  });
}

int headlight_array(const headlight_answer* answer, const char* name, headlight_view* view, headlight_error* error) {
  return failed(error, [&]() -> Status {
    const auto state = TRY(opened(answer, "headlight_array"));
    if (!name || !view) return bad_input("headlight_array", "", "a name and a view", "NULL");
    *view = TRY(state->array(name));
    return Done{};
  });
}

int headlight_rows(const headlight_answer* answer, size_t sentence, const char* head, int64_t first, int64_t count,
                   float* weights, headlight_error* error) {
  return failed(error, [&]() -> Status {
    const auto state = TRY(opened(answer, "headlight_rows"));
    const auto found = parse_head(head ? head : "");
    if (!found || !weights) return bad_input("headlight_rows", "", "LAYER.HEAD and room", head ? head : "NULL");
    TRY(check_within("headlight_rows", "sentence", static_cast<Index>(sentence),
                     static_cast<Index>(state->traces.size())));
    const Trace& trace = *state->traces[sentence];
    TRY(check_options(trace, {.only = {*found}}));
    const Index queries = trace.queries(found->stack);
    if (first < 0 || count < 0 || first > queries || count > queries - first)
      return bad_input("headlight_rows", "rows", "0 to " + std::to_string(queries),
                       std::to_string(count) + " from " + std::to_string(first));
    for (Index at = 0; at < count; at += kRowBlock) {
      const Matrix rows = attention_rows(trace, *found, first + at, std::min(kRowBlock, count - at));
      std::copy_n(rows.data(), rows.size(), weights + at * rows.cols());
    }
    return Done{};
  });
}

int headlight_write(const headlight_answer* answer, const char* file, const headlight_watch* watch,
                    headlight_error* error) {
  return failed(error, [&]() -> Status {
    const auto state = TRY(opened(answer, "headlight_write"));
    if (!file) return bad_input("headlight_write", "", "the name of a file", "NULL");
    return watched(watch, [&](Progress& progress) { return state->write(file, progress); });
  });
}

int headlight_patch(const headlight_answer* clean, const headlight_answer* corrupt, const char* at,
                    headlight_metric metric, void* context, double* values, size_t room, const headlight_watch* watch,
                    headlight_error* error) {
  return failed(error, [&]() -> Status {
    const auto from = TRY(opened(clean, "headlight_patch")), into = TRY(opened(corrupt, "headlight_patch"));
    if (!metric || !values) return bad_input("headlight_patch", "", "a metric and room", "NULL");
    Progress progress;
    return patched(
        *from, *into, at ? at : "",
        [&](const float* logits, Index rows, Index words) {
          const double value = metric(context, logits, rows, words);
          progress.stop = watch && watch->goes_on && !watch->goes_on(watch->context);
          return value;
        },
        std::span(values, room), progress);
  });
}
