#include "base/result.h"

#include <cmath>
#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>

#include "base/names.h"

namespace headlight {
namespace {

#define HEADLIGHT_NAME(code) #code,
constexpr std::string_view kNames[] = {HEADLIGHT_ERROR_CODES(HEADLIGHT_NAME)};
#undef HEADLIGHT_NAME

}  // namespace

std::string_view name(ErrorCode code) { return name_in(kNames, code); }

Error::Error(ErrorCode kind, std::string_view at, std::string_view part, std::string_view wanted,
             std::string_view given)
    : code(kind), where(at), what(part), expected(wanted), found(given) {}
Error::Error(const Error&) = default;
Error::Error(Error&&) noexcept = default;
Error& Error::operator=(const Error&) = default;
Error& Error::operator=(Error&&) noexcept = default;
Error::~Error() = default;
bool operator==(const Error&, const Error&) = default;

std::string Error::message() const {
  std::string line = where;
  if (!what.empty()) line.append(": ").append(what);
  if (!expected.empty() || !found.empty()) line.append(": expected ").append(expected).append(", found ").append(found);
  return line;
}

Error bad_input(std::string_view where, std::string_view what, std::string_view expected, std::string_view found,
                ErrorCode code) {
  return Error(code, where, what, expected, found);
}

Error inside(std::string_view where, Error error) {
  error.where.insert(0, std::string(where) + (error.where.empty() ? "" : ": "));
  return error;
}

Error cancelled(std::string_view where, std::string_view remark) {
  return Error(ErrorCode::cancelled, where, remark.empty() ? "cancelled" : "cancelled, " + std::string(remark));
}

std::string message_of(const std::optional<Error>& error) { return error ? error->message() : std::string(); }

std::string message_of(const Error* error) { return error ? error->message() : std::string(); }

std::vector<std::string> messages_of(const std::vector<Error>& warnings) {
  std::vector<std::string> lines;
  for (const Error& warning : warnings) lines.push_back(warning.message());
  return lines;
}

Status check_within(std::string_view where, std::string_view what, Index at, Index count, ErrorCode code) {
  if (at >= 0 && at < count) return Done{};
  return bad_input(where, what, "0 to " + std::to_string(count - 1), std::to_string(at), code);
}

Error not_finite(std::string_view where, std::string_view what, float found, std::string_view expected,
                 ErrorCode code) {
  return bad_input(where, what, expected, std::isnan(found) ? "nan" : found > 0 ? "inf" : "-inf", code);
}

Error thrown_error() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return bad_input("memory", "", "enough for this", "no more (out of memory)", ErrorCode::no_memory);
  } catch (const std::length_error& error) {
    return bad_input("memory", "", "enough for this", error.what(), ErrorCode::no_memory);
  } catch (const std::system_error& error) {
    return bad_input("system", "", "what this needs", error.what());
  } catch (const std::exception& error) { return bad_input("headlight", "", "an answer", error.what()); } catch (...) {
    return bad_input("headlight", "", "an answer", "an exception");
  }
}

}  // namespace headlight
