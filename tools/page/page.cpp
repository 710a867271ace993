#include "page/page.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "assets/assets.h"
#include "base/base64.h"
#include "base/file.h"
#include "base/formatted.h"
#include "figure/difference_words.h"
#include "figure/labels.h"
#include "heads/head_measures.h"
#include "heads/pattern_difference.h"
#include "model/fingerprint.h"
#include "model/head_text.h"
#include "page/core/answer_object.h"
#include "page/page_data.h"
#include "page/page_numbers.h"
#include "page/page_template.h"
#include "read/external/packed_planes.h"
#include "read/external/page_text.h"
#include "write/arrays.h"

namespace headlight {
namespace {

using nlohmann::json;

std::string megabytes(std::size_t bytes) {
  const double size = static_cast<double>(bytes);
  return size < 1e6 ? formatted("%.0f kB", size / 1e3) : formatted("%.1f MB", size / 1e6);
}

Error too_large(std::size_t bytes, std::size_t most) {
  return bad_input("page", "size", "at most " + megabytes(most) + " (--only 1.4,2.* takes fewer heads)",
                   megabytes(bytes));
}

/// How the page opens, besides its session's view.
json look_object(const PageOptions& options) {
  json look{{"colours", name(options.colours)}};
  if (options.language) look["language"] = name_in(kLanguageNames, *options.language);
  if (options.theme) look["theme"] = name_in(kThemeNames, *options.theme);
  return look;
}

/// The axes of a comparison, and what the two questions differ in, as Compare and its figure name it.
json compare_object(const PageContent& content) {
  const AnswerSnapshot& a = *content.against;
  json object;
  object["axes"] = axes_object(*a.trace, *content.trace);
  for (const Language language : {Language::en, Language::zh}) {
    const std::string key(name_in(kLanguageNames, language));
    const DifferenceWords words =
        difference_words(language, {*a.trace, a.document, a.step}, {*content.trace, content.session.document});
    object["label_a"][key] = in_a_line(words.a);
    object["label_b"][key] = in_a_line(words.b);
  }
  return object;
}

Status check_heads(const Trace& trace, const std::vector<HeadRef>& heads) {
  for (const HeadRef& head : heads) {
    if (!trace.has(head.stack)) return bad_input("--only", "stack", "one of this answer", stack_name(head.stack));
    for (const auto& [what, found, count] : {std::tuple("layer", head.layer, trace.num_layers(head.stack)),
                                             {"head", head.head, trace.num_heads(head.stack)}})
      if (found >= count) return bad_input("--only", what, "0 to " + std::to_string(count - 1), head_text(head));
  }
  return Done{};
}

/// The same heads of another answer, as far as it has them.
std::vector<HeadRef> heads_of_other(const Trace& trace, std::vector<HeadRef> heads) {
  std::erase_if(heads, [&](const HeadRef& head) { return !check_heads(trace, {head}); });
  return heads;
}

/// A part of the template: of a site it may ask its own folder for files.
std::string part_of_page(std::string_view part, bool of_site) {
  std::string text(part);
  if (!of_site) return text;
  for (const auto& [own, beside] :
       {std::pair<std::string_view, std::string_view>{
            "img-src data:", "img-src 'self'; connect-src 'self'; manifest-src 'self'; worker-src 'self'"},
        {"href=\"data:,\">", "href=\"headlight.svg\">\n<link rel=\"manifest\" href=\"manifest.webmanifest\">"}})
    if (const std::size_t at = text.find(own); at != text.npos) text.replace(at, own.size(), beside);
  return text;
}

/// Only so many tokens are aligned; more must be the same in both answers.
Status check_axes(const Trace& a, const Trace& b) {
  for (const auto& [of_a, of_b] :
       {std::pair{&a.query_tokens(), &b.query_tokens()}, {&a.key_tokens(), &b.key_tokens()}}) {
    const std::size_t longest = std::max(of_a->size(), of_b->size());
    if (longest > kMostAligned && !(*of_a == *of_b))
      return bad_input("--against", "tokens", "at most " + std::to_string(kMostAligned) + ", or the same in both",
                       std::to_string(longest));
  }
  return Done{};
}

/// The whole file. Of a page that is only counted no weight is computed.
Status write_content(const PageContent& content, const PageOptions& options, const PagePlan& plan, Progress& progress,
                     PageSink& sink) {
  const Trace& trace = *content.trace;
  const Document& document = content.session.document;
  const auto error_of = [&](const Trace& exact, const std::vector<HeadRef>& heads) {
    // Of the same core without fused multiplication and addition.
    constexpr float kArithmetic = 2e-6f;
    if (sink.only_counts()) return kArithmetic;
    return rounding_error(exact, rounded(exact, heads).trace, heads, {options.threads, &progress.stop}) + kArithmetic;
  };
  for (const std::string_view part : page_head()) sink(part_of_page(part, !plan.site.empty()));
  // The session's text, so that the page opens as one.
  Session session = content.session;
  if (content.against) session.kept = content.against;
  json object = json::parse(to_json(session), nullptr, false);
  object["schema"] = kPageSchema;
  object["version"] = HEADLIGHT_VERSION;
  object["title"] = trace.query_tokens().text.substr(0, 200);
  object["card"] = {
      {"name", {{"en", model_title(Language::en, document)}, {"zh", model_title(Language::zh, document)}}},
      {"shape", shape_text(trace)}};
  object["look"] = look_object(options);
  if (const auto& given = trace.model->given; given && given->summed_up)
    object["summed_up"] = {
        {"by", given->summed_up->by}, {"en", given->summed_up->english}, {"zh", given->summed_up->chinese}};
  if (trace.is_signed) object["signed"] = true;
  if (!document.model_path.empty()) object["fingerprint"] = fingerprint(*trace.model);
  std::string text = page_json(object);
  text.pop_back();
  sink(text + ",");
  write_answer(trace, plan.arcs, plan, error_of(trace, plan.heads), sink);
  if (content.against) {
    const Trace& other = *content.against->trace;
    PagePlan plan_of_other = plan;
    plan_of_other.heads = heads_of_other(other, plan.heads);
    std::string head = page_json(compare_object(content));
    head.pop_back();
    sink(",\"compare\":" + head + ",");
    write_answer(other, plan.arcs_of_other, plan_of_other, error_of(other, plan_of_other.heads), sink);
    sink("}");
  }
  sink(",\"tables\":" + plan.tables);
  if (options.live) {
    sink(",\"live\":");
    if (const auto written = write_live(plan.files, sink); !written) return written;
  }
  sink(plan.site);
  sink(",\"core\":");
  sink(plan.core);
  sink(",\"words\":" + without_markup(page_words_json()) + ",\"colours\":" + page_colours_json() + "}");
  for (const auto& packed : sink.beside)
    if (!sink("</script>\n<script type=\"text/plain\">") || !sink(packed())) break;
  for (const std::string_view part : page_tail()) sink(part);
  return Done{};
}

PageContent content_of(const FigureRequest& asked) {
  PageContent content{.session = {.document = asked.document, .view = asked.view}, .trace = asked.trace};
  if (shows_two(asked.kind)) content.against = asked.compared;
  return content;
}

/// A page answers: of what a tool shows it has nothing.
Status check_of_answer(const FigureRequest& asked, const std::filesystem::path& file) {
  if (!asked.instead) return Done{};
  return bad_input(file.string(), "ending", ".svg, .pdf or .png (headlight page " + asked.instead->source + ")",
                   file.extension().string());
}

PageOptions options_of(const FigureRequest& asked) {
  return {.language = asked.language, .theme = asked.theme, .colours = asked.colours};
}

}  // namespace

Result<std::string> packed_core(const char* name, Packing packing) {
  constexpr int kSmallest = 9;
  const auto folder = TRY(asset_folder());
  const auto bytes = TRY(read_file(folder / "assets" / "page" / name));
  return deflated(bytes, kSmallest, packing);
}

Status check_size(const Request& request, std::size_t most_bytes) {
  if (request.model && request.model->given) return Done{};  // nothing is computed of it
  const Config& config = request.config;
  std::size_t numbers = 0;
  for (const Stack stack : {Stack::self, Stack::encoder, Stack::cross}) {
    if (!has_stack(request, stack)) continue;
    const auto layers =
        static_cast<std::size_t>(stack == Stack::encoder ? config.layers_of_encoder() : config.num_layers);
    numbers += layers * static_cast<std::size_t>(config.d_k()) *
               (static_cast<std::size_t>(config.num_heads) * query_tokens(request, stack).size() +
                static_cast<std::size_t>(config.kv_heads()) * key_tokens(request, stack).size());
  }
  const std::size_t bytes = base64_size(2 * numbers);
  return bytes > most_bytes ? Status(too_large(bytes, most_bytes)) : Status(Done{});
}

Result<PagePlan> plan_page(const PageContent& content, const PageOptions& options, Progress& progress) {
  const Trace& trace = *content.trace;
  PagePlan plan;
  if (content.against && (trace.is_signed || content.against->trace->is_signed))
    return bad_input("--against", "", "weights of at least 0", "numbers below 0");
  TRY(check_heads(trace, options.only));
  plan.heads = heads_of(trace);
  if (!options.only.empty())
    std::erase_if(plan.heads,
                  [&](const HeadRef& head) { return std::ranges::find(options.only, head) == options.only.end(); });
  TRY(check_numbers(trace, plan.heads));
  if (options.live) plan.files = TRY(live_files(content.session.document));
  plan.tables = TRY(answer_tables(content, progress, options.threads));
  plan.arcs = named_arcs(content.session.document, trace);
  const auto core = TRY(packed_core(options.live ? "core.wasm" : "still.wasm"));
  plan.core = "\"" + encode_base64(core) + "\"";
  for (const StackNames& names : stacks_of(trace))
    if (options.live && std::ranges::count(plan.heads, names.stack, &HeadRef::stack) == 0)
      return bad_input("--only", "", "a head of each attention, for --live", "an attention without one");
  if (content.against) {
    const Trace& other = *content.against->trace;
    TRY(check_numbers(other, heads_of_other(other, plan.heads)));
    TRY(check_axes(other, trace));
    plan.arcs_of_other = named_arcs(content.against->document, other);
  }
  for (plan.values = true;; plan.values = false) {
    PageSink counted;
    TRY(write_content(content, options, plan, unwatched(), counted));
    plan.bytes = counted.bytes;
    plan.packed = counted.numbers > options.most_plain_bytes;
    if (counted.numbers <= kMostValueBytes || !plan.values) break;
  }
  if (plan.bytes > options.most_bytes) return too_large(plan.bytes, options.most_bytes);
  return plan;
}

std::string plan_text(const PagePlan& plan, const PageContent& content) {
  const Trace& trace = *content.trace;
  const bool given = trace.attention(Stack::self, 0).patterns != nullptr;
  const std::size_t tokens = trace.query_tokens().size();
  return std::string(plan.packed || !plan.files.empty() ? "at most " : "") + megabytes(plan.bytes) + ": " +
         (given         ? "weights"
          : plan.values ? "q, k and v"
                        : "q and k, without v,") +
         " of " + std::to_string(plan.heads.size()) + (plan.heads.size() == 1 ? " head, " : " heads, ") +
         std::to_string(tokens) + (tokens == 1 ? " token" : " tokens");
}

Status write_page(const PageContent& content, const PageOptions& options, const PagePlan& plan,
                  const std::optional<std::filesystem::path>& file, Progress& progress) {
  auto output = TRY(file ? Output::to_file(*file) : Result<Output>(Output::to_standard_output()));
  PageSink sink{.write = [&](std::string_view text) {
    output.write(text);
    return !progress.stop;
  }};
  const auto written = write_content(content, options, plan, progress, sink);
  if (progress.stop) return cancelled(file ? file->string() : "page", "nothing was written");
  if (!written) return written;
  return output.commit();
}

DrawFigure with_pages(DrawFigure figures) {
  return [figures = std::move(figures)](const FigureRequest& asked, const std::filesystem::path& file,
                                        Progress& progress) -> Status {
    if (!names_page(file)) return figures(asked, file, progress);
    TRY(check_of_answer(asked, file));
    const PageContent content = content_of(asked);
    const PageOptions options = options_of(asked);
    const auto plan = plan_page(content, options, progress);
    if (!plan) return inside(file.string(), plan.error());
    return write_page(content, options, *plan, file, progress);
  };
}

PreviewFigure with_page_sizes(PreviewFigure figures) {
  return [figures = std::move(figures)](const FigureRequest& asked, const std::filesystem::path& file,
                                        Progress& progress) -> Result<FigurePicture> {
    if (!names_page(file)) return figures(asked, file, progress);
    TRY(check_of_answer(asked, file));
    const auto plan = TRY(plan_page(content_of(asked), options_of(asked), progress));
    return FigurePicture{nullptr, plan.bytes};
  };
}

}  // namespace headlight
