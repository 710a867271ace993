// What the window says of an answer is read back from its words and held against the answer, by a table of all that it
// can say (utterance_table.h); sentences of documents, lessons and programs, in two languages, and words in no order
// are drawn. HEADLIGHT_UTTERANCES: the seed (11), and the counts are printed.
#include <gtest/gtest.h>

#include "app/shipped.h"
#include "app/utterance_table.h"
#include "derived/guess.h"
#include "derived/head_stats.h"
#include "figure/change_words.h"
#include "models/open_model.h"
#include "view/change_source.h"
#include "words/grid_words.h"
#include "words/head_name_words.h"
#include "words/text_words.h"
#include "words/words.h"

namespace headlight::utterances {
namespace {

class Reader {
 public:
  Reader() : table_(json::parse(*read_file(kTree / "app/words/words.json"))) {}

  /// The values that stand in a text that these words begin; the rest of the text is left. Nothing where they do not.
  std::optional<Strings> begins(std::string& text, const std::string& name, Language language) const {
    const std::size_t dot = name.find('.');
    const std::string group = name.substr(0, dot);
    for (const auto& [file, groups] : table_.items()) {
      if (!groups.is_object() || !groups.contains(group)) continue;
      const std::string words = groups[group].at(name.substr(dot + 1))[language == Language::zh ? 1 : 0];
      std::string pattern;
      for (const char c : words) {
        if (c == '%') pattern += "(.*?)";
        else
          pattern += std::string_view(".[]{}()*+?^$|\\").find(c) == std::string_view::npos ? std::string(1, c)
                                                                                           : std::string("\\") + c;
      }
      const bool ends = words.ends_with('%');
      std::smatch found;
      if (!std::regex_search(text, found,
                             std::regex("^" + pattern + (ends ? "(?=$|: |：|; |；|, |，| \\(|（|。|\\.$)" : ""))))
        return std::nullopt;
      Strings values;
      for (std::size_t i = 1; i < found.size(); ++i) values.push_back(found[i].str());
      text = found.suffix().str();
      return values;
    }
    ADD_FAILURE() << name << ": expected in words.json";
    return std::nullopt;
  }

 private:
  json table_;
};

const Reader& reader() {
  static const Reader read;
  return read;
}

std::map<std::string, int> counts;

/// Reads the text by rows of the table, one after another, until nothing is left; each must hold.
void expect_true(std::string text, Said said, const std::vector<const char*>& possible) {
  const std::string whole = text, sentence = said.answer.document.source.text;
  const std::string stop = words(said.language, kStageWords.full_stop);
  while (!text.empty() && text != stop) {
    const std::string before = text;
    for (const Row& row : kTable) {
      if (std::ranges::none_of(possible, [&](const char* one) { return std::string_view(one) == row.words; })) continue;
      const auto values = reader().begins(text, row.words, said.language);
      if (!values) continue;
      said.values = *values;
      EXPECT_TRUE(row.holds(said)) << row.words << " (" << row.when << "): " << whole << "\n  in: " << sentence;
      ++counts[row.words];
      break;
    }
    if (text == before) {
      ADD_FAILURE() << "no row of the table says: " << text << "\n  of: " << whole << "\n  in: " << sentence;
      return;
    }
  }
}

const std::vector<const char*> kOfCells{
    "StageWords.strongest", "StageWords.strongest_cell", "StageWords.looks_at_itself", "StageWords.rests",
    "StageWords.looks_at",  "StageWords.points_at",      "StageWords.relation_close",  "StageWords.relation"};
const std::vector<const char*> kOfNames{"HeadNameWords.previous",    "HeadNameWords.next",   "HeadNameWords.same",
                                        "HeadNameWords.special",     "HeadNameWords.first",  "HeadNameWords.rests",
                                        "HeadNameWords.duplicate",   "HeadNameWords.spread", "HeadNameWords.mixed",
                                        "HeadNameWords.resting_one", "HeadNameWords.resting"};

void cells_are_true(const Answer& answer, Language language, const HeadRef& head, Random& random) {
  const FoldedStack* folded = answer.stack();
  const CellRef strongest = strongest_cell(*answer.trace, head, folded);
  const auto line = [&](const CellRef& cell, const NamedArc* arc, bool chosen) {
    return lines_of_cell(language, cell_of(*answer.trace, head, cell, folded), arc, chosen);
  };
  expect_true(line(strongest, nullptr, false).front(), {answer, language, head, strongest}, kOfCells);
  const auto tokens = static_cast<std::uint64_t>(answer.trace->queries());
  const CellRef any{1 + static_cast<Index>(random.next() % (tokens - 1)), static_cast<Index>(random.next() % tokens)};
  expect_true(line(any, nullptr, true).front(), {answer, language, head, any}, kOfCells);
}

void arcs_are_true(const Answer& answer, Language language) {
  for (const NamedArc& arc : answer.arcs.named) {
    const Said said{answer, language, arc.head, arc.cell, &arc};
    const auto lines = lines_of_cell(language, cell_of(*answer.trace, arc.head, arc.cell, answer.stack()), &arc, true);
    expect_true(lines.front(), said, kOfCells);
    expect_true(measured_in_words(language, kTextWords.right_in, arc), said, {"TextWords.right_in"});
  }
  for (const NamedArc& arc : answer.arcs.referring)
    expect_true(measured_in_words(language, kTextWords.right_in_texts, arc),
                {answer, language, arc.head, arc.cell, &arc}, {"TextWords.right_in_texts"});
}

void names_are_true(const Answer& answer, Language language) {
  const std::vector<HeadRef> heads = heads_of(*answer.trace);
  const std::vector<HeadName> names = names_of(language, answer.document, *answer.trace, heads);
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const HeadName& name = names[i];
    Said said{answer, language, heads[i], {}, nullptr, &name};
    if (name.words.empty()) continue;
    if (name.measure == Measure::sink) {
      const std::string colon = words(language, kHeadNameWords.colon);
      const std::size_t at = name.words.find(colon);
      said.values = {at == name.words.npos ? "…" : name.words.substr(at + colon.size())};
      EXPECT_TRUE(sink(said)) << name.words << "\n  in: " << answer.document.source.text;
      ++counts["HeadNameWords.sink"];
      continue;
    }
    std::string text = name.words;
    if (name.named) {  // the numbers before the relations, together, are the arcs of the head
      const std::string semicolon = words(language, kHeadNameWords.semicolon);
      const std::size_t end = text.find(semicolon);
      int count = 0;
      const std::string relations = text.substr(0, end), comma = words(language, kHeadNameWords.comma);
      for (std::size_t at = 0; at < relations.size();) {
        count += std::max(1, std::atoi(relations.c_str() + at));
        const std::size_t next_comma = relations.find(comma, at);
        at = next_comma == relations.npos ? relations.size() : next_comma + comma.size();
      }
      EXPECT_EQ(count, std::ssize(answer.arcs.of(heads[i]))) << name.words << "\n  in: " << answer.document.source.text;
      text = end == text.npos ? "" : text.substr(end + semicolon.size());
    }
    expect_true(text, said, kOfNames);
  }
}

/// Of the row of a cell that has a name: other words there may well move it.
void changes_are_true(const Answer& answer, Language language, Random& random) {
  if (answer.arcs.named.empty()) return;
  const NamedArc& arc = answer.arcs.named[random.next() % answer.arcs.named.size()];
  const HeadRef head = arc.head;
  const Word& word = answer.word(answer.word_of(arc.cell.query));
  if (!may_change_words(answer.document, *answer.trace) || !may_change_row(*answer.trace, {}, head, word.first)) return;
  const ChangeSource source = change_source(answer.document, fixture::shipped().get(), fixture::lexicon(), 0);
  const auto changes = find_changes({answer.trace, head, word.first}, source, unwatched());
  for (const WordChange& change : changes->best) {
    const std::string label = change_label(language, change, [](const std::string& text) { return text; });
    std::string text = label;
    const auto values = reader().begins(text, "StageWords.moved", language);
    ASSERT_TRUE(values && text.empty()) << label << "|" << text;
    const Said said{answer, language, head, {word.first, change.key}, nullptr, nullptr, *values};
    EXPECT_TRUE(moved(said, change)) << label << "\n  in: " << answer.document.source.text;
    ++counts["StageWords.moved"];
  }
  EXPECT_TRUE(changes->best.empty() ==
                  (no_change_line(language, *changes, "", [](const std::string& text) { return text; }) != "") ||
              changes->tried == 0);
}

/// The words that are guessed in the place of a hidden one have the probabilities of an answer with that word hidden.
void guess_is_true(const Answer& answer, Random& random) {
  const auto token = static_cast<Index>(random.next() % static_cast<std::uint64_t>(answer.trace->queries()));
  if (!can_hide(*answer.trace, token)) return;
  const auto guess = make_guess({answer.trace, token}, unwatched());
  ASSERT_TRUE(guess);
  const Eigen::VectorXd logits = (*forward(with_hidden(*answer.trace, token)))->logits.cast<double>();
  const double most = logits.maxCoeff(), all = (logits.array() - most).exp().sum();
  ASSERT_FALSE(guess->words.empty());
  EXPECT_EQ(logits(guess->words.front().word.row), most);
  for (const GuessedWord& one : guess->words) {
    const std::string share = share_text(static_cast<double>(one.word.probability));
    const double own = std::exp(logits(one.word.row) - most) / all;
    EXPECT_TRUE(is_share(share, own) || (own < 1e-9 && share == "0 %")) << one.word.text << share << own;
  }
  ++counts["StageWords.in_place"];
}

TEST(Utterances, AreTrueOfTheAnswer) {
  const char* asked = std::getenv("HEADLIGHT_UTTERANCES");
  const auto opened = open_model(std::string(kAnySentence));
  ASSERT_TRUE(opened);
  const Drawn drawn;
  ASSERT_GT(drawn.prose.size(), 1000u);
  ASSERT_GT(drawn.code.size(), 200u);
  Random random(asked ? static_cast<std::uint64_t>(std::atoi(asked)) : 11);
  for (int i = 0; i < 300 && !testing::Test::HasFailure(); ++i) {
    Document document = opened->document;
    document.mask.causal = false;
    set_text(document, TextSide::source, drawn.sentence(random), fixture::lexicon());
    const Answer answer(std::move(document));
    if (answer.words.size() < 3) continue;
    const Language language = i % 2 == 0 ? Language::en : Language::zh;
    const HeadRef head{static_cast<Index>(random.next() % 4), static_cast<Index>(random.next() % 9)};
    cells_are_true(answer, language, head, random);
    arcs_are_true(answer, language);
    names_are_true(answer, language);
    if (i % 30 == 0) changes_are_true(answer, language, random);
    if (i % 10 == 0) guess_is_true(answer, random);
  }
  for (const auto& [row, times] : counts) RecordProperty(row, times);
  if (asked)
    for (const auto& [row, times] : counts) std::printf("%7d %s\n", times, row.c_str());
}

}  // namespace
}  // namespace headlight::utterances
