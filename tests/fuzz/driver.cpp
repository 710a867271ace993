// Runs a fuzz target without a fuzzer, the same way every time: fuzz TARGET RUNS FILE… feeds every file as it is, and
// then RUNS damaged ones. With clang and HEADLIGHT_FUZZ=ON the same targets are linked with libFuzzer instead.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerInitialize(int* count, char*** words);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void feed(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

/// One to four of the injuries a parser must survive: a cut, a changed byte, a piece lost, repeated or moved.
std::string damaged(std::string bytes, std::mt19937& random) {
  static const std::string extremes{"\0\xff\x7f\x80{}[],:\"\\-e9\n\t \xf0\x9f", 21};
  const auto below = [&random](std::size_t limit) { return limit == 0 ? 0 : random() % limit; };
  for (std::size_t injuries = 1 + below(4); injuries > 0; --injuries) {
    const std::size_t at = below(bytes.size());
    const std::size_t length = 1 + below(bytes.size() < 64 ? bytes.size() : 64);
    switch (below(6)) {
      case 0: bytes.resize(at); break;
      case 1:
        if (!bytes.empty()) bytes[at] = static_cast<char>(random());
        break;
      case 2:
        if (!bytes.empty()) bytes[at] = extremes[below(extremes.size())];
        break;
      case 3: bytes.erase(at, length); break;
      case 4: bytes.insert(at, bytes.substr(at, length)); break;
      case 5: bytes.insert(at, bytes.substr(below(bytes.size()), length)); break;
    }
  }
  return bytes;
}

}  // namespace

int main(int count, char** words) {
  LLVMFuzzerInitialize(&count, &words);  // takes TARGET
  if (count < 3) return std::cerr << "fuzz TARGET RUNS FILE...\n", 2;
  std::vector<std::string> seeds;
  for (int i = 2; i < count; ++i) {
    std::ifstream file(words[i], std::ios::binary);
    if (!file) return std::cerr << words[i] << ": cannot be read\n", 2;
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    feed(seeds.back());
  }
  std::mt19937 random(1);
  const int runs = std::atoi(words[1]);
  for (int run = 0; run < runs; ++run) feed(damaged(seeds[static_cast<std::size_t>(run) % seeds.size()], random));
  feed("");
  std::cout << seeds.size() << " files, " << runs << " damaged ones\n";
}
