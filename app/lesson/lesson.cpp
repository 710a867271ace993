#include "lesson/lesson.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/file.h"
#include "question/json/document_json.h"
#include "read/array/array.h"
#include "read/json/json_document.h"
#include "view/view_json.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view kSchema = "headlight.lesson/1";
constexpr std::size_t kLargestLesson = std::size_t{1} << 20, kMostSteps = 64, kMostText = 2000, kMostTitle = 80;

bool is_text(const json& value, std::size_t most) {
  return value.is_string() && !value.get_ref<const std::string&>().empty() &&
         value.get_ref<const std::string&>().size() <= most;
}

/// {"en": …, "zh": …}, one of them alone, or a string: then it is read in both languages.
Result<Said> said_from_json(const std::string& where, const char* what, const json& value, std::size_t most) {
  const auto wrong = [&](const json& found) {
    const std::string shown = found.is_string() && found.get_ref<const std::string&>().size() > most
                                  ? std::to_string(found.get_ref<const std::string&>().size()) + " bytes"
                                  : printable(found.dump(-1, ' ', false, json::error_handler_t::replace));
    return bad_input(where, what, "a text of at most " + std::to_string(most) + " bytes in en, zh or both", shown);
  };
  if (is_text(value, most)) return Said{value.get<std::string>(), value.get<std::string>()};
  if (!value.is_object()) return wrong(value);
  Said said;
  for (const auto& [language, text] : value.items()) {
    if ((language != "en" && language != "zh") || !is_text(text, most)) return wrong(value);
    (language == "en" ? said.en : said.zh) = text.get<std::string>();
  }
  if (said.en.empty()) said.en = said.zh;
  if (said.zh.empty()) said.zh = said.en;
  if (said.empty()) return wrong(value);
  return said;
}

/// The request with a model where it names none, and a path to one that begins at the lesson's folder.
json with_model(json request, const fs::path& folder) {
  if (!request.contains("source") && !request.contains("random")) request["source"] = kDefaultModel;
  const auto source = request.find("source");
  if (source == request.end() || !source->is_string()) return request;
  const std::string path = source->get<std::string>();
  if (!path.empty() && !path.starts_with(kShipped) && fs::path(path).is_relative())
    *source = (folder / path).lexically_normal().string();
  return request;
}

/// Where the models of a lesson come from: those that are read at the start, else a file. `beside` is the last
/// document, so that a file that several steps name is read once.
struct Models {
  fs::path folder;
  const BundledModels* shipped = nullptr;
  std::optional<Document> beside = {};
};

Result<Scene> scene_from_json(const std::string& where, const json& set, Models& models) {
  if (!set.is_object()) return bad_input(where, "set", "an object with request and view", set.type_name());
  const json request = set.value("request", json::object());
  if (!request.is_object()) return bad_input(where, "request", "an object", request.type_name());
  std::vector<Error> warnings;
  auto document = document_from_json(where, with_model(request, models.folder), unwatched(), warnings, models.shipped,
                                     models.beside ? &*models.beside : nullptr);
  if (!document) {  // an error of a model names the model's file alone
    const Error& error = document.error();
    return error.where.starts_with(where) ? error : inside(where + ": source", error);
  }
  if (!document->numbers) models.beside = *document;
  const std::size_t count = count_sentences(*document);
  return Scene{std::move(*document), view_from_json(set.value("view", json()), count)};
}

/// Reads the fields of a step's content from the object; fields that are absent keep their values.
Status read_content(StepContent& content, const std::string& where, const json& object, Models& models) {
  if (const auto set = object.find("set"); set != object.end()) {
    content.scene = TRY(scene_from_json(where, *set, models));
  }
  if (const auto done = object.find("done"); done != object.end()) {
    content.goals = TRY(goals_from_json(where, *done));
  }
  if (const auto list = object.find("claims"); list != object.end()) {
    content.claims = TRY(claims_from_json(where, *list));
  }
  return Done{};
}

Result<LessonStep> step_from_json(const std::string& where, const json& object, Models& models) {
  if (!object.is_object()) return bad_input(where, "", "an object", object.type_name());
  LessonStep step;
  step.text = TRY(said_from_json(where, "text", object.value("text", json()), kMostText));
  if (const auto attempt = object.find("try"); attempt != object.end()) {
    step.attempt = TRY(said_from_json(where, "try", *attempt, kMostText));
  }
  if (const auto points = object.find("points"); points != object.end()) {
    if (!is_text(*points, kMostTitle))
      return bad_input(where, "points", "the name of a control", printable(points->dump()));
    step.points = points->get<std::string>();
  }
  TRY(read_content(step, where, object, models));
  const auto english = object.find("english");
  if (english == object.end()) return step;
  if (!english->is_object()) return bad_input(where, "english", "an object", english->type_name());
  step.english = step;  // its content
  const Status read = read_content(*step.english, where + ": english", *english, models);
  return read ? Result<LessonStep>(std::move(step)) : read.error();
}

/// Without the number that puts the files in order: `masks` of `06-masks`.
std::string_view without_number(std::string_view name) {
  const std::size_t end = name.find_first_not_of("0123456789");
  if (end == 0 || end == std::string_view::npos || name[end] != '-') return name;
  return name.substr(end + 1);
}

std::string name_of(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.substr(0, name.find('.'));
}

}  // namespace

std::vector<fs::path> lesson_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (at->path().extension() == ".json" && !at->path().filename().string().starts_with('.'))
      files.push_back(at->path());
  std::ranges::sort(files);
  return files;
}

Result<Lesson> lesson_from_json(const fs::path& path, const std::string& text, const BundledModels* shipped) {
  const std::string where = path.string();
  const auto object = parse_json(where, text);
  if (!object) return object.error();
  if (!object->is_object()) return bad_input(where, "lesson", "an object", object->type_name());
  const json schema = object->value("schema", json());
  if (schema != kSchema)
    return bad_input(where, "schema", kSchema, schema.is_null() ? "nothing" : printable(schema.dump()),
                     ErrorCode::unknown_schema);
  Lesson lesson{name_of(path), where, {}, {}};
  lesson.title = TRY(said_from_json(where, "title", object->value("title", json()), kMostTitle));
  const json steps = object->value("steps", json());
  if (!steps.is_array() || steps.empty() || steps.size() > kMostSteps)
    return bad_input(where, "steps", "a list of 1 to " + std::to_string(kMostSteps),
                     steps.is_array() ? std::to_string(steps.size()) : steps.type_name());
  Models models{path.parent_path(), shipped};
  for (std::size_t i = 0; i < steps.size(); ++i)
    lesson.steps.push_back(TRY(step_from_json(where + ": step " + std::to_string(i + 1), steps[i], models)));
  return lesson;
}

Result<Lesson> read_lesson(const fs::path& path, const BundledModels* shipped) {
  const auto text = TRY(read_file(path, kLargestLesson));
  return lesson_from_json(path, text, shipped);
}

Lessons read_lessons(const std::vector<fs::path>& folders, const BundledModels* shipped) {
  Lessons read;
  for (const fs::path& folder : folders) {
    for (const fs::path& file : lesson_files(folder)) {
      auto lesson = read_lesson(file, shipped);
      if (lesson) read.lessons.push_back(std::move(*lesson));
      else read.problems.push_back(lesson.error());
    }
  }
  return read;
}

std::optional<std::size_t> find_lesson(const std::vector<Lesson>& lessons, std::string_view name) {
  for (std::size_t i = 0; i < lessons.size(); ++i)
    if (lessons[i].name == name) return i;
  for (std::size_t i = 0; i < lessons.size(); ++i)
    if (without_number(lessons[i].name) == name) return i;
  return std::nullopt;
}

fs::path lessons_folder() { return data_folder() / "lessons"; }

std::vector<LessonSpan> spans_of(std::string_view text) {
  std::vector<LessonSpan> spans;
  const auto add = [&](std::string_view piece, std::string_view target) {
    if (piece.empty() && target.empty()) return;
    if (target.empty() && !spans.empty() && spans.back().target.empty()) spans.back().text += piece;
    else spans.push_back({std::string(piece), std::string(target)});
  };
  while (!text.empty()) {
    const std::size_t open = text.find('[');
    const std::size_t close = open == std::string_view::npos ? open : text.find(']', open);
    if (close == std::string_view::npos) {
      add(text, {});
      break;
    }
    const std::string_view inside = text.substr(open + 1, close - open - 1);
    const std::size_t bar = inside.find('|');
    if (inside.starts_with('#')) {
      add(text.substr(0, open), {});
      add({}, inside);
    } else if (bar == std::string_view::npos) {
      add(text.substr(0, close + 1), {});
    } else {
      add(text.substr(0, open), {});
      add(inside.substr(0, bar), inside.substr(bar + 1));
    }
    text.remove_prefix(close + 1);
  }
  return spans;
}

LessonTarget target_of(std::string_view target) {
  constexpr std::string_view kArrow = "→";
  const auto cut = [](std::string_view text, std::size_t at, std::size_t length) {
    const bool found = at != std::string_view::npos;
    return std::pair(std::string(text.substr(0, at)), std::string(found ? text.substr(at + length) : ""));
  };
  if (target.starts_with('#')) return {.action = std::string(target.substr(1))};
  const auto [before, after] = cut(target, target.find('='), 1);
  if (target.starts_with('@')) return {.control = before.substr(1), .value = after};
  if (before != target) return {.replaced = before, .text = after};
  const auto [query, key] = cut(target, target.find(kArrow), kArrow.size());
  return {.query = query, .key = key};
}

}  // namespace headlight
