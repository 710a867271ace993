// Training with the program: a small model, and what it wrote.
#pragma once

#include "app/program.h"

namespace headlight::program {

inline const char* const kTrainingText =
    "the cat sat on the mat\nthe dog sat on the rug\na cat saw a dog\nthe dog saw the cat\n";

inline Strings train(Strings words, const fixture::fs::path& folder) {
  words.insert(words.begin(), "train");
  for (const char* word : {"--d-model", "16", "--num-heads", "2", "--layers", "1", "--ffn", "16", "--batch", "8", "-o"})
    words.push_back(word);
  words.push_back(folder.string());
  return words;
}

inline json read_json(const fixture::fs::path& path) {
  const auto text = read_file(path);
  return text ? json::parse(*text, nullptr, false) : json();
}

}  // namespace headlight::program
