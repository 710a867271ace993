// The parts of an answer that its scenes show, each computed when it is first asked for.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "derived/fold.h"
#include "figure/head_name.h"
#include "page/core/page_answers.h"

namespace headlight {

class PageMaps {
 public:
  explicit PageMaps(PageAnswer& answer) : answer_(answer) {}

  const Trace& trace() const { return answer_.trace(); }
  std::shared_ptr<const Trace> shared_trace() const { return answer_.shared_trace(); }
  std::vector<HeadRef> heads(Stack stack) const { return answer_.heads(stack); }
  /// A stack folded, with the maps of these heads; null where nothing is folded.
  const FoldedStack* folded(Stack stack, FoldChoice fold, const std::vector<HeadRef>& heads);
  /// The map of a head as it is shown, kept until that of another is asked for; at most kThumbnail cells a side.
  const Matrix& map(const HeadRef& head, FoldChoice fold);
  Matrix small(const HeadRef& head, FoldChoice fold);
  /// Has every head of a stack its thumbnail in the trace. Precondition: at most kThumbnail tokens a side.
  void complete(Stack stack);
  const HeadMeasures& measures(const HeadRef& head);
  const SentenceArcs& arcs(bool edited);
  /// `measured`: by a measure too, where it has no arcs.
  HeadName name(Language language, const HeadRef& head, bool edited, bool measured);

 private:
  Matrix whole(const HeadRef& head);

  struct Folded {
    Stack stack;
    FoldChoice choice;
    std::unique_ptr<FoldedStack> maps;  // empty ones are not known yet; null: nothing is folded
  };
  PageAnswer& answer_;
  std::vector<Folded> folded_;
  std::map<HeadRef, HeadMeasures> measures_;
  std::optional<HeadRef> last_;
  Matrix last_map_;
  std::optional<SentenceArcs> arcs_[2];
};

}  // namespace headlight
