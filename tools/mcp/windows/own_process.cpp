#include "mcp/own_process.h"

namespace headlight {

OwnProcess in_own_process(const std::function<std::string()>& work, const std::function<bool()>&) { return {work()}; }

}  // namespace headlight
