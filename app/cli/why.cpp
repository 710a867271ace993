#include <algorithm>
#include <memory>

#include "base/formatted.h"
#include "base/utf8.h"
#include "base/within.h"
#include "cli/commands.h"
#include "cli/options/format_option.h"
#include "cli/options/head_option.h"
#include "cli/options/request_options.h"
#include "cli/split_text.h"
#include "explain/score_split.h"
#include "math/forward.h"
#include "model/head_text.h"
#include "write/json.h"

namespace headlight {
namespace {

struct WhyArguments {
  explicit WhyArguments(Parser& command) : request(command), head(command, true) {}
  RequestOptions request;
  HeadOption head;
  CellRef cell;
  Index top = 20;
  std::string format = "text";
};

/// The split of one sentence's score.
struct WhyAnswer {
  std::shared_ptr<const Trace> trace;
  HeadRef head;
  CellRef cell;
  ScoreSplit split;
};

Result<WhyAnswer> split_of(const Request& request, const HeadRef& head, const WhyArguments& options) {
  if (const auto valid = check_stack_option(request, head); !valid) return valid.error();
  Progress progress;
  const auto trace = forward(request, progress, nullptr, options.request.threads());
  if (!trace) return trace.error();
  if (const auto valid = check_head_options(**trace, head); !valid) return valid.error();
  const Mask& mask = *(*trace)->attention(head.stack, head.layer).mask;
  if (const auto valid = check_within("--query", "", options.cell.query, mask.queries()); !valid) return valid.error();
  if (const auto valid = check_within("--key", "", options.cell.key, mask.keys()); !valid) return valid.error();
  auto split = split_score(**trace, head, options.cell);
  if (!split) return split.error();
  return WhyAnswer{*trace, head, options.cell, std::move(*split)};
}

std::string why_text(const WhyAnswer& answer, Index most) {
  const auto word = [](const Tokens& tokens, Index at) {
    return word_in_table(tokens.tokens[static_cast<std::size_t>(at)].text);
  };
  const auto& [trace, head, cell, split] = answer;
  std::string text =
      word(trace->query_tokens(head.stack), cell.query) + " → " + word(trace->key_tokens(head.stack), cell.key) + "\n";
  text += std::string(stack_name(head.stack)) + ", " + head_label(head) + ", query " + std::to_string(cell.query) +
          ", key " + std::to_string(cell.key) + "\n";
  text += formatted("score %.6f, the sum of %zu terms: %.6f", split.score, split.terms.size(), split.sum);
  text += split.blocked ? " (before the mask, which blocks it)\n" : "\n";
  std::size_t widest = 5;
  for (const Writer& writer : split.queries) widest = std::max(widest, code_points(writer_name(writer)).size());
  text += "       value  " + padded("query", widest + 2) + "key\n";
  std::vector<NamedTerm> terms;
  for (const ScoreTerm& term : split.terms)
    terms.push_back({padded(writer_name(term.query), widest + 2) + writer_name(term.key), term.value});
  return text + largest_terms(std::move(terms), most);
}

/// One object, one line.
std::string why_json(const ScoreSplit& split) {
  std::string json = "{\"score\":";
  append_value(json, split.score);
  json += ",\"terms\":[";
  for (const ScoreTerm& term : split.terms) {
    if (json.back() == '}') json += ',';
    json.append("{\"query\":").append(json_string(writer_name(term.query)));
    json.append(",\"key\":").append(json_string(writer_name(term.key))).append(",\"value\":");
    append_value(json, term.value);
    json += '}';
  }
  append_value(json += "],\"sum\":", split.sum);
  return json + "}\n";
}

std::string why_csv(const ScoreSplit& split, const std::string& sentence) {
  std::string csv;
  for (const ScoreTerm& term : split.terms) {
    csv += writer_name(term.query) + "," + writer_name(term.key) + ",";
    append_value(csv, term.value);
    csv += sentence + "\n";
  }
  return csv;
}

std::vector<ArrayStream> why_arrays(const ScoreSplit& split) {
  const auto place = [](const std::vector<Writer>& writers, const Writer& one) {
    return static_cast<std::size_t>(std::find(writers.begin(), writers.end(), one) - writers.begin());
  };
  std::vector<float> terms(split.queries.size() * split.keys.size(), 0.0f);
  for (const ScoreTerm& term : split.terms)
    terms[place(split.queries, term.query) * split.keys.size() + place(split.keys, term.key)] =
        static_cast<float>(term.value);
  return {array_of("score", {1}, {static_cast<float>(split.score)}),
          array_of("terms", {static_cast<Index>(split.queries.size()), static_cast<Index>(split.keys.size())}, terms),
          array_of_writers("query_writers", split.queries), array_of_writers("key_writers", split.keys)};
}

Result<int> run_why(const WhyArguments& options) {
  const auto asked = options.request.ask();
  if (!asked) return asked.error();
  const auto parts = options.head.parts();
  if (!parts) return parts.error();
  const bool several = asked->requests.size() > 1;
  std::string text = options.format == "csv" ? several ? "query,key,value,sentence\n" : "query,key,value\n" : "";
  std::vector<std::vector<ArrayStream>> arrays;
  std::vector<std::string> warnings = asked->start.warnings;
  for (std::size_t i = 0; i < asked->requests.size(); ++i) {
    const auto answer = split_of(asked->requests[i], parts->ref(), options);
    if (!answer) return answer.error();
    warnings.insert(warnings.end(), answer->trace->warnings.begin(), answer->trace->warnings.end());
    if (options.format == "json") text += why_json(answer->split);
    else if (options.format == "csv") text += why_csv(answer->split, several ? "," + std::to_string(i) : "");
    else if (options.format == "npz") arrays.push_back(why_arrays(answer->split));
    else text += (i > 0 ? "\n" : "") + why_text(*answer, options.top);
  }
  const auto printed = options.format == "npz" ? print_npz(std::move(arrays)) : print(text);
  if (printed) print_warnings(warnings);
  return printed;
}

}  // namespace

ParsedCommand add_why(Parser& program) {
  Parser command = program.command("why", "A score split over what wrote it: words, positions, earlier heads");
  command.footer(
      "headlight why --head 1.5 --query 9 --key 5\n"
      "headlight why CHECKPOINT --text 'the cat sat' --layer 1 --head 0 --query 3 --key 1 --format csv\n"
      "The score before the softmax is the sum over all pairs of a writer at the query and a writer at the key: "
      "embedding,\n"
      "position, type, L0·H3, L0·ffn, bias, relative (what the distance adds). Norms are frozen at the size that their "
      "row\n"
      "gave them. With --format json: {\"score\", \"terms\": [{\"query\", \"key\", \"value\"}], \"sum\"}, a line a "
      "sentence.");
  auto options = std::make_shared<WhyArguments>(command);
  command.section("The score");
  const auto add_place = [&](const char* option, Index& place, const char* help) {
    command.option(option, place, help, "N").required();
  };
  add_place("--query", options->cell.query, "The token that attends, from 0");
  add_place("--key", options->cell.key, "The token that it attends to, from 0");
  command.section();
  command.option("--top", options->top, "Of text, how many of the largest terms, 20 by default", "K")
      .within(0, 1000000);
  add_number_format(command, options->format, "text (default), csv, json or npz: all terms");
  return [options] { return run_why(*options); };
}

}  // namespace headlight
