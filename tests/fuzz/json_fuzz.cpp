// JSON text from outside: any bytes give a document or one line, never a crash.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "fuzz/target.h"
#include "read/json/json_document.h"

HEADLIGHT_FUZZ_TARGET(json) {
  const auto document = headlight::parse_json("fuzz", {reinterpret_cast<const char*>(data), size});
  // What was accepted can be written and is accepted again.
  if (document && !headlight::parse_json("fuzz", document->dump())) std::abort();
  if (!document && document.error().message().find('\n') != std::string::npos) std::abort();
}
