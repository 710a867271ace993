// libzip's handles, closed when they go out of scope.
#pragma once

#include <zip.h>

#include <memory>

namespace headlight {

struct DiscardZipArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct CloseZipMember {
  void operator()(zip_file_t* member) const { zip_fclose(member); }
};
using ZipArchive = std::unique_ptr<zip_t, DiscardZipArchive>;
using ZipMember = std::unique_ptr<zip_file_t, CloseZipMember>;

}  // namespace headlight
