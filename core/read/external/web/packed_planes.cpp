// The browser unpacks the numbers of a page before the core reads them.
#include "read/external/packed_planes.h"

namespace headlight {

Result<std::string> inflated(std::string_view, std::size_t expected) {
  return bad_input("packed numbers", "", std::to_string(expected) + " bytes beside the data", "none");
}

}  // namespace headlight
