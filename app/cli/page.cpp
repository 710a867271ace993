#include <algorithm>
#include <cstdio>

#include "cli/commands.h"
#include "cli/options/against_option.h"
#include "cli/options/request_options.h"
#include "cli/options/view_options.h"
#include "document/answer_snapshot.h"
#include "model/head_text.h"
#include "page/page.h"
#include "train/trained_checkpoint.h"

namespace headlight {
namespace {

struct PageArguments {
  explicit PageArguments(Parser& command) : request(command) {}
  RequestOptions request;
  std::string file, look;
  std::optional<Language> language;
  std::optional<Theme> theme;
  ColourMap colours = ColourMap::teal;
  std::vector<std::string> only;
  std::optional<std::string> against;
  double most = 0;
  bool live = false;
};

/// `1.4,2.*`: heads of the stack that is named, each once.
Result<std::vector<HeadRef>> heads_of_option(const std::vector<std::string>& texts, const Trace& trace) {
  std::vector<HeadRef> heads;
  for (const std::string& text : texts) {
    const auto named = parse_heads(text);
    if (!named) return bad_input("--only", "", "[STACK:]LAYER.HEAD or [STACK:]LAYER.*", text);
    const auto& [stack, layer, head] = *named;
    if (!trace.has(stack)) return bad_input("--only", "stack", "one that the model has", text);
    const Index last = head ? *head + 1 : trace.num_heads(stack);
    for (Index h = head.value_or(0); h < last; ++h) heads.push_back({layer, h, stack});
  }
  return heads;
}

/// A of the comparison: what --against asks, or what the session kept; nothing where neither is.
Result<std::optional<AnswerSnapshot>> other_answer(const PageArguments& options, const Asked& asked) {
  std::optional<AnswerSnapshot> none;
  if (options.against) {
    auto answer = answer_of(*options.against, asked.lexicon);
    if (!answer) return answer.error();
    return std::optional(*std::move(answer));
  }
  if (!asked.start.session.kept) return none;
  Progress progress;
  auto answer = answer_to_keep(*asked.start.session.kept, asked.lexicon, progress);
  if (!answer) return answer.error();
  return std::optional(*std::move(answer));
}

/// The head that shows its relation best, where relations were measured: what a reader should see first.
HeadRef best_head(const Document& document) {
  const RelationScore* best = nullptr;
  if (document.card && document.card->scores)
    for (const RelationScore& one : document.card->scores->relations)
      if (!best || one.score.accuracy > best->score.accuracy) best = &one;
  return best ? HeadRef{best->chosen.layer, best->chosen.head, best->stack} : HeadRef{};
}

Result<int> run_page(const PageArguments& options) {
  const auto asked = options.request.ask();
  if (!asked) return asked.error();
  const std::size_t sentence = asked->start.session.view.sentence;
  if (sentence >= asked->requests.size() || (asked->requests.size() != 1 && asked->start.session_path.empty()))
    return bad_input("page", "sentences", "one", std::to_string(asked->requests.size()));
  PageOptions page{.live = options.live, .threads = options.request.threads()};
  if (options.most > 0) page.most_bytes = static_cast<std::size_t>(options.most * 1e6);
  if (options.only.empty())
    if (const auto fits = check_size(asked->requests[sentence], page.most_bytes); !fits) return fits.error();
  Progress progress;
  const auto trace = forward(asked->requests[sentence], progress, nullptr, options.request.threads());
  if (!trace) return trace.error();
  PageContent content{.session = asked->start.session, .trace = *trace};
  auto against = other_answer(options, *asked);
  if (!against) return against.error();
  content.against = *std::move(against);
  auto only = heads_of_option(options.only, **trace);
  if (!only) return only.error();
  page.only = *std::move(only);
  page.language = options.language;
  page.theme = options.theme;
  page.colours = options.colours;
  if (!options.look.empty()) {
    const auto head = parse_head(options.look);
    if (!head) return bad_input("--head", "", "[STACK:]LAYER.HEAD", options.look);
    content.session.view.chosen = *head;
  } else if (!page.only.empty()) {
    content.session.view.chosen = page.only.front();
  } else if (content.session.view == ViewState{}) {
    content.session.view.chosen = best_head(asked->document());
  }
  const auto plan = plan_page(content, page);
  if (!plan) return plan.error();
  const std::optional<std::filesystem::path> file =
      options.file == "-" ? std::nullopt : std::optional<std::filesystem::path>(options.file);
  print_message((file ? options.file : "page") + ": " + plan_text(*plan, content));
  if (const auto written = write_page(content, page, *plan, file, progress); !written) return written.error();
  print_warnings(asked->start.warnings);
  print_warnings((*trace)->warnings);
  return 0;
}

}  // namespace

ParsedCommand add_page(Parser& program) {
  Parser command = program.command("page", "An HTML file that opens anywhere, offline, and still computes");
  command.footer(
      "headlight page --text 我请李雷帮我订了去北京的机票 -o page.html\n"
      "headlight page CHECKPOINT --text 'the cat sat' --only 1.4,2.* -o page.html\n"
      "headlight page --mask causal --against '--mask none' -o compared.html\n"
      "headlight page --live -o live.html\n"
      "The page holds q and k of every head (v too where there is room) as float16, not the weights: it\n"
      "computes them, so that the mask, the scale and the cells can be changed in the browser. It is opened\n"
      "again by `headlight page.html`, and checked by `headlight check page.html`.");
  auto options = std::make_shared<PageArguments>(command);
  command.option("-o,--output", options->file, "The file to write, whole or not at all; - is standard output")
      .required();
  command.option("--only", options->only, "Heads that are packed, [STACK:]L.H or L.*; default: all", "HEADS").list();
  command.option("--live", options->live,
                 "Pack the model's weights and words too, so that the page answers other sentences");
  command.option("--against", options->against,
                 "What the answer is compared with, as A: its question in one string, --against '--mask none'",
                 "'[SOURCE] [REQUEST]'");
  command.option("--head", options->look, "The head that is large when the page opens, [STACK:]L.H", "HEAD");
  add_choice<Language>(command, "--language", options->language, kLanguageNames, "en or zh; default: the reader's");
  add_choice<Theme>(command, "--theme", options->theme, kThemeNames, "light or dark; default: the reader's");
  command.option("--most", options->most, "Refuse a page of more megabytes than this; default: 268", "MB")
      .within(1e-3, 1e6);
  add_choice<ColourMap>(command, "--colours", options->colours, kColourNames,
                        "teal (default), viridis, cividis or grey");
  return [options] { return run_page(*options); };
}

}  // namespace headlight
