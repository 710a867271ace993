// What workers do for the window: each job answers with a command, or with nothing where it was stopped.
#pragma once

#include "derived/answer_comparison.h"
#include "session/figure_request.h"
#include "session/worker.h"

namespace headlight {

/// The maps that are looked at come with the answer, so that weights do not flash between two of them.
Job trace_job(const Request& request, std::shared_ptr<const Trace> previous, MapKind kind, FoldChoice fold = {});
/// An answer's maps folded.
Job folds_job(std::shared_ptr<const Trace> trace, FoldChoice fold);
/// Maps of another kind than weights, of an answer that is there.
Job maps_job(std::shared_ptr<const Trace> trace, MapKind kind);
/// The weights of a region of the enlarged head.
Job detail_job(std::shared_ptr<const Trace> trace, const Region& region);
/// What the Inside view asks.
Job inside_job(InsideQuestion question);
/// A question that cannot be answered has no answer to compare with.
Job baseline_job(const Request& request, std::shared_ptr<const Trace> previous);
/// Whether a checkpoint was loaded right.
Job check_job(std::shared_ptr<const Model> model, const std::string& folder, std::vector<std::string> warnings);
/// What is asked of the heads; what `known` says of the same answer is taken over.
Job heads_job(HeadQuestion question, std::shared_ptr<const HeadStats> known);
/// What is lost without each head.
Job sweep_job(std::shared_ptr<const Trace> trace);
/// Whatever the window opens.
Job open_job(const std::string& path);
/// A session's file.
Job save_job(const std::string& path, Session session);
/// The numbers of what is asked, or of the chosen head.
Job export_job(const std::string& path, const AppState& state);
/// The lines between the words.
Job flow_job(FlowQuestion question);
/// Two answers beside each other; what `known` says of the same ones is taken over.
Job comparison_job(ComparisonQuestion question, std::shared_ptr<const AnswerComparison> known);
/// The answer to the question of a kept one. `lexicon` lives longer than the job.
Job kept_job(AnswerSnapshot kept, const Lexicon& lexicon);
/// A figure's file.
Job figure_job(const std::string& path, FigureRequest order, DrawFigure draw);
/// Folders first, then files, by name; hidden ones are left out.
Job list_job(const std::string& folder);

}  // namespace headlight
