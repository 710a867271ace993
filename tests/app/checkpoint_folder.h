// A golden model with a tokenizer of the tests beside it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/session_fixture.h"
#include "models/open_model.h"

namespace headlight::worded {

using fixture::Folder;
using fixture::golden;
using nlohmann::json;
using Texts = std::vector<std::string>;

/// A word-level tokenizer.json: <s> before every text, words as Headlight cuts them.
inline json words_json(const Texts& words, const json& normalizer = nullptr) {
  json vocabulary{{"<s>", 0}, {"<unk>", 1}, {"<pad>", 2}};
  for (const std::string& word : words) vocabulary[word] = vocabulary.size();
  const auto special = [](int id, const char* content) {
    return json{
        {"id", id},        {"content", content}, {"special", true}, {"normalized", false}, {"single_word", false},
        {"lstrip", false}, {"rstrip", false}};
  };
  json start, text;
  start["SpecialToken"] = {{"id", "<s>"}, {"type_id", 0}};
  text["Sequence"] = {{"id", "A"}, {"type_id", 0}};
  json specials;
  specials["<s>"]["id"] = "<s>";
  specials["<s>"]["ids"] = json::array({0});
  specials["<s>"]["tokens"] = json::array({"<s>"});
  json root;
  root["version"] = "1.0";
  root["added_tokens"] = json::array({special(0, "<s>"), special(1, "<unk>"), special(2, "<pad>")});
  root["normalizer"] = normalizer;
  root["pre_tokenizer"]["type"] = "Words";
  root["post_processor"] = {{"type", "TemplateProcessing"},
                            {"single", json::array({start, text})},
                            {"pair", json::array()},
                            {"special_tokens", specials}};
  root["model"] = {{"type", "WordLevel"}, {"vocab", vocabulary}, {"unk_token", "<unk>"}};
  return root;
}

/// Letters in bytes, two of them merged: 'th' and ' th'.
inline json bytes_json() {
  json vocabulary;
  for (const char* word : {"t", "h", "e", "Ġ", "c", "a", "s", "th", "Ġth", "æ", "Ī", "ĳ"})
    vocabulary[word] = vocabulary.size();
  json root;
  root["version"] = "1.0";
  root["added_tokens"] = json::array();
  root["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}};
  root["model"] = {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", json::array({"t h", "Ġ th"})}};
  return root;
}

inline const Texts kWords{"我", "请",   "李雷", "帮",  "订了", "去",      "北京",
                          "的", "机票", "the",  "cat", "sat",  "New York"};

/// A golden model with a tokenizer beside it.
class CheckpointFolder : public Folder {
 public:
  explicit CheckpointFolder(const std::string& name, const json& tokenizer) {
    for (const char* file : {"config.json", "model.safetensors"})
      std::filesystem::copy_file(golden(name) / file, path() / file);
    if (!tokenizer.is_null()) with("tokenizer.json", tokenizer.dump());
  }
  std::string folder() const { return path().string(); }
  Document document() const {
    auto opened = open_model(path());
    EXPECT_TRUE(opened) << opened.error().message();
    return opened ? opened->document : Document{};
  }
};

}  // namespace headlight::worded
