// What stands behind the handles of headlight.h: a model that was opened, and its answers.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "library/headlight.h"
#include "math/generate.h"
#include "question/document.h"
#include "write/arrays.h"

namespace headlight {

/// A handle refers to its state. Freed, in a build that looks for that, it stays with its mark alone; AddressSanitizer
/// looks for itself.
template <class State>
struct LibraryHandle {
  static constexpr std::uint32_t kOpen = 0x4f50454e, kFreed = 0x46524545;
  std::uint32_t mark = kOpen;
  std::shared_ptr<State> state;
};

struct HeldModel {
  Document document;                 // the question that every other begins with
  std::vector<Error> warnings = {};  // of reading it
  bool chooses_model = false;        // by the sentence: nothing was named
  std::atomic<int> threads = 0;
  mutable std::mutex other = {};       // guards …
  mutable Document any_sentence = {};  // … the second model that sentences chose, once it was read
};

/// `source` null: the model that the sentence chooses.
Result<std::shared_ptr<HeldModel>> hold_model(const char* source, Progress& progress);

/// Immutable but for what is made when it is first asked for. Errors of its functions name what was asked.
struct HeldAnswer {
  Document document;
  std::vector<Request> requests;
  std::vector<std::shared_ptr<const Trace>> traces;  // a sentence each
  int threads = 0;
  std::vector<std::string> warnings = {}, names = {};
  std::string request = {}, word = {};  // JSON

  /// Lent until the answer ends.
  Result<headlight_view> array(const std::string& name) const;
  Result<const char*> tokens(std::size_t sentence, std::string_view name) const;
  Status write(const std::string& file, Progress& progress) const;

 private:
  Result<ArrayStream> stream(const std::string& name) const;

  mutable std::mutex making_ = {};
  mutable std::map<std::string, std::pair<Matrix, headlight_view>> arrays_ = {};
  mutable std::map<std::string, std::string> texts_ = {};
};

using AskedResult = Result<std::shared_ptr<const HeldAnswer>>;

/// By options (given_options), by the JSON of a request, and with the next word. Stopped, it is an Error.
AskedResult ask_words(const HeldModel& model, const std::vector<std::string>& words, Progress& progress);
AskedResult ask_object(const HeldModel& model, std::string_view request, Progress& progress);
AskedResult next_step(const HeldAnswer& answer, const Sampling& sampling, Progress& progress);

/// The caller's number from the logits of each patched pass (headlight_patch). Stopped between two it is an Error.
using LogitsMetric = std::function<double(const float* logits, Index rows, Index words)>;
Status patched(const HeldAnswer& clean, const HeldAnswer& corrupt, std::string_view at, const LogitsMetric& metric,
               std::span<double> values, Progress& progress);

}  // namespace headlight
