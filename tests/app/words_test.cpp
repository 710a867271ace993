// The tables of words: every row has its users, every name that is looked up has its row. That a row has both languages
// and the same gaps in both, cmake checks when it makes the headers (cmake/words.cmake).
#include <gtest/gtest.h>

#include <set>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "explain/matrix_kinds.h"
#include "explain/recipe.h"
#include "words/words.h"

namespace headlight {
namespace {

using nlohmann::json;

const std::filesystem::path kProject = std::filesystem::path(HEADLIGHT_TEST_DATA).parent_path();
constexpr const char* kTables[] = {"app/words/words.json", "tools/train/words.json", "tools/diagnose/words.json",
                                   "tools/page/words.json", "tools/study/words.json"};

std::string text_of(const std::filesystem::path& path) {
  const auto text = read_file(path);
  EXPECT_TRUE(text) << path;
  return text ? *text : std::string();
}

/// The files with these endings in the folders, one after the other.
std::string files_in(std::initializer_list<const char*> folders, const std::set<std::string>& endings) {
  std::string all;
  for (const char* folder : folders)
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kProject / folder))
      if (entry.is_regular_file() && endings.contains(entry.path().extension().string())) all += text_of(entry.path());
  return all;
}

bool goes_on(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Whether the name stands there as a whole.
bool has_name(const std::string& text, const std::string& name) {
  std::size_t at = text.find(name);
  while (at != std::string::npos && at + name.size() < text.size() && goes_on(text[at + name.size()]))
    at = text.find(name, at + 1);
  return at != std::string::npos;
}

/// Whether one of these quotes the name.
bool is_quoted(const std::string& text, const std::string& name) {
  return text.find('"' + name + '"') != std::string::npos || text.find('\'' + name + '\'') != std::string::npos;
}

std::set<std::string> names_of(const json& rows) {
  std::set<std::string> names;
  for (const auto& [name, row] : rows.items()) names.insert(name);
  return names;
}

TEST(WordTables, NoKeyStandsTwiceInAnObject) {
  for (const char* table : kTables) {
    std::vector<std::set<std::string>> open;
    const auto look = [&](int, json::parse_event_t event, json& value) {
      if (event == json::parse_event_t::object_start) open.emplace_back();
      if (event == json::parse_event_t::object_end) open.pop_back();
      if (event == json::parse_event_t::key) {
        EXPECT_TRUE(open.back().insert(value.get<std::string>()).second) << value;
      }
      return true;
    };
    SCOPED_TRACE(table);
    EXPECT_FALSE(json::parse(text_of(kProject / table), look, false).is_discarded());
  }
}

TEST(WordTables, EveryTextOfAHeaderIsUsed) {
  const std::string sources = files_in({"app", "tools"}, {".cpp", ".h"});
  int texts = 0;
  for (const char* table : kTables) {
    const json groups = json::parse(text_of(kProject / table));
    for (const auto& [group, areas] : groups.items()) {
      if (!group.ends_with("_words")) continue;
      for (const auto& [area, rows] : areas.items())
        for (const auto& [key, row] : rows.items()) {
          EXPECT_TRUE(has_name(sources, "k" + area + "." + key) || has_name(sources, area + "::" + key))
              << table << ": " << area << "." << key;
          ++texts;
        }
    }
  }
  EXPECT_GT(texts, 700);
}

TEST(WordTables, EveryMatrixAndEveryOperationHasItsRow) {
  std::set<std::string> matrices;
  for (int i = 0; i <= static_cast<int>(Quantity::probabilities); ++i)
    matrices.insert(matrix_name(static_cast<Quantity>(i)));
  EXPECT_EQ(names_of(words_table()["matrices"]), matrices);
  EXPECT_EQ(words_table()["operations"].size(), static_cast<std::size_t>(Operation::product) + 1);
}

TEST(WordTables, EveryErrorHasItsRow) {
  std::set<std::string> codes;
  for (std::size_t i = 0; i < kErrorCodes; ++i) codes.emplace(name(static_cast<ErrorCode>(i)));
  EXPECT_EQ(names_of(words_table()["failures"]), codes);
}

TEST(WordTables, EveryRowThatIsLookedUpHasItsName) {
  const std::string engine = files_in({"core", "app"}, {".cpp", ".h"});
  for (const char* group : {"steps", "nodes", "constants", "masks"})
    for (const auto& [name, row] : words_table()[group].items())
      EXPECT_TRUE(is_quoted(engine, name)) << group << ": " << name;
  const std::string writers = text_of(kProject / "core/explain/writers.cpp");
  for (const auto& [name, row] : words_table()["writers"].items()) EXPECT_TRUE(is_quoted(writers, name)) << name;
  const std::string cards = files_in({"core", "tools/train"}, {".cpp"}) + text_of(kProject / "assets/grammar.json");
  for (const auto& [name, row] : words_table()["relations"].items()) EXPECT_TRUE(is_quoted(cards, name)) << name;
  const std::string sentences = text_of(kProject / "assets/samples.json") + text_of(kProject / "assets/grammar.json") +
                                files_in({"assets/lessons", "app"}, {".json", ".h"});
  for (const auto& [word, gloss] : words_table()["glosses"].items())
    EXPECT_NE(sentences.find(word), std::string::npos) << word;
}

TEST(WordTables, EveryTextOfThePageIsUsed) {
  const std::string web = files_in({"tools/page/web"}, {".js", ".html"});
  const auto is_said = [&](const std::string& name) {
    if (is_quoted(web, name)) return true;
    // Or of a choice: `stack_${kind}`, worded('map', ['teal', …]).
    for (std::size_t end = name.find('_'); end != std::string::npos; end = name.find('_', end + 1)) {
      const std::string first = name.substr(0, end);
      if (web.find(first + "_${") != std::string::npos || is_quoted(web, first)) return true;
    }
    return false;
  };
  const json page = json::parse(text_of(kProject / "tools/page/words.json"));
  for (const auto& [name, row] : page["page"].items()) EXPECT_TRUE(is_said(name)) << name;
}

}  // namespace
}  // namespace headlight
