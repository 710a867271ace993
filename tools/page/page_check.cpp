#include "page/page.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "figure/labels.h"
#include "heads/head_measures.h"
#include "model/head_text.h"
#include "page/page_numbers.h"
#include "question/question_fields.h"
#include "read/external/page_attention.h"
#include "read/external/page_text.h"
#include "read/json/json_fields.h"
#include "write/arrays.h"
#include "write/json.h"

namespace headlight {
namespace {

using nlohmann::json;

/// The tolerance beyond a page's stated error: a later version of the program may round differently.
constexpr float kSlack = 2e-6f;

Finding wrong(const std::string& what, const std::string& expected, const std::string& found) {
  return {Severity::error, bad_input(what, "", expected, found)};
}

/// Whether the page's attention is of the answer's shape.
Status check_shape(const std::string& where, const Trace& trace, Stack stack, const PageStack& page) {
  if (!trace.has(stack)) return bad_input(where, "stacks", "an attention of the answer", stack_name(stack));
  const auto shape = [](const AttentionTrace& one, Index layers) {
    return std::to_string(layers) + " layers, " + std::to_string(one.num_heads()) + " heads, " +
           std::to_string(one.num_kv_heads) + " of keys, " + std::to_string(one.mask->queries()) + " queries, " +
           std::to_string(one.mask->keys()) + " keys, " + std::to_string(one.query.cols()) + " numbers each";
  };
  const std::string expected = shape(trace.attention(stack, 0), trace.num_layers(stack)),
                    found = shape(page.layers[static_cast<std::size_t>(page.heads.front().layer)],
                                  static_cast<Index>(page.layers.size()));
  if (expected != found) return bad_input(where, stack_name(stack), expected, found);
  return Done{};
}

Finding tokens_finding(const json& data, const Trace& trace) {
  for (const NamedTokens& named : named_tokens(trace)) {
    const json expected = json::parse(json_texts(*named.tokens));
    const json& list = value_or_null(data, named.name.c_str());
    if (!list.is_array() || list.size() != expected.size())
      return wrong(named.name, std::to_string(expected.size()),
                   list.is_array() ? std::to_string(list.size()) : "no list");
    for (std::size_t i = 0; i < expected.size(); ++i)
      if (const json& found = value_or_null(list[i], "text"); found != expected[i])
        return wrong(named.name + " " + std::to_string(i), found_text(expected[i]), found_text(found));
  }
  return {Severity::good,
          "the tokens are those that the request gives: " + std::to_string(trace.query_tokens().size())};
}

/// Compares one answer of the page, `data`, with what its question gives; `name` is put before what is found.
void check_answer(const std::string& where, const json& data, const Trace& trace, const std::string& name,
                  Progress& progress, std::vector<Finding>& findings) {
  findings.push_back(tokens_finding(data, trace));
  if (findings.back().severity == Severity::error) return;
  const auto read = page_of_answer(where, data);
  if (!read) return findings.push_back({Severity::error, read.error()});
  TraceCopy page(trace);
  std::vector<HeadRef> heads;
  for (const auto& [stack, of_stack] : read->stacks) {
    if (const auto fits = check_shape(where, trace, stack, of_stack); !fits)
      return findings.push_back({Severity::error, fits.error()});
    for (std::size_t layer = 0; layer < of_stack.layers.size(); ++layer)
      page.attention(stack, static_cast<Index>(layer)) = of_stack.layers[layer];
    for (const HeadRef& head : of_stack.heads) heads.push_back({head.layer, head.head, stack});
  }
  const float error = rounding_error(trace, page.trace, heads, {0, &progress.stop});
  const std::string count = name + std::to_string(heads.size()) + (heads.size() == 1 ? " head" : " heads");
  if (!(error <= read->error + kSlack))
    findings.push_back(wrong("weights of " + count,
                             "at most " + brief_number(read->error) + " from the request's, as the page states",
                             brief_number(error)));
  else
    findings.push_back({Severity::good, "weights of " + count + " are the request's: the largest difference is " +
                                            brief_number(error) + ", the page states " + brief_number(read->error)});
}

}  // namespace

Result<std::vector<Finding>> check_page(const std::filesystem::path& file, const Lexicon& lexicon, Progress& progress) {
  const std::string where = file.string();
  const auto data = read_page(file);
  if (!data) return data.error();
  auto session = TRY(session_of_json(where, *data, progress));
  const auto requests = requests_of(session.document, lexicon);
  if (!requests) return inside(where, requests.error());
  const std::size_t sentence = std::min(session.view.sentence, requests->size() - 1);
  const auto trace = forward((*requests)[sentence], progress);
  if (!trace) return inside(where, trace.error());

  std::vector<Finding> findings;
  for (const Error& error : session.lost) findings.push_back({Severity::warning, error});
  if (names_page(session.document.model_path)) {  // its model is not there
    findings.push_back(
        {Severity::note, "nothing was compared; the numbers are whole: " + std::to_string(heads_of(**trace).size()) +
                             " heads, " + std::to_string((*trace)->query_tokens().size()) + " tokens"});
    return findings;
  }
  check_answer(where, *data, **trace, "", progress, findings);
  if (!data->contains("compare") || !session.kept) return findings;
  const auto other = answer_to_keep(*session.kept, lexicon, progress);
  if (!other) return inside(where + ": compare", other.error());
  check_answer(where + ": compare", (*data)["compare"], *other->trace, "A, ", progress, findings);
  return findings;
}

}  // namespace headlight
