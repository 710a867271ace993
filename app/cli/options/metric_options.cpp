#include "cli/options/metric_options.h"

#include "base/formatted.h"
#include "cli/options/view_options.h"
#include "math/output.h"

namespace headlight {

void add_metric_options(Parser& parser, MetricOptions& options) {
  add_choice<Metric>(parser, "--metric", options.metric, kMetricNames,
                     "logit-difference of two answers (default), probability or rank of the right one, or kl of all "
                     "words from the clean answer");
  parser
      .option(
          "--answers", options.answers,
          "The right answer, or the right and the wrong one: words of the vocabulary or their ids; default: the most "
          "probable word, of two questions that of the clean and that of the corrupt one",
          "RIGHT,WRONG")
      .list();
  parser
      .option("--query", options.query,
              "The token, of two questions the clean one's, whose next word is looked at, from 0; default: the last "
              "one, of an encoder the masked one",
              "N")
      .not_negative();
}

void add_control_option(Parser& parser, std::string& control, const char* help) {
  parser.option("--control", control, help, "random:N");
}

Result<Index> draws_of(const std::string& control) {
  if (control.empty()) return Index{0};
  const auto draws = control.starts_with("random:") ? parse_index(control.substr(7)) : std::nullopt;
  if (!draws || *draws < 1 || *draws > 10000) return bad_input("--control", "", "random:N, N from 1 to 10000", control);
  return *draws;
}

Result<Index> answer_row(const Model& model, const std::string& option, const std::string& word) {
  const auto row = find_word(model, word);
  if (row) return *row;
  return bad_input(option, "", "a word of the vocabulary (one token), or its id", "'" + word + "'");
}

Result<MetricWanted> MetricOptions::wanted(const Model& model, std::optional<Index> right,
                                           std::optional<Index> wrong) const {
  MetricWanted wanted{.metric = metric, .right = {}, .wrong = {}, .query = query};
  if (answers.size() > 2) return bad_input("--answers", "", "one word or two", std::to_string(answers.size()));
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto row = TRY(answer_row(model, "--answers", answers[i]));
    (i == 0 ? wanted.right : wanted.wrong) = row;
  }
  if (right) wanted.right = right;
  if (wrong) wanted.wrong = wrong;
  return wanted;
}

std::string MetricOptions::text() const {
  return (metric ? std::string(name(*metric)) : "") + "|" + joined_texts(answers, ",") + "|" +
         (query ? std::to_string(*query) : "");
}

}  // namespace headlight
