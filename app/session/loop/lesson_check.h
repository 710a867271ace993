// Whether a lesson works as intended: every step has an answer, shows what it points at, makes claims that are true of
// the numbers, and asks for a state that is not reached at its start.
#pragma once

#include <memory>
#include <vector>

#include "lesson/lesson.h"
#include "model/finding.h"

namespace headlight {

/// A finding for each claim and each error; their lines begin with `step 2: `. `shipped` may be null.
std::vector<Finding> check_lesson(Lesson lesson, const Lexicon& lexicon, std::shared_ptr<const BundledModels> shipped);

}  // namespace headlight
