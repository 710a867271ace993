#include "session/opening.h"

#include "models/model_choice.h"
#include "read/external/page_text.h"
#include "session/file/open_file.h"
#include "session/lesson_commands.h"
#include "session/state_rules.h"
#include "session/typing.h"

namespace headlight {
namespace {

/// Gives a model that was opened what the question on the screen reads: the typed text or the picture.
void take_input(Document& fresh, const Document& shown, std::vector<Error>& warnings) {
  if (is_checkpoint(fresh)) {  // reads the typed text with its tokenizer
    for (const TextSide side : {TextSide::source, TextSide::target})
      text_input(fresh, side).text = text_input(shown, side).text;
    fresh.text_pair = shown.text_pair;
    fresh.chat = shown.chat;
  }
  if (!reads_picture(fresh) || !shown.picture || fresh.picture == shown.picture) return;
  if (const Status seen = set_picture(fresh, shown.picture); !seen) warnings.push_back(seen.error());
}

/// Gives a model of the same shape the whole question on the screen: its tokens, masks and edits.
void take_question(Document& fresh, const Document& shown) {
  if (!fresh.model || !shown.model || !(fresh.model->config == shown.model->config)) return;
  fresh.source = shown.source, fresh.target = shown.target;
  fresh.token_types = shown.token_types;
  fresh.pad = shown.pad;
  fresh.mask = shown.mask, fresh.encoder_mask = shown.encoder_mask, fresh.cross_mask = shown.cross_mask;
  fresh.edits = shown.edits;
}

}  // namespace

std::vector<Error> take_kept_and_lesson(AppState& state, Session& session) {
  if (session.kept) {
    share_model(session.kept->document, state.shipped.get());
    keep(state, *std::move(session.kept));
    state.comparison.reset();
  }
  std::vector<Error> lost = std::move(session.lost);
  if (session.lesson.name.empty()) return lost;
  if (session.own_lesson) add_lesson(state, *session.own_lesson);
  state.view.lesson = position_of(state, session.lesson);
  if (!state.view.lesson) lost.push_back(lesson_is_gone(session.lesson));
  return lost;
}

void keep_opened(AppState& state, FileOpened& opened) {
  OpenFile& file = opened.opened;
  Document& fresh = file.session.document;
  const bool model = file.kind == OpenFile::Kind::document;
  if (!model && file.kind != OpenFile::Kind::session) {
    state.notice =
        notice_of(bad_input(opened.path, "", "a model or a session, to compare with", "another kind of file"));
    return;
  }
  if (model) {
    take_input(fresh, state.document, file.warnings);
    take_question(fresh, state.document);
  }
  share_model(fresh, state.shipped.get());
  keep(state, {.trace = nullptr, .document = std::move(fresh), .sentence = model ? state.view.sentence : 0});
  state.comparison.reset();
  state.view.pinned_kept.reset();
  state.view.view = View::compare;
  state.seeks_most_changed = true;
  remember(state.settings, opened.path);
  state.notice = Notice{Notice::Kind::opened, opened.path};
  for (const Error& warning : file.warnings) state.notice->text += "\n" + warning.message();
}

void take_opened(AppState& state, FileOpened& opened, CommandKind kind) {
  OpenFile& file = opened.opened;
  stop_generating(state);
  end_gesture(state);
  Document& document = edited(state, kind);
  switch (file.kind) {
    case OpenFile::Kind::session:
      document = std::move(file.session.document);
      state.view = file.session.view;
      state.opened_view = state.view;
      // A page holds more than a session: Save does not write over it.
      state.session_path = names_page(opened.path) ? std::string() : opened.path;
      break;
    case OpenFile::Kind::document: {
      take_input(file.session.document, document, file.warnings);
      document = std::move(file.session.document);
      state.session_path.clear();  // another question: saving it must not replace the session before
      break;
    }
    case OpenFile::Kind::mask:
      document.mask.given = std::move(file.mask.given);
      document.mask.batch = std::move(file.mask.batch);
      document.mask.heads = file.mask.heads;
      break;
    case OpenFile::Kind::text: set_text(document, TextSide::source, std::move(file.text), *state.lexicon); break;
    case OpenFile::Kind::picture:
      document.picture = std::move(file.picture);
      document.seen = std::move(file.seen);
      break;
    case OpenFile::Kind::lesson: break;  // changes nothing by itself (session/lesson_commands.h)
  }
  share_model(document, state.shipped.get());
  end_gesture(state);
  ask_again(state);
  if (file.kind == OpenFile::Kind::session || file.kind == OpenFile::Kind::document)
    await_check(state, std::move(file.session.model_warnings));
  if (file.kind == OpenFile::Kind::session) state.saved_document = state.document;
  remember(state.settings, opened.path);
  std::vector<Error> lost;
  if (file.kind == OpenFile::Kind::session) lost = take_kept_and_lesson(state, file.session);
  state.notice = lost.empty() ? Notice{Notice::Kind::opened, opened.path} : notice_of(lost);
  for (const Error& warning : file.warnings) state.notice->text += "\n" + warning.message();
}

}  // namespace headlight
