// Norms and rollout instead of the weights: when they are made, what is shown of them, and in figures.
#include "derived/derived_maps.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "app/figures.h"
#include "figure/labels.h"
#include "figure/map_kinds.h"
#include "session/figure_request.h"
#include "session/file/session_file.h"
#include "session/shown.h"

namespace headlight {
namespace {

using figures::answer_of;
using figures::document_of;
using fixture::settle;
using fixture::small_state;

std::shared_ptr<const DerivedMaps> maps_of(const std::shared_ptr<const Trace>& trace, MapKind kind, int threads = 1) {
  Progress progress;
  auto maps = other_maps(trace, kind, progress, threads);
  EXPECT_TRUE(maps);
  EXPECT_NEAR(progress.done, 1.0f, 1e-4f);
  return maps;
}

TEST(DerivedMaps, HaveAMapAHeadOrALayer) {
  const auto trace = answer_of(document_of(6, Arch::encoder_decoder));
  const auto norms = maps_of(trace, MapKind::norms), rollout = maps_of(trace, MapKind::rollout);
  for (const Stack stack : kStacks) {
    const HeadRef head{1, 1, stack};
    ASSERT_TRUE(norms->map(head));
    EXPECT_EQ(norms->map(head)->rows(), trace->queries(stack));
    EXPECT_EQ(norms->map(head)->cols(), trace->keys(stack));
    EXPECT_GE(norms->largest, norms->map(head)->maxCoeff());
    Progress progress;
    EXPECT_TRUE(same(*norms->map(head), (*norm_maps(*trace, stack, progress))[3]));
  }
  EXPECT_EQ(rollout->map({1, 0, Stack::self}), rollout->map({1, 1, Stack::self})) << "of no head";
  EXPECT_NE(rollout->map({0, 0, Stack::self}), rollout->map({1, 0, Stack::self}));
  EXPECT_EQ(rollout->map({0, 0, Stack::cross}), nullptr);
  EXPECT_EQ(why_not(*trace, Stack::cross, MapKind::rollout), MapUnavailable::two_sequences);
  EXPECT_FALSE(why_not(*trace, Stack::cross, MapKind::weights));
  const auto again = maps_of(trace, MapKind::norms, 3);
  for (std::size_t stack = 0; stack < 3; ++stack)
    for (std::size_t i = 0; i < norms->stacks[stack].size(); ++i)
      EXPECT_TRUE(same(norms->stacks[stack][i], again->stacks[stack][i]));
}

TEST(DerivedMaps, KindsHaveNames) {
  for (const MapKind kind : {MapKind::weights, MapKind::norms, MapKind::rollout, MapKind::mean, MapKind::strongest})
    EXPECT_EQ(value_named<MapKind>(kMapKindNames, name(kind)), kind);
  EXPECT_FALSE(value_named<MapKind>(kMapKindNames, "norm"));
}

TEST(DerivedMaps, SumUpTheHeadsOfEachLayer) {
  Document document = document_of(6, Arch::encoder_decoder);
  document.edits.off = {{0, 0}, {0, 1, Stack::cross}};
  const auto trace = answer_of(document);
  for (const MapKind kind : {MapKind::mean, MapKind::max, MapKind::sum, MapKind::strongest}) {
    const auto maps = maps_of(trace, kind);
    for (const Stack stack : kStacks)
      for (Index layer = 0; layer < trace->num_layers(stack); ++layer) {
        Matrix expected = Matrix::Constant(trace->queries(stack), trace->keys(stack), -1.0f);
        float count = 0;
        for (Index head = 0; head < trace->num_heads(stack); ++head) {
          if (is_off(trace->request.edits, {layer, head, stack})) continue;
          const Matrix& weights = trace->head({layer, head, stack}).thumbnail;
          const bool adds = count > 0 && (kind == MapKind::mean || kind == MapKind::sum);
          expected = (weights.array() < 0)
                         .select(expected, adds ? Matrix(expected + weights) : Matrix(expected.cwiseMax(weights)));
          ++count;
        }
        if (kind == MapKind::mean) expected = (expected.array() < 0).select(expected, expected / count);
        EXPECT_LE((*maps->map({layer, 1, stack}) - expected).cwiseAbs().maxCoeff(), 1e-6f) << name(kind);
        EXPECT_EQ(maps->map({layer, 0, stack}), maps->map({layer, 1, stack})) << "of no head";
      }
    EXPECT_EQ(maps->shades_of({0, 0}) != nullptr, kind == MapKind::strongest);
    EXPECT_FALSE(maps->has_heads(Stack::self));
    EXPECT_TRUE(maps->has_layers(Stack::self));
  }
}

TEST(DerivedMaps, TheStrongestHeadHasItsColour) {
  const auto trace = answer_of(document_of(6));
  const auto maps = maps_of(trace, MapKind::strongest);
  const ColourScale scale = head_scale(Theme::light);
  for (Index i = 0; i < 6; ++i)
    for (Index j = 0; j < 6; ++j) {
      const auto head = maps->strongest({1, 0}, {i, j});
      ASSERT_TRUE(head);
      EXPECT_EQ(trace->head(*head).thumbnail(i, j), (*maps->map({1, 0}))(i, j));
      const auto at = static_cast<std::size_t>(std::lround((*maps->shades_of({1, 0}))(i, j) * 255));
      EXPECT_EQ((at - 1) / kHeadShades, static_cast<std::size_t>(head->head)) << "each of few heads has its own";
      EXPECT_EQ(colour_of(scale, (*maps->shades_of({1, 0}))(i, j)), colour_map(Theme::light, ColourMap::heads)[at]);
    }
  EXPECT_EQ(colour_map(Theme::light, ColourMap::heads)[kHeadShades], head_colour(Theme::light, 0))
      << "the fullest shade";
  EXPECT_EQ(coloured_head_names(Language::en, *maps, Stack::self).size(), static_cast<std::size_t>(trace->num_heads()));
}

TEST(DerivedMaps, AreMadeWhileTheyAreLookedAt) {
  AppState state = small_state();
  Loop loop({}, {});
  settle(loop, state, {});
  EXPECT_FALSE(state.other_maps);
  settle(loop, state, {ShowMaps{MapKind::norms}});
  ASSERT_TRUE(state.other_maps);
  EXPECT_EQ(shown_kind(state, Stack::self), MapKind::norms);
  EXPECT_EQ(state.other_maps->trace, state.trace);
  settle(loop, state, {ShowMaps{MapKind::rollout}});
  EXPECT_EQ(shown_kind(state, Stack::self), MapKind::rollout);
  settle(loop, state, {ShowView{View::flow}});
  EXPECT_EQ(shown_kind(state, Stack::self), MapKind::weights) << "lines are weights";
  settle(loop, state, {ShowView{View::heads}, ShowMaps{MapKind::weights}});
  EXPECT_EQ(shown_maps(state, Stack::self), nullptr);
  EXPECT_TRUE(state.undo.empty()) << "a look is nothing to be undone";
  settle(loop, state, {SetScale{0.5f}, EndGesture{}});
  EXPECT_FALSE(state.other_maps) << "those of an earlier answer are not kept";
}

// Weights would flash between two answers if the maps came after them.
TEST(DerivedMaps, ComeWithTheAnswer) {
  AppState state = small_state();
  Loop loop({}, {});
  settle(loop, state, {ShowMaps{MapKind::norms}});
  Commands edit{SetText{"我爱北京"}, EndGesture{}};
  loop.step(state, edit, 0);
  const auto before = state.trace;
  for (int i = 0; i < 3000 && state.trace == before; ++i) {
    EXPECT_EQ(shown_kind(state, Stack::self), MapKind::norms) << "those of the answer before stay";
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    Commands none;
    loop.step(state, none, 0);
  }
  ASSERT_NE(state.trace, before);
  EXPECT_EQ(shown_kind(state, Stack::self), MapKind::norms);
  EXPECT_EQ(shown_maps(state, Stack::self)->map({})->rows(), state.trace->queries());
}

TEST(DerivedMaps, UntilTheyAreThereTheOnesBeforeStay) {
  AppState state = small_state();
  update(state, fixture::answer(state));
  update(state, ShowMaps{MapKind::norms});
  EXPECT_EQ(shown_kind(state, Stack::self), MapKind::weights);
  update(state, reply(&Answers::other_maps, {state.trace, MapKind::norms}, maps_of(state.trace, MapKind::norms)));
  update(state, ShowMaps{MapKind::rollout});
  EXPECT_EQ(shown_kind(state, Stack::self), MapKind::norms);
  update(state, reply(&Answers::other_maps, {state.trace, MapKind::rollout}, maps_of(state.trace, MapKind::rollout)));
  EXPECT_EQ(shown_kind(state, Stack::self), MapKind::rollout);
}

TEST(DerivedMaps, AreNeitherFoldedNorZoomed) {
  AppState state = small_state();
  update(state, fixture::answer(state));
  update(state, SetViewport{{1, 3, 1, 3}});
  EXPECT_TRUE(needs_detail(state));
  update(state, ShowMaps{MapKind::norms});
  update(state, reply(&Answers::other_maps, {state.trace, MapKind::norms}, maps_of(state.trace, MapKind::norms)));
  EXPECT_FALSE(needs_detail(state));
  EXPECT_EQ(shown_fold(state, Stack::self), nullptr);
}

TEST(DerivedMaps, OfALongSentenceStayWeights) {
  std::string text;
  for (int i = 0; i < 130; ++i) text += "词";
  Document document = fixture::small_document(text);
  document.source.split = Split::characters;
  AppState state = initial_state(fixture::lexicon(), document, Settings{});
  Loop loop({}, {});
  settle(loop, state, {ShowMaps{MapKind::norms}});
  ASSERT_EQ(state.trace->queries(), 130);
  EXPECT_EQ(shown_kind(state, Stack::self), MapKind::weights);
  EXPECT_EQ(why_not(*state.trace, Stack::self, MapKind::norms), MapUnavailable::too_long);
}

TEST(DerivedMaps, AreKeptInASession) {
  Session session;
  for (const MapKind kind : {MapKind::norms, MapKind::rollout, MapKind::weights}) {
    session.view.maps = kind;
    const auto read = session_from_json("s", to_json(session));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->view.maps, kind);
  }
  std::string text = to_json(session);
  const auto at = text.find("\"view\": {");
  ASSERT_NE(at, std::string::npos);
  text.insert(at + 9, "\"maps\": \"lengths\", ");
  const auto odd = session_from_json("s", text);
  ASSERT_TRUE(odd) << odd.error().message();
  EXPECT_EQ(odd->view.maps, MapKind::weights);
}

std::vector<Cells> cells_of(const Drawing& drawing) { return figures::all<Cells>(drawing); }

TEST(OtherMapsFigure, DrawsTheirNumbersAndSaysWhatTheyAre) {
  const Document document = fixture::small_document();
  const auto trace = answer_of(document);
  for (const MapKind kind : {MapKind::norms, MapKind::rollout}) {
    const auto maps = maps_of(trace, kind);
    for (const Language language : {Language::en, Language::zh}) {
      for (const FigureKind figure : {FigureKind::grid, FigureKind::head, FigureKind::layers}) {
        const FigureOptions options{
            .kind = figure, .language = language, .width = kSlideMm * kPointsInMm, .head = {1, 1}};
        const auto drawing = draw_figure({*trace, document, nullptr, maps.get()}, options, figures::roughly);
        ASSERT_TRUE(drawing);
        figures::expect_tidy(*drawing);
        EXPECT_TRUE(figures::says(*drawing, kind == MapKind::norms ? "Kobayashi" : "Abnar"));
        EXPECT_TRUE(figures::says(*drawing, number_title(language, kind)));
        EXPECT_EQ(cells_of(*drawing).front().scale, other_scale(*maps, Theme::light, Scale::linear));
        if (figure == FigureKind::grid) {
          EXPECT_EQ(cells_of(*drawing).size(), kind == MapKind::norms ? 4u : 2u);
          const HeadRef second = kind == MapKind::norms ? HeadRef{0, 1} : HeadRef{1, 0};
          EXPECT_TRUE(same(*cells_of(*drawing)[1].weights, *maps->map(second)));
        }
        if (figure == FigureKind::head) { EXPECT_TRUE(same(*cells_of(*drawing).front().weights, *maps->map({1, 1}))); }
        const bool of_heads = figures::says(*drawing, "·H") || figures::says(*drawing, "H1");
        EXPECT_EQ(of_heads, kind == MapKind::norms) << "a rollout is of no head";
      }
    }
  }
}

TEST(OtherMapsFigure, OfAStackWithoutThemIsOfWeights) {
  const Document document = document_of(5, Arch::encoder_decoder);
  const auto trace = answer_of(document);
  const auto maps = maps_of(trace, MapKind::rollout);
  const FigureOptions options{.head = {0, 0, Stack::cross}};
  const auto drawing = draw_figure({*trace, document, nullptr, maps.get()}, options, figures::roughly);
  ASSERT_TRUE(drawing);
  EXPECT_TRUE(figures::says(*drawing, "weight"));
  EXPECT_FALSE(figures::says(*drawing, "Abnar"));
  EXPECT_TRUE(same(*cells_of(*drawing).front().weights, trace->head({0, 0, Stack::cross}).thumbnail));
}

TEST(OtherMapsFigure, TheWindowsIsOfWhatIsSeen) {
  AppState state = small_state();
  Loop loop({}, {});
  settle(loop, state, {ShowMaps{MapKind::norms}});
  EXPECT_EQ(figure_order(state).other, state.other_maps);
  settle(loop, state, {ShowMaps{MapKind::weights}});
  EXPECT_EQ(figure_order(state).other, nullptr);
}

TEST(MapKinds, SayWhatTheyAreInBothLanguages) {
  for (const Language language : {Language::en, Language::zh})
    for (const MapKind kind : {MapKind::weights, MapKind::norms, MapKind::rollout}) {
      EXPECT_NE(std::string(kind_line(language, kind)).find("20"), std::string::npos) << "with its source";
      EXPECT_STRNE(kind_line(Language::en, kind), kind_line(Language::zh, kind));
      EXPECT_STRNE(number_title(Language::en, kind), number_title(Language::zh, kind));
      for (const MapUnavailable why :
           {MapUnavailable::no_values, MapUnavailable::two_sequences, MapUnavailable::too_long})
        EXPECT_FALSE(why_not_line(language, kind, why).empty());
    }
}

}  // namespace
}  // namespace headlight
