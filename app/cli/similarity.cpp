#include <string>
#include <vector>

#include "base/formatted.h"
#include "cli/frame/question_command.h"
#include "cli/options/against_option.h"
#include "math/output.h"
#include "models/joint_space.h"
#include "models/model_sources.h"

namespace headlight {
namespace {

struct TextOfPicture {
  std::string text;
  float cosine = 0, logit = 0, probability = 0;  // among the texts
};

/// The answers of the part that reads texts: to texts, or to requests that begin with an option.
Result<std::vector<AnswerSnapshot>> answers_to_texts(const Question& question, const std::vector<std::string>& given) {
  const std::string source = question.asked.source + std::string(kTextPart);
  const Document plain = TRY(question_of("", "--with", source));
  std::vector<AnswerSnapshot> answers;
  for (const std::string& text : given) {
    Document document = text.starts_with("--") ? TRY(question_of(text, "--with", source)) : plain;
    if (!text.starts_with("--")) document.source = {.text = text};
    answers.push_back(TRY(answer_to_keep(document, question.asked.lexicon)));
  }
  return answers;
}

Result<std::vector<TextOfPicture>> texts_of_picture(const Question& question, const std::vector<std::string>& given) {
  const Trace& picture = *question.trace;
  if (!picture.query_tokens().picture)
    return bad_input("similarity", "SOURCE", "a model of a picture and a text (clip)", "one that reads no picture");
  const auto answers = TRY(answers_to_texts(question, given));
  const auto folder = TRY(path_of_source(parts_of_source(question.asked.source).path));
  const JointSpace space =
      TRY(read_joint_space(folder, picture.embedding.cols(), answers.front().trace->embedding.cols()));
  const Vector place = place_of_picture(space, picture);
  Vector cosines(std::ssize(given));
  for (Index i = 0; i < cosines.size(); ++i)
    cosines(i) = place.dot(place_of_text(space, *answers[static_cast<std::size_t>(i)].trace));
  const Vector logits = space.scale * cosines, shares = probabilities(logits);
  std::vector<TextOfPicture> texts;
  for (Index i = 0; i < cosines.size(); ++i)
    texts.push_back({given[static_cast<std::size_t>(i)], cosines(i), logits(i), shares(i)});
  return texts;
}

Result<Answer> answer(const Question& question, const std::vector<std::string>& given) {
  const auto texts = TRY(texts_of_picture(question, given));
  // What one part alone does not need is what both are compared by.
  std::erase_if(question.warnings, [](const Error& one) { return one.code == ErrorCode::tensor_not_needed; });
  Table table{{"text", "cosine", "logit", "probability"}};
  std::vector<std::vector<std::string>> rows{{"", "cosine", "logit", "probability"}};
  for (const TextOfPicture& one : texts) {
    table.rows.push_back({one.text, double(one.cosine), double(one.logit), double(one.probability)});
    rows.push_back({word_in_table(one.text), formatted("%.6f", double(one.cosine)),
                    formatted("%.4f", double(one.logit)), formatted("%.4f", double(one.probability))});
  }
  if (question.wants("csv")) return Answer(std::move(table));
  if (question.wants("json")) return Answer(json_rows(table));
  return Answer(aligned_text(rows, {false, true, true, true}));
}

ParsedCommand add_similarity(Parser& parser, const Frontend&) {
  const QuestionCommand command(parser);
  const auto texts = std::make_shared<std::vector<std::string>>();
  parser.option("--with", *texts, "A text beside the picture; once for each. What begins with -- is a request", "TEXT")
      .repeated()
      .required();
  command.take_format({"text", "csv", "json"}, "text (default), csv or json");
  return command.answers(SentencesAsked::one, [texts](const Question& question) { return answer(question, *texts); });
}

}  // namespace

const NamedCommand kSimilarity{"similarity", "How like a picture and texts are to CLIP", R"(
headlight similarity CLIP --picture cat.png --with 'a photo of a cat' --with 'a photo of a dog'
The cosine of the picture and of each text in the space that both parts of CLIP share, times the model's scale (logit),
and the softmax over the texts.)",
                               add_similarity};

}  // namespace headlight
