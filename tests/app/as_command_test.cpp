// The window's state as a command: what is typed into a shell asks exactly the same.
#include "session/as_command.h"

#include <CLI/CLI.hpp>

#include "app/program.h"
#include "cli/request_options.h"
#include "session/update.h"

namespace headlight {
namespace {

using namespace program;

/// What the words ask, as the command line understands them.
Result<std::vector<Request>> asked_by(Words words) {
  CLI::App command;
  const RequestOptions options(command);
  std::reverse(words.begin(), words.end());
  try {
    command.parse(words);
  } catch (const CLI::ParseError& error) {
    return Error{error.what()};
  }
  const auto asked = options.ask();
  if (!asked) return asked.error();
  return asked->requests;
}

void expect_same_question(const Document& document, const std::string& what) {
  const auto words = request_words(document);
  ASSERT_TRUE(words) << what << ": " << words.error().message;
  const auto found = asked_by(*words);
  ASSERT_TRUE(found) << shell_line(*words) << ": " << found.error().message;
  const auto expected = requests_of(document, fixture::lexicon());
  ASSERT_TRUE(expected) << expected.error().message;
  ASSERT_EQ(found->size(), expected->size()) << shell_line(*words);
  for (std::size_t i = 0; i < found->size(); ++i) {
    Request request = (*found)[i];
    // The same model or vocabulary read a second time is another value in memory.
    if (document.model) request.model = (*expected)[i].model;
    else EXPECT_EQ(request.model, nullptr);
    request.vocabulary = (*expected)[i].vocabulary;
    EXPECT_TRUE(request == (*expected)[i]) << shell_line(*words);
  }
}

Document fresh(std::string text = "我请李雷帮我订了去北京的机票") {
  Document document;
  document.text = std::move(text);
  return document;
}

TEST(AsCommand, FreshWeightsOfEveryShape) {
  expect_same_question(fresh(), "default");
  Document document = fresh();
  document.config = {.arch = Arch::decoder, .d_model = 24, .num_heads = 6, .num_kv_heads = 2, .head_dim = 6,
                     .num_layers = 3, .ffn = 0, .position = Position::rotary, .norm = Norm::pre,
                     .norm_kind = NormKind::rms_norm, .activation = Activation::silu, .bias = {true, false, true, false, false},
                     .tied = false, .seed = 42};
  document.mask.causal = true;
  expect_same_question(document, "decoder");
  document.mask.causal = false;
  document.config.bias = {false, false, false, false, false};
  document.config.ffn = 16;
  document.config.gated = true;
  expect_same_question(document, "a decoder that sees the future");
  document = fresh();
  document.config.arch = Arch::encoder_decoder;
  document.config.encoder_layers = 1;
  document.mask.causal = true;
  document.target.text = "I'd \"ask\" $HOME `Li Lei`";
  document.encoder_mask.causal = true;
  document.cross_mask.padding = false;
  document.pad = 1;
  expect_same_question(document, "encoder-decoder");
}

TEST(AsCommand, TextsAsTheyAreCut) {
  expect_same_question(fresh("我爱北京\nI love Beijing"), "a batch");
  expect_same_question(fresh("it's 100% \\ | 'quoted' "), "signs");
  Document document = fresh("我爱北京");
  document.split = document.target.split = Split::characters;
  expect_same_question(document, "characters");
  document = fresh("我爱|北\\京");
  document.hand_cuts = {{3, 7}};
  expect_same_question(document, "by hand");
  document.pad = 2;
  document.mask.padding = false;
  expect_same_question(document, "padding seen");
}

TEST(AsCommand, EditsAreAmongTheOptions) {
  Document document = fresh();
  document.mask.causal = true;
  document.edits.scale = 0.1f + 0.2f;
  switch_off(document.edits, {0, 1}, true);
  switch_off(document.edits, {1, 3}, true);
  document.edits.off_as = OffAs::mean;
  set_weight(document.edits, {1, 0}, {9, 5}, 1.0f / 3);
  set_weight(document.edits, {1, 0}, {2, 0}, 0.0f);
  MaskSpec open;
  open.padding = false;
  set_layer_edit(document.edits, {.stack = Stack::self, .layer = 1, .scale = 0.5f, .mask = open});
  document.edits.dropout = 0.25f;
  document.edits.dropout_seed = 7;
  expect_same_question(document, "edits");
  document.config.arch = Arch::encoder_decoder;
  switch_off(document.edits, {0, 2, Stack::cross}, true);
  set_weight(document.edits, {0, 3, Stack::encoder}, {1, 2}, 0.75f);
  set_layer_edit(document.edits, {.stack = Stack::cross, .layer = 0, .scale = 2.0f, .mask = {}});
  expect_same_question(document, "edits of three attentions");
}

TEST(AsCommand, ModelsByTheirName) {
  const auto models = read_shipped_models();
  ASSERT_TRUE(models) << models.error().message;
  Document document = default_document(models->get());
  expect_same_question(document, "the default");
  document.mask.causal = true;
  expect_same_question(document, "causal");
  for (const ShippedModel& model : **models) {
    take_model(document, model);
    document.mask.causal = is_causal_by_default(config_of(document).arch);
    expect_same_question(document, model.source);
  }
  const auto gpt2 = open_model(fixture::golden("gpt2").string());
  ASSERT_TRUE(gpt2) << gpt2.error().message;
  document = gpt2->session.document;
  document.ids = {5, 9, 50};
  expect_same_question(document, "ids");
}

TEST(AsCommand, WhatNoOptionCanSayIsASession) {
  AppState state = fixture::small_state();
  update(state, PaintCell{{1, 2}, false});
  update(state, EndGesture{});
  const auto words = command_words(state);
  ASSERT_FALSE(words);
  EXPECT_EQ(words.error().message,
            "copy as command: mask: expected what an option can say (a saved session can be named in its place), found "
            "painted cells");
  state.session_path = "/tmp/我的 session.headlight.json";
  state.saved_document = state.document;
  const auto saved = command_words(state);
  ASSERT_TRUE(saved) << saved.error().message;
  EXPECT_EQ(shell_line(*saved), "headlight export '/tmp/我的 session.headlight.json' -o attention.json");
  update(state, SetScale{2.0f});
  EXPECT_FALSE(command_words(state)) << "the file does not say that";
}

TEST(AsCommand, TheViewChoosesTheCommand) {
  AppState state = fixture::small_state("a b c");
  update(state, fixture::answer(state));
  const auto line = [&] { return shell_line(*command_words(state)); };
  const std::string request = "--text 'a b c' --random --d-model 8 --num-heads 2 --ffn 8";
  EXPECT_EQ(line(), "headlight export " + request + " -o attention.json");
  update(state, ChooseHead{{1, 1}});
  update(state, Pin{CellRef{2, 0}});
  update(state, ShowView{View::inside});
  EXPECT_EQ(line(), "headlight explain " + request + " --layer 1 --head 1 --query 2 --key 0");
  update(state, ShowView{View::flow});
  update(state, SetFlow{{.heads = {{0, 1}}, .threshold = 0.2f}});
  EXPECT_EQ(line(), "headlight figure " + request + " --view flow --heads 1.0,1.1 --threshold 0.2 -o figure.pdf");
}

TEST(AsCommand, AShellReadsTheWordsBack) {
  const Words words{"headlight", "", "plain-1.5", "it's", "a b", "$HOME `x` \\ \"q\"", "我|爱", "two\nlines", "*", "~"};
  const Folder folder;
  const std::string output = (folder.path() / "words").string();
  const std::string script = "for word in " + shell_line(words) + "; do printf '%s\\0' \"$word\"; done > " + output;
  ASSERT_EQ(std::system(("sh -c " + shell_line({script})).c_str()), 0);
  std::string expected;
  for (const std::string& word : words) expected += word + '\0';
  EXPECT_EQ(*read_file(output), expected);
}

}  // namespace
}  // namespace headlight
