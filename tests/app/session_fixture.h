// What the tests of sessions share: a separate folder, the shipped lexicon, small documents and files.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "session/loop/loop.h"
#include "session/state.h"
#include "temporary_folder.h"

namespace headlight::fixture {

namespace fs = std::filesystem;

using Folder = TemporaryFolder;

using headlight::Variable;

inline fs::path golden(const std::string& name) { return fs::path(HEADLIGHT_TEST_DATA) / "golden" / name; }
inline fs::path assets() { return fs::path(HEADLIGHT_TEST_DATA).parent_path() / "assets"; }

inline const Lexicon& lexicon() {
  static const Result<Lexicon> read = parse_lexicon("lexicon.txt", *read_file(assets() / "lexicon.txt"));
  return *read;
}

inline std::vector<std::string> raws(const Tokens& tokens) {
  std::vector<std::string> texts;
  for (const Token& token : tokens.tokens) texts.push_back(token.raw);
  return texts;
}

/// A model so small that an answer takes no time.
inline Config small_config() { return {.d_model = 8, .num_heads = 2, .num_layers = 2, .ffn = 8}; }

inline Document small_document(std::string text = std::string(kDefaultSentence)) {
  Document document;
  document.source.text = std::move(text);
  document.config = small_config();
  return document;
}

inline AppState small_state(std::string text = std::string(kDefaultSentence)) {
  return initial_state(lexicon(), small_document(std::move(text)), Settings{});
}

/// The answer to the request that is wanted, as the worker gives it.
inline Answered answer(const AppState& state) {
  const Request* request = wanted(state);
  EXPECT_NE(request, nullptr);
  auto trace = forward(*request);
  EXPECT_TRUE(trace) << trace.error().message();
  return reply(&Answers::trace, *request, *trace, 1.0);
}

/// The small state with its answer.
inline AppState answered_state() {
  AppState state = small_state();
  update(state, answer(state));
  return state;
}

/// One step of the loop with these commands.
inline void push(Loop& loop, AppState& state, Commands commands, double now = 0) { loop.step(state, commands, now); }

/// Carries out the commands, and all that follows from them.
inline void settle(Loop& loop, AppState& state, Commands commands) {
  push(loop, state, std::move(commands));
  loop.settle(state);
}

/// A state and its loop, settled after every command.
struct Running {
  AppState state = small_state();
  Loop loop{{}, {}};

  Running() { loop.settle(state); }
  explicit Running(AppState begun) : state(std::move(begun)) { loop.settle(state); }
  template <class... Pushed>
  void push(Pushed... pushed) {
    Commands commands;
    (commands.emplace_back(std::move(pushed)), ...);
    settle(loop, state, std::move(commands));
  }
};

/// Steps until `done`, for what may take longer than expected but must happen.
template <class Done>
bool eventually(Loop& loop, AppState& state, Done done, double now = 0) {
  for (int i = 0; i < 12000 && !done(); ++i) {
    push(loop, state, {}, now);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return done();
}

/// The bytes of a file that must be there.
inline std::string bytes(const fs::path& path) {
  const auto read = read_file(path);
  EXPECT_TRUE(read) << read.error().message();
  return read ? *read : std::string{};
}

inline std::shared_ptr<const Matrix> open_mask(Index queries, Index keys) {
  return std::make_shared<const Matrix>(Matrix::Zero(queries, keys));
}

inline int lines_of(const std::string& text) { return static_cast<int>(std::count(text.begin(), text.end(), '\n')); }

}  // namespace headlight::fixture
