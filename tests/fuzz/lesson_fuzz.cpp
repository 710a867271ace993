// A lesson of any bytes is one whose every step can be asked, or has a question that is refused in one line; or it is
// one line itself.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "fuzz/require.h"
#include "fuzz/target.h"
#include "lesson/lesson.h"

namespace {

using namespace headlight;

void check(const LessonStep& step, const Lexicon& lexicon) {
  require(!step.text.en.empty() && !step.text.zh.empty());
  require(step.attempt.en.empty() == step.attempt.zh.empty());
  for (const Language language : {Language::en, Language::zh}) {
    const auto& scene = step.in(language).scene;
    if (!scene) continue;
    const auto requests = requests_of(scene->document, lexicon);
    if (!requests) require_line(requests.error().message());
    else require(scene->view.sentence < std::max<std::size_t>(requests->size(), 1));
  }
}

}  // namespace

HEADLIGHT_FUZZ_TARGET(lesson) {
  static const auto shipped = read_shipped_models();  // once, not for every step that speaks of one
  static const Lexicon lexicon;
  require(static_cast<bool>(shipped));
  const auto lesson =
      lesson_from_json("/nowhere/fuzz.lesson.json", {reinterpret_cast<const char*>(data), size}, shipped->get());
  if (!lesson) {
    require_line(lesson.error().message());
    return;
  }
  require(lesson->name == "fuzz" && !lesson->title.en.empty() && !lesson->title.zh.empty());
  require(!lesson->steps.empty());
  for (const LessonStep& step : lesson->steps) check(step, lexicon);
}
