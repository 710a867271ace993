// The answers of a page that is open in a browser: from the numbers in it, to which other masks and edits may be put,
// and from a model that goes along, which answers other sentences. The questions are requests of sessions
// (document/document_json.h); an answer is a Trace, as everywhere.
#pragma once

#include <map>
#include <memory>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "derived/word_changes.h"
#include "names/named_arcs.h"
#include "question/document.h"
#include "question/question_fields.h"

namespace headlight {

/// The name of a page's request in errors.
inline constexpr const char* kPageSource = "page";

/// The masks that stand in a request, and its edits. Errors: a field of another kind.
Status read_changes(const nlohmann::json& request, std::map<Stack, MaskSpec>& masks, Edits& edits);

/// The seed of dropout where it is stored as text, `seed`: JavaScript rounds such numbers.
void take_seed(const nlohmann::json& request, Edits& edits);

class PageAnswer {
 public:
  virtual ~PageAnswer() = default;
  const Trace& trace() const { return *shared_trace(); }
  virtual std::shared_ptr<const Trace> shared_trace() const = 0;
  /// A head's map of at most kThumbnail cells a side, as Trace has it; of longer sentences perhaps of fewer cells.
  virtual const Matrix& thumbnail(const HeadRef& head) = 0;
  /// The heads of a stack that it has, layer after layer.
  virtual std::vector<HeadRef> heads(Stack stack) const = 0;
  /// The names of its cells. `edited`: masks and edits are others than those that it was written with.
  virtual SentenceArcs arcs(bool edited) const = 0;
  /// Replaces the masks and edits by those of a request; the tokens stay. Errors: those of resolve() and forward().
  virtual Status change(const nlohmann::json& request) = 0;
};

/// The numbers of a page (docs/page.md). A changed mask changes the weights of every layer, not what the layers read.
class StillAnswer : public PageAnswer {
 public:
  /// `answer` is the object of a page's data that has `stacks`. Errors: those of page_of_answer.
  static Result<std::unique_ptr<StillAnswer>> read(const nlohmann::json& answer, const PageNumbers& beside = {});
  Status change(const nlohmann::json& request) override;
  std::shared_ptr<const Trace> shared_trace() const override { return trace_; }
  const Matrix& thumbnail(const HeadRef& head) override;
  std::vector<HeadRef> heads(Stack stack) const override { return page_.stacks.at(stack).heads; }
  SentenceArcs arcs(bool edited) const override { return edited ? SentenceArcs{} : arcs_; }

 private:
  AttentionTrace& attention(Stack stack, std::size_t layer);
  void take_numbers();
  void take_thumbnails(const nlohmann::json& stacks);

  PageAttention page_;  // its layers' numbers are those of trace_
  std::shared_ptr<Trace> trace_ = std::make_shared<Trace>();
  std::shared_ptr<StackTrace> encoder_;  // trace_->encoder
  SentenceArcs arcs_;
};

/// Where an answer shows most (view/start_cell.h), as `stack`, `layer`, `head` and `pinned`; null: nowhere.
nlohmann::json start_object(const Document& document, const Trace& trace, const SentenceArcs& arcs);

/// A model in a folder of the page's memory, or the fresh weights that a request asks for.
class LiveAnswer : public PageAnswer {
 public:
  /// Its `source` is the folder, or it has none. The sentence with the number `sentence` is answered; with `write` true
  /// a translator writes its target itself. Errors: those of the document and of forward(); more than `most` tokens.
  Status ask(const nlohmann::json& request, std::size_t most);
  /// Whether the request's model knows every word of its text (models/model_choice.h); nothing where it has none.
  static Result<std::optional<bool>> knows(const nlohmann::json& request, bool typing);
  Status change(const nlohmann::json& request) override;
  /// What another word does to the row of a word; unless `searches` the reader's word `own` alone, and what was found
  /// for the row before. Null where none is tried: of a row that is set by hand, without a vocabulary.
  std::shared_ptr<const WordChanges> changes(const HeadRef& head, Index query, const std::string& own, bool searches);
  nlohmann::json start() const { return start_object(document_, *trace_, arcs(false)); }
  bool is_answered() const { return trace_ != nullptr; }
  /// Precondition of all that follow: is_answered().
  std::shared_ptr<const Trace> shared_trace() const override { return trace_; }
  const Matrix& thumbnail(const HeadRef& head) override { return trace_->head(head).thumbnail; }
  std::vector<HeadRef> heads(Stack stack) const override;
  SentenceArcs arcs(bool) const override { return named_arcs(document_, *trace_); }

 private:
  Status answer(const Request& request);
  Status write(Request request);

  Document document_;
  std::size_t sentence_ = 0;  // of its text
  std::shared_ptr<const Trace> trace_;
  ChangesQuestion asked_changes_;  // what was searched last, without a word of the reader's
  std::shared_ptr<const WordChanges> known_changes_;
};

}  // namespace headlight
