// The window's state as a command: what is typed into a shell asks exactly the same.
#include "session/loop/command_line_of.h"
#include "app/shipped.h"
#include "derived/inside.h"
#include "question/question_fields.h"

#include "app/program.h"
#include "cli/options/request_options.h"
#include "derived/derived_maps.h"
#include "models/open_model.h"
#include "paper/figure_file.h"
#include "session/head_grid.h"
#include "session/update.h"
#include "view/view_names.h"

namespace headlight {
namespace {

using namespace program;

/// What the words ask, as the command line understands them.
Result<std::vector<Request>> asked_by(Strings words) {
  Parser command("headlight");
  const RequestOptions options(command);
  if (const auto parsed = command.parse(std::move(words)); !parsed) return parsed.error();
  const auto asked = options.ask();
  if (!asked) return asked.error();
  return asked->requests;
}

void expect_same_question(const Document& document, const std::string& what) {
  const auto words = request_words(document);
  ASSERT_TRUE(words) << what << ": " << words.error().message();
  const auto found = asked_by(*words);
  ASSERT_TRUE(found) << shell_line(*words) << ": " << found.error().message();
  const auto expected = requests_of(document, fixture::lexicon());
  ASSERT_TRUE(expected) << expected.error().message();
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
  document.source.text = std::move(text);
  return document;
}

TEST(AsCommand, FreshWeightsOfEveryShape) {
  expect_same_question(fresh(), "default");
  Document document = fresh();
  document.config = {.arch = Arch::decoder,
                     .d_model = 24,
                     .num_heads = 6,
                     .num_kv_heads = 2,
                     .head_dim = 6,
                     .num_layers = 3,
                     .ffn = 0,
                     .position = Position::rotary,
                     .rotary_columns = 4,
                     .softcap = 0.1f + 0.2f,
                     .sinks = true,
                     .norm = Norm::pre,
                     .norm_kind = NormKind::rms_norm,
                     .activation = Activation::silu,
                     .bias = {true, false, true, false, false},
                     .tied = false,
                     .seed = 42};
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
  document.source.split = document.target.split = Split::characters;
  expect_same_question(document, "characters");
  document = fresh("我爱|北\\京");
  document.source.hand_cuts = {{3, 7}};
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
  switch_off(document.edits, Stack::encoder, 1, BlockPart::norm, true);
  switch_off(document.edits, Stack::self, 0, BlockPart::residual, true);
  switch_off(document.edits, Stack::self, 0, BlockPart::ffn, true);
  switch_off(document.edits, Stack::cross, 1, BlockPart::scale, true);
  set_weight(document.edits, {0, 3, Stack::encoder}, {1, 2}, 0.75f);
  set_layer_edit(document.edits, {.stack = Stack::cross, .layer = 0, .scale = 2.0f, .mask = {}});
  expect_same_question(document, "edits of three attentions");
}

TEST(AsCommand, ModelsByTheirName) {
  const auto& models = fixture::shipped();
  Document document = default_document(models.get());
  expect_same_question(document, "the default");
  document.mask.causal = true;
  expect_same_question(document, "causal");
  for (const BundledModel& model : *models) {
    take_model(document, model);
    document.mask.causal = is_causal_by_default(config_of(document).arch);
    expect_same_question(document, model.source);
  }
  const auto gpt2 = open_model(fixture::golden("gpt2").string());
  ASSERT_TRUE(gpt2) << gpt2.error().message();
  document = gpt2->document;
  document.source.ids = {5, 9, 50};
  expect_same_question(document, "ids");
  document.source.id_cuts = {1};
  expect_same_question(document, "ids of two lines");
}

TEST(AsCommand, WhatNoOptionCanSayIsASession) {
  AppState state = fixture::small_state();
  update(state, PaintCell{{1, 2}, false});
  update(state, EndGesture{});
  const auto words = command_words(state);
  ASSERT_FALSE(words);
  EXPECT_EQ(words.error().message(),
            "copy as command: mask: expected what an option can say (a saved session can be named in its place), found "
            "painted cells");
  state.session_path = "/tmp/我的 session.headlight.json";
  state.saved_document = state.document;
  const auto saved = command_words(state);
  ASSERT_TRUE(saved) << saved.error().message();
  EXPECT_EQ(shell_line(*saved), "headlight export '/tmp/我的 session.headlight.json' -o attention.json");
  update(state, SetScale{2.0f});
  EXPECT_FALSE(command_words(state)) << "the file does not say that";
}

TEST(AsCommand, TheViewChoosesTheCommand) {
  AppState state = fixture::small_state("a b c");
  const auto line = [&](CommandGives gives = CommandGives::picture) {
    return shell_line(*command_words(state, gives));
  };
  const std::string request = "--text 'a b c' --random --d-model 8 --num-heads 2 --ffn 8";
  const std::string numbers = "headlight export " + request + " -o attention.json";
  EXPECT_EQ(line(), numbers) << "there is nothing to be seen yet";
  update(state, fixture::answer(state));
  state.settings.language = default_settings().language;
  EXPECT_EQ(line(), "headlight figure " + request + " --view sentence --head 0.0 -o figure.pdf");
  update(state, SetTextLook{{.form = StageForm::map}});
  EXPECT_EQ(line(), "headlight figure " + request + " --view heads --head 0.0 -o figure.pdf");
  EXPECT_EQ(line(CommandGives::numbers), numbers);
  update(state, ChooseHead{{1, 1}});
  update(state, Pin{CellRef{2, 0}});
  const std::string head = " --head 1.1";
  EXPECT_EQ(line(CommandGives::explanation), "headlight explain " + request + head + " --query 2 --key 0");
  update(state, ShowView{View::inside});
  EXPECT_EQ(line(), "headlight figure " + request + " --view inside" + head + " --query 2 --key 0 -o figure.pdf");
  update(state, ShowView{View::flow});
  update(state, SetFlow{{.heads = {{0, 1}}, .threshold = 0.2f}});
  EXPECT_EQ(line(), "headlight figure " + request + " --view flow --heads 1.0,1.1 --threshold 0.2 -o figure.pdf");
  update(state, ShowView{View::train});
  EXPECT_EQ(line(), numbers);
}

/// The window's figure of what it shows, and that of the command line which it copies.
void expect_same_picture(const AppState& state, const std::string& what) {
  const Folder folder;
  const std::string own = (folder.path() / "own.svg").string(), copied = (folder.path() / "copied.svg").string();
  FigureRequest order = figure_order(state);
  order.kind = seen_figure(state);
  Progress progress;
  const Status drawn = figure_drawer()(order, own, progress);
  ASSERT_TRUE(drawn) << what << ": " << drawn.error().message();
  auto words = command_words(state);
  ASSERT_TRUE(words) << what << ": " << words.error().message();
  ASSERT_EQ(words->front(), "headlight");
  words->erase(words->begin());
  ASSERT_EQ(words->at(words->size() - 2), "-o");
  words->back() = copied;
  const Ran ran = run(*words);
  ASSERT_EQ(ran.status, 0) << what << ": " << shell_line(*words) << "\n" << ran.err;
  EXPECT_TRUE(*read_file(own) == *read_file(copied)) << what << ": " << shell_line(*words);
}

/// Everything that a look can change of a picture, view by view.
void expect_same_pictures(Loop& loop, AppState& state) {
  const auto expect = [&](const std::string& what) {
    loop.settle(state);
    expect_same_picture(state, what);
  };
  expect("maps");
  update(state, ChooseHead{{1, 1, state.view.chosen.stack}});
  update(state, Pin{CellRef{2, 1}});
  update(state, SetColourScale{Scale::log});
  update(state, SetOwnRange{true});
  state.settings.theme = Theme::dark;
  state.settings.colours = ColourMap::viridis;
  state.settings.language = Language::zh;
  state.browser.width = kSlideMm;
  expect("maps with a look");
  update(state, ShowView{View::inside});
  expect("steps");
  update(state, ShowTab{InsideTab::diagram});
  expect("diagram");
  const Look before = state.view.look;
  for (const Quantity quantity : {Quantity::query_weight, Quantity::hidden, Quantity::embedding}) {
    update(state, LookAt{{matrix_id(quantity, state.view.chosen), MatrixCell{1, 2}}});
    expect("matrix " + matrix_name(quantity));
    ASSERT_EQ(seen_figure(state), FigureKind::matrix);
  }
  update(state, LookAt{before});
  update(state, ShowView{View::flow});
  expect("flow of one head");
  update(state, SetFlow{{.heads = {{0, 1}}, .threshold = 0.1f}});
  expect("flow");
}

TEST(AsCommand, TheLineDrawsWhatTheWindowDraws) {
  Loop loop({}, {});
  AppState state = fixture::small_state("小猫 喝了 牛奶 because it was hungry");
  expect_same_pictures(loop, state);
  Document both = fixture::small_document("我请李雷帮我订票");
  both.config.arch = Arch::encoder_decoder;
  both.mask.causal = true;
  both.target.text = "I asked Li Lei";
  AppState cross = initial_state(fixture::lexicon(), both, Settings{});
  cross.view.chosen.stack = Stack::cross;
  expect_same_pictures(loop, cross);
}

TEST(AsCommand, TheLineHasMapsOrderAndA) {
  Loop loop({}, {});
  AppState state = fixture::small_state("a b c a");
  for (const MapKind kind : {MapKind::norms, MapKind::rollout, MapKind::mean, MapKind::max, MapKind::strongest}) {
    update(state, ShowMaps{kind});
    loop.settle(state);
    expect_same_picture(state, std::string(name(kind)));
  }
  update(state, ShowMaps{});
  update(state, OrderHeads{{.by = HeadOrder::By::measure, .ascending = true}});
  loop.settle(state);
  ASSERT_FALSE(figure_order(state).heads.empty());
  expect_same_picture(state, "ordered heads");
  update(state, FindHeads{{true, {"a", "c"}}});
  for (const char* by : {"layer", "previous", "effect", "found"}) {
    const HeadOrder order = *parse_head_order(by);
    update(state, OrderHeads{order});
    loop.settle(state);
    EXPECT_EQ(figure_order(state).heads, shown_order(state)) << name(order);
    EXPECT_EQ(shown_order(state).empty(), order.by == HeadOrder::By::layer) << by;
    expect_same_picture(state, std::string("ordered by ") + by);
  }
  update(state, OrderHeads{});
  update(state, KeepAnswer{});
  update(state, SetText{"b c it's"});
  update(state, ShowView{View::compare});
  loop.settle(state);
  expect_same_picture(state, "two answers");
  update(state, DropKept{});
  update(state, SwitchHead{{0, 1}});
  loop.settle(state);
  expect_same_picture(state, "without edits and with");
}

TEST(AsCommand, OfABatchTheFigureHasTheSentence) {
  Loop loop({}, {});
  AppState state = fixture::small_state("a b c\nd e f");
  update(state, ChooseSentence{1});
  loop.settle(state);
  expect_same_picture(state, "the second");
  EXPECT_NE(shell_line(*command_words(state)).find("--text 'd e f'"), std::string::npos);
  state.document.config.arch = Arch::decoder;
  update(state, SetText{"a b c d"});
  loop.settle(state);
  update(state, ChoosePrefix{2});
  loop.settle(state);
  const auto words = command_words(state);
  ASSERT_FALSE(words) << "no option cuts a sentence";
  EXPECT_NE(words.error().message().find("prefix"), std::string::npos);
}

TEST(AsCommand, AShellReadsTheWordsBack) {
  const Strings words{"headlight",          "",      "plain-1.5",  "it's", "a b",
                      "$HOME `x` \\ \"q\"", "我|爱", "two\nlines", "*",    "~"};
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
