// JSON text from outside: any bytes give a document or one line, never a crash.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "read/json/json_document.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto document = headlight::parse_json("fuzz", {reinterpret_cast<const char*>(data), size});
  // What was accepted can be written and is accepted again.
  if (document && !headlight::parse_json("fuzz", document->dump())) std::abort();
  if (!document && document.error().message.find('\n') != std::string::npos) std::abort();
  return 0;
}
