#include "base/thrown.h"

#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>

namespace headlight {

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
