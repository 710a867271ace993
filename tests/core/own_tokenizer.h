// A small tokenizer for tests of training, and a treebank of one sentence.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "card/grammar.h"

namespace headlight::own {

using nlohmann::json;

/// <s> before a text, words of one letter or several, pieces of one letter.
inline json tokenizer_json() {
  json vocabulary = json::object();
  for (const std::string_view word : kSpecialWords) vocabulary[std::string(word)] = vocabulary.size();
  for (const char* word : {"the", "cat", "sat", "on", "mat", "he", ".", "我", "它", "猫", "<0xE9>"})
    vocabulary[word] = vocabulary.size();
  for (char c = 'a'; c <= 'z'; ++c)
    for (const char* prefix : {"", "##"}) vocabulary[prefix + std::string(1, c)] = vocabulary.size();
  json added = json::array();
  for (int id = 0; id < 4; ++id)
    added.push_back({{"id", id}, {"content", kSpecialWords[id]}, {"normalized", false}, {"special", true}});
  const json start = {{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}};
  const json text = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  return {
      {"version", "1.0"},
      {"added_tokens", added},
      {"normalizer", {{"type", "Lowercase"}}},
      {"pre_tokenizer", {{"type", "Words"}, {"costs", json::array({json::array({3, "我 它 猫"})})}}},
      {"post_processor",
       {{"type", "TemplateProcessing"},
        {"single", {start, text}},
        {"pair", {start, text, start, {{"Sequence", {{"id", "B"}, {"type_id", 1}}}}}},
        {"special_tokens", {{"<s>", {{"id", "<s>"}, {"ids", {1}}, {"tokens", {"<s>"}}}}}}}},
      {"model", {{"type", "WordPiece"}, {"vocab", vocabulary}, {"unk_token", "<unk>"}, {"character_fallback", true}}}};
}

inline const char* const kTreebank =
    "1\tThe\t_\tDET\t_\t_\t2\tdet\t_\t_\n"
    "2\tdog\t_\tNOUN\t_\t_\t3\tnsubj\t_\t_\n"
    "3\tsat\t_\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No\n"
    "4\t.\t_\tPUNCT\t_\t_\t3\tpunct\t_\t_\n\n";

}  // namespace headlight::own
