// A session of any bytes, or the data of a page whose model is not there, is a question that can be asked and is
// written down as it was read, or one line.
#include <cstddef>
#include <cstdint>
#include <string>

#include "fuzz/require.h"
#include "fuzz/target.h"
#include "math/attention.h"
#include "math/forward.h"
#include "session/file/session_file.h"

namespace {

using namespace headlight;

constexpr const char* kSession = "/nowhere/fuzz.headlight.json";

/// The weights that a page's own numbers make.
void answer(const Request& request) {
  const auto trace = forward(request);
  if (!trace) return require_line(trace.error().message());
  for (const Error& warning : (*trace)->warnings) require_line(warning.message());
  for (const Stack stack : kStacks) {
    if (!(*trace)->has(stack)) continue;
    for (Index layer = 0; layer < (*trace)->num_layers(stack); ++layer)
      for (Index head = 0; head < (*trace)->num_heads(stack); ++head) {
        const Matrix weights = attention_rows(**trace, {layer, head, stack}, 0, (*trace)->queries(stack));
        require(weights.allFinite() && ((*trace)->is_signed || (weights.array() >= 0).all()));
      }
  }
}

}  // namespace

HEADLIGHT_FUZZ_TARGET(session) {
  static const Lexicon lexicon;
  const auto session = session_from_json(kSession, {reinterpret_cast<const char*>(data), size});
  if (!session) {
    require_line(session.error().message());
    return;
  }
  for (const auto* warnings : {&session->lost, &session->model_warnings})
    for (const Error& warning : *warnings) require_line(warning.message());
  const auto requests = requests_of(session->document, lexicon);
  if (!requests) require_line(requests.error().message());
  if (session->document.model) {
    if (requests && has_own_inputs(session->document)) answer(requests->front());
    return;
  }
  const std::string written = to_json(*session);
  const auto again = session_from_json(kSession, written);
  require(again && to_json(*again) == written);
}
