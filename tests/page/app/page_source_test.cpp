// Pages whose model is not there any more: their own numbers open, and damaged ones are told in one line.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/session_fixture.h"
#include "base/base64.h"
#include "base/file.h"
#include "math/attention.h"
#include "math/forward.h"
#include "models/open_model.h"
#include "page/page.h"
#include "question/json/document_json.h"
#include "read/external/page_text.h"
#include "session/file/open_file.h"
#include "session/file/session_file.h"
#include "write/arrays.h"

namespace headlight {
namespace {

namespace fs = std::filesystem;
using fixture::Folder;
using nlohmann::json;

/// A page of a copy of a golden checkpoint, and the answer that it was made of.
struct PageOfCopy {
  Folder folder;
  fs::path model = folder.path() / "model", file = folder.path() / "page.html";
  std::shared_ptr<const Trace> trace;

  PageOfCopy(
      const char* golden, const json& request, const PageOptions& options = {}, const json& against = {},
      void (*change)(const fs::path& model) = [](const fs::path&) {}) {
    fs::copy(fixture::golden(golden), model, fs::copy_options::recursive);
    change(model);
    const auto answered = [&](json asked) {
      asked["source"] = model.string();
      Progress progress;
      std::vector<Error> warnings;
      auto document = document_from_json("test", asked, progress, warnings);
      EXPECT_TRUE(document) << document.error().message();
      auto answer = answer_to_keep(*document, Lexicon{});
      EXPECT_TRUE(answer) << answer.error().message();
      return *std::move(answer);
    };
    AnswerSnapshot answer = answered(request);
    trace = answer.trace;
    PageContent content;
    content.session.document = std::move(answer.document);
    content.trace = trace;
    if (against.is_object()) content.against = answered(against);
    Progress progress;
    const auto plan = plan_page(content, options, progress);
    EXPECT_TRUE(plan) << plan.error().message();
    const Status written = write_page(content, options, *plan, file, progress);
    EXPECT_TRUE(written) << written.error().message();
  }

  json data() const { return json::parse(*data_of_page("page", *read_file(file))); }
  float error() const { return data()["error"].get<float>(); }

  /// The same page with other data.
  void write(const json& changed) const {
    std::string html = *read_file(file);
    const std::string before = *data_of_page("page", html);
    html.replace(html.find(before), before.size(), changed.dump());
    auto output = Output::to_file(file);
    ASSERT_TRUE(output);
    output->write(html);
    ASSERT_TRUE(output->commit());
  }
};

std::shared_ptr<const Trace> page_answer(const Document& document) {
  const auto answer = answer_to_keep(document, Lexicon{});
  EXPECT_TRUE(answer) << answer.error().message();
  return answer ? answer->trace : nullptr;
}

float largest_difference(const Trace& a, const Trace& b, const std::vector<std::pair<Stack, Stack>>& stacks) {
  float largest = 0;
  for (const auto& [of_a, of_b] : stacks) {
    EXPECT_EQ(a.num_layers(of_a), b.num_layers(of_b));
    for (Index layer = 0; layer < a.num_layers(of_a); ++layer)
      for (Index head = 0; head < a.num_heads(of_a); ++head) {
        const Matrix ours = attention_rows(a, {layer, head, of_a}, 0, a.queries(of_a)),
                     theirs = attention_rows(b, {layer, head, of_b}, 0, b.queries(of_b));
        EXPECT_EQ(ours.size(), theirs.size());
        largest = std::max(largest, (ours - theirs).cwiseAbs().maxCoeff());
      }
  }
  return largest;
}

/// The arithmetic of logarithms and of the softmax over them, beside the page's own error.
constexpr float kLogarithms = 3e-6f;

TEST(PageSource, OpensWithItsModelAsBefore) {
  const PageOfCopy page("bert", {{"ids", {2, 9, 50, 33, 3}}});
  const auto session = read_session(page.file);
  ASSERT_TRUE(session) << session.error().message();
  EXPECT_TRUE(session->lost.empty());
  EXPECT_EQ(session->document.model_path, page.model.string());
  EXPECT_EQ(largest_difference(*page.trace, *page_answer(session->document), {{Stack::self, Stack::self}}), 0);
}

TEST(PageSource, FindsItsModelBesideItself) {
  const PageOfCopy page("bert", {{"ids", {2, 9, 50, 33, 3}}});
  const Folder elsewhere;
  fs::copy(page.folder.path(), elsewhere.path(), fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  fs::remove_all(page.model);
  const auto session = read_session(elsewhere.path() / "page.html");
  ASSERT_TRUE(session) << session.error().message();
  EXPECT_TRUE(session->lost.empty());
  EXPECT_EQ(session->document.model_path, (elsewhere.path() / "model").string());
}

struct PageCase {
  const char* golden;
  json request;
  std::vector<std::pair<Stack, Stack>> stacks = {{Stack::self, Stack::self}};
};

TEST(PageSource, WithoutItsModelHasItsOwnNumbers) {
  const std::vector<std::pair<Stack, Stack>> all = {
      {Stack::self, Stack::self}, {Stack::encoder, Stack::encoder}, {Stack::cross, Stack::cross}};
  const json t5{{"ids", {5, 9, 12, 7, 1}}, {"decoder_ids", {0, 4, 6, 8}}};
  const json painted = json::parse(
      R"({"ids": [2, 9, 50, 33, 3], "mask": {"causal": true, "padding": true, "painted": [[0, 3, 1], [4, 4, 0]]}})");
  const json edited{
      {"ids", {2, 9, 50, 33, 3}}, {"scale", 0.9}, {"off", {"0.1"}}, {"dropout", 0.3}, {"dropout_seed", 7u}};
  const json padded{{"ids", {2, 9, 50, 33, 3, 0, 0}}, {"pad", 2u}}, nine{{"ids", {5, 44, 12, 12, 7, 51, 30, 2, 19}}};
  for (const PageCase& one :
       {PageCase{"bert", {{"ids", {2, 9, 50, 33, 3}}}}, PageCase{"bert", painted}, PageCase{"bert", edited},
        PageCase{"bert", padded}, PageCase{"gpt2", {{"ids", {1, 2, 3, 4, 5, 6}}}},
        PageCase{"llama-gqa", {{"ids", {1, 5, 9, 12, 7}}}}, PageCase{"family-t5", t5, all},
        PageCase{"family-gemma2", nine}, PageCase{"family-deberta-v2", nine},
        PageCase{"family-mistral-window", nine}}) {
    const PageOfCopy page(one.golden, one.request);
    fs::remove_all(page.model);
    const auto session = read_session(page.file);
    ASSERT_TRUE(session) << session.error().message();
    ASSERT_EQ(session->lost.size(), 1u) << one.golden;
    EXPECT_NE(session->lost.front().message().find("its model is not there (" + page.model.string() + ")"),
              std::string::npos)
        << session->lost.front().message();
    EXPECT_EQ(session->document.model_path, page.file.string());
    const auto own = page_answer(session->document);
    ASSERT_TRUE(own);
    EXPECT_LE(largest_difference(*page.trace, *own, one.stacks), page.error() + kLogarithms)
        << one.golden << " " << one.request;
    for (const auto& [stack, of_own] : one.stacks)
      for (Index layer = 0; layer < own->num_layers(of_own); ++layer) {
        EXPECT_EQ(page.trace->mask(stack, layer).kind(), own->mask(of_own, layer).kind());
        for (std::size_t i = 0; i < own->query_tokens(of_own).size(); ++i)
          EXPECT_EQ(page.trace->query_tokens(stack).tokens[i].text, own->query_tokens(of_own).tokens[i].text);
      }
    // A session that is kept of it opens the page's numbers again.
    const auto again = session_from_json("s.headlight.json", to_json(*session));
    ASSERT_TRUE(again) << again.error().message();
    EXPECT_EQ(largest_difference(*own, *page_answer(again->document), one.stacks), 0) << one.golden;
    const auto opened = open_any(page.file);
    ASSERT_TRUE(opened) << opened.error().message();
    EXPECT_EQ(opened->session.lost, session->lost);
  }
}

TEST(PageSource, OfPackedNumbersHasTheSame) {
  const json asked{{"ids", {2, 9, 50, 33, 3}}}, a{{"ids", {2, 9, 50, 33, 3}}, {"off", {"0.0"}}};
  const PageOfCopy packed("bert", asked, {.most_plain_bytes = 0}, a);
  EXPECT_EQ(packed.data()["stacks"][0]["q"], (json{0, 1}));
  EXPECT_EQ(packed.data()["compare"]["stacks"][0]["k"], (json{8, 9}));
  Progress progress;
  const auto findings = check_page(packed.file, Lexicon{}, progress);
  ASSERT_TRUE(findings) << findings.error().message();
  EXPECT_EQ(gravest(*findings), Severity::good) << findings->back().line;
  const auto own_of = [](const PageOfCopy& page) {
    fs::remove_all(page.model);
    const auto session = read_session(page.file);
    EXPECT_TRUE(session) << session.error().message();
    return page_answer(session->document);
  };
  EXPECT_EQ(largest_difference(*own_of(PageOfCopy("bert", asked)), *own_of(packed), {{Stack::self, Stack::self}}), 0);
  json twice = packed.data();  // a text stands for one list item, or a small page would be large in memory
  twice["stacks"][0]["q"][1] = 0;
  packed.write(twice);
  const auto refused = read_session(packed.file);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("stacks.0.q: expected 240 bytes in base64, found none"), std::string::npos)
      << refused.error().message();
}

TEST(PageSource, KnowsWithoutItsModelWhichPiecesGoOnAWord) {
  const PageOfCopy page("bert", {{"text", "the cats sat"}}, {}, {}, [](const fs::path& model) {
    const json vocabulary = {{"[PAD]", 0}, {"[UNK]", 1}, {"the", 2}, {"cat", 3}, {"##s", 4}, {"sat", 5}};
    const json tokenizer = {{"version", "1.0"},
                            {"pre_tokenizer", {{"type", "Whitespace"}}},
                            {"model", {{"type", "WordPiece"}, {"vocab", vocabulary}, {"unk_token", "[UNK]"}}}};
    ASSERT_TRUE(write_file(model / "tokenizer.json", tokenizer.dump()));
  });
  ASSERT_EQ(page.trace->query_tokens().size(), 4u);
  fs::remove_all(page.model);
  const auto session = read_session(page.file);
  ASSERT_TRUE(session) << session.error().message();
  const auto own = page_answer(session->document);
  ASSERT_TRUE(own);
  EXPECT_TRUE(own->query_tokens().has_words);
  std::vector<bool> continues;
  for (const Token& token : own->query_tokens().tokens) continues.push_back(token.continues);
  EXPECT_EQ(continues, (std::vector<bool>{false, false, true, false}));
}

TEST(PageSource, TakesAnotherMaskAsThePageDoes) {
  const PageOfCopy page("bert", {{"ids", {2, 9, 50, 33, 3}}, {"mask", {{"causal", true}, {"padding", true}}}});
  const PageOfCopy open("bert", {{"ids", {2, 9, 50, 33, 3}}});
  fs::remove_all(page.model);
  auto session = read_session(page.file);
  ASSERT_TRUE(session) << session.error().message();
  session->document.mask.causal = false;
  const auto own = page_answer(session->document);
  for (Index head = 0; head < own->num_heads(); ++head) {  // q and k of the first layer do not know of the mask
    const Matrix ours = attention_rows(*own, {0, head}, 0, 5), theirs = attention_rows(*open.trace, {0, head}, 0, 5);
    EXPECT_LE((ours - theirs).cwiseAbs().maxCoeff(), 2 * page.error() + kLogarithms);
  }
}

TEST(PageSource, OfSomeHeadsSaysWhichAreNotThere) {
  const PageOfCopy page("bert", {{"ids", {2, 9, 50, 33, 3}}}, {.only = {{0, 1}, {1, 0}}});
  fs::remove_all(page.model);
  const auto session = read_session(page.file);
  ASSERT_TRUE(session) << session.error().message();
  ASSERT_EQ(session->lost.size(), 2u);
  EXPECT_NE(session->lost[1].message().find("not in the page: empty maps"), std::string::npos)
      << session->lost[1].message();
  const auto own = page_answer(session->document);
  EXPECT_EQ(attention_rows(*own, {0, 0}, 0, 5).cwiseAbs().maxCoeff(), 0);
  for (const HeadRef& head : {HeadRef{0, 1}, {1, 0}})
    EXPECT_LE((attention_rows(*own, head, 0, 5) - attention_rows(*page.trace, head, 0, 5)).cwiseAbs().maxCoeff(),
              page.error() + kLogarithms);
}

TEST(PageSource, OfTheCrossAttentionAloneIsShownAsItsOnlyOne) {
  const PageOfCopy page("family-t5", {{"ids", {5, 9, 12, 7, 1}}, {"decoder_ids", {0, 4, 6, 8}}},
                        {.only = {{0, 0, Stack::cross}, {0, 1, Stack::cross}}});
  fs::remove_all(page.model);
  const auto session = read_session(page.file);
  ASSERT_TRUE(session) << session.error().message();
  const auto own = page_answer(session->document);
  ASSERT_TRUE(own);
  EXPECT_LE((attention_rows(*own, {0, 1}, 0, 4) - attention_rows(*page.trace, {0, 1, Stack::cross}, 0, 4))
                .cwiseAbs()
                .maxCoeff(),
            page.error() + kLogarithms);
}

TEST(PageSource, OfAComparisonHasBothAnswers) {
  const json a{{"ids", {2, 9, 50, 33, 3}}, {"mask", {{"causal", true}, {"padding", true}}}};
  const PageOfCopy page("bert", {{"ids", {2, 9, 50, 33, 3}}}, {}, a);
  const auto with_causal = [](const auto& session) {
    EXPECT_TRUE(session && session->kept);
    return session->kept->document;
  };
  fs::remove_all(page.model);
  const auto session = read_session(page.file);
  ASSERT_TRUE(session) << session.error().message();
  const auto own = page_answer(with_causal(session));
  EXPECT_EQ(own->mask().kind(), "causal");
  EXPECT_EQ(attention_rows(*own, {1, 0}, 0, 5)(0, 1), 0);
  EXPECT_EQ(page_answer(session->document)->mask().kind(), "none");
  const auto again = session_from_json("s.headlight.json", to_json(*session));
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(largest_difference(*own, *page_answer(with_causal(again)), {{Stack::self, Stack::self}}), 0);
}

TEST(PageSource, SaysThatItsModelHasOtherWeightsNow) {
  const PageOfCopy page("bert", {{"ids", {2, 9, 50, 33, 3}}});
  const fs::path weights = page.model / "model.safetensors";
  std::string bytes = *read_file(weights);
  // The last numbers of the file, whichever they are: each a tenth larger.
  for (std::size_t at = bytes.size() / 2 & ~std::size_t{3}; at + 4 <= bytes.size(); at += 4) {
    float number;
    std::memcpy(&number, bytes.data() + at, 4);
    number *= 1.1f;
    std::memcpy(bytes.data() + at, &number, 4);
  }
  auto output = Output::to_file(weights);
  ASSERT_TRUE(output);
  output->write(bytes);
  ASSERT_TRUE(output->commit());
  const auto session = read_session(page.file);
  ASSERT_TRUE(session) << session.error().message();
  ASSERT_EQ(session->lost.size(), 1u);
  EXPECT_NE(session->lost.front().message().find("has other weights than the one that the page was made of"),
            std::string::npos);
  EXPECT_EQ(session->document.model_path, page.model.string());
  Progress progress;
  const auto findings = check_page(page.file, Lexicon{}, progress);
  ASSERT_TRUE(findings) << findings.error().message();
  EXPECT_EQ(gravest(*findings), Severity::error);
}

TEST(PageSource, IsCheckedAsFarAsItCanBe) {
  const PageOfCopy page("bert", {{"ids", {2, 9, 50, 33, 3}}}, {}, {{"ids", {2, 9, 50, 33, 3}}, {"off", {"0.0"}}});
  Progress progress;
  const auto whole = check_page(page.file, Lexicon{}, progress);
  ASSERT_TRUE(whole) << whole.error().message();
  EXPECT_EQ(gravest(*whole), Severity::good);
  EXPECT_EQ(whole->size(), 4u);  // tokens and weights of both answers
  json wrong = page.data();
  wrong["compare"]["stacks"][0]["scale"] = 0.9;
  page.write(wrong);
  EXPECT_EQ(gravest(*check_page(page.file, Lexicon{}, progress)), Severity::error);
  fs::remove_all(page.model);
  const auto alone = check_page(page.file, Lexicon{}, progress);
  ASSERT_TRUE(alone) << alone.error().message();
  EXPECT_EQ(gravest(*alone), Severity::warning);
}

TEST(PageSource, OfHeadsOfTheLastLayerAloneIsChecked) {
  const PageOfCopy page("bert", {{"ids", {2, 9, 50, 33, 3}}}, {.only = {{1, 0}}});
  Progress progress;
  const auto findings = check_page(page.file, Lexicon{}, progress);
  ASSERT_TRUE(findings) << findings.error().message();
  EXPECT_EQ(gravest(*findings), Severity::good) << findings->back().line;
}

/// The one line of a page without its model with `value` at `pointer`.
std::string complaint_of_page(const PageOfCopy& page, const json& data, const char* pointer, const json& value) {
  json changed = data;
  changed[json::json_pointer(pointer)] = value;
  page.write(changed);
  const auto session = read_session(page.file);
  if (!session) return session.error().message();
  const auto answer = answer_to_keep(session->document, Lexicon{});
  EXPECT_FALSE(answer) << pointer << " " << value;
  return answer ? "" : answer.error().message();
}

TEST(PageSource, OfOneHeadOfVeryManyTakesNoMoreMemoryThanItSays) {
  const PageOfCopy page("bert", {{"ids", {2, 9, 50, 33, 3}}}, {.only = {{0, 0}}});
  fs::remove_all(page.model);
  json data = page.data();
  json& stack = data["stacks"][0];
  stack["layers"] = stack["heads"] = stack["kv_heads"] = 128;
  if (stack["scale"].is_array()) stack["scale"] = std::vector<double>(128, 1.0);
  page.write(data);
  const auto few = read_session(page.file);
  EXPECT_TRUE(few) << few.error().message();
  // 128 · 128 · 50² weights
  while (data["tokens"].size() < 50) data["tokens"].push_back(data["tokens"].back());
  const std::string line = complaint_of_page(page, data, "/stacks/0/layers", 128);
  EXPECT_NE(line.find("at most 2^25 numbers of all heads, where some are not in the page, found 40960000"),
            std::string::npos)
      << line;
  EXPECT_NE(complaint_of_page(page, data, "/stacks/0/d_k", 8191).find("at most 2^25 numbers"), std::string::npos);
}

TEST(PageSource, WithDamagedNumbersIsOneLine) {
  const PageOfCopy page("family-t5", {{"ids", {5, 9, 12, 7, 1}}, {"decoder_ids", {0, 4, 6, 8}}});
  fs::remove_all(page.model);
  const json data = page.data();
  std::string infinite = *decode_base64(data["stacks"][0]["q"].get<std::string>());
  infinite[0] = '\x00', infinite[1] = '\x7C';  // inf
  const std::vector<std::pair<const char*, std::vector<json>>> edits = {
      {"/stacks", {json(), json::array(), 3, json::array({1}), json::array({data["stacks"][0], data["stacks"][0]})}},
      {"/stacks/0/number", {7, -1, "0", 18446744073709551615u}},
      {"/stacks/0/layers", {0, 129, 1e9, json(), 18446744073709551615u}},
      {"/stacks/0/heads", {0, 7, 129, -4}},
      {"/stacks/0/kv_heads", {0, 7, 1000}},
      {"/stacks/0/d_k", {0, 7, 8192, 1 << 30}},
      {"/stacks/0/scale", {json(), "x", json::array()}},
      {"/stacks/0/queries", {json(), "stacks", "none"}},
      {"/stacks/0/keys", {"error", 1}},
      {"/stacks/0/q", {json(), "", "AAAA", "!", json::array(), json::array({"AAAA"}), encode_base64(infinite)}},
      {"/stacks/0/k", {json(), "AAAA", json::object()}},
      {"/stacks/0/only", {json::array(), json::array({"9.9"}), json::array({"0.1", "0.0"}), "0.0"}},
      {"/stacks/0/mask", {json(), json::array(), {{"causal", 1}}}},
      {"/stacks/0/mask/painted", {json::array({json::array({0, 18446744073709551615u, 1})}), json::array({3})}},
      {"/stacks/0/mask/given", {4, json::array(), json::parse(R"([[0, "x"]])"), json::parse("[[0, 0, 0]]")}},
      {"/stacks/0/relative", {json::array({1}), {{{"shape", {1, 4}}, {"data", "AAAAAAAAAAAAAAAAAAAAAA=="}}}}},
      {"/stacks/0/relative_of_layer", {json::array({5, 5}), json::array({-2, 0}), "x"}},
      {"/edits/layer_edits", {json::array({json::object()}), json::array({{{"stack", "self"}, {"layer", 999}}})}},
      {"/edits/off", {json::array({"x"})}},
      {"/edits/weights", {json::array({1}), json::array({{{"stack", "None"}}})}},
      {"/edits/dropout", {2, "x"}},
      {"/error", {json(), "much"}},
      {"/tokens", {json::array(), json::array({1}), 3}},
      {"/request/mask", {{{"causal", 5}}}}};
  for (const auto& [pointer, values] : edits)
    for (const json& value : values) {
      const std::string line = complaint_of_page(page, data, pointer, value);
      EXPECT_FALSE(line.empty()) << pointer << " " << value;
      EXPECT_EQ(line.find('\n'), std::string::npos) << line;
      EXPECT_NE(line.find(": expected "), std::string::npos) << line;
    }
}

}  // namespace
}  // namespace headlight
