// The text behind a score of a head that was taught.
#pragma once

#include <string>

#include "document/document.h"
#include "train/measure/relations.h"
#include "view/settings.h"

namespace headlight {

/// " taught" behind the score of a relation that the head was taught, empty behind one that it found by itself.
std::string taught_mark(Language language, const Document& document, const RelationScore& relation);

}  // namespace headlight
