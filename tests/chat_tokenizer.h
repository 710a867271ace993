// A small tokenizer of an instruct model: byte-level BPE without merges, a token a byte, small letters alone, and the
// special tokens of a family; <s> before a text. Its ids are fewer than golden/gpt2's rows.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace headlight {

inline std::string chat_tokenizer_json(const std::vector<std::string>& specials) {
  using nlohmann::json;
  json vocabulary{{"<s>", 0}, {"Ċ", 1}, {"Ġ", 2}};
  for (char letter = 'a'; letter <= 'z'; ++letter) vocabulary[std::string(1, letter)] = vocabulary.size();
  for (const char* other : {"[", "]", "/", "<", ">", "I", "N", "S", "T", "Y"}) vocabulary[other] = vocabulary.size();
  json added = json::array();
  const auto add = [&](const std::string& content, std::size_t id) {
    added.push_back({{"id", id}, {"content", content}, {"special", true}, {"normalized", false}});
  };
  add("<s>", 0);
  for (const std::string& content : specials) add(content, 38 + added.size());
  const json start = {{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}};
  const json text = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  return json{{"version", "1.0"},
              {"added_tokens", added},
              {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}},
              {"post_processor",
               {{"type", "TemplateProcessing"},
                {"single", {start, text}},
                {"pair", json::array()},
                {"special_tokens", {{"<s>", {{"id", "<s>"}, {"ids", {0}}, {"tokens", {"<s>"}}}}}}}},
              {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", json::array()}}}}
      .dump();
}

}  // namespace headlight
