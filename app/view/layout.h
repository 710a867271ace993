// The part of a look that is about no question in particular, as sessions and settings have it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "view/view_state.h"

namespace headlight {

/// Adds to an object what is not as a window has it at first.
void write_layout(const Layout& layout, nlohmann::json& object);
/// Values that cannot be used take their defaults.
Layout layout_from_json(const nlohmann::json& object);

/// {"name": …, "path": …, "step": …}; no name is null, and anything else that cannot be used no lesson.
nlohmann::json lesson_mark_json(const LessonMark& mark);
LessonMark lesson_mark_from_json(const nlohmann::json& value);

}  // namespace headlight
