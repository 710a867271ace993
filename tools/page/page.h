// One HTML file that opens anywhere, without a network, and still computes: the tokens, of every head q and k (never
// the T² weights), and the program in web/ that makes the weights of them again. docs/page.md describes the format.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/finding.h"
#include "names/named_arcs.h"
#include "session/figure_request.h"
#include "session/file/session_file.h"
#include "text/words.h"
#include "view/settings.h"

namespace headlight {

/// A larger page is refused unless an option allows it: browsers take long to open it.
inline constexpr std::size_t kMostPageBytes = std::size_t{256} << 20;
/// Beyond that v stays out: only what the weights are made of is needed.
inline constexpr std::size_t kMostValueBytes = std::size_t{24} << 20;

struct PageContent {
  Session session;                             // the question and what is looked at
  std::shared_ptr<const Trace> trace;          // its answer
  std::optional<AnswerSnapshot> against = {};  // A of a comparison, with its trace; the answer above is B
};

struct PageOptions {
  std::vector<HeadRef> only = {};  // heads that are packed; empty: all
  bool live = false;               // the page contains the model's weights and words, and answers other sentences
  std::optional<Language> language = {};  // none: the reader's
  std::optional<Theme> theme = {};        // none: the reader's
  ColourMap colours = ColourMap::teal;
  std::size_t most_bytes = kMostPageBytes;
  /// Beyond that the numbers are packed (deflate), in elements of their own.
  std::size_t most_plain_bytes = std::size_t{1} << 18;
  int threads = 0;
};

/// Files that the page contains, by their paths, with their names in the page's memory.
using LiveFiles = std::map<std::filesystem::path, std::vector<std::string>>;

/// The plan of a page, before anything is written.
struct PagePlan {
  std::vector<HeadRef> heads;  // those that are packed, in the order of the data's way
  bool values = true;          // v is among it
  bool packed = false;         // the numbers are deflated
  std::size_t bytes = 0;       // about; of packed numbers and files an upper bound
  std::string core = {};    // JSON: assets/page/core.wasm, or still.wasm of a page without a model, deflated, as base64
  LiveFiles files = {};     // of PageOptions::live
  std::string site = {};    // JSON, of the first page of a site (site.h): the files beside it; empty: of no site
  std::string tables = {};  // answer_tables() of page_data.h
  SentenceArcs arcs = {}, arcs_of_other = {};  // the names of the answer, and of the one that it is compared with
};

/// Before the answer is computed: whether q and k of all its heads alone are more than `most_bytes`. The Error is that
/// of plan_page().
Status check_size(const Request& request, std::size_t most_bytes);

/// Errors: more bytes than `most_bytes`, with the size and how to take fewer heads; a head that there is none of; a
/// number beyond what float16 holds; those of live_files(); a core that is not installed.
Result<PagePlan> plan_page(const PageContent& content, const PageOptions& options, Progress& progress);

/// The message before the page is written: `12.3 MB: q, k and v of 16 heads, 10 tokens`; `at most` where parts of it
/// are packed as they are written.
std::string plan_text(const PagePlan& plan, const PageContent& content);

/// Writes the page to `file`, or to standard output, whole or not at all. The same content gives the same bytes.
/// Stopped by `progress.stop` it is an Error as well.
Status write_page(const PageContent& content, const PageOptions& options, const PagePlan& plan,
                  const std::optional<std::filesystem::path>& file, Progress& progress);

/// Writes a page where the name ends in .html, and leaves every other file to `figures`.
DrawFigure with_pages(DrawFigure figures);
/// The same before anything is written: the size of a page, without a drawing.
PreviewFigure with_page_sizes(PreviewFigure figures);

/// Whether a page is right: its answer is computed again, and every weight that its q and k give is compared. The
/// findings, in order: the tokens, the shapes, the weights against the stated error, the thing compared with.
/// Errors: a file that is no page or is cut off. Of a page whose model is not there its numbers, with a warning.
Result<std::vector<Finding>> check_page(const std::filesystem::path& file, const Lexicon& lexicon, Progress& progress);

// A static site: the page that still computes, with the core, the models and the lessons as files beside it, which it
// asks for when they are needed. docs/site.md describes it.
struct SiteSize {
  std::size_t files = 0, bytes = 0;
};

/// Writes the site into a folder, which is made; a file of the same name is replaced, others stay. It opens with
/// `content`; its model comes along beside the shipped ones. The same content gives the same bytes.
/// Errors: those of plan_page() and live_files(); a folder or a file that cannot be written.
Result<SiteSize> write_site(const PageContent& content, const PageOptions& options,
                            const std::filesystem::path& folder);

}  // namespace headlight
