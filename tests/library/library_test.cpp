// The C interface: what it answers is what the rooms below it answer, and nothing from outside harms it.
#include "library/headlight.h"

#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "explain/patch/patch_pass.h"
#include "math/attention.h"
#include "math/forward.h"
#include "math/generate.h"
#include "math/output.h"
#include "models/open_model.h"
#include "question/json/document_json.h"
#include "question/tokenizers.h"

namespace headlight {
namespace {

using ModelHandle = std::unique_ptr<headlight_model, decltype(&headlight_close)>;
using AnswerHandle = std::unique_ptr<headlight_answer, decltype(&headlight_release)>;
using Options = std::vector<const char*>;

headlight_error last;

ModelHandle open(const char* source = "shipped:decoder") {
  return {headlight_open(source, nullptr, &last), headlight_close};
}

AnswerHandle ask(const ModelHandle& model, Options options, const headlight_watch* watch = nullptr) {
  options.push_back(nullptr);
  return {headlight_ask(model.get(), options.data(), watch, &last), headlight_release};
}

AnswerHandle ask_json(const ModelHandle& model, const std::string& request) {
  return {headlight_ask_json(model.get(), request.c_str(), nullptr, &last), headlight_release};
}

std::vector<float> numbers(const AnswerHandle& answer, const std::string& name) {
  headlight_view view{};
  EXPECT_EQ(headlight_array(answer.get(), name.c_str(), &view, &last), 0) << last.line;
  std::size_t size = view.axes > 0 ? 1 : 0;
  for (int axis = 0; axis < view.axes; ++axis) size *= static_cast<std::size_t>(view.shape[axis]);
  return {view.numbers, view.numbers + size};
}

/// The answer as the rooms below give it.
std::shared_ptr<const Trace> trace_of(const AnswerHandle& answer) {
  static const Document opened = open_model("shipped:decoder")->document;
  std::vector<Error> warnings;
  const auto document = document_from_json("request", nlohmann::json::parse(headlight_request(answer.get())),
                                           unwatched(), warnings, nullptr, &opened);
  return *forward(requests_of(*document, *kept_lexicon())->front());
}

TEST(Library, AnswersAreThoseOfTheRoomsBelow) {
  EXPECT_STREQ(headlight_version(), HEADLIGHT_VERSION);
  const ModelHandle model = open();
  ASSERT_TRUE(model) << last.line;
  const AnswerHandle answer = ask(model, {"--text", "我请李雷", "--mask", "none", "--off", "1.0,0.2"});
  ASSERT_TRUE(answer) << last.line;
  const auto trace = trace_of(answer);
  EXPECT_EQ(trace->request.edits.off.size(), 2U);
  const std::vector<float> weights = numbers(answer, "attentions"), logits = numbers(answer, "logits");
  const Index rows = trace->queries(), cells = rows * trace->keys(), heads = trace->num_heads();
  ASSERT_EQ(static_cast<Index>(weights.size()), trace->num_layers() * heads * cells);
  std::vector<float> of_head(static_cast<std::size_t>(cells));
  for (Index layer = 0; layer < trace->num_layers(); ++layer)
    for (Index head = 0; head < heads; ++head) {
      const Matrix expected = attention_rows(*trace, {layer, head}, 0, rows);
      const std::string text = std::to_string(layer) + "." + std::to_string(head);
      EXPECT_EQ(headlight_rows(answer.get(), 0, text.c_str(), 0, rows, of_head.data(), &last), 0) << last.line;
      EXPECT_TRUE(std::equal(of_head.begin(), of_head.end(), expected.data()));
      EXPECT_TRUE(std::equal(of_head.begin(), of_head.end(), weights.data() + (layer * heads + head) * cells));
    }
  EXPECT_EQ(Matrix(logit_rows(*trace, 0, rows)), (Eigen::Map<const Matrix>(logits.data(), rows, trace->logits.size())));
  EXPECT_FALSE(numbers(answer, "ffn.hidden").empty());
  const auto tokens = nlohmann::json::parse(headlight_tokens(answer.get(), 0, "tokens"));
  EXPECT_EQ(tokens.size(), trace->request.tokens.size());
  EXPECT_EQ(headlight_tokens(answer.get(), 1, "tokens"), nullptr);
  EXPECT_EQ(headlight_word(answer.get()), nullptr);
}

TEST(Library, WhatTheAnswerHoldsIsLentWithoutACopy) {
  const ModelHandle model = open();
  const AnswerHandle answer = ask(model, {"--text", "我请李雷"});
  headlight_view once{}, again{};
  for (const char* name : {"last_hidden_state", "attentions"}) {
    ASSERT_EQ(headlight_array(answer.get(), name, &once, &last), 0);
    ASSERT_EQ(headlight_array(answer.get(), name, &again, &last), 0);
    EXPECT_EQ(once.numbers, again.numbers);
  }
}

TEST(Library, TheRequestAsksTheSame) {
  for (const char* source : {"shipped:decoder", static_cast<const char*>(nullptr)}) {
    const ModelHandle model = open(source);
    for (const char* text : {"我请李雷", "the cat sat on the mat"}) {
      const AnswerHandle asked = ask(model, {"--text", text, "--mask", "causal", "--scale", "2"});
      ASSERT_TRUE(asked) << last.line;
      const AnswerHandle again = ask_json(model, headlight_request(asked.get()));
      ASSERT_TRUE(again) << last.line;
      EXPECT_EQ(numbers(asked, "attentions"), numbers(again, "attentions"));
      EXPECT_STREQ(headlight_request(asked.get()), headlight_request(again.get()));
    }
  }
  const ModelHandle model = open();
  const AnswerHandle part = ask_json(model, R"({"text": "我请李雷", "off": ["1.0"]})");
  ASSERT_TRUE(part) << last.line;
  const nlohmann::json request = nlohmann::json::parse(headlight_request(part.get()));
  EXPECT_EQ(request["text"], "我请李雷");
  EXPECT_EQ(request["source"], "shipped:decoder");
}

TEST(Library, SeveralSentencesAndAHyphen) {
  const ModelHandle model = open();
  const AnswerHandle answer = ask(model, {"--text", "我请李雷\n北京"});
  ASSERT_TRUE(answer) << last.line;
  EXPECT_EQ(headlight_num_sentences(answer.get()), 2U);
  EXPECT_STREQ(headlight_array_name(answer.get(), 0), "0.attentions");
  EXPECT_FALSE(numbers(answer, "1.ffn.hidden").empty());
  EXPECT_EQ(headlight_array_name(answer.get(), headlight_num_arrays(answer.get())), nullptr);
  EXPECT_TRUE(ask(model, {"--text", "-"})) << "standard input was read";
}

TEST(Library, NoInputHarmsIt) {
  EXPECT_FALSE(open("nothing-here"));
  EXPECT_STREQ(last.code, "file_absent");
  EXPECT_NE(std::string(last.line).find("nothing-here"), std::string::npos);
  EXPECT_FALSE(open("two\nlines\xff"));
  EXPECT_TRUE(std::string(last.line).starts_with("two?lines?: ")) << last.line;
  const ModelHandle model = open();
  const std::pair<Options, const char*> cases[] = {
      {{"--nothing", "1"}, "--nothing"},
      {{"--seed", "1"}, "--seed"},
      {{"--text"}, "--text"},
      {{"--text", "a", "--ids", "1,2"}, "--text"},
      {{"--text", "\xff"}, "UTF-8"},
      {{"--text", ""}, "tokens"},
      {{"--off", "9.9"}, "--off"},
      {{"--scale", "much"}, "much"},
      {{"--weight", "0.0.99.0=1"}, "--weight"},
  };
  for (const auto& [options, part] : cases) {
    EXPECT_FALSE(ask(model, options)) << options[0];
    EXPECT_NE(std::string(last.line).find(part), std::string::npos) << last.line;
  }
  for (const char* request :
       {"", "[", "[]", R"({"text": 5})", R"({"source": "shipped:encoder"})", R"({"random": true})"})
    EXPECT_FALSE(ask_json(model, request)) << request;
  EXPECT_FALSE(headlight_ask_json(model.get(), nullptr, nullptr, &last));
  EXPECT_FALSE(headlight_ask(nullptr, nullptr, nullptr, nullptr));
  headlight_close(nullptr);
  headlight_release(nullptr);
  const AnswerHandle answer = ask(model, {"--text", "我请李雷"});
  headlight_view view{};
  for (const char* name : {"", "nothing", "attention", "3.attentions", "cross_attentions"})
    EXPECT_EQ(headlight_array(answer.get(), name, &view, &last), 1) << name;
  float room[64];
  for (const char* head : {"", "9.0", "0.99", "cross:0.0", "x"})
    EXPECT_EQ(headlight_rows(answer.get(), 0, head, 0, 1, room, &last), 1) << head;
  EXPECT_EQ(headlight_rows(answer.get(), 0, "0.0", INT64_MAX, 1, room, &last), 1);
  EXPECT_EQ(headlight_rows(answer.get(), 0, "0.0", 1, INT64_MAX, room, &last), 1);
  EXPECT_EQ(headlight_rows(answer.get(), 7, "0.0", 0, 1, room, &last), 1);
  EXPECT_EQ(headlight_write(answer.get(), "/nothing/here.npz", nullptr, &last), 1);
  EXPECT_EQ(headlight_write(answer.get(), "here.doc", nullptr, &last), 1);
}

TEST(Library, AnAnswerOutlivesItsModel) {
  ModelHandle model = open();
  const AnswerHandle answer = ask(model, {"--text", "我请李雷"});
  model.reset();
  EXPECT_FALSE(numbers(answer, "scores").empty());
  const AnswerHandle next{headlight_step(answer.get(), 0, 0, nullptr, &last), headlight_release};
  EXPECT_TRUE(next) << last.line;
}

TEST(Library, ThreadsShareAModelAndAnAnswer) {
  const ModelHandle model = open(nullptr);
  const AnswerHandle shared = ask(model, {"--text", "the cat sat"});
  const std::vector<float> expected = numbers(shared, "attentions");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      headlight_set_threads(model.get(), 1 + i % 2);
      headlight_error error;
      for (int time = 0; time < 3; ++time) {
        const char* options[] = {"--text", time == 1 ? "我请李雷" : "the cat sat", nullptr};
        const AnswerHandle own{headlight_ask(model.get(), options, nullptr, &error), headlight_release};
        headlight_view view{};
        ASSERT_EQ(headlight_array(own.get(), "attentions", &view, &error), 0) << error.line;
        if (time != 1) { EXPECT_TRUE(std::equal(expected.begin(), expected.end(), view.numbers)); }
        EXPECT_EQ(headlight_array(shared.get(), "scores", &view, &error), 0);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(Library, AWatchEndsALongCall) {
  const ModelHandle model = open();
  const headlight_watch never{[](void*) { return 0; }, nullptr};
  std::string ids = "5";
  for (int i = 0; i < 6000; ++i) ids += ",5";
  EXPECT_FALSE(ask(model, {"--ids", ids.c_str()}, &never));
  EXPECT_STREQ(last.code, "cancelled") << last.line;
}

TEST(Library, AStepIsTheNextWord) {
  const ModelHandle model = open();
  AnswerHandle answer = ask(model, {"--text", "我请李雷"});
  for (int step = 0; step < 3; ++step) {
    const auto trace = trace_of(answer);
    const auto word = next_word(*trace, {});
    const auto expected = forward(extended(trace->request, *word));
    answer = {headlight_step(answer.get(), 0, 0, nullptr, &last), headlight_release};
    ASSERT_TRUE(answer) << last.line;
    EXPECT_EQ(nlohmann::json::parse(headlight_word(answer.get()))["id"], word->id);
    EXPECT_EQ(static_cast<Index>(numbers(answer, "logits").size()),
              (*expected)->queries() * (*expected)->logits.size());
    EXPECT_TRUE(same(trace_of(answer)->last_hidden_state(), (*expected)->last_hidden_state()));
  }
  EXPECT_FALSE(headlight_step(answer.get(), -1, 0, nullptr, &last));
  const AnswerHandle encoder = ask(open("shipped:encoder"), {"--text", "我请李雷"});
  EXPECT_FALSE(headlight_step(encoder.get(), 0, 0, nullptr, &last));
}

TEST(Library, PatchesAreThoseOfForward) {
  const ModelHandle model = open();
  const AnswerHandle clean = ask(model, {"--text", "我请李雷"}), corrupt = ask(model, {"--text", "我爱北京"});
  const auto from = trace_of(clean), into = trace_of(corrupt);
  ASSERT_EQ(from->queries(), into->queries());
  const auto metric = [](void*, const float* logits, std::int64_t rows, std::int64_t words) {
    return static_cast<double>(logits[(rows - 1) * words + 7]);
  };
  for (const PatchAt at : {PatchAt::heads, PatchAt::v, PatchAt::ffn}) {
    std::vector<double> found(64, -1);
    ASSERT_EQ(headlight_patch(clean.get(), corrupt.get(), std::string(name(at)).c_str(), metric, nullptr, found.data(),
                              found.size(), nullptr, &last),
              0)
        << last.line;
    for (const HeadRef head : {HeadRef{0, 0}, HeadRef{1, at == PatchAt::ffn ? 0 : 1}}) {
      const Patches patches{patch_of_rows(at, head, part_of(*from, at, head))};
      const auto patched = forward(into->request, unwatched(), nullptr, 0, &patches);
      const Matrix logits = logit_rows(**patched, into->queries() - 1, 1);
      const Index heads = at == PatchAt::ffn ? 1
                          : at == PatchAt::v ? into->attention(Stack::self, 0).num_kv_heads
                                             : into->num_heads();
      EXPECT_EQ(found[static_cast<std::size_t>(head.layer * heads + head.head)], static_cast<double>(logits(0, 7)));
    }
  }
  double little = 0;
  EXPECT_EQ(headlight_patch(clean.get(), corrupt.get(), "heads", metric, nullptr, &little, 1, nullptr, &last), 1);
  EXPECT_EQ(headlight_patch(clean.get(), corrupt.get(), "nowhere", metric, nullptr, &little, 1, nullptr, &last), 1);
  const AnswerHandle other = ask(open("shipped:encoder"), {"--text", "我请李雷"});
  EXPECT_EQ(headlight_patch(clean.get(), other.get(), "heads", metric, nullptr, &little, 1, nullptr, &last), 1);
}

TEST(Library, AWatchEndsPatchesAfterTheMetricAtWhichItDoesNotGoOn) {
  const ModelHandle model = open();
  const AnswerHandle clean = ask(model, {"--text", "我请李雷"}), corrupt = ask(model, {"--text", "我爱北京"});
  int asked = 0;
  const auto metric = [](void* count, const float*, std::int64_t, std::int64_t) -> double {
    return ++*static_cast<int*>(count);
  };
  const auto goes_on = [](void* count) -> int { return *static_cast<int*>(count) < 3; };
  const headlight_watch watch{goes_on, &asked};
  std::vector<double> found(16, -1);
  EXPECT_EQ(
      headlight_patch(clean.get(), corrupt.get(), "heads", metric, &asked, found.data(), found.size(), &watch, &last),
      1);
  EXPECT_STREQ(last.code, "cancelled") << last.line;
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(found[2], 3);
}

#ifndef NDEBUG
TEST(LibraryDeathTest, AHandleThatIsFreedTwiceEndsADebugBuild) {
  const ModelHandle model = open();
  headlight_answer* answer = ask(model, {"--text", "我"}).release();
  headlight_release(answer);
  EXPECT_DEATH(headlight_release(answer), "freed");  // AddressSanitizer has the same word
}
#endif

}  // namespace
}  // namespace headlight
