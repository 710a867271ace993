#include "session/command.h"

#include <memory>

namespace headlight {

Command::Command(const Command&) = default;
Command::Command(Command&&) noexcept = default;
Command::~Command() = default;

// Assigned by construction: the variant's own assignments are compiled for each alternative, and take as long to compile
// as all else in this room.
Command& Command::operator=(const Command& other) { return *this = Command(other); }
Command& Command::operator=(Command&& other) noexcept {
  if (this == &other) return *this;
  std::destroy_at(this);
  return *std::construct_at(this, std::move(other));
}

}  // namespace headlight
