// Everything that workers compute for the window, a slot each: a function that reads the question from the state, and
// one that answers it. A new analysis is a function that answers (app/derived) and a slot in `Answers`.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "derived/answer_comparison.h"
#include "derived/derived_maps.h"
#include "derived/flow_lines.h"
#include "derived/fold.h"
#include "derived/guess.h"
#include "derived/head_ranking.h"
#include "derived/head_stats.h"
#include "derived/inside.h"
#include "derived/layer_lens.h"
#include "derived/listing.h"
#include "derived/patch_map.h"
#include "derived/weak_ref.h"
#include "derived/word_changes.h"
#include "derived/writer_split.h"
#include "math/attention.h"
#include "names/named_arcs.h"
#include "question/answer_snapshot.h"
#include "session/figure_request.h"
#include "session/slot.h"

namespace headlight {

struct ModelCheck;  // session/model_check.h
struct RelationScore;

/// What the workers of a window may use beside the state.
struct Services {
  PreviewFigure preview = {};          // draws figures that are about to be written; empty: none are drawn
  std::filesystem::path kept = {};     // the folder in which tools keep what they make; empty: nowhere
  std::function<bool()> is_busy = {};  // whether a companion works
};

/// The enlarged head where its thumbnail is not the pattern itself: more tokens than cells, or a part of it.
struct DetailQuestion {
  std::shared_ptr<const Trace> trace;
  Region region;
  friend bool operator==(const DetailQuestion&, const DetailQuestion&) = default;
};
struct Detail {
  std::shared_ptr<const Trace> trace;
  Region region;
  Matrix weights;  // −1 where blocked
};

/// Whether a checkpoint was loaded right; answered with what was found about others before.
struct CheckQuestion {
  std::shared_ptr<const Model> model;
  std::string folder;
  std::vector<Error> warnings;  // of loading it
  friend bool operator==(const CheckQuestion& a, const CheckQuestion& b) { return a.model == b.model; }
};

/// The answer to A of View::compare. A session names its question alone: that one is asked.
struct SnapshotQuestion {
  AnswerSnapshot asked;
  bool is_answered = false;
  friend bool operator==(const SnapshotQuestion& a, const SnapshotQuestion& b) {
    return a.is_answered == b.is_answered && same_question(a.asked, b.asked);
  }
};

/// Norms or rollout instead of weights.
struct MapsQuestion {
  std::shared_ptr<const Trace> trace;
  MapKind kind = MapKind::norms;
  friend bool operator==(const MapsQuestion&, const MapsQuestion&) = default;
};

/// Maps with tokens folded.
struct FoldQuestion {
  std::shared_ptr<const Trace> trace;
  FoldChoice fold;
  friend bool operator==(const FoldQuestion&, const FoldQuestion&) = default;
};

/// What shades the text on the stage; a text of folded tokens has their groups.
struct ShadeQuestion {
  std::shared_ptr<const Trace> trace;
  std::shared_ptr<const FoldedMaps> folded;  // null: every token by itself
  ShadeChoice choice;
  friend bool operator==(const ShadeQuestion&, const ShadeQuestion&) = default;
};

/// The chosen tokens of a picture, in every head; `choice` without its head.
struct GridQuestion {
  std::shared_ptr<const Trace> trace;
  ShadeChoice choice;
  friend bool operator==(const GridQuestion&, const GridQuestion&) = default;
};

/// The arcs of the answer that have names, by the card of its model.
struct ArcsQuestion {
  WeakRef<Trace> trace;
  WeakRef<TrainingCard> card;
  friend bool operator==(const ArcsQuestion&, const ArcsQuestion&) = default;
};

/// How well each layer of a model shows each relation.
struct LayerQuestion {
  WeakRef<Model> model;
  friend bool operator==(const LayerQuestion&, const LayerQuestion&) = default;
};

/// The sentence nearest to some words that a model knows; empty: there is none.
struct NearestQuestion {
  std::vector<std::string> words;
  WeakRef<Model> model;
  friend bool operator==(const NearestQuestion&, const NearestQuestion&) = default;
};

// The questions: empty where the view needs no answer.
/// The request of the sentence that is looked at, or of its prefix; null where there is none. A text that is being
/// typed is requested when typing pauses (session/typing.h).
const Request* wanted(const AppState& state);
/// The request of the answer on the screen without its edits, where that answer is not known.
std::optional<Request> baseline_question(const AppState& state);
std::optional<DetailQuestion> detail_question(const AppState& state);
std::optional<InsideQuestion> inside_question(const AppState& state);  // of the views Inside and Code
std::optional<WriterQuestion> writer_question(const AppState& state);  // of View::inside and InsideTab::why
/// Of View::inside and InsideTab::lens: the token of the pinned row, or the one that the answer is read at; nothing
/// where the model has no vocabulary.
std::optional<LensQuestion> lens_question(const AppState& state);
std::optional<ListingQuestion> listing_question(const AppState& state);  // of View::code; nothing while stale
std::optional<FlowQuestion> flow_question(const AppState& state);
std::optional<CheckQuestion> check_question(const AppState& state);
/// The statistics that the view needs of the heads on the screen; nothing where their maps are enough.
std::optional<HeadQuestion> head_question(const AppState& state);
/// Which heads show most of the sentence: asked for each sentence and model once, while nothing is typed or dragged.
std::optional<RankingQuestion> ranking_question(const AppState& state);
std::optional<EffectQuestion> effect_question(const AppState& state);
/// Nothing where the card belongs to another model.
std::optional<ArcsQuestion> arcs_question(const AppState& state);
std::optional<LayerQuestion> layer_question(const AppState& state);
std::optional<MapsQuestion> maps_question(const AppState& state);
std::optional<FoldQuestion> fold_question(const AppState& state);
/// Nothing where the text is not shown, or no word is chosen.
std::optional<ShadeQuestion> shade_question(const AppState& state);
std::optional<GridQuestion> grid_question(const AppState& state);
/// Of View::compare; nothing where it is not shown or has nothing to compare.
std::optional<ComparisonQuestion> comparison_question(const AppState& state);
/// Of View::compare where the map of patches is shown; asked again for each part of the map, until it is complete or
/// stopped.
std::optional<PatchQuestion> patch_question(const AppState& state);
std::optional<SnapshotQuestion> snapshot_question(const AppState& state);
/// The next word, or the word at the position of the pinned row, else of the chosen head's strongest cell; nothing
/// where the model predicts no words.
std::optional<GuessQuestion> guess_question(const AppState& state);
/// The row of the pinned cell, else of the chosen head's strongest, in View::heads; nothing where no word can replace
/// another: ids, typed numbers, a conversation, a pair, two stacks, random weights; or the row is set by hand.
std::optional<ChangesQuestion> changes_question(const AppState& state);
std::optional<NearestQuestion> nearest_question(const AppState& state);

// Functions that answer with more than a question and the last answer.
/// The maps that are drawn and the names of arcs come with the answer, so that nothing flashes between two of them.
Job trace_job(const Request& request, const AppState& state);
Job baseline_job(const Request& request, const AppState& state);
std::shared_ptr<const Detail> detail_of(const DetailQuestion& question, const std::atomic<bool>& stop);
std::shared_ptr<const std::vector<ModelCheck>> check_models(const CheckQuestion& question,
                                                            const std::vector<ModelCheck>* known, Progress& progress);
Result<std::shared_ptr<const std::vector<RelationScore>>> layer_scores_of(const LayerQuestion& question,
                                                                          Progress& progress);
std::shared_ptr<const SentenceArcs> arcs_in(const ArcsQuestion& question, const std::atomic<bool>& stop);
std::shared_ptr<const DerivedMaps> maps_of(const MapsQuestion& question, Progress& progress);
std::shared_ptr<const FoldedMaps> folds_of(const FoldQuestion& question, const std::atomic<bool>& stop);
std::shared_ptr<const Vector> shades_to(const ShadeQuestion& question, const std::atomic<bool>& stop);
std::shared_ptr<const PictureGrids> grids_to(const GridQuestion& question, const std::atomic<bool>& stop);
std::shared_ptr<const AnswerComparison> comparison_of(const ComparisonQuestion& question, const AnswerComparison* known,
                                                      Progress& progress);
Job snapshot_job(const SnapshotQuestion& question, const AppState& state);
Job changes_job(const ChangesQuestion& question, const AppState& state);
Job nearest_job(const NearestQuestion& question, const AppState& state);
Job preview_job(const FileQuestion& question, const AppState& state, const Services& services);

// What follows from an answer, beside that it is there.
void after_trace(AppState& state, const std::shared_ptr<const Trace>& before, const Error* error);
void after_baseline(AppState& state, const std::shared_ptr<const Trace>& before, const Error* error);
void after_comparison(AppState& state, const std::shared_ptr<const AnswerComparison>& before, const Error* error);
void after_snapshot(AppState& state, const std::shared_ptr<const AnswerSnapshot>& before, const Error* error);

struct Answers {
  Slot<Trace, wanted, trace_job, after_trace> trace;  // the answer on the screen
  /// The answer to the question of `trace` without edits; `trace` itself where it has none; null until it is known.
  Slot<Trace, baseline_question, baseline_job, after_baseline> baseline;
  Slot<Detail, detail_question, detail_of> detail;
  Slot<Inside, inside_question, look_inside> inside;
  Slot<WriterSplit, writer_question, split_writers> writers;
  Slot<LayerLens, lens_question, look_through_layers> lens;
  Slot<Listing, listing_question, listing_of> listing;
  Slot<FlowLines, flow_question, look_at_flow> flow;
  Slot<std::vector<ModelCheck>, check_question, check_models> checks;  // of all checkpoints that are loaded still
  Slot<SentenceArcs, arcs_question, arcs_in> arcs;
  Slot<HeadStats, head_question, answer_heads> heads;
  Slot<HeadRanking, ranking_question, rank_heads> ranking;
  Slot<std::vector<HeadEffect>, effect_question, answer_effects> effects;
  Slot<std::vector<RelationScore>, layer_question, layer_scores_of> layer_scores;
  Slot<DerivedMaps, maps_question, maps_of> other_maps;
  /// As the look wants them or, of long sentences, wanted them before; null before the first answer.
  Slot<FoldedMaps, fold_question, folds_of> folded;
  Slot<Vector, shade_question, shades_to> shades;  // of each word of the text
  Slot<PictureGrids, grid_question, grids_to> grids;
  Slot<AnswerComparison, comparison_question, comparison_of, after_comparison> comparison;
  Slot<PatchMap, patch_question, extend_patch_map> patch;
  /// A of View::compare; B is the answer on the screen. Of a session without its trace, until that is known.
  Slot<AnswerSnapshot, snapshot_question, snapshot_job, after_snapshot> kept;
  Slot<Guess, guess_question, make_guess> guess;
  Slot<WordChanges, changes_question, changes_job> changes;
  Slot<std::string, nearest_question, nearest_job> nearest;
  Slot<FilePreview, file_question, preview_job> preview;

  /// Visits a pointer to every slot, in the order in which answers are taken.
  template <class Visit>
  static constexpr void for_each(Visit visit) {
    using A = Answers;
    visit(&A::trace), visit(&A::baseline), visit(&A::detail), visit(&A::inside), visit(&A::writers), visit(&A::lens);
    visit(&A::listing), visit(&A::flow), visit(&A::checks), visit(&A::arcs), visit(&A::heads), visit(&A::ranking),
        visit(&A::effects);
    visit(&A::layer_scores), visit(&A::other_maps), visit(&A::folded), visit(&A::shades), visit(&A::grids);
    visit(&A::comparison);
    visit(&A::patch), visit(&A::kept), visit(&A::guess);
    visit(&A::changes), visit(&A::nearest), visit(&A::preview);
  }
};

/// A slot that for_each leaves out is never asked.
static_assert(
    [] {
      std::size_t bytes = 0;
      Answers::for_each([&]<class SlotType>(SlotType Answers::*) { bytes += sizeof(SlotType); });
      return bytes;
    }() == sizeof(Answers),
    "each slot of Answers has its line in for_each");

}  // namespace headlight
