// The command line, run as a person runs it.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/session_fixture.h"
#include "cli/frame/cli.h"

namespace headlight::program {

using fixture::Folder;
using fixture::lines_of;
using nlohmann::json;
using Strings = std::vector<std::string>;

inline const std::string kSentence = "我请李雷帮我订了去北京的机票";

struct Ran {
  int status = -1;
  std::string out, err;
};

/// Starts the program with `words`, after `connect` has given it its standard input, output and error.
template <class Connect>
pid_t start(const Strings& words, const Connect& connect) {
  Strings all{HEADLIGHT_PROGRAM};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> argv;
  for (std::string& word : all) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t process = fork();
  if (process == 0) {
    connect();
    execv(argv[0], argv.data());
    _exit(127);
  }
  return process;
}
/// The files are its standard input, output and error.
inline pid_t start(const Strings& words, const char* in, const char* out, const char* err) {
  return start(words, [&] {
    dup2(open(in, O_RDONLY), STDIN_FILENO);
    dup2(open(out, O_WRONLY), STDOUT_FILENO);
    dup2(open(err, O_WRONLY), STDERR_FILENO);
  });
}

/// Its exit status once it has ended; −1 where a signal ended it.
inline int status_of(pid_t process) {
  int status = 0;
  waitpid(process, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Redirects one of this process's standard streams to a file for as long as it lives.
class Redirected {
 public:
  Redirected(int stream, const char* file, int flags) : stream_(stream), saved_(dup(stream)) {
    std::fflush(nullptr);
    const int opened = open(file, flags);
    dup2(opened, stream_);
    close(opened);
  }
  Redirected(const Redirected&) = delete;
  ~Redirected() {
    std::fflush(nullptr);
    dup2(saved_, stream_);
    close(saved_);
  }

 private:
  int stream_, saved_;
};

/// Whether the words are of a command that needs neither a window nor a separate process.
inline bool runs_within(const Strings& words) {
  static const std::set<std::string> commands{"export", "figure",   "explain",    "why",     "lens",     "patch",
                                              "next",   "generate", "diagnose",   "compare", "tokenize", "check",
                                              "train",  "heads",    "page",       "models",  "what",     "report",
                                              "code",   "study",    "similarity", "bench",   "--help",   "--version"};
  return !words.empty() && commands.contains(words[0]);
}

/// The command line within this process: a thousand processes under the sanitizers take minutes to begin and to end.
inline int status_within(const Strings& words) {
  std::vector<const char*> arguments{HEADLIGHT_PROGRAM};
  for (const std::string& word : words) arguments.push_back(word.c_str());
  auto* const on_interrupt = std::signal(SIGINT, SIG_DFL);
  auto* const on_end = std::signal(SIGTERM, SIG_DFL);
  const int status = run_command_line(static_cast<int>(arguments.size()), arguments.data(), Frontend{});
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_end);
  return status;
}

/// Runs the command line with `words`; `in` is its standard input, `out` where its output goes instead of a file of
/// ours.
inline Ran run(const Strings& words, const std::string& in = "", const char* out = nullptr) {
  const Folder folder;
  const std::string input = folder.with("in", in), errors = folder.with("err", "");
  const std::string output = out ? out : folder.with("out", "");
  Ran ran;
  if (runs_within(words)) {
    const Redirected as_in(STDIN_FILENO, input.c_str(), O_RDONLY), as_out(STDOUT_FILENO, output.c_str(), O_WRONLY),
        as_err(STDERR_FILENO, errors.c_str(), O_WRONLY);
    ran.status = status_within(words);
  } else {
    ran.status = status_of(start(words, input.c_str(), output.c_str(), errors.c_str()));
  }
  if (!out) ran.out = *read_file(output);
  ran.err = *read_file(errors);
  return ran;
}

/// A wrong use: exit status 2, one line, nothing on standard output. Gives the line.
inline std::string refused(const Strings& words, const std::string& in = "") {
  const Ran ran = run(words, in);
  EXPECT_EQ(ran.status, 2) << ran.err;
  EXPECT_TRUE(ran.out.empty());
  EXPECT_EQ(lines_of(ran.err), 1) << ran.err;
  return ran.err;
}

inline json exported(Strings words, const std::string& in = "") {
  words.insert(words.begin(), "export");
  const Ran ran = run(words, in);
  EXPECT_EQ(ran.status, 0) << ran.err;
  const json object = json::parse(ran.out, nullptr, false);
  EXPECT_TRUE(object.is_object()) << ran.out.substr(0, 200);
  return object;
}

inline Strings texts(const json& tokens, const char* field = "text") {
  Strings texts;
  for (const json& token : tokens) texts.push_back(token[field]);
  return texts;
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

inline const Strings kSmall{"--d-model", "8", "--num-heads", "2", "--layers", "1", "--ffn", "0"};

inline Strings small(Strings words) {
  words.insert(words.end(), kSmall.begin(), kSmall.end());
  return words;
}

}  // namespace headlight::program
