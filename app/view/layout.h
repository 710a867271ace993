// The part of a look that is about no question in particular, as sessions and settings have it.
#pragma once

#include "read/json/json_fields.h"
#include "view/view_state.h"

namespace headlight {

/// Adds to an object what is not as a window has it at first.
void write_layout(const Layout& layout, nlohmann::json& object);
/// Values that cannot be used leave what there is.
void read_layout(const JsonField& object, Layout& layout);

/// {"name": …, "path": …, "step": …}; no name is null, and anything else that cannot be used no lesson.
nlohmann::json lesson_mark_json(const LessonMark& mark);
LessonMark lesson_mark_from(const JsonField& object);

}  // namespace headlight
