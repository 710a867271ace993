// Lessons: a guided walk, each step of which sets the program to the state it describes and asks for a change. They are
// files in assets/lessons and in the user's folder; docs/formats.md describes the format.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/trace.h"
#include "models/bundled_models.h"
#include "question/document.h"
#include "view/settings.h"
#include "view/view_state.h"

namespace headlight {

/// A word of a sentence: its text, of several the n-th (`我#2`, counted from 1; without a number the first), or the
/// position of a token counted from 0.
struct WordPosition {
  std::string word;
  std::optional<Index> index = {};
};

/// A number of an answer, and the bounds that are claimed for it.
struct Claim {
  enum class Kind {
    weight,       // of a head, from a word to a word
    matrix,       // a cell of a matrix on the data's way (derived/matrix_names.h)
    row_largest,  // the mean over a head's rows of their largest weight
    rows_apart,   // the largest difference between two rows of a head
    next,         // the probability of a word: the next one, or the masked one
    relation,     // the score of a head for a relation, on sentences it never saw
  } kind = Kind::weight;
  HeadRef head;
  WordPosition query, key;  // of rows_apart: the two queries
  std::string name;         // of the matrix, the word or the relation
  CellRef cell;             // of the matrix
  std::optional<double> above, below;
};

/// [{"layer": 1, "head": 5, "query": "机票", "key": "订了", "above": 0.9}, …]
Result<std::vector<Claim>> claims_from_json(const std::string& where, const nlohmann::json& list);

/// The claim in words: `head 1.5, 机票 → 订了`.
std::string words_of(const Claim& claim);

/// The number that it is about. An Error where the answer has no such thing.
Result<double> claimed_number(const Claim& claim, const Document& document, const Trace& trace);
/// Whether the number is within the bounds of the claim.
bool holds(const Claim& claim, double number);

/// The token at a word position; nothing where there is none.
std::optional<Index> find_position(const Tokens& tokens, const WordPosition& position);

struct Scene;

/// The facts that goals check.
struct GoalFacts {
  const Document& document;
  const ViewState& view;
  const Trace* trace = nullptr;             // the answer to what is asked now; null while there is none
  std::optional<Index> trained_steps = {};  // of the training whose model answers; nothing where none does
  std::optional<Index> shown_step = {};     // the step of it that is looked at, where that is not the newest
};

/// One property of what is asked and looked at. The table of them, and of what each takes, is in lesson_goal.cpp.
struct Goal {
  std::size_t kind = 0;            // its index in the table
  std::vector<std::string> words;  // of a kind that takes words: any one of them will do
  double number = 0;               // of a kind that takes a number
};

/// {"mask": "causal", "heads_at_most": 1, …}. Errors name the property, and what it takes.
Result<std::vector<Goal>> goals_from_json(const std::string& where, const nlohmann::json& object);

/// Whether it is so now. `scene` is what the step set, null where it set nothing.
bool is_reached(const Goal& goal, const GoalFacts& facts, const Scene* scene);

/// A text in the window's languages.
struct Said {
  std::string en, zh;  // both empty or none: a text in one language stands in both

  const std::string& in(Language language) const { return language == Language::zh ? zh : en; }
  bool empty() const { return en.empty(); }
};

/// The scene that a step sets.
struct Scene {
  Document document;
  ViewState view;
};

/// What a step shows and waits for.
struct StepContent {
  std::optional<Scene> scene;  // nothing: everything stays as the reader has it
  std::vector<Goal> goals;     // all of them reached: the attempt is done. Empty: unknown
  std::vector<Claim> claims;   // what the text claims about the numbers, so that it can be checked
};

struct LessonStep : StepContent {
  Said text;                           // what is to be seen
  Said attempt;                        // what the reader is asked to change; empty: nothing
  std::string points;                  // at a control, until that is done; empty: at none
  std::optional<StepContent> english;  // in the English window instead of the step's content

  const StepContent& in(Language language) const { return language == Language::en && english ? *english : *this; }
};

struct Lesson {
  std::string name;  // of its file, without the ending
  std::string path;
  Said title;
  std::vector<LessonStep> steps;  // one at least
};

/// How a lesson outside the lessons' folders is named, so that the window knows it for one.
inline constexpr std::string_view kLessonEnding = ".lesson.json";

/// Reads a lesson's file. A path that names a model in it begins at the file's folder. `shipped` may be null.
Result<Lesson> read_lesson(const std::filesystem::path& path, const BundledModels* shipped);
/// The same of the file's text.
Result<Lesson> lesson_from_json(const std::filesystem::path& path, const std::string& text,
                                const BundledModels* shipped);

/// The files of lessons in a folder, in the order of their names.
std::vector<std::filesystem::path> lesson_files(const std::filesystem::path& folder);

/// Those that can be read, and what is wrong with the others.
struct Lessons {
  std::vector<Lesson> lessons;
  std::vector<Error> problems;
};
/// Every .json file of the folders, in the order of the folders and then of the names. Folders that are not there are
/// passed over.
Lessons read_lessons(const std::vector<std::filesystem::path>& folders, const BundledModels* shipped);

/// The index of the lesson with this name, with or without the number it begins with; nothing where there is none.
std::optional<std::size_t> find_lesson(const std::vector<Lesson>& lessons, std::string_view name);

/// $XDG_DATA_HOME/headlight/lessons, or its default path under $HOME: a teacher's lessons.
std::filesystem::path lessons_folder();

// A lesson's text points at what it describes: `[it|it→animal]` is the word “it”, which lights a cell of the chosen
// head, `[北京|北京]` a row of it, `[Hide padding|@padding]` a control of the window, `[4 heads|@heads=4]` a value of it,
// `[wide for tired|tired=wide]` a change of the sentence. `[#undo]` is the name and the keys of an action.

/// A piece of a text; `target` is empty where it points at nothing. That of an action, `#undo`, has no text.
struct LessonSpan {
  std::string text, target;
  friend bool operator==(const LessonSpan&, const LessonSpan&) = default;
};

/// The pieces of a text, in order. Brackets without a bar are text.
std::vector<LessonSpan> spans_of(std::string_view text);

/// The object that a target names: an action; a control and perhaps its value; a word of the sentence and the text that
/// replaces it (`=` alone before it: the whole sentence); or a word and perhaps the word it looks at (each
/// a WordPosition's text, `我#2`).
struct LessonTarget {
  std::string action = {}, control = {}, value = {}, replaced = {}, text = {}, query = {}, key = {};
  friend bool operator==(const LessonTarget&, const LessonTarget&) = default;
};
LessonTarget target_of(std::string_view target);

}  // namespace headlight
