#include "session/state.h"

#include <algorithm>

namespace headlight {
namespace {

constexpr std::size_t kMostUndo = 500;

/// After the document changed: what it asks now, and a look that fits it.
void ask_again(AppState& state) {
  auto requests = requests_of(state.document, *state.lexicon);
  state.problem = requests ? std::string{} : requests.error().message;
  state.requests = requests ? std::move(*requests) : std::vector<Request>{};
  if (!state.requests.empty()) state.view.sentence = std::min(state.view.sentence, state.requests.size() - 1);
}

/// The edits that are going on become one step of undo.
void end_gesture(AppState& state) {
  if (!state.gesture) return;
  if (!(*state.gesture == state.document)) {
    state.undo.push_back(std::move(*state.gesture));
    if (state.undo.size() > kMostUndo) state.undo.erase(state.undo.begin());
    state.redo.clear();
  }
  state.gesture.reset();
}

/// Before the document changes: edits of the same kind join the gesture, others begin a new one.
Document& edited(AppState& state, std::size_t kind) {
  if (state.gesture && state.gesture_kind != kind) end_gesture(state);
  if (!state.gesture) {
    state.gesture = state.document;
    state.gesture_kind = kind;
  }
  return state.document;
}

void step_through(AppState& state, std::vector<Document>& from, std::vector<Document>& to) {
  end_gesture(state);
  if (from.empty()) return;
  to.push_back(std::move(state.document));
  state.document = std::move(from.back());
  from.pop_back();
  ask_again(state);
}

/// Keeps chosen head, cell and viewport inside the answer.
void fit_view(AppState& state) {
  const Trace& trace = *state.trace;
  ViewState& view = state.view;
  view.chosen.layer = std::clamp<Index>(view.chosen.layer, 0, trace.num_layers() - 1);
  view.chosen.head = std::clamp<Index>(view.chosen.head, 0, trace.num_heads() - 1);
  const auto outside = [&](const std::optional<CellRef>& cell) {
    return cell && (cell->query >= trace.queries() || cell->key >= trace.keys());
  };
  if (outside(view.hovered)) view.hovered.reset();
  if (outside(view.pinned)) view.pinned.reset();
  if (view.hovered_head &&
      (view.hovered_head->layer >= trace.num_layers() || view.hovered_head->head >= trace.num_heads()))
    view.hovered_head.reset();
  const Viewport& part = view.viewport;
  if (part.first_query + part.num_queries > trace.queries() || part.first_key + part.num_keys > trace.keys())
    view.viewport = {};
}

void open(AppState& state, FileOpened& opened, std::size_t kind) {
  Opened& file = opened.opened;
  end_gesture(state);
  Document& document = edited(state, kind);
  switch (file.kind) {
    case Opened::Kind::session:
      document = std::move(file.session.document);
      state.view = file.session.view;
      state.opened_view = state.view;
      state.session_path = opened.path;
      break;
    case Opened::Kind::document:
      document = std::move(file.session.document);
      state.session_path.clear();  // another question: saving it must not replace the session before
      break;
    case Opened::Kind::mask: document.mask.given = std::move(file.mask); break;
    case Opened::Kind::text: set_text(document, std::move(file.text), *state.lexicon); break;
  }
  end_gesture(state);
  ask_again(state);
  if (file.kind == Opened::Kind::session) state.saved_document = state.document;
  remember(state.settings, opened.path);
  std::string text = opened.path;
  for (const auto& warning : file.warnings) text += "\n" + warning;
  state.notice = Notice{Notice::Kind::opened, std::move(text)};
}

/// One function a command; `kind` is the command's place in the variant.
struct Update {
  AppState& state;
  std::size_t kind;

  Document& document() { return edited(state, kind); }
  /// What the user looks at now counts, not what a session being opened was looking at.
  ViewState& looked_at() { state.opened_view.reset(); return state.view; }

  void operator()(SetText& c) { set_text(document(), std::move(c.text), *state.lexicon); ask_again(state); }
  void operator()(const SetSplit& c) {
    document().split = c.split;
    state.document.hand_cuts.reset();
    ask_again(state);
  }
  void operator()(const ToggleCut& c) { toggle_cut(document(), c.offset, *state.lexicon); ask_again(state); }
  void operator()(const SetPad& c) { document().pad = c.count; ask_again(state); }
  void operator()(const SetConfig& c) {
    const Arch before = state.document.config.arch;
    document().config = c.config;
    if (c.config.arch != before) state.document.mask.causal = c.config.arch == Arch::decoder;
    ask_again(state);
  }
  void operator()(const SetScale& c) { document().edits.scale = c.scale; ask_again(state); }
  void operator()(const SetMask& c) {
    document().mask.causal = c.causal;
    state.document.mask.padding = c.padding;
    ask_again(state);
  }
  void operator()(GiveMask& c) { document().mask.given = std::move(c.mask); ask_again(state); }
  void operator()(const PaintCell& c) {
    paint(document().mask.painted, {c.cell.query, c.cell.key, c.allowed});
    ask_again(state);
  }
  void operator()(const ClearPaint&) { document().mask.painted.clear(); ask_again(state); }
  void operator()(const Reset&) { document() = Document{}; ask_again(state); }
  void operator()(const EndGesture&) { end_gesture(state); }
  void operator()(const Undo&) { step_through(state, state.undo, state.redo); }
  void operator()(const Redo&) { step_through(state, state.redo, state.undo); }

  void operator()(const ChooseSentence& c) {
    if (c.sentence < state.requests.size()) state.view.sentence = c.sentence;
  }
  void operator()(const ChooseHead& c) { looked_at().chosen = c.head; }
  void operator()(const Hover& c) { state.view.hovered_head = c.head; state.view.hovered = c.cell; }
  void operator()(const Pin& c) { looked_at().pinned = c.cell; }
  void operator()(const SetColourScale& c) { state.view.scale = c.scale; }
  void operator()(const SetViewport& c) { looked_at().viewport = c.viewport; }
  void operator()(const SetPainting& c) { state.view.painting = c.on; }
  void operator()(const SetStroke& c) { state.view.stroke = c.allowed; }
  void operator()(const FocusText& c) { state.view.focus_text = c.on; }
  void operator()(const ShowHelp& c) { state.view.help = c.on; }
  void operator()(SetSettings& c) { state.settings = std::move(c.settings); }

  void operator()(const Browse& c) {
    Browser& browser = state.browser;
    if (c.purpose != browser.purpose) browser.name = c.purpose == Browser::Purpose::export_to ? "attention.json"
                                                   : c.purpose == Browser::Purpose::save      ? "session.headlight.json"
                                                                                              : "";
    browser.purpose = c.purpose;
    if (c.folder.empty() || c.folder == browser.folder) return;
    browser.folder = c.folder;
    browser.entries.clear();
  }
  void operator()(NameFile& c) { state.browser.name = std::move(c.name); }
  void operator()(FolderListed& c) {
    if (state.browser.folder != c.folder) return;  // somebody went on meanwhile
    state.browser.entries = std::move(c.entries);
  }
  void operator()(const OpenPath&) { state.browser.purpose = Browser::Purpose::none; }
  void operator()(const SaveSession&) {
    end_gesture(state);
    state.browser.purpose = Browser::Purpose::none;
  }
  void operator()(const ExportTo&) { state.browser.purpose = Browser::Purpose::none; }
  void operator()(const CancelFileWork&) {}
  void operator()(const Quit&) { state.quit = true; }

  void operator()(TraceReady& c) {
    if (!is_stale(state) && !(c.trace->request == *wanted(state))) return;  // nobody wants it any more
    state.trace = std::move(c.trace);
    state.trace_milliseconds = c.milliseconds;
    ++state.trace_version;
    state.refused.reset();
    state.refusal.clear();
    if (!state.opened_view || is_stale(state)) return;
    state.view.chosen = state.opened_view->chosen;
    state.view.pinned = state.opened_view->pinned;
    state.view.viewport = state.opened_view->viewport;
    state.opened_view.reset();
  }
  void operator()(TraceFailed& c) { state.refused = std::move(c.request); state.refusal = std::move(c.message); }
  void operator()(DetailReady& c) {
    const std::uint64_t version = state.detail ? state.detail->version + 1 : 1;
    state.detail = Detail{std::move(c.trace), c.region, std::move(c.weights), version};
  }
  void operator()(FileOpened& c) { open(state, c, kind); }
  void operator()(FileSaved& c) {
    const bool session = c.session.has_value();
    if (session) {
      state.session_path = c.path;
      state.saved_document = std::move(*c.session);
      remember(state.settings, c.path);
    }
    state.notice = Notice{session ? Notice::Kind::saved : Notice::Kind::exported, std::move(c.path)};
  }
  void operator()(FileFailed& c) { state.notice = Notice{Notice::Kind::failed, std::move(c.message)}; }
  void operator()(const DismissNotice&) { state.notice.reset(); }
};

}  // namespace

AppState initial_state(const Lexicon& lexicon, Document document, Settings settings) {
  AppState state;
  state.lexicon = &lexicon;
  state.document = state.saved_document = std::move(document);
  state.settings = std::move(settings);
  state.browser.folder = state.settings.folder;
  ask_again(state);
  return state;
}

void update(AppState& state, Command command) {
  const std::size_t kind = command.index();
  std::visit(Update{state, kind}, command);
  if (state.trace) fit_view(state);
}

const Request* wanted(const AppState& state) {
  return state.view.sentence < state.requests.size() ? &state.requests[state.view.sentence] : nullptr;
}

bool is_stale(const AppState& state) {
  const Request* request = wanted(state);
  return !request || !state.trace || !(state.trace->request == *request);
}

bool nothing_asked(const AppState& state) {
  return !state.document.model && sentences(state.document.text).empty();
}

const std::string& problem_of(const AppState& state) {
  const Request* request = wanted(state);
  if (request && state.refused && *state.refused == *request) return state.refusal;
  return state.problem;
}

Region shown_region(const AppState& state) {
  const Viewport& part = state.view.viewport;
  const bool whole = part.num_queries == 0 || part.num_keys == 0;
  return {.layer = state.view.chosen.layer,
          .head = state.view.chosen.head,
          .first_query = whole ? 0 : part.first_query,
          .num_queries = whole ? state.trace->queries() : part.num_queries,
          .first_key = whole ? 0 : part.first_key,
          .num_keys = whole ? state.trace->keys() : part.num_keys};
}

bool needs_detail(const AppState& state) {
  const Trace& trace = *state.trace;
  const Region region = shown_region(state);
  const bool whole = region.num_queries == trace.queries() && region.num_keys == trace.keys();
  return !whole || trace.queries() > kThumbnail || trace.keys() > kThumbnail;
}

bool has_unsaved_changes(const AppState& state) { return !(state.document == state.saved_document); }

std::size_t sentence_begin(const AppState& state) {
  const auto lines = sentences(state.document.text);
  return state.view.sentence < lines.size() ? lines[state.view.sentence].begin : 0;
}

const Tokens* shown_tokens(const AppState& state) {
  const Request* request = wanted(state);
  if (!request) return nullptr;
  return request->model && request->model->given ? &request->model->given->query_tokens : &request->tokens;
}

}  // namespace headlight
