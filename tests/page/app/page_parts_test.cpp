// The parts that a page is made of, without a browser; tests/page/page_test.py has the whole.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include <nlohmann/json.hpp>

#include "app/session_fixture.h"
#include "base/base64.h"
#include "base/random.h"
#include "figure/labels.h"
#include "gui/shipped_document.h"
#include "heads/head_measures.h"
#include "math/attention.h"
#include "math/forward.h"
#include "models/open_model.h"
#include "names/named_arcs.h"
#include "page/core/answer_object.h"
#include "page/core/page_answers.h"
#include "page/page.h"
#include "page/page_data.h"
#include "page/page_numbers.h"
#include "page/page_template.h"
#include "question/answer_snapshot.h"
#include "question/json/document_json.h"
#include "read/external/packed_planes.h"
#include "read/external/page_text.h"
#include "view/start_cell.h"

namespace headlight {
namespace {

std::string random_bytes(std::size_t count) {
  Random random(7);
  std::string bytes;
  while (bytes.size() < count) bytes += static_cast<char>(random.next() & 0xFF);
  return bytes;
}

TEST(Base64, IsReadBackWhateverItsPartsAre) {
  for (std::size_t count = 0; count < 40; ++count) {
    const std::string bytes = random_bytes(count);
    std::string text;
    Base64Encoder encoder;
    for (std::size_t at = 0, size = 1; at < count; at += size, size = size % 5 + 1)
      encoder.add(bytes.substr(at, size), text);
    encoder.finish(text);
    EXPECT_EQ(text, encode_base64(bytes));
    EXPECT_EQ(text.size(), base64_size(count));
    ASSERT_TRUE(decode_base64(text));
    EXPECT_EQ(*decode_base64(text), bytes);
  }
  EXPECT_EQ(encode_base64("foobar"), "Zm9vYmFy");  // RFC 4648, section 10
  EXPECT_EQ(encode_base64("fooba"), "Zm9vYmE=");
}

TEST(PageNumbers, PackedPlanesAreTheSameBytes) {
  const std::string bytes = random_bytes(6000) + std::string(4000, 'x');
  const std::string packed = packed_planes(bytes);
  const auto planes = inflated(packed, bytes.size());
  ASSERT_TRUE(planes);
  for (std::size_t i = 0; i < bytes.size(); ++i) ASSERT_EQ((*planes)[i % 2 * bytes.size() / 2 + i / 2], bytes[i]) << i;
  EXPECT_FALSE(inflated(packed, bytes.size() + 2));
  EXPECT_FALSE(inflated(packed, bytes.size() - 2));
  EXPECT_FALSE(inflated(packed.substr(0, packed.size() / 2), bytes.size()));
}

TEST(PageNumbers, RoundingIsToTheNearestFloat16) {
  const Matrix numbers = (Matrix(1, 6) << 1.0f, 0.1f, -65504.0f, 1.00048828125f, 6e-8f, 0.0f).finished();
  const Matrix rounded = rounded_to_float16(numbers);
  EXPECT_EQ(rounded(0, 0), 1.0f);
  EXPECT_EQ(rounded(0, 1), 0.0999755859375f);
  EXPECT_EQ(rounded(0, 2), -65504.0f);
  EXPECT_EQ(rounded(0, 3), 1.0f);  // a tie goes to the even one
  EXPECT_EQ(rounded(0, 4), 0x1p-24f);
  std::string bytes;
  append_float16(numbers, bytes);
  ASSERT_EQ(bytes.size(), 12u);
  EXPECT_EQ(bytes.substr(0, 2), std::string("\x00\x3C", 2));
}

/// A document with its answer, as a page takes it.
PageContent answered_content(const Document& document) {
  auto answer = answer_to_keep(document, fixture::lexicon());
  EXPECT_TRUE(answer) << answer.error().message();
  PageContent content;
  content.session.document = answer->document;
  content.trace = answer->trace;
  return content;
}

PageContent shipped_content(const char* source, const std::string& text = std::string(kDefaultSentence)) {
  return answered_content(fixture::shipped_document(source, text));
}

/// The answer as the data of a page has it.
nlohmann::json page_data_of(const PageContent& content) {
  PagePlan plan;
  plan.heads = heads_of(*content.trace);
  std::string text = "{";
  PageSink sink{.write = [&](std::string_view part) { return text += part, true; }};
  write_answer(*content.trace, named_arcs(content.session.document, *content.trace), plan, 0, sink);
  return nlohmann::json::parse(text + "}");
}

TEST(PageData, ARelationStandsAtTheCellThatWasNamed) {
  const PageContent content = shipped_content("shipped:encoder");
  const nlohmann::json data = page_data_of(content);
  const SentenceArcs arcs = named_arcs(content.session.document, *content.trace);
  int found = 0;
  for (const auto& head : data["relations"])
    for (const auto& arc : head["arcs"]) {
      ++found;
      EXPECT_TRUE(std::any_of(arcs.named.begin(), arcs.named.end(), [&](const NamedArc& one) {
        return one.head.layer == head["layer"] && one.head.head == head["head"] && one.cell.query == arc["query"] &&
               one.cell.key == arc["key"] && one.relation == arc["relation"];
      })) << arc;
    }
  EXPECT_GE(found, 2);
}

TEST(PageData, TheLensOfAnEncoderHasRanksFromOneAndThatOfADecoderTokens) {
  const std::string sentence = "我请李雷帮";
  const auto table_of = [&](const char* source) {
    PageContent content = shipped_content(source, sentence);
    content.session.view.view = View::inside;
    content.session.view.tab = InsideTab::lens;
    content.session.view.pinned = CellRef{3, 3};
    Progress progress;
    const auto tables = answer_tables(content, progress, 1);
    EXPECT_TRUE(tables) << tables.error().message();
    return nlohmann::json::parse(*tables).at(0);
  };
  const nlohmann::json ranks = table_of("shipped:encoder"), tokens = table_of("shipped:decoder");
  EXPECT_EQ(ranks["columns"], (nlohmann::json{"1", "2", "3", "4", "5"}));
  EXPECT_EQ(ranks["rows"], (nlohmann::json{"L0", "L1"}));
  for (const auto& row : ranks["values"])
    for (std::size_t i = 1; i < row.size(); ++i) EXPECT_GE(row[i - 1], row[i]);
  std::vector<std::string> words;
  const PageContent content = shipped_content("shipped:decoder", sentence);
  for (const Token& token : content.trace->query_tokens().tokens) words.push_back(axis_label(token));
  EXPECT_EQ(tokens["columns"], words);
}

/// What the pages' core computes, without a browser.
TEST(PageCore, AWeightIsMadeOfTheNumbersThatAreTold) {
  const PageContent content = shipped_content("shipped:decoder");
  const Trace& trace = *content.trace;
  const HeadRef head{1, 2};
  const CellRef cell{6, 2};
  const nlohmann::json why = why_object(trace, head, cell);
  const AttentionTrace& attention = trace.attention(Stack::self, 1);
  const auto columns = [&](const Matrix& of, Index row) {
    const Vector numbers = head_columns(of, 2, attention.num_heads()).row(row);
    return numbers;
  };
  const Vector q = columns(attention.query, 6), k = columns(attention.key, 2);
  EXPECT_EQ(why["q"].get<std::vector<float>>(), std::vector<float>(q.begin(), q.end()));
  EXPECT_EQ(why["k"].get<std::vector<float>>(), std::vector<float>(k.begin(), k.end()));
  EXPECT_NEAR(why["dot"].get<float>(), q.dot(k), 1e-4);
  EXPECT_NEAR(why["scaled"].get<float>(), q.dot(k) * attention.scale, 1e-4);
  EXPECT_NEAR(why["score"].get<float>(), why["scaled"].get<float>(), 1e-4);
  const Matrix weights = attention_rows(trace, head, 6, 1);
  EXPECT_EQ(why["weight"].get<float>(), weights(0, 2));
  EXPECT_NEAR(why["share"].get<float>(), weights(0, 2), 1e-5);
  EXPECT_NEAR(why["value"].get<float>(), columns(attention.value, 2).norm(), 1e-5);
  Vector z = Vector::Zero(q.size());
  for (Index key = 0; key < trace.keys(); ++key) z += weights(0, key) * columns(attention.value, key);
  EXPECT_NEAR(why["z"].get<float>(), z.norm(), 1e-4);
  EXPECT_TRUE(why["allowed"].get<bool>());
  EXPECT_FALSE(why_object(trace, head, {2, 6})["allowed"].get<bool>());
}

PageContent golden_content(const char* name) {
  const nlohmann::json asked{{"source", fixture::golden(name).string()}, {"ids", {5, 44, 12, 12, 7, 51, 30, 2, 19}}};
  Progress progress;
  std::vector<Error> warnings;
  const auto document = document_from_json("test", asked, progress, warnings);
  EXPECT_TRUE(document) << document.error().message();
  return answered_content(*document);
}

/// What the families add to the scores: caps, sinks, vectors and tables of distances.
TEST(PageCore, AScoreAndItsShareAreMadeOfTheNumbersThatAreTold) {
  for (const char* name : {"family-gemma2", "family-headlight-sinks", "family-deberta-v2", "family-bloom"}) {
    SCOPED_TRACE(name);
    const PageContent content = golden_content(name);
    const Trace& trace = *content.trace;
    for (const HeadRef& head : heads_of(trace))
      for (const CellRef& cell : {CellRef{8, 2}, CellRef{4, 4}, CellRef{6, 1}}) {
        const nlohmann::json why = why_object(trace, head, cell);
        ASSERT_EQ(why.contains("score"), trace.attention(head.stack, head.layer).mask->allowed(cell.query, cell.key));
        if (!why.contains("score")) continue;
        const float made = why.value("capped", why["scaled"].get<float>()) + why.value("distance", 0.0f);
        EXPECT_NEAR(why["score"].get<float>(), made, 1e-4);
        EXPECT_NEAR(why["score"].get<float>(), score_rows(trace, head, cell.query, 1)(0, cell.key), 1e-4);
        EXPECT_NEAR(why["share"].get<float>(), why["weight"].get<float>(), 1e-5);
        EXPECT_EQ(why["weight"].get<float>(), attention_rows(trace, head, cell.query, 1)(0, cell.key));
      }
  }
}

TEST(PageCore, AnswersWithTheScaleOfEachLayer) {
  PageContent content = golden_content("gpt2");
  content.session.document.edits.layers.push_back({.stack = Stack::self, .layer = 1});
  content.session.document.edits.layers.back().scale = 0.9f;
  content = answered_content(content.session.document);
  const auto still = StillAnswer::read(page_data_of(content));
  ASSERT_TRUE(still) << still.error().message();
  for (Index layer = 0; layer < 2; ++layer)
    EXPECT_EQ((*still)->trace().attention(Stack::self, layer).scale,
              content.trace->attention(Stack::self, layer).scale);
  EXPECT_EQ((*still)->trace().attention(Stack::self, 1).scale, 0.9f);
}

/// A seed beyond 2^53 too, which JavaScript would round.
TEST(PageCore, DrawsTheDropoutOfTheAnswer) {
  PageContent content = golden_content("gpt2");
  content.session.document.edits.dropout = 0.3f;
  content.session.document.edits.dropout_seed = 9007199254740993u;
  content = answered_content(content.session.document);
  const auto still = StillAnswer::read(page_data_of(content));
  ASSERT_TRUE(still) << still.error().message();
  for (const HeadRef& head : heads_of(*content.trace)) {
    const Matrix exact = attention_rows(*content.trace, head, 0, 9),
                 own = attention_rows((*still)->trace(), head, 0, 9);
    EXPECT_GT((exact.array() == 0).count(), 36) << "weights that were dropped, beside the blocked ones";
    EXPECT_LE((exact - own).cwiseAbs().maxCoeff(), 3e-3f) << head.layer << "." << head.head;
  }
}

TEST(PageCore, AnswersWithTheSinksOfEachLayer) {
  const PageContent content = golden_content("family-headlight-sinks");
  const auto still = StillAnswer::read(page_data_of(content));
  ASSERT_TRUE(still) << still.error().message();
  for (const HeadRef& head : heads_of(*content.trace)) {
    const Matrix exact = attention_rows(*content.trace, head, 0, 9),
                 own = attention_rows((*still)->trace(), head, 0, 9);
    EXPECT_LT(exact.row(8).sum(), 0.999f) << "the sink takes a share";
    EXPECT_LE((exact - own).cwiseAbs().maxCoeff(), 3e-3f) << head.layer << "." << head.head;
  }
}

Document translating(const char* source, const char* target) {
  Document document;
  document.config = {.arch = Arch::encoder_decoder, .d_model = 8, .num_heads = 2, .num_layers = 1, .ffn = 8};
  document.source.text = source;
  document.target.text = target;
  return document;
}

TEST(PageCore, TokensOfTwoAnswersStandBesideEachOther) {
  const PageContent a = answered_content(translating("a b c d", "x y")),
                    b = answered_content(translating("a c d", "x y z"));
  const nlohmann::json axes = axes_object(*a.trace, *b.trace);
  const nlohmann::json source = nlohmann::json::parse("[[0, 0], [1, null], [2, 1], [3, 2]]"),
                       target = nlohmann::json::parse("[[0, 0], [1, 1], [null, 2]]");
  EXPECT_EQ(axes["Encoder"]["queries"], source);
  EXPECT_EQ(axes["Decoder"]["keys"], target);
  EXPECT_EQ(axes["Cross"]["queries"], target);
  EXPECT_EQ(axes["Cross"]["keys"], source);
}

TEST(PageCore, EachAttentionTakesItsOwnMask) {
  LiveAnswer live;
  const Status asked = live.ask(nlohmann::json::parse(request_json(translating("a b c d", "x y"))), 100);
  ASSERT_TRUE(asked) << asked.error().message();
  const std::pair<const char*, Stack> masks[] = {
      {"mask", Stack::self}, {"encoder_mask", Stack::encoder}, {"cross_mask", Stack::cross}};
  for (const auto& [name, stack] : masks) {
    nlohmann::json changes;
    for (const auto& [other, of_other] : masks) changes[other] = {{"causal", other == name}, {"padding", true}};
    const Status changed = live.change(changes);
    ASSERT_TRUE(changed) << changed.error().message();
    for (const auto& [other, of_other] : masks)
      EXPECT_EQ(live.trace().mask(of_other).allowed(0, 1), of_other != stack) << name << ", " << other;
  }
}

TEST(PageCore, ChoosesModelAndCellAsAWindowDoes) {
  const auto knows = [](const char* text, bool typing) {
    const auto known = LiveAnswer::knows({{"source", "shipped:encoder"}, {"text", text}}, typing);
    EXPECT_TRUE(known) << text;
    return known ? *known : std::nullopt;
  };
  EXPECT_EQ(knows("我请李雷帮我订了去北京的机票", false), true);
  EXPECT_EQ(knows("The committee", false), false);
  EXPECT_EQ(knows(" ", false), std::nullopt);
  EXPECT_EQ(knows("我请李", false), false);
  EXPECT_EQ(knows("我请李", true), true) << "a name may follow";
  EXPECT_EQ(knows("xqz", true), false);
  EXPECT_FALSE(LiveAnswer::knows({{"source", "shipped:encoder"}, {"text", 5}}, true));
  LiveAnswer live;
  for (const char* text :
       {"我请李雷帮我订了去北京的机票", "The trophy does not fit in the suitcase because it is too big."}) {
    const char* source = *knows(text, false) ? "shipped:encoder" : "shipped:any-sentence";
    const auto answered = live.ask({{"source", source}, {"text", text}}, 64);
    ASSERT_TRUE(answered) << answered.error().message();
    Document document = open_model(source)->document;
    document.source.text = text;
    const auto asked = answer_to_keep(document, fixture::lexicon());
    ASSERT_TRUE(asked) << asked.error().message();
    const auto start = start_cell(document, *asked->trace, named_arcs(document, *asked->trace));
    ASSERT_TRUE(start) << text;
    const nlohmann::json expected{{"stack", 0},
                                  {"layer", start->head.layer},
                                  {"head", start->head.head},
                                  {"pinned", {{"query", start->cell.query}, {"key", start->cell.key}}}};
    EXPECT_EQ(live.start(), expected) << text;
  }
}

TEST(PageText, NoTextEndsTheElement) {
  EXPECT_EQ(without_markup(R"({"a":"</script><b>"})"), R"({"a":"\u003c/script>\u003cb>"})");
  for (const std::string& table : {without_markup(page_words_json()), page_colours_json()})
    EXPECT_EQ(table.find("<"), std::string::npos);
}

TEST(PageText, IsFoundInThePageAndNowhereElse) {
  std::string page;
  for (const std::string_view part : page_head()) page += part;
  page += R"({"schema":"headlight.page/1"})";
  const std::string cut = page;
  for (const std::string_view part : page_tail()) page += part;
  const auto data = data_of_page("a.html", page);
  ASSERT_TRUE(data) << data.error().message();
  EXPECT_EQ(*data, R"({"schema":"headlight.page/1"})");
  ASSERT_FALSE(data_of_page("a.html", cut));
  EXPECT_EQ(data_of_page("a.html", cut).error().message(),
            "a.html: headlight-data: expected its end, </script>, found the end of the file: the page was cut off");
  EXPECT_FALSE(data_of_page("a.html", "<p>hello</p>"));
}

TEST(PageTemplate, AllowsOnlyItsOwnScriptAndStyle) {
  std::string head;
  for (const std::string_view part : page_head()) head += part;
  EXPECT_NE(head.find("default-src 'none'; script-src 'sha256-"), std::string::npos);
  EXPECT_NE(head.find("style-src 'sha256-"), std::string::npos);
  EXPECT_NE(head.find("' 'wasm-unsafe-eval';"), std::string::npos);  // the core, and no other code
  EXPECT_EQ(head.find("unsafe"), head.rfind("unsafe"));
  EXPECT_EQ(head.find("http:"), std::string::npos);
  EXPECT_EQ(head.find("https:"), std::string::npos);
}

TEST(PageFile, ThatIsTooLargeIsRefusedBeforeItsAnswerIsComputed) {
  Document document;
  document.source.text = "the cat sat on the mat";
  const auto requests = requests_of(document, Lexicon{});
  ASSERT_TRUE(requests) << requests.error().message();
  // q and k of 2 layers, 6 tokens, d_model 64, two bytes each, in base64.
  const std::size_t least = 4 * 2 * 2 * 2 * 6 * 64 / 3;
  EXPECT_TRUE(check_size(requests->front(), least));
  const Status refused = check_size(requests->front(), least - 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(),
            "page: size: expected at most 4 kB (--only 1.4,2.* takes fewer heads), found 4 kB");
  const auto trace = forward(requests->front());
  ASSERT_TRUE(trace) << trace.error().message();
  PageContent content;
  content.session.document = document;
  content.trace = *trace;
  Progress progress;
  const auto plan = plan_page(content, {}, progress);
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_GE(plan->bytes, least);
}

TEST(PageFile, ThatIsCancelledIsNotWritten) {
  const auto folder = std::filesystem::temp_directory_path() / ("headlight-page-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const std::filesystem::path file = folder / "page.html";
  Document document;
  document.source.text = "the cat sat on the mat";
  const auto requests = requests_of(document, Lexicon{});
  ASSERT_TRUE(requests) << requests.error().message();
  const auto trace = forward(requests->front());
  ASSERT_TRUE(trace) << trace.error().message();
  FigureRequest order;
  order.trace = *trace;
  order.document = document;
  const DrawFigure draw = with_pages({});
  Progress progress;
  progress.stop = true;
  const Status cancelled = draw(order, file, progress);
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().message(), file.string() + ": cancelled, nothing was written");
  EXPECT_TRUE(std::filesystem::is_empty(folder));  // nor anything beside it
  progress.stop = false;
  const Status written = draw(order, file, progress);
  EXPECT_TRUE(written) << written.error().message();
  EXPECT_TRUE(std::filesystem::exists(file));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace headlight
