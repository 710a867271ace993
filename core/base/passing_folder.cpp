#include "base/passing_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "base/file.h"
#include "base/printable.h"

namespace headlight {

Result<PassingFolder> PassingFolder::make() {
  const char* asked = ::getenv("TMPDIR");
  const std::filesystem::path folder = asked && *asked ? asked : "/tmp";
  std::string pattern = (folder / "headlight-XXXXXX").string();
  if (!::mkdtemp(pattern.data()))
    return bad_input("TMPDIR " + printable(folder.string()), "", "a writable folder", system_error_text(errno));
  return PassingFolder(std::filesystem::path(pattern));
}

PassingFolder::~PassingFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace headlight
