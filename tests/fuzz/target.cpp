// The chosen target, as libFuzzer and driver.cpp call it.
#include "fuzz/target.h"

#include <cstdlib>
#include <iostream>

namespace headlight {

namespace {

FuzzTarget chosen = nullptr;

}  // namespace

std::map<std::string_view, FuzzTarget>& fuzz_targets() {
  static std::map<std::string_view, FuzzTarget> targets;
  return targets;
}

bool choose_fuzz_target(std::string_view name) {
  const auto found = fuzz_targets().find(name);
  if (found != fuzz_targets().end()) chosen = found->second;
  return found != fuzz_targets().end();
}

}  // namespace headlight

extern "C" {

int LLVMFuzzerInitialize(int* count, char*** words);
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

/// Takes the target's name off the command line, as its first word. libFuzzer starts itself again without that word
/// (-fork, -merge): the environment keeps the name.
int LLVMFuzzerInitialize(int* count, char*** words) {
  const char* kept = std::getenv("HEADLIGHT_FUZZ_TARGET");
  if (*count > 1 && headlight::choose_fuzz_target((*words)[1])) {
    setenv("HEADLIGHT_FUZZ_TARGET", (*words)[1], 1);
    for (int i = 2; i <= *count; ++i) (*words)[i - 1] = (*words)[i];
    --*count;
  } else if (kept == nullptr || !headlight::choose_fuzz_target(kept)) {
    std::cerr << "fuzz: target: expected one of";
    for (const auto& [name, target] : headlight::fuzz_targets()) std::cerr << ' ' << name;
    std::cerr << ", found " << (*count > 1 ? (*words)[1] : "none") << '\n';
    std::exit(2);
  }
  return 0;
}

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  headlight::chosen(data, size);
  return 0;
}
}
