// Whether a lesson can be read as it was meant: every step is answered, shows what it points at, says what is true of
// the numbers, and asks for something that is not there from the start.
#pragma once

#include <memory>
#include <vector>

#include "check/checkpoint_check.h"
#include "lesson/lesson.h"

namespace headlight {

/// A finding for each claim and each error; their lines begin with `step 2: `. `shipped` may be null.
std::vector<Finding> check_lesson(Lesson lesson, const Lexicon& lexicon, std::shared_ptr<const BundledModels> shipped);

}  // namespace headlight
