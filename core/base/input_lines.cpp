#include "base/input_lines.h"

#include <algorithm>
#include <cerrno>

#include "base/file.h"
#include "base/system.h"

namespace headlight {

Result<std::optional<InputLines::Line>> InputLines::next() {
  Line line;
  for (;;) {
    const std::size_t end = buffer_.find('\n', at_);
    const std::size_t size = std::min(end, buffer_.size()) - at_;
    const std::size_t room = limit_ - std::min(limit_, line.text.size());
    line.is_too_long = line.is_too_long || size > room;
    line.text.append(buffer_, at_, std::min(size, room));
    if (end != std::string::npos) {
      at_ = end + 1;
      break;
    }
    const bool has_begun = !line.text.empty() || line.is_too_long || size > 0;
    at_ = 0;
    buffer_.resize(std::size_t{1} << 16);
    const std::ptrdiff_t got = ended_ ? 0 : read_some(descriptor_, buffer_.data(), buffer_.size());
    const int error = errno;
    buffer_.resize(static_cast<std::size_t>(std::max<std::ptrdiff_t>(got, 0)));
    if (got < 0)
      return bad_input("standard input", "read", "readable input", system_error_text(error), read_fault(error));
    ended_ = got == 0;
    if (!ended_) continue;
    if (!has_begun) return std::optional<Line>();
    break;
  }
  if (line.text.ends_with('\r')) line.text.pop_back();
  return std::optional(std::move(line));
}

}  // namespace headlight
