// A static site: the page that still computes, with the core, the models and the lessons as files beside it, which it
// asks for when they are needed. docs/site.md describes it.
#pragma once

#include <cstddef>
#include <filesystem>

#include "page/page.h"

namespace headlight {

struct SiteSize {
  std::size_t files = 0, bytes = 0;
};

/// Writes the site into a folder, which is made; a file of the same name is replaced, others stay. It opens with
/// `content`; its model comes along beside the shipped ones. The same content gives the same bytes.
/// Errors: those of plan_page() and live_files(); a folder or a file that cannot be written.
Result<SiteSize> write_site(const PageContent& content, const PageOptions& options,
                            const std::filesystem::path& folder);

}  // namespace headlight
