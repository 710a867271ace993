// Two sentences as a pair, from the tokenizer's template to the part of the maps that is shown.
#include "app/figures.h"
#include "app/program.h"
#include "derived/fold.h"
#include "models/open_model.h"
#include "pair_tokenizer.h"
#include "question/question_fields.h"
#include "session/file/open_file.h"
#include "session/file/session_file.h"
#include "session/loop/command_line_of.h"
#include "session/update.h"

namespace headlight {
namespace {

using namespace program;
using fixture::golden;
using fixture::lexicon;

/// golden/bert, or another, with a tokenizer that takes pairs.
class PairFolder : public Folder {
 public:
  explicit PairFolder(const std::string& name = "bert") {
    for (const char* file : {"config.json", "model.safetensors"})
      std::filesystem::copy_file(golden(name) / file, path() / file);
    with("tokenizer.json", kPairTokenizer);
  }
  std::string folder() const { return path().string(); }
  Document document(std::string first, std::string second) const {
    auto opened = open_model(path());
    EXPECT_TRUE(opened) << opened.error().message();
    Document document = opened ? opened->document : Document{};
    document.source.text = std::move(first);
    document.text_pair = std::move(second);
    return document;
  }
};

std::vector<Request> asked(const Document& document) {
  auto requests = requests_of(document, lexicon());
  EXPECT_TRUE(requests) << requests.error().message();
  return requests ? *requests : std::vector<Request>{};
}

std::string ids_of(const Tokens& tokens, bool types = false) {
  std::string list;
  for (const Token& token : tokens.tokens)
    list += (list.empty() ? "" : ",") + std::to_string(types ? token.type : token.id);
  return list;
}

constexpr const char* kIds = "2,4,5,6,3,7,8,9,3";
constexpr const char* kTypes = "0,0,0,0,0,1,1,1,1";

TEST(Pair, IsReadByTheTemplateWithItsTypes) {
  const PairFolder model;
  const Document document = model.document("the cat sat", "it was tired");
  EXPECT_TRUE(takes_pairs(document));
  const Tokens tokens = asked(document).front().tokens;
  EXPECT_EQ(ids_of(tokens), kIds);
  EXPECT_EQ(ids_of(tokens, true), kTypes);
  EXPECT_EQ(tokens.second, 5u);
  const Tokens alone = asked(model.document("the cat sat", "")).front().tokens;
  EXPECT_EQ(ids_of(alone), "2,4,5,6,3");
  EXPECT_EQ(second_sentence(alone), 0u);
}

TEST(Pair, TheNumbersAreThoseOfTheSameIdsAndTypes) {
  const PairFolder model;
  const json pair = exported({model.folder(), "--text", "the cat sat", "--text-pair", "it was tired"});
  const json ids = exported({model.folder(), "--ids", kIds, "--token-type-ids", kTypes});
  EXPECT_EQ(pair.at("attention"), ids.at("attention"));
  const json untyped = exported({model.folder(), "--ids", kIds});
  EXPECT_NE(pair.at("attention"), untyped.at("attention")) << "the types count";
  EXPECT_EQ(pair.at("request").at("text_pair"), "it was tired");
  EXPECT_EQ(pair.at("tokens").at(5).at("type"), 1);
  EXPECT_FALSE(pair.at("tokens").at(4).contains("type"));
  EXPECT_EQ(pair.at("tokens").at(5).at("bytes"), (json{12, 14}));
}

TEST(Pair, AWordThatIsAddedHasTheTypeOfTheTokenBeforeIt) {
  const PairFolder model;
  Document document = model.document("", "");
  document.source.ids = {2, 4, 3, 7, 8};
  document.token_types = {0, 0, 0, 1, 1};
  append_word(document, 0, {.id = 9, .text = "tired"}, lexicon());
  const Tokens tokens = asked(document).front().tokens;
  EXPECT_EQ(ids_of(tokens), "2,4,3,7,8,9");
  EXPECT_EQ(ids_of(tokens, true), "0,0,0,1,1,1");
  document.pad = 4;
  append_word(document, 0, {.id = 5, .text = "cat"}, lexicon());
  EXPECT_EQ(ids_of(asked(document).front().tokens), "2,4,5,3,7,8,9") << "before the padding";
  EXPECT_EQ(document.token_types, (std::vector<int>{0, 0, 0, 0, 1, 1, 1}));
}

TEST(Pair, OfABatchEachLineGoesWithItsOwn) {
  const PairFolder model;
  const auto requests = asked(model.document("the cat\nit sat\nthe", "it was\n\ntired\nthe"));
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_EQ(ids_of(requests[0].tokens), "2,4,5,3,7,8,3");
  EXPECT_TRUE(ids_of(requests[1].tokens).starts_with("2,7,6,3,")) << "an empty line is no second sentence";
  EXPECT_EQ(second_sentence(requests[1].tokens), 0u);
  EXPECT_TRUE(ids_of(requests[2].tokens).starts_with("2,4,3,9,3"));
  EXPECT_EQ(second_sentence(requests[2].tokens), 3u);
  const auto lines = documents_of_lines(model.document("the cat\nit sat\nthe", "it was\r\n\ntired"));
  ASSERT_TRUE(lines);
  EXPECT_EQ((*lines)[0].text_pair, "it was");
  EXPECT_EQ((*lines)[1].text_pair, "");
  EXPECT_EQ((*lines)[2].text_pair, "tired");
}

TEST(Pair, IsOfferedOnlyWhereTheModelTakesOne) {
  EXPECT_FALSE(takes_pairs(Document{}));
  const PairFolder decoder("gpt2");
  EXPECT_FALSE(takes_pairs(decoder.document("the cat", "it")));
  EXPECT_EQ(asked(decoder.document("the cat", "it")).front().tokens.size(), 4u) << "what is not offered is not read";
  const PairFolder model;
  Document ids = model.document("", "it");
  ids.source.ids = {2, 4, 3};
  EXPECT_FALSE(takes_pairs(ids));
  EXPECT_NE(refused({"export", "--text", "我", "--text-pair", "你"}).find("--text-pair"), std::string::npos);
  EXPECT_NE(refused({"export", decoder.folder(), "--text", "the", "--text-pair", "it"}).find("--text-pair"),
            std::string::npos);
  EXPECT_NE(refused({"export", model.folder(), "--ids", "2,3", "--text-pair", "it"}).find("--text-pair"),
            std::string::npos);
  EXPECT_NE(refused({"export", model.folder(), "--text", "the", "--text-pair", "\xFF"}).find("--text-pair"),
            std::string::npos);
}

TEST(Pair, GoesIntoSessionsCommandsAndUndo) {
  const PairFolder model;
  const Document document = model.document("the cat sat", "it was tired");
  const auto session = session_from_json("s", to_json(Session{document, {}}));
  ASSERT_TRUE(session) << session.error().message();
  EXPECT_EQ(session->document.text_pair, "it was tired");
  const auto words = request_words(document);
  ASSERT_TRUE(words);
  EXPECT_EQ(*words, (Strings{model.folder(), "--text", "the cat sat", "--text-pair", "it was tired"}));
  AppState state = initial_state(lexicon(), model.document("the cat sat", ""), Settings{});
  update(state, SetTextPair{"it"});
  update(state, SetTextPair{"it was"});
  EXPECT_EQ(ids_of(whole_request(state)->tokens), "2,4,5,6,3,7,8,3");
  update(state, Undo{});
  EXPECT_EQ(state.document.text_pair, "");
  EXPECT_EQ(ids_of(whole_request(state)->tokens), "2,4,5,6,3");
  update(state, Redo{});
  EXPECT_EQ(state.document.text_pair, "it was");
}

TEST(Pair, IsAskedOfACheckpointThatIsOpenedNext) {
  const PairFolder model, next;
  AppState state = initial_state(lexicon(), model.document("the cat sat", "it was tired"), Settings{});
  auto opened = open_any(next.path());
  ASSERT_TRUE(opened) << opened.error().message();
  update(state, FileOpened{next.folder(), std::move(*opened)});
  EXPECT_EQ(state.document.model_path, next.folder());
  EXPECT_EQ(state.document.text_pair, "it was tired");
  EXPECT_EQ(ids_of(whole_request(state)->tokens), kIds);
}

TEST(Pair, TokenizeShowsTheTypes) {
  const PairFolder model;
  const Ran ran = run({"tokenize", model.folder(), "--text", "the cat", "--text-pair", "it", "--format", "json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json tokens = json::parse(ran.out).at("tokens");
  ASSERT_EQ(tokens.size(), 6u);
  EXPECT_EQ(tokens.at(4).at("type"), 1);
  EXPECT_EQ(tokens.at(4).at("raw"), "it");
}

/// The maps of a pair, and one part of them.
TEST(Pair, APartOfTheMapsIsTheirRowsAndColumnsAsTheyAre) {
  const PairFolder model;
  const auto trace = forward(asked(model.document("the cat sat", "it was tired")).front());
  ASSERT_TRUE(trace);
  const Matrix& whole = (*trace)->head({1, 0}).thumbnail;
  struct Part {
    PairPart part;
    Index row, rows, column, columns;
  };
  for (const Part& part : {Part{PairPart::a_to_a, 0, 5, 0, 5}, Part{PairPart::a_to_b, 0, 5, 5, 4},
                           Part{PairPart::b_to_a, 5, 4, 0, 5}, Part{PairPart::b_to_b, 5, 4, 5, 4}}) {
    const auto folded = folded_maps(*trace, {.pair = part.part});
    const auto& stack = folded->stacks[static_cast<std::size_t>(Stack::self)];
    ASSERT_TRUE(stack) << name(part.part);
    EXPECT_EQ(stack->map({1, 0}), whole.block(part.row, part.column, part.rows, part.columns)) << name(part.part);
    EXPECT_EQ(stack->fold.queries.group(part.row), 0);
    EXPECT_EQ(value_named<PairPart>(kPairNames, name(part.part)), part.part);
  }
  EXPECT_FALSE(folded_maps(*trace, {})->stacks[0]);
  EXPECT_NE(folded_maps(*trace, {})->possible[0].choice.pair, PairPart::all);
  EXPECT_FALSE(value_named<PairPart>(kPairNames, "c-d"));
}

TEST(Pair, SpecialTokensAreLeftOutOfAPartAsOfTheWhole) {
  const PairFolder model;
  const auto trace = forward(asked(model.document("the cat sat", "it was tired")).front());
  ASSERT_TRUE(trace);
  const auto whole = folded_maps(*trace, {.special = true});
  const auto part = folded_maps(*trace, {.special = true, .pair = PairPart::b_to_a});
  const Matrix& all = whole->stacks[0]->map({0, 1});
  ASSERT_EQ(all.rows(), 6);
  EXPECT_EQ(part->stacks[0]->map({0, 1}), all.block(3, 0, 3, 3)) << "rows are scaled by all words, not by those shown";
  EXPECT_LT(part->stacks[0]->map({0, 1}).rowwise().sum().maxCoeff(), 1);
}

TEST(Pair, OfOneSentenceThereIsNoPart) {
  const PairFolder model;
  const auto trace = forward(asked(model.document("the cat sat", "")).front());
  const auto folded = folded_maps(*trace, {.pair = PairPart::a_to_b});
  EXPECT_FALSE(folded->stacks[0]);
  EXPECT_EQ(folded->possible[0].choice.pair, PairPart::all);
}

TEST(Pair, LinesAreThoseOfThePart) {
  const PairFolder model;
  const Folder folder;
  const std::string file = folder.path() / "f.svg";
  const auto drawn = [&](const std::string& part) {
    EXPECT_EQ(run({"figure", model.folder(), "--text", "the cat sat", "--text-pair", "it was tired", "--pair", part,
                   "--view", "flow", "-o", file})
                  .status,
              0);
    return *read_file(file);
  };
  const std::string all = drawn("all"), to_a = drawn("b-a"), to_b = drawn("b-b");
  EXPECT_NE(to_a, all);
  EXPECT_NE(to_a, to_b);
}

TEST(Pair, TheCaptionOfAFigureSaysWhichPart) {
  const PairFolder model;
  const Document document = model.document("the cat sat", "it was tired");
  const auto trace = figures::answer_of(document);
  const auto caption = [&](PairPart part) {
    const auto folded = folded_maps(trace, {.pair = part});
    const auto drawing = draw_figure({*trace, document, folded.get()}, {.width = 2000}, figures::roughly);
    EXPECT_TRUE(drawing);
    figures::expect_tidy(*drawing);
    std::string texts;
    for (const Text& text : figures::all<Text>(*drawing)) texts += text.text + "\n";
    return texts;
  };
  EXPECT_TRUE(contains(caption(PairPart::a_to_b), "only A→B, rows not scaled"));
  EXPECT_TRUE(contains(caption(PairPart::all), "the cat sat / it was tired"));
  EXPECT_FALSE(contains(caption(PairPart::all), "rows not scaled"));
}

TEST(Pair, FiguresShowThePart) {
  const PairFolder model;
  const Folder folder;
  const std::string file = folder.path() / "f.svg";
  const Strings figure{"figure",       model.folder(), "--text", "the cat sat", "--text-pair",
                       "it was tired", "--language",   "en",     "-o",          file};
  const auto with = [](Strings words, const Strings& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  ASSERT_EQ(run(with(figure, {"--pair", "a-b", "--view", "head"})).status, 0);
  const std::string part = *read_file(file);
  ASSERT_EQ(run(with(figure, {"--view", "head"})).status, 0);
  const std::string whole = *read_file(file);
  EXPECT_NE(part, whole);
  std::filesystem::remove(file);
  EXPECT_NE(refused(with(figure, {"--pair", "a-b", "--view", "steps"})).find("--pair a-b"), std::string::npos);
  EXPECT_NE(refused(with(figure, {"--pair", "a-b", "--maps", "norms"})).find("--pair a-b"), std::string::npos);
  EXPECT_NE(refused({"figure", "--pair", "a-b", "-o", file}).find("two sentences"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace headlight
