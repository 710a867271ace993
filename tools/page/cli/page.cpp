#include "page/page.h"

#include <algorithm>

#include "base/formatted.h"
#include "cli/frame/question_command.h"
#include "cli/frame/reduced_question.h"
#include "cli/frame/study.h"
#include "cli/options/against_option.h"
#include "cli/options/view_options.h"
#include "model/head_text.h"
#include "names/named_arcs.h"
#include "question/answer_snapshot.h"
#include "view/settings.h"
#include "view/start_cell.h"

namespace headlight {
namespace {

struct PageArguments {
  std::string file, look, view;
  std::optional<Language> language;
  std::optional<Theme> theme;
  ColourMap colours = ColourMap::teal;
  std::vector<std::string> only;
  std::optional<std::string> against;
  double most = 0;
  bool live = false;
  std::string reduce;
  std::optional<ColourRange> range;
};

/// `1.4,2.*`: heads of the stack that is named, each once.
Result<std::vector<HeadRef>> heads_of_option(const std::vector<std::string>& texts, const Trace& trace) {
  std::vector<HeadRef> heads;
  for (const std::string& text : texts) {
    const auto named = parse_heads(text);
    if (!named) return bad_input("--only", "", "[STACK:]LAYER.HEAD or [STACK:]LAYER.*", text);
    if (!trace.has(named->stack)) return bad_input("--only", "stack", "one that the model has", text);
    const std::vector<HeadRef> here = heads_in(*named, trace.num_heads(named->stack));
    heads.insert(heads.end(), here.begin(), here.end());
  }
  return heads;
}

/// A of the comparison: what --against asks, or what the session kept; nothing where neither is.
Result<std::optional<AnswerSnapshot>> other_answer(const PageArguments& options, const Asked& asked) {
  if (options.against) return std::optional(TRY(answer_of(*options.against, asked)));
  if (!asked.start.session.kept) return std::optional<AnswerSnapshot>();
  return std::optional(TRY(answer_to_keep(*asked.start.session.kept, asked.lexicon)));
}

/// A question without a view opens as in a window: on the cell that shows most, folded.
void choose_view(Session& session, const Trace& trace) {
  if (session.view != ViewState{}) return;
  session.view.fold = default_settings().layout.fold;
  const auto start = start_cell(session.document, trace, named_arcs(session.document, trace));
  if (start) session.view.chosen = start->head, session.view.pinned = start->cell;
}

PageOptions page_options(const PageArguments& options, int threads) {
  PageOptions page{.live = options.live,
                   .language = options.language,
                   .theme = options.theme,
                   .colours = options.colours,
                   .threads = threads};
  if (options.most > 0) page.most_bytes = static_cast<std::size_t>(options.most * 1e6);
  return page;
}

/// The head that is large when the page opens; with it the cell of another one is not pinned.
Status choose_head(const PageArguments& options, const std::vector<HeadRef>& only, ViewState& view) {
  HeadRef head = only.empty() || std::ranges::count(only, view.chosen) > 0 ? view.chosen : only.front();
  if (!options.look.empty()) {
    const auto asked = parse_head(options.look);
    if (!asked) return bad_input("--head", "", "[STACK:]LAYER.HEAD", options.look);
    head = *asked;
  }
  if (head != view.chosen) view.pinned.reset();
  view.chosen = head;
  return Done{};
}

Result<Answer> answer(const Question& question, const PageArguments& options, const QuestionCommand& command) {
  std::optional<Asked> reduced;
  if (!options.reduce.empty()) {
    for (const auto& [option, given] : {std::pair("--live", options.live), {"--against", options.against.has_value()}})
      if (given) return bad_input("--reduce", "", std::string("no ") + option, option);
    reduced = TRY(reduced_question(question.asked, options.reduce, question.threads, question.warnings));
  }
  const Asked& asked = reduced ? *reduced : question.asked;
  const Startup& start = asked.start;
  const std::vector<Request>& requests = asked.requests;
  const std::size_t sentence = start.session.view.sentence;
  if (sentence >= requests.size() || (requests.size() != 1 && start.session_path.empty()))
    return bad_input("page", "sentences", "one", std::to_string(requests.size()));
  PageOptions page = page_options(options, question.threads);
  if (options.only.empty()) TRY(check_size(requests[sentence], page.most_bytes));
  const auto trace = TRY(command.trace_of(requests[sentence], question.warnings));
  auto against = TRY(other_answer(options, asked));
  auto only = TRY(heads_of_option(options.only, *trace));
  page.only = std::move(only);
  PageContent content{.session = start.session, .trace = trace, .against = std::move(against)};
  if (content.against && options.view == "patch" && options.against) {  // the question itself is A, the clean one
    std::swap(content.against->document, content.session.document);
    std::swap(content.against->trace, content.trace);
  }
  choose_view(content.session, *trace);
  if (options.range) content.session.view.range = options.range;
  TRY(choose_head(options, page.only, content.session.view));
  if (const NamedView* named = named_view(options.view)) {
    ViewState& view = content.session.view;
    view.view = named->view, view.tab = named->tab, view.patch.on = named->patch;
  }
  Progress progress;
  std::optional<ProgressReport> report(std::in_place, "page", &progress);
  const auto plan = TRY(plan_page(content, page, progress));
  report.reset();
  const std::optional<std::filesystem::path> file =
      options.file == "-" ? std::nullopt : std::optional<std::filesystem::path>(options.file);
  print_message((file ? options.file : "page") + ": " + plan_text(plan, content));
  TRY(write_page(content, page, plan, file, progress));
  return Answer(Done{});
}

Result<Answer> site_answer(const Question& question, const PageArguments& options) {
  PageContent content{.session = question.asked.start.session, .trace = question.trace};
  choose_view(content.session, *content.trace);
  const auto size = TRY(write_site(content, page_options(options, question.threads), options.file));
  print_message(options.file + ": " + std::to_string(size.files) + " files, " +
                formatted("%.1f MB", static_cast<double>(size.bytes) / 1e6));
  return Answer(Done{});
}

void take_look(Parser& parser, PageArguments& options) {
  add_choice<Language>(parser, "--language", options.language, kLanguageNames, "en or zh; default: the reader's");
  add_choice<Theme>(parser, "--theme", options.theme, kThemeNames, "light or dark; default: the reader's");
}

ParsedCommand add_site(Parser& parser, const Frontend&) {
  const QuestionCommand command(parser);
  const auto options = std::make_shared<PageArguments>();
  parser.option("-o,--output", options->file, "The folder of the site; files of the same name are replaced", "FOLDER")
      .required();
  take_look(parser, *options);
  return command.answers(SentencesAsked::one,
                         [options](const Question& question) { return site_answer(question, *options); });
}

ParsedCommand add_page(Parser& parser, const Frontend&) {
  const QuestionCommand command(parser);
  const auto options = std::make_shared<PageArguments>();
  parser.option("-o,--output", options->file, "The file to write, whole or not at all; - is standard output")
      .required();
  parser.option("--only", options->only, "Heads that are packed, [STACK:]L.H or L.*; default: all", "HEADS").list();
  parser.option("--live", options->live,
                "Pack the model's weights and words too, so that the page answers other sentences");
  parser.option("--against", options->against,
                "What the answer is compared with, as A: its question in one string, --against '--mask none'",
                "'[SOURCE] [REQUEST]'");
  add_view(
      parser, options->view,
      [](const NamedView& view) { return view.figure == FigureKind::lens || view.figure == FigureKind::patch; },
      "What is shown above the maps: lens, the guess after each layer; patch, with --against, which heads of A bring "
      "its answer back in B");
  parser.option("--head", options->look, "The head that is large when the page opens, [STACK:]L.H", "HEAD");
  take_look(parser, *options);
  parser.option("--most", options->most, "Refuse a page of more megabytes than this; default: 268", "MB")
      .within(1e-3, 1e6);
  add_choice<ColourMap>(parser, "--colours", options->colours, kColourNames,
                        "teal (default), viridis, cividis or grey");
  add_range(parser, options->range);
  add_reduce(parser, options->reduce);
  const ParsedCommand asked = command.answers(SentencesAsked::all, [options, command](const Question& question) {
    return answer(question, *options, command);
  });
  return [options, command, asked]() -> Result<int> {
    FigureOptions figure{.theme = options->theme.value_or(Theme::light),
                         .language = options->language.value_or(default_settings().language)};
    if (const StudyWays* ways = study_ways())
      if (const auto drawn = ways->draw(command, figure, options->file, "")) return *drawn;
    return asked();
  };
}

}  // namespace

extern const NamedCommand kPage{"page", "An HTML file that opens anywhere, offline, and still computes", R"(
headlight page --text 我请李雷帮我订了去北京的机票 -o page.html
headlight page CHECKPOINT --text 'the cat sat' --only 1.4,2.* -o page.html
headlight page --mask causal --against '--mask none' -o compared.html
headlight page --live -o live.html
headlight page rows.jsonl -o study.html
The page holds q and k of every head (v too where there is room) as float16, not the weights: it
computes them, so that the mask, the scale and the cells can be changed in the browser. It is opened
again by `headlight page.html`, and checked by `headlight check page.html`.)",
                                add_page};

extern const NamedCommand kSite{"site",
                                "A folder for any web server: the page that computes, for everybody without Headlight",
                                R"(
headlight site -o FOLDER
headlight site CHECKPOINT --text 'the cat sat' -o FOLDER
headlight site --language zh -o FOLDER
The site opens with the question, answers any sentence with the models that come along, and has the
lessons. It is static: nothing runs on the server, and nothing is sent to it. To look at it:
python3 -m http.server --directory FOLDER)",
                                add_site};

}  // namespace headlight
