#include <string>
#include <vector>

#include "base/formatted.h"
#include "cli/frame/question_command.h"
#include "cli/options/against_option.h"
#include "math/ops.h"
#include "models/joint_space.h"
#include "models/model_sources.h"

namespace headlight {
namespace {

struct TextOfPicture {
  std::string text;
  float cosine = 0, logit = 0, probability = 0;  // among the texts
};

/// The question of the part that reads texts: a text, or a request that begins with an option.
Result<Document> question_of_text(const Question& question, const std::string& text) {
  const std::string source = question.asked.source + std::string(kTextPart);
  if (text.starts_with("--")) return question_of(text, "--with", source);
  Document document = TRY(question_of("", "--with", source));
  document.source = {.text = text};
  return document;
}

Result<std::vector<TextOfPicture>> texts_of_picture(const Question& question, const std::vector<std::string>& given) {
  const Trace& picture = *question.trace;
  if (!picture.query_tokens().picture)
    return bad_input("similarity", "SOURCE", "a model of a picture and a text (clip)", "one that reads no picture");
  std::vector<AnswerSnapshot> answers;
  for (const std::string& text : given) {
    const Document document = TRY(question_of_text(question, text));
    answers.push_back(TRY(answer_to_keep(document, question.asked.lexicon)));
  }
  const auto folder = TRY(path_of_source(parts_of_source(question.asked.source).path));
  const JointSpace space =
      TRY(read_joint_space(folder, picture.embedding.cols(), answers.front().trace->embedding.cols()));
  const Vector place = place_of_picture(space, picture);
  Vector logits(std::ssize(given));
  std::vector<TextOfPicture> texts;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const float cosine = place.dot(place_of_text(space, *answers[i].trace));
    texts.push_back({.text = given[i], .cosine = cosine, .logit = space.scale * cosine});
    logits(static_cast<Index>(i)) = texts.back().logit;
  }
  const Vector shares = (logits.array() - logits.maxCoeff()).exp();
  for (std::size_t i = 0; i < given.size(); ++i) texts[i].probability = shares(static_cast<Index>(i)) / shares.sum();
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
