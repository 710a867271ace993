// A checkpoint that reads text: its tokenizer, from the folder to the exported numbers.
#include <sstream>

#include "app/checkpoint_folder.h"
#include "app/program.h"
#include "math/generate.h"
#include "question/json/export.h"
#include "question/tokenizers.h"
#include "session/file/open_file.h"
#include "session/file/session_file.h"
#include "session/update.h"
#include "write/export.h"

namespace headlight {
namespace {

using namespace program;
using namespace worded;
using fixture::lexicon;
using Ids = std::vector<std::int64_t>;

std::vector<Request> asked(const Document& document) {
  auto requests = requests_of(document, lexicon());
  EXPECT_TRUE(requests) << requests.error().message();
  return requests ? *requests : std::vector<Request>{};
}

Ids ids_of(const Tokens& tokens) {
  Ids ids;
  for (const Token& token : tokens.tokens) ids.push_back(token.id);
  return ids;
}

Texts texts_of(const Tokens& tokens) {
  Texts texts;
  for (const Token& token : tokens.tokens) texts.push_back(token.text);
  return texts;
}

std::string joined(const Ids& ids) {
  std::string text;
  for (const std::int64_t id : ids) text += (text.empty() ? "" : ",") + std::to_string(id);
  return text;
}

TEST(CheckpointText, WordsAreCutByTheVocabulary) {
  const CheckpointFolder model("gpt2", words_json(kWords));
  Document document = model.document();
  document.source.text = "我请李雷帮我订了去北京的机票";
  const Tokens tokens = asked(document).front().tokens;
  EXPECT_EQ(texts_of(tokens), (Texts{"<s>", "我", "请", "李雷", "帮", "我", "订了", "去", "北京", "的", "机票"}));
  EXPECT_EQ(ids_of(tokens), (Ids{0, 3, 4, 5, 6, 3, 7, 8, 9, 10, 11}));
  EXPECT_TRUE(tokens.tokens.front().special);
  document.source.text = "the cat in New York ";
  const Tokens english = asked(document).front().tokens;
  EXPECT_EQ(texts_of(english), (Texts{"<s>", "the", "cat", "in", "New York"}));
  EXPECT_EQ(ids_of(english), (Ids{0, 12, 13, 1, 15}));
  const Token& unknown = english.tokens[3];
  EXPECT_FALSE(unknown.known);
  EXPECT_EQ(english.text.substr(unknown.begin, unknown.end - unknown.begin), " in") << "the space before it is its own";
  EXPECT_TRUE(english.tokens[2].known);
}

TEST(CheckpointText, EveryPieceCutByHandIsLookedUp) {
  const CheckpointFolder model("gpt2", words_json(kWords));
  Document document = model.document();
  document.source.text = "the cat sat";
  toggle_cut(document, TextSide::source, 7, lexicon());  // "the| cat sat"
  EXPECT_EQ(texts_of(asked(document).front().tokens), (Texts{"<s>", "the", "cat sat"}));
  EXPECT_FALSE(asked(document).front().tokens.tokens[2].known);
  toggle_cut(document, TextSide::source, 7, lexicon());
  EXPECT_EQ(ids_of(asked(document).front().tokens), (Ids{0, 12, 13, 14}));
  toggle_cut(document, TextSide::source, 5, lexicon());  // "the| c|at| sat"
  EXPECT_EQ(ids_of(asked(document).front().tokens), (Ids{0, 12, 1, 1, 14}));
}

TEST(CheckpointText, CapitalsGoOnlyWhereANormalizerSaysSo) {
  const CheckpointFolder plain("gpt2", words_json(kWords));
  const CheckpointFolder lower("gpt2", words_json(kWords, json{{"type", "Lowercase"}}));
  for (const auto& [model, ids] : {std::pair{&plain, Ids{0, 1, 13}}, std::pair{&lower, Ids{0, 12, 13}}}) {
    Document document = model->document();
    document.source.text = "The cat";
    EXPECT_EQ(ids_of(asked(document).front().tokens), ids);
  }
}

TEST(CheckpointText, SeveralLinesAreABatchPaddedWithTheVocabularysPadding) {
  const CheckpointFolder model("gpt2", words_json(kWords));
  Document document = model.document();
  document.source.text = "the cat sat\n我";
  const auto requests = asked(document);
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(ids_of(requests[1].tokens), (Ids{0, 3, 2, 2}));
  EXPECT_TRUE(requests[1].tokens.tokens.back().pad);
  EXPECT_EQ(documents_of_lines(document)->size(), 2u);
}

TEST(CheckpointText, GivesTheSameBytesAsItsIds) {
  const Folder out;
  for (const auto& [name, tokenizer, text] :
       {std::tuple{"gpt2", words_json(kWords), "我请李雷 the cat"}, std::tuple{"gpt2", bytes_json(), "the cat that"}}) {
    const CheckpointFolder model(name, tokenizer);
    Document document = model.document();
    document.source.text = text;
    const Ids ids = ids_of(asked(document).front().tokens);
    const std::string a = (out / "a.npz").string(), b = (out / "b.npz").string(), c = (out / "c.npz").string();
    ASSERT_EQ(run({"export", model.folder(), "--text", text, "--with", "qkv,scores", "-o", a}).status, 0);
    ASSERT_EQ(run({"export", model.folder(), "--ids", joined(ids), "--with", "qkv,scores", "-o", b}).status, 0);
    Progress progress;
    const ExportOptions all{.queries_keys_values = true, .scores = true};
    ASSERT_TRUE(export_document(document, asked(document), Format::npz, all, c, progress));
    EXPECT_GT(read_file(a)->size(), 1000u);
    EXPECT_EQ(*read_file(a), *read_file(b)) << name;
    EXPECT_EQ(*read_file(a), *read_file(c)) << name;
  }
}

TEST(CheckpointText, IdsAreSpeltByTheVocabulary) {
  const CheckpointFolder model("gpt2", words_json(kWords));
  Document document = model.document();
  document.source.ids = {0, 12, 13, 40};
  const Tokens tokens = asked(document).front().tokens;
  EXPECT_EQ(texts_of(tokens), (Texts{"<s>", "the", "cat", "40"}));
  EXPECT_TRUE(tokens.tokens[0].special);
  EXPECT_FALSE(tokens.tokens[3].known);
}

TEST(CheckpointText, TheDecoderBeginsWithItsStart) {
  CheckpointFolder model("marian", words_json(kWords));  // decoder_start_token_id 49
  Document document = model.document();
  document.source.text = "我请\n去";
  document.target.text = "the cat\nsat";
  const auto requests = asked(document);
  EXPECT_EQ(ids_of(requests[0].tokens), (Ids{0, 3, 4}));
  EXPECT_EQ(ids_of(requests[0].target), (Ids{49, 0, 12, 13}));
  EXPECT_TRUE(requests[0].target.tokens.front().special);
  EXPECT_EQ(ids_of(requests[1].target), (Ids{49, 0, 14, 2}));
  model.with("generation_config.json", R"({"decoder_start_token_id": 7})");
  EXPECT_EQ(ids_of(asked([&] {
                     Document other = model.document();
                     other.source.text = "我", other.target.text = "the";
                     return other;
                   }())
                       .front()
                       .target),
            (Ids{7, 0, 12}));
  // What a tokenizer appends to a text is what the decoder has yet to predict.
  const Token end{.id = 9, .text = "</s>", .raw = "</s>", .begin = 1, .end = 1, .special = true};
  const Token word{.id = 5, .text = "a", .raw = "a", .begin = 0, .end = 1};
  EXPECT_EQ(ids_of(shifted_right({"a", {word, end}}, end)), (Ids{9, 5}));
}

TEST(CheckpointText, NextWordsHaveTheirNames) {
  const CheckpointFolder model("gpt2", words_json(kWords));
  Document document = model.document();
  document.source.text = "the cat";
  const auto trace = forward(asked(document).front());
  ASSERT_TRUE(trace) << trace.error().message();
  EXPECT_EQ(find_word(*(*trace)->model, "sat"), Index{14});
  EXPECT_EQ(find_word(*(*trace)->model, "dog"), std::nullopt);
  EXPECT_EQ(candidate(*(*trace)->model, probabilities((*trace)->logits), 9).text, "北京");
  EXPECT_EQ(candidate(*(*trace)->model, probabilities((*trace)->logits), 50).text, "50");
}

/// Tables of 64 rows for 52 words: the rows beyond score highest, and no guess names one.
TEST(CheckpointText, RowsBeyondTheWordsAreNeverGuessed) {
  const std::string model = fixture::golden("family-qwen2-padded").string();
  const Ran next = run({"next", model, "--text", "w5 w44 w12", "--top", "64"});
  ASSERT_EQ(next.status, 0) << next.err;
  std::istringstream lines(next.out);
  std::string line, word;
  std::getline(lines, line);  // where it stands
  double share = 0, all = 0;
  std::size_t words = 0;
  for (; lines >> share >> word; ++words, all += share) EXPECT_EQ(word.front(), 'w') << word;
  EXPECT_EQ(words, 52u);
  EXPECT_LT(all, 0.5) << "the softmax counts the other rows";
  const Ran more = run({"generate", model, "--text", "w5 w44", "--count", "20", "--temperature", "2"});
  ASSERT_EQ(more.status, 0) << more.err;
  std::istringstream written(more.out);
  for (words = 0; std::getline(written, line); ++words) EXPECT_EQ(line[line.find('\t') + 1], 'w') << line;
  EXPECT_EQ(words, 20u);
}

/// The ids of the sentence after a word was appended.
Ids appended(Document& document, std::int64_t id, std::size_t sentence = 0) {
  append_word(document, sentence, {.id = id, .text = std::to_string(id)}, lexicon());
  const auto requests = asked(document);
  return ids_of(requests[std::min(sentence, requests.size() - 1)].tokens);
}

TEST(CheckpointText, GoesOnAfterExactlyWhatItRead) {
  const CheckpointFolder words("gpt2", words_json(kWords));
  Document document = words.document();
  document.source.text = "the cat";
  EXPECT_EQ(appended(document, 14), (Ids{0, 12, 13, 14}));
  EXPECT_EQ(document.source.text, "the cat sat");
  EXPECT_EQ(appended(document, 9), (Ids{0, 12, 13, 14, 9}));
  EXPECT_TRUE(document.source.ids.empty());
  EXPECT_EQ(appended(document, 45), (Ids{0, 12, 13, 14, 9, 45})) << "no text comes to an id without a word";
  EXPECT_EQ(document.source.ids, (Ids{0, 12, 13, 14, 9, 45}));

  const CheckpointFolder bytes("gpt2", bytes_json());
  document = bytes.document();
  document.source.text = "cat";
  EXPECT_EQ(appended(document, 8), (Ids{4, 5, 0, 8}));
  EXPECT_EQ(document.source.text, "cat th");
  document.source.text = "cat";
  EXPECT_EQ(appended(document, 1), (Ids{4, 5, 0, 1})) << "as a text this is another token";
  EXPECT_EQ(document.source.ids, (Ids{4, 5, 0, 1}));
  document.source.ids.clear();
  EXPECT_EQ(appended(document, 9), (Ids{4, 5, 0, 9})) << "a byte is no text";
  EXPECT_EQ(appended(document, 10), (Ids{4, 5, 0, 9, 10}));

  document.source.ids.clear();
  document.source.text = "the\ncat";
  EXPECT_EQ(appended(document, 1, 1), (Ids{4, 5, 0, 1})) << "the sentence goes on alone";
}

TEST(CheckpointText, IsKeptInSessionsAndByUndo) {
  const CheckpointFolder model("gpt2", words_json(kWords));
  AppState state = fixture::small_state("the cat");
  auto opened = open_any(model.path());
  ASSERT_TRUE(opened) << opened.error().message();
  update(state, FileOpened{model.folder(), std::move(*opened)});
  EXPECT_EQ(state.document.source.text, "the cat") << "what was typed is asked again";
  ASSERT_TRUE(wanted(state)) << message_of(problem_of(state));
  EXPECT_EQ(ids_of(wanted(state)->tokens), (Ids{0, 12, 13}));
  update(state, ToggleCut{3});
  EXPECT_EQ(ids_of(wanted(state)->tokens), (Ids{0, 1}));
  const auto again = session_from_json("s", to_json(Session{state.document, {}}));
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(again->document.source.text, "the cat");
  EXPECT_EQ(again->document.source.hand_cuts, state.document.source.hand_cuts);
  EXPECT_EQ(ids_of(asked(again->document).front().tokens), (Ids{0, 1}));
  update(state, SetIds{{5, 6}});
  EXPECT_EQ(ids_of(wanted(state)->tokens), (Ids{5, 6}));
  update(state, SetText{"cat"});
  EXPECT_EQ(ids_of(wanted(state)->tokens), (Ids{0, 13})) << "typing goes before ids";
  for (int i = 0; i < 4; ++i) update(state, Undo{});
  EXPECT_FALSE(state.document.model);
  EXPECT_EQ(state.document.source.text, "the cat");
  update(state, Redo{});
  EXPECT_EQ(ids_of(wanted(state)->tokens), (Ids{0, 12, 13}));
}

TEST(CheckpointText, WithoutATokenizerOneLineSaysSo) {
  const CheckpointFolder none("gpt2", nullptr);
  const std::string line = refused({"export", none.folder(), "--text", "a"});
  EXPECT_TRUE(contains(line, "--text: expected --ids beside a checkpoint without a tokenizer")) << line;
  EXPECT_TRUE(contains(line, "tokenizer.json") && contains(line, "vocab.txt")) << line;
  EXPECT_EQ(run({"export", none.folder(), "--ids", "1"}).err, "");
  const CheckpointFolder broken("gpt2", json{{"version", "1.0"}, {"model", json::object()}});
  const Ran ids = run({"export", broken.folder(), "--ids", "1"});
  EXPECT_EQ(ids.status, 0);
  EXPECT_TRUE(contains(ids.err, "tokenizer.json: model.vocab")) << ids.err;
  EXPECT_TRUE(contains(refused({"export", broken.folder(), "--text", "a"}), "tokenizer.json: model.vocab"));
}

TEST(CheckpointText, IdsOutsideTheTableAreNamedWithBothNumbers) {
  Texts many = kWords;
  for (int i = 0; i < 50; ++i) many.push_back("w" + std::to_string(i));
  const CheckpointFolder model("gpt2", words_json(many));  // 66 ids, 53 rows
  EXPECT_TRUE(contains(run({"export", model.folder(), "--text", "the"}).err, "at most 53 ids")) << "a warning";
  const Ran ran = run({"export", model.folder(), "--text", "the w49"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_TRUE(contains(ran.err,
                       "text: token 2 'w49': expected an id below 53, the rows of the table of embeddings, "
                       "found 65"))
      << ran.err;
}

TEST(CheckpointText, OptionsThatDoNotFitAreRefused) {
  const CheckpointFolder model("gpt2", words_json(kWords));
  EXPECT_TRUE(contains(refused({"export", model.folder(), "--text", "a", "--ids", "1"}), "--ids"));
  EXPECT_TRUE(contains(refused({"export", model.folder(), "--split", "characters"}), "--split"));
  EXPECT_TRUE(contains(refused({"export", model.folder(), "--target", "a"}), "--target: expected an encoder-decoder"));
  EXPECT_TRUE(
      contains(refused({"export", model.folder(), "--text", "a", "--token-type-ids", "0"}), "--token-type-ids"));
}

TEST(CheckpointText, TokenizeMarksWhatIsUnknown) {
  const CheckpointFolder model("gpt2", words_json(kWords));
  EXPECT_EQ(run({"tokenize", model.folder(), "--text", "the dog"}).out,
            "0\t0\t0\t<s>\n12\t0\t3\tthe\n1\t3\t7\tdog\tunknown\n");
  EXPECT_EQ(run({"tokenize", model.folder(), "--tokens", "th|e cat"}).out,
            "0\t0\t0\t<s>\n1\t0\t2\tth\tunknown\n1\t2\t7\te cat\tunknown\n");
  const json tokens = exported({model.folder(), "--text", "the dog"})["tokens"];
  EXPECT_EQ(tokens[2]["known"], false);
  EXPECT_EQ(tokens[2]["text"], "dog");
  EXPECT_EQ(tokens[1]["known"], true);
}

TEST(CheckpointText, SpecialTokensAreLeftOut) {
  const CheckpointFolder model("gpt2", words_json(kWords));
  const auto with = [&](const char* how) {
    return exported({model.folder(), "--text", "我请李雷", "--mask", "none", "--with", "scores,qkv", "--special", how});
  };
  const json show = with("show"), hide = with("hide"), scaled = with("renormalize");
  EXPECT_FALSE(show.contains("special"));
  EXPECT_EQ(hide["special"], "hide");
  EXPECT_EQ(texts(hide["tokens"]), (Strings{"我", "请", "李雷"}));
  EXPECT_EQ(hide["attention"][0]["left_text"], hide["attention"][0]["right_text"]);
  const json causal = exported({model.folder(), "--text", "我请李雷", "--special", "hide"});
  EXPECT_EQ(causal["mask"]["allowed"], json::array({{1, 0, 0}, {1, 1, 0}, {1, 1, 1}}));
  for (std::size_t layer = 0; layer < 2; ++layer) {
    for (std::size_t head = 0; head < 3; ++head) {
      EXPECT_EQ(hide["keys"][layer][head][0], show["keys"][layer][head][1]);
      for (std::size_t query = 0; query < 3; ++query) {
        double sum = 0;
        const double rest = 1 - show["attention"][0]["attn"][layer][head][query + 1][0].get<double>();
        for (std::size_t key = 0; key < 3; ++key) {
          const json& all = show["attention"][0]["attn"][layer][head][query + 1][key + 1];
          EXPECT_EQ(hide["attention"][0]["attn"][layer][head][query][key], all);
          const double weight = scaled["attention"][0]["attn"][layer][head][query][key];
          EXPECT_NEAR(weight, all.get<double>() / rest, 1e-5);
          sum += weight;
          EXPECT_EQ(scaled["scores"][layer][head][query][key], show["scores"][layer][head][query + 1][key + 1]);
        }
        EXPECT_NEAR(sum, 1, 1e-6);
      }
    }
  }
  const Ran csv = run({"export", model.folder(), "--text", "我请", "--format", "csv", "--special", "hide"});
  EXPECT_EQ(lines_of(csv.out), 1 + 2 * 3 * 2 * 2);
  EXPECT_TRUE(contains(csv.out, "\nSelf,1,2,1,0,请,我,")) << csv.out;
  EXPECT_TRUE(
      contains(refused({"export", model.folder(), "--ids", "0", "--special", "hide"}), "a token that is not special"));
  EXPECT_TRUE(contains(refused({"export", "--special", "some"}), "--special: expected show, hide or renormalize"));
  const Ran empty =
      run({"export", model.folder(), "--text", "我请李雷", "--special", "renormalize", "--weight", "0.0.1.0=1"});
  EXPECT_TRUE(contains(empty.err, "1 of 18 rows look at special tokens alone and are written as zeros")) << empty.err;
}

TEST(CheckpointText, HiddenStatesLoseTheRowsOfSpecialTokensToo) {
  const CheckpointFolder model("gpt2", words_json(kWords));
  Document document = model.document();
  document.source.text = "我请";
  const auto trace = forward(asked(document).front());
  ASSERT_TRUE(trace) << trace.error().message();
  const auto all = all_arrays(**trace, {}), kept = all_arrays(**trace, {.special = SpecialTokens::hide});
  ASSERT_EQ(all.size(), kept.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(kept[i].shape[kept[i].shape.size() - 2], 2) << kept[i].name;
    if (kept[i].name == "attentions") continue;
    for (Index piece = 0; piece < all[i].pieces; ++piece)
      EXPECT_TRUE(kept[i].piece(piece) == all[i].piece(piece).bottomRows(2)) << kept[i].name;
  }
}

TEST(CheckpointText, WordsNeedAVocabularyOfWords) {
  json bytes = bytes_json();
  bytes["pre_tokenizer"] = {{"type", "Words"}};
  const CheckpointFolder model("gpt2", bytes);
  EXPECT_TRUE(contains(refused({"tokenize", model.folder(), "--text", "a"}), "WordLevel"));
}

}  // namespace
}  // namespace headlight
