// What the system may refuse at any moment (memory, room on a disk, a rename, a mapping, a thread) ends in one line and
// exit status 2, and never in a file that is half there. Some calls are tried for each road; HEADLIGHT_ALL_FAULTS=1
// tries every single one. And no damaged byte of a good file ends the program.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <new>
#include <string>
#include <vector>

#include "app/session_fixture.h"
#include "base/refusal.h"
#include "cli/frame/cli.h"
#include "session/file/open_file.h"
#include "session/loop/loop.h"
#include "session/loop/recovery.h"

namespace {

/// Smaller ones are not refused: nlohmann::json takes memory where it destroys a value, which nothing can bear.
constexpr std::size_t kLeastRefused = 4096;
/// The allocation that fails when it has counted down; 0: none does.
std::atomic<long> allocations_left = 0;
std::atomic<long> allocations = 0;

void* allocated(std::size_t size, std::size_t alignment) {
  if (size >= kLeastRefused) {
    ++allocations;
    if (allocations_left > 0 && --allocations_left == 0) throw std::bad_alloc();
  }
  void* const memory = alignment <= alignof(std::max_align_t)
                           ? std::malloc(size)
                           : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return allocated(size, 1); }
void* operator new[](std::size_t size) { return allocated(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocated(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return allocated(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return allocated(size, 1);
  } catch (const std::bad_alloc&) { return nullptr; }
}
void* operator new[](std::size_t size, const std::nothrow_t& none) noexcept { return operator new(size, none); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace headlight {
namespace {

namespace fs = std::filesystem;
using fixture::Folder;
using Strings = std::vector<std::string>;

// Of the calls of a kind on a road. ./test --shipped tries more of them than the slow program with sanitizers.
#ifdef HEADLIGHT_ADDRESS_SANITIZER
constexpr long kTried = 15;
#else
constexpr long kTried = 60;
#endif

long stride(long calls) { return std::getenv("HEADLIGHT_ALL_FAULTS") ? 1 : std::max(1L, calls / kTried); }

std::atomic<long> calls_left = 0, calls = 0;
std::atomic<SystemCall> refused_call;

int refuse_the_chosen(SystemCall call) {
  if (call != refused_call) return 0;
  ++calls;
  return calls_left > 0 && --calls_left == 0 ? (call == SystemCall::thread ? EAGAIN : ENOSPC) : 0;
}

/// Standard error goes to a file for as long as it lives.
class Messages {
 public:
  explicit Messages(const fs::path& path) : path_(path), kept_(::dup(STDERR_FILENO)) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(file, STDERR_FILENO);
    ::close(file);
  }
  ~Messages() {
    ::dup2(kept_, STDERR_FILENO);
    ::close(kept_);
  }
  Messages(const Messages&) = delete;
  std::string text() const {
    const long left = allocations_left.exchange(0);  // the test's own buffer is not refused
    std::ifstream file(path_, std::ios::binary);
    std::string told{std::istreambuf_iterator<char>(file), {}};
    allocations_left = left;
    return told;
  }

 private:
  fs::path path_;
  int kept_;
};

int run(const Strings& words) {
  std::vector<const char*> argv{"headlight"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  return run_command_line(static_cast<int>(argv.size()), argv.data(), {});
}

/// Goes the road again and again, each time with another refused call; `road` goes it, `check` looks at what is there.
void refuse_each(const std::function<void()>& road, const std::function<void(const std::string&)>& check) {
  allocations = 0;
  road();
  const long all = allocations;
  for (long n = 1; n <= all; n += stride(all)) {
    allocations_left = n;
    road();
    allocations_left = 0;
    check("allocation " + std::to_string(n) + " of " + std::to_string(all));
    if (testing::Test::HasFatalFailure()) return;
  }
  for (const SystemCall call :
       {SystemCall::write, SystemCall::sync, SystemCall::rename, SystemCall::map, SystemCall::thread}) {
    refused_call = call;
    calls = calls_left = 0;
    refusal = refuse_the_chosen;
    road();
    const long made = calls;
    for (long n = 1; n <= made; n += stride(made)) {
      calls_left = n;
      road();
      check("call " + std::to_string(n) + " of " + std::to_string(made) + " of kind " +
            std::to_string(static_cast<int>(call)));
    }
    refusal = nullptr;
  }
}

Strings listing(const fs::path& folder) {
  Strings names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// One command that writes one file: the whole file or none, one line or none.
void expect_whole_or_nothing(Strings words, const std::string& name) {
  const Folder folder, told;
  const fs::path file = folder / name;
  words.insert(words.end(), {"-o", file.string()});
  ASSERT_EQ(run(words), 0);
  const std::string whole = *read_file(file);
  int status = 0;
  std::string said;
  refuse_each(
      [&] {
        fs::remove(file);
        const Messages messages(told / "messages");
        status = run(words);
        said = messages.text();
      },
      [&](const std::string& refused) {
        ASSERT_TRUE(status == 0 || status == 2) << refused << ": exit status " << status;
        // Of several lines the one that was refused is an object that says so, and the others are as they were.
        const bool a_line = status == 2 && said.starts_with("--lines: ");
        EXPECT_EQ(listing(folder.path()), status == 0 || a_line ? Strings{name} : Strings{}) << refused;
        if (a_line) {
          const std::string there = *read_file(file);
          EXPECT_EQ(std::count(there.begin(), there.end(), '\n'), std::count(whole.begin(), whole.end(), '\n'));
          EXPECT_NE(there.find("{\"error\":\"line "), std::string::npos) << refused;
          EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << refused << ": " << said;
        } else if (status == 0) {
          EXPECT_TRUE(*read_file(file) == whole) << refused;
        } else {
          EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << refused << ": " << said;
        }
      });
}

const Strings kSmall{"--random", "--d-model", "8",         "--num-heads", "2",      "--layers",  "1",
                     "--ffn",    "8",         "--threads", "2",           "--text", "a b c\nd e"};

Strings asked(const Strings& more) {
  Strings words = more;
  words.insert(words.end(), kSmall.begin(), kSmall.end());
  return words;
}

TEST(Faults, AnExportIsWholeOrNotThere) {
  expect_whole_or_nothing(asked({"export"}), "a.json");
  expect_whole_or_nothing(asked({"export", "--with", "qkv,scores"}), "a.npz");
  expect_whole_or_nothing(asked({"export"}), "a.safetensors");
  expect_whole_or_nothing(asked({"export"}), "a.csv");
  expect_whole_or_nothing(asked({"export", "--lines", "--jobs", "2"}), "a.json");
}

TEST(Faults, ATrainingLeavesAModelThatOpensOrNone) {
  const Folder folder, told;
  const fs::path model = folder / "model";
  const std::string text = folder.with("text.txt", "the cat sat\nthe dog sat\n");
  const Strings words{"train",       "--text",    text,       "--steps", "3",           "--d-model", "8",
                      "--num-heads", "2",         "--layers", "1",       "--ffn",       "8",         "--batch",
                      "4",           "--threads", "2",        "-o",      model.string()};
  ASSERT_EQ(run(words), 0);
  const std::string whole = *read_file(model / "model.safetensors");
  int status = 0;
  refuse_each(
      [&] {
        fs::remove_all(model);
        const Messages messages(told / "messages");
        status = run(words);
      },
      [&](const std::string& refused) {
        ASSERT_TRUE(status == 0 || status == 2) << refused << ": exit status " << status;
        if (!fs::exists(model)) return;
        for (const std::string& name : listing(model)) EXPECT_FALSE(name.starts_with(".headlight-")) << refused << name;
        if (!fs::exists(model / "training.json")) { EXPECT_TRUE(listing(model).empty()) << refused; }
        if (fs::exists(model / "model.safetensors")) {
          const auto opened = open_any(model);
          EXPECT_TRUE(opened) << refused << ": " << opened.error().message();
        }
        if (status == 0) { EXPECT_TRUE(*read_file(model / "model.safetensors") == whole) << refused; }
      });
}

TEST(Faults, AnAutosaveIsTheOldOneOrTheNew) {
  const Folder folder;
  const fixture::Variable config("XDG_CONFIG_HOME", folder.path().c_str()),
      state("XDG_STATE_HOME", folder.path().c_str());
  const fs::path autosave = autosave_path();
  const auto session = [](const std::string& text) {
    AppState typed = fixture::small_state(text);
    return typed;
  };
  refuse_each(
      [&] {
        const long left = allocations_left.exchange(0);
        std::ofstream(autosave, std::ios::binary) << to_json(session_of(session("old")));
        allocations_left = left;
        try {
          AppState typed = session("old");
          Loop loop({}, autosave.string());
          Commands none, type{SetText{"new"}};
          loop.step(typed, none, 0);
          loop.step(typed, type, 1);
          for (double now = 2; now < 4; ++now) loop.step(typed, none, now);
          none = {SaveSession{(folder / "saved.headlight.json").string()}};
          loop.step(typed, none, 5);
        } catch (const std::bad_alloc&) {}  // of the window's own thread: the program ends with a line
      },
      [&](const std::string& refused) {
        for (const fs::path& path : {autosave, fs::path(folder / "saved.headlight.json")}) {
          if (!fs::exists(path)) continue;
          const auto kept = read_session(path);
          ASSERT_TRUE(kept) << refused << ": " << kept.error().message();
          EXPECT_TRUE(kept->document.source.text == "old" || kept->document.source.text == "new") << refused;
        }
      });
}

/// A small good file of each format that is opened.
std::map<std::string, std::string> good_files() {
  const fs::path golden = fs::path(HEADLIGHT_TEST_DATA) / "golden";
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(golden)) {
    const fs::path& path = entry.path();
    if (!entry.is_regular_file() || entry.file_size() > 200'000) continue;
    const std::string folder = path.parent_path().filename().string(), ending = path.extension().string();
    if (folder.starts_with("tensors-") && (ending == ".safetensors" || ending == ".npz"))
      files.emplace("tensors" + ending, *read_file(path));
  }
  files["mask.npy"] = std::string("\x93NUMPY\x01\x00\x46\x00", 10) +
                      "{'descr': '|b1', 'fortran_order': False, 'shape': (2, 2), }          \n" +
                      std::string("\1\0\1\1", 4);
  files["mask.json"] = "[[true, false], [1, 0]]";
  files["attention.json"] =
      R"({"attention": [{"name": "Self", "attn": [[[[1.0, 0.0], [0.25, 0.75]]]], "left_text": ["a", "b"],
                     "right_text": ["a", "b"]}]})";
  files["text.txt"] = "我爱北京\nI love Beijing\n";
  files["a.lesson.json"] =
      R"({"schema": "headlight.lesson/1", "title": "T", "steps": [{"text": "x", "set": {"request": {"text": "a b",
                     "random": true}}, "done": {"mask": "causal"}}]})";
  files["a.headlight.json"] = to_json(session_of(fixture::small_state("a b")));
  return files;
}

TEST(Faults, NoDamagedByteOfAGoodFileEndsTheProgram) {
  const Folder folder;
  const auto files = good_files();
  ASSERT_TRUE(files.contains("tensors.safetensors") && files.contains("tensors.npz"));
  for (const auto& [name, good] : files) {
    const fs::path path = folder / name;
    std::ofstream(path, std::ios::binary) << good;
    const auto whole = open_any(path);
    EXPECT_TRUE(whole) << name << ": " << whole.error().message();
    const std::size_t step = std::getenv("HEADLIGHT_ALL_FAULTS") ? 1 : std::max<std::size_t>(1, good.size() / 400);
    for (std::size_t at = 0; at < good.size(); at += step) {
      for (const unsigned char flip : {0x01, 0x80, 0xFF}) {
        std::string bad = good;
        bad[at] = static_cast<char>(static_cast<unsigned char>(bad[at]) ^ flip);
        std::ofstream(path, std::ios::binary) << bad;
        const auto opened = open_any(path);
        if (opened) continue;  // some bytes may have any value
        const std::string& line = opened.error().message();
        EXPECT_TRUE(line.starts_with(path.string())) << name << " byte " << at << ": " << line;
        EXPECT_EQ(line.find('\n'), std::string::npos) << name << " byte " << at;
      }
    }
  }
}

TEST(Faults, AFileIsOpenedOrRefusedWhateverIsMissing) {
  const Folder folder;
  for (const auto& [name, good] : good_files()) {
    const fs::path path = folder / name;
    std::ofstream(path, std::ios::binary) << good;
    refuse_each(
        [&] {
          try {
            static_cast<void>(open_any(path));
          } catch (const std::bad_alloc&) {}  // answered by the worker that opens it
        },
        [](const std::string&) {});
  }
}

}  // namespace
}  // namespace headlight
