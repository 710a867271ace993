#include "base/input_lines.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/file.h"

namespace headlight {
namespace {

/// Whether a failed read should be tried again: at once after a signal, or when there is something in a pipe that does
/// not wait.
bool reads_again(int descriptor) {
  if (errno == EINTR) return true;
  if (errno != EAGAIN) return false;
  pollfd ready{descriptor, POLLIN, 0};
  return ::poll(&ready, 1, -1) >= 0 || errno == EINTR;
}

}  // namespace

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
    ssize_t got = ended_ ? 0 : -1;
    while (got < 0 && (got = ::read(descriptor_, buffer_.data(), buffer_.size())) < 0)
      if (!reads_again(descriptor_)) break;
    const int error = errno;
    buffer_.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
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
