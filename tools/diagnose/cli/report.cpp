// `headlight report`: what models do on this machine, as a page of text that can be sent: no paths, no names of users.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <string>

#include "base/formatted.h"
#include "base/system.h"
#include "base/utf8.h"
#include "cli/frame/commands.h"
#include "cli/frame/head_table.h"
#include "cli/frame/values.h"
#include "diagnose/check/checkpoint_check.h"
#include "model/head_text.h"
#include "models/bundled_models.h"
#include "models/model_sources.h"
#include "models/open_model.h"
#include "question/tokenizers.h"
#include "read/gguf/gguf_model.h"

namespace headlight {
namespace {

/// What tokenizers differ in: case, accents, spaces, digits, marks, scripts, joined emoji, special words.
constexpr const char* kTexts[] = {"Hello, World! It's 3.14.",
                                  "  two  spaces\tand a tab ",
                                  "naïve café ÀÉÎÕÜ ﬁ ½",
                                  "1234567890 12,345.67",
                                  "unaffable antidisestablishmentarianism",
                                  "我请李雷帮我订了去北京的机票",
                                  "これは日本語です。한국어도 있어요.",
                                  "Привет мир, مرحبا بالعالم",
                                  "👩‍👩‍👧 😀 𠮷 <s> [SEP] </s> <|endoftext|>",
                                  "def f(x):    return x**2  # ok"};

/// Subjects, objects, pronouns, repeated words, a list, a name: what heads are named by.
constexpr const char* kSentences[] = {"The animal didn't cross the street because it was too tired.",
                                      "The keys to the cabinet are on the table.",
                                      "Mary gave John a book, and he thanked her.",
                                      "The teacher who taught the students wrote a long letter.",
                                      "The cat sat on the mat, and the cat slept on the mat.",
                                      "Paris is the capital of France, and Rome is the capital of Italy.",
                                      "She bought apples, pears, plums and a bag of nuts.",
                                      "When the rain stopped, the children ran into the garden.",
                                      "He did not say that the old house had been sold.",
                                      "In 1969 two men walked on the moon for the first time."};

constexpr Measure kShown[] = {Measure::normalized, Measure::previous, Measure::next,      Measure::same,
                              Measure::first,      Measure::special,  Measure::duplicate, Measure::sink};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The line without the folders that it names and without that of the user; of any other path the last part.
std::string without_paths(std::string line, std::vector<std::string> folders) {
  if (const char* home = environment("HOME")) folders.emplace_back(home);
  std::ranges::sort(folders, std::greater<>(), &std::string::size);  // a folder before what it is in
  for (const std::string& folder : folders)
    for (std::size_t at = 0; !folder.empty() && (at = line.find(folder, at)) != line.npos; ++at) {
      const std::size_t end = at + folder.size();
      const bool begins = at == 0 || line[at - 1] == ' ' || line[at - 1] == '\'';
      if (begins && (end == line.size() || line[end] == '/' || line[end] == ':')) line.replace(at, end - at, "");
    }
  std::string shown;
  for (const std::string_view word : split_at(' ', line))
    shown += (shown.empty() ? "" : " ") + std::string(word.substr(word.find_last_of('/') + 1));
  return shown;
}

/// What was found instead of what, and where is not said.
std::string without_place(const Error& error, const std::vector<std::string>& folders = {}) {
  return without_paths(error.expected + ", found " + error.found, folders) + "\n";
}

/// The ids of the texts, a line each.
std::string ids_text(Document document, const Lexicon& lexicon) {
  std::string text;
  for (const char* one : kTexts) {
    set_text(document, TextSide::source, one, lexicon);
    text += std::string("  ") + one + "\n   ";
    const auto requests = requests_of(document, lexicon);
    if (!requests) {
      text += " " + without_place(requests.error());
      continue;
    }
    const Request& request = requests->front();
    for (const Token& token :
         query_tokens(request, has_stack(request, Stack::encoder) ? Stack::encoder : Stack::self).tokens)
      text += " " + std::to_string(token.id);
    text += "\n";
  }
  return text;
}

/// Measures and names of all heads over all sentences, or the picture.
Result<std::string> heads_text(const Document& document, const Lexicon& lexicon, const std::string& source,
                               int threads) {
  Asked asked{lexicon, {}, {}, source};
  Document& own = asked.start.session.document;
  own = document;
  std::string lines;
  for (const char* one : kSentences) lines += (lines.empty() ? "" : "\n") + std::string(one);
  if (!reads_picture(own))  // else it is asked about the picture that comes along
    for (const TextSide side : {TextSide::source, TextSide::target}) set_text(own, side, lines, lexicon);
  asked.requests = TRY(requests_of(own, lexicon));
  std::vector<Error> warnings;
  const HeadTable table = TRY(measure_table(asked, {}, threads, warnings));
  std::vector<std::vector<std::string>> rows{{"head"}};
  for (const Measure measure : kShown) rows[0].emplace_back(name(measure));
  rows[0].emplace_back("name");
  for (const HeadRow& row : table.rows) {
    const HeadRef& head = row.measures.head;
    std::vector<std::string>& cells =
        rows.emplace_back(1, (head.stack == Stack::self ? "" : row.stack + " ") + head_label(head));
    for (const Measure measure : kShown) {
      const auto value = row.measures[measure];
      cells.push_back(value ? formatted("%.3f", static_cast<double>(*value)) : "—");
    }
    cells.push_back(row.name.words);
  }
  return aligned_text(rows);
}

std::string model_text(const Model& model, const std::string& family) {
  const Config& config = model.config;
  std::string text = family + ", " + std::string(name(config.arch)) + ", " + std::to_string(config.num_layers) +
                     " layers of " + std::to_string(config.num_heads) + " heads";
  if (config.kv_heads() != config.num_heads) text += " on " + std::to_string(config.kv_heads()) + " of keys";
  return text + ", d_model " + std::to_string(config.d_model) + ", d_k " + std::to_string(config.d_k()) +
         ", positions " + std::string(name(config.position)) + "\n";
}

/// All of one model; an Error is of a model that does not open.
Result<std::string> report_of(const std::string& source, const Lexicon& lexicon, int threads) {
  const auto path = TRY(path_of_source(source));
  const auto start = std::chrono::steady_clock::now();
  const auto opened = TRY(open_model(source));
  const double opening = seconds_since(start);
  const Document& document = opened.document;
  if (!document.model || has_own_inputs(document))
    return bad_input("report", "MODEL", "a model that reads texts", "attention without one");
  const SourceParts parts = parts_of_source(source);
  CheckpointPlaces places{.weights = path, .tokenizer = path};
  if (is_checkpoint(document)) places = TRY(checkpoint_places(parts, path));
  const std::vector<std::string> folders{path.string(), path.parent_path().string(), places.tokenizer.string()};
  const std::string family = is_checkpoint(document)
                                 ? listed_folder_or_file({.name = source, .folder = places.weights}).family
                                 : std::string("headlight");
  std::string text = model_text(*document.model, family);
  const bool of_picture = reads_picture(document);
  const std::string ids = of_picture ? "" : "\nids of ten texts\n" + ids_text(document, lexicon);
  const std::string what = of_picture ? "one picture" : "ten sentences";
  const auto asked = std::chrono::steady_clock::now();
  const auto heads = heads_text(document, lexicon, source, threads);
  text += formatted("opened in %.2f s, %s measured in %.2f s, at most %.0f MB of memory held\n", opening, what.c_str(),
                    seconds_since(asked), most_memory_held() / 1e6);
  text += ids + "\ncheck\n";
  if (is_checkpoint(document)) {
    Progress progress;
    for (const Finding& one :
         check_checkpoint(places.tokenizer, document.model, opened.model_warnings, progress, parts.rules))
      text += "  " + padded(std::string(name(one.severity)), 9) + without_paths(one.line, folders) + "\n";
  }
  return text + "\nheads over " + what + "\n" +
         (heads ? *heads : without_paths(heads.error().message(), folders) + "\n");
}

ParsedCommand add_report(Parser& parser, const Frontend&) {
  struct Options {
    std::vector<std::string> models;
    int threads = 0;
  };
  const auto options = std::make_shared<Options>();
  parser.option("MODEL", options->models, "Folders or names of models, as SOURCE of other commands").required();
  parser.option("--threads", options->threads, "0, the default: all").within(0, 1024);
  return [options]() -> Result<int> {
    const auto lexicon = TRY(read_lexicon());
    std::string text =
        std::string("headlight ") + HEADLIGHT_VERSION + formatted(", %.0f GB of memory\n", machine_memory() / 1e9);
    int status = 0;
    for (std::size_t i = 0; i < options->models.size(); ++i) {
      const std::string& source = options->models[i];
      const bool named = names_kept_model(source) || source.starts_with(kShipped);
      text += "\n# " + (named ? source : "model " + std::to_string(i)) + "\n";
      const auto report = report_of(source, lexicon, options->threads);
      if (!report) print_warnings({report.error()}), status = 1;
      text += report ? *report : "does not open: expected " + without_place(report.error());
    }
    TRY(print(text));
    return status;
  };
}

}  // namespace

extern const NamedCommand kReport{"report", "What models do here, as a text to send: ids, checks, heads, times", R"(
headlight report bert-base-uncased ./my-model > report.txt
Of each model the ids of ten fixed texts, the findings of `check`, measures and names of all heads over ten
fixed sentences (of one of pictures: over the picture that comes along), times and memory. No path, no
user's name and no text of your own is in it; a model that was given as a folder is called by its number.
Exit status: 0 all opened, 1 one did not.)",
                                  add_report};

}  // namespace headlight
