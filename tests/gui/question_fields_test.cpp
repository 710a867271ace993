// The table of a question's fields: a row that is added to it is found by everything that walks it.
#include "question/question_fields.h"

#include <set>

#include "app/session_fixture.h"
#include "cli/options/request_options.h"
#include "figure/difference_words.h"
#include "gui/actions/question.h"
#include "lesson/lesson.h"
#include "question/json/document_json.h"

namespace headlight {
namespace {

/// The table with another row: a number that is stored where Edits has one already.
QuestionFields with_factor() {
  QuestionFields fields = question_fields();
  std::erase_if(fields, [](const QuestionField& field) { return std::string_view(field.name) == "scale"; });
  fields.push_back(number_field("factor", {"Factor of the scores", "分数的系数"}, "--factor", "Multiplies the scores",
                                &Edits::scale));
  return fields;
}

Document with_factor_of(float value) {
  Document document = fixture::small_document();
  document.edits.scale = value;
  return document;
}

TEST(QuestionFields, ANewRowIsAnOptionWithItsHelp) {
  const QuestionFields fields = with_factor();
  Parser program("headlight");
  Parser command = program.command("ask", "Asks");
  const RequestOptions options(command, fields);
  const auto help = program.parse({"ask", "--help-request"});
  ASSERT_TRUE(help);
  EXPECT_NE(help->text.find("--factor X"), std::string::npos) << help->text;
  EXPECT_NE(help->text.find("Multiplies the scores"), std::string::npos);
  const auto list = program.parse({"ask", "--help-request", "--format", "json"});
  ASSERT_TRUE(list);
  EXPECT_NE(list->text.find("\"option\": \"--factor\""), std::string::npos) << list->text;

  Parser other("headlight");
  const RequestOptions asked(other, fields);
  ASSERT_TRUE(other.parse({"--random", "--factor", "0.25"}));
  const auto start = asked.start();
  ASSERT_TRUE(start) << start.error().message();
  EXPECT_EQ(start->session.document.edits.scale, 0.25f);
  Parser wrong("headlight");
  const RequestOptions refused(wrong, fields);
  const auto parsed = wrong.parse({"--factor", "much"});
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().message(), "--factor: expected a number, found 'much'");
}

TEST(QuestionFields, ANewRowStandsInSessionsAndInTheCommandThatIsCopied) {
  const QuestionFields fields = with_factor();
  const Document document = with_factor_of(0.25f);
  const nlohmann::json object = document_json(document, fields);
  EXPECT_EQ(object.at("factor"), 0.25);
  EXPECT_FALSE(object.contains("scale"));
  Progress progress;
  std::vector<Error> warnings;
  const auto read = document_from_json("a", object, progress, warnings, nullptr, nullptr, fields);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->edits.scale, 0.25f);
  const auto words = request_words(document, fields);
  ASSERT_TRUE(words);
  const auto at = std::find(words->begin(), words->end(), "--factor");
  ASSERT_TRUE(at != words->end() && std::next(at) != words->end());
  EXPECT_EQ(*std::next(at), "0.25");
}

TEST(QuestionFields, ANewRowStandsInPages) {
  const QuestionFields fields = with_factor();
  nlohmann::json object;
  write_edits(with_factor_of(0.25f).edits, object, fields);
  EXPECT_EQ(object, (nlohmann::json{{"factor", 0.25}}));
  JsonProblems problems{"page"};
  Edits edits;
  read_edits(JsonField(object, "", problems), edits, fields);
  EXPECT_EQ(edits.scale, 0.25f);
}

TEST(QuestionFields, ANewRowIsNamedWhereItDiffers) {
  const QuestionFields fields = with_factor();
  const Document before = with_factor_of(0.25f), now = with_factor_of(0.5f);
  const auto answer = [](const Document& document) {
    const auto requests = requests_of(document, fixture::lexicon());
    return *forward(requests->front());
  };
  const auto a = answer(before), b = answer(now);
  const DifferenceWords words = difference_words(Language::en, {*a, before}, {*b, now}, fields);
  EXPECT_NE(std::find(words.a.begin(), words.a.end(), "factor 0.25"), words.a.end()) << in_a_line(words.a);
  EXPECT_NE(std::find(words.b.begin(), words.b.end(), "factor 0.5"), words.b.end()) << in_a_line(words.b);
  EXPECT_EQ(change_in_words(Language::en, before, now, fields), "Factor of the scores");
  EXPECT_EQ(change_in_words(Language::zh, before, now, fields), "分数的系数");
}

TEST(QuestionFields, EachRowIsWholeAndItsNamesAreItsOwn) {
  std::set<std::string> names, options;
  for (const QuestionField& field : question_fields()) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    EXPECT_TRUE(field.is_same && field.put) << field.name;
    EXPECT_EQ(static_cast<bool>(field.write), static_cast<bool>(field.read)) << field.name;
    for (const FieldOption& option : field.options) {
      EXPECT_TRUE(options.insert(option.name).second) << option.name;
      EXPECT_NE(std::string(option.help), "") << option.name;
    }
    const auto goal = goals_from_json("a", {{"changed", field.name}});
    EXPECT_TRUE(goal) << field.name << ": each is a goal of a lesson";
  }
  EXPECT_GE(options.size(), 44u);
}

}  // namespace
}  // namespace headlight
