// The view as JSON: the `view` of a session and of a lesson's step.
#pragma once

#include "read/json/json_fields.h"
#include "view/view_state.h"

namespace headlight {

nlohmann::json view_json(const ViewState& view);
/// The `view` of a session. It never keeps one from opening: what cannot be used takes its default.
ViewState view_from_json(const nlohmann::json& object, std::size_t num_sentences);

// The part of it that does not depend on the question; settings contain it, too.
/// Adds to an object the fields that differ from those of a first window.
void write_layout(const Layout& layout, nlohmann::json& object);
/// Values that cannot be used change nothing.
void read_layout(const JsonField& object, Layout& layout);

/// {"name": …, "path": …, "step": …}; no name is null, and anything else that cannot be used no lesson.
nlohmann::json lesson_mark_json(const LessonMark& mark);
LessonMark lesson_mark_from(const JsonField& object);

}  // namespace headlight
