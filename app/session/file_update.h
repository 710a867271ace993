// The commands of files: the browser, what a file that was opened or saved changes, and the notices about it. Included
// by update.cpp alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "session/figure_request.h"
#include "session/file/open_file.h"
#include "session/lesson_commands.h"
#include "session/opening.h"
#include "session/state_rules.h"

namespace headlight {

/// One function a command; `kind` is the command's.
struct FileUpdate {
  AppState& state;
  CommandKind kind;

  void operator()(const Browse& c) {
    Browser& browser = state.browser;
    if (c.purpose != browser.purpose)
      browser.name = c.purpose == Browser::Purpose::export_to
                         ? (state.view.view == View::code ? "attention.py" : "attention.json")
                     : c.purpose == Browser::Purpose::save   ? "session.headlight.json"
                     : c.purpose == Browser::Purpose::figure ? "figure.pdf"
                                                             : "";
    if (c.purpose == Browser::Purpose::figure && browser.purpose != c.purpose) browser.figure = seen_figure(state);
    if (c.purpose != browser.purpose) state.preview.reset();
    // What is written does not go into the folder of a model that was looked at.
    const bool reads = c.purpose == Browser::Purpose::none || c.purpose == Browser::Purpose::open ||
                       c.purpose == Browser::Purpose::corpus;
    const auto of_model = [](const Browser::Entry& entry) { return entry.name == "config.json"; };
    if (!reads && c.purpose != browser.purpose && std::ranges::any_of(browser.entries, of_model)) {
      browser.folder = state.settings.folder;
      browser.entries.clear();
    }
    browser.as_a = c.as_a || (browser.as_a && c.purpose == browser.purpose);
    browser.purpose = c.purpose;
    if (c.folder.empty() || c.folder == browser.folder) return;
    browser.folder = c.folder;
    browser.entries.clear();
  }
  void operator()(const ChooseFigure& c) {
    state.browser.figure = c.kind;
    state.browser.width = std::clamp(std::round(c.width), kLeastMm, kMostMm);
    state.browser.dark = c.dark;
  }
  void operator()(ModelsListed& c) { state.browser.models = std::move(c.models); }
  void operator()(FolderListed& c) {
    if (state.browser.folder != c.folder) return;  // another folder was chosen meanwhile
    state.browser.entries = std::move(c.entries);
  }
  void operator()(const OpenPath&) { state.browser.purpose = Browser::Purpose::none; }
  void operator()(const SaveSession&) {
    if (!state.generation) end_gesture(state);
    state.browser.purpose = Browser::Purpose::none;
  }
  void operator()(const ExportTo&) { state.browser.purpose = Browser::Purpose::none; }
  void operator()(const FigureTo&) { state.browser.purpose = Browser::Purpose::none; }
  void operator()(const CancelFileWork&) {}
  void operator()(FileOpened& c) {
    if (c.as_a) return keep_opened(state, c);
    state.open_failure.reset();
    if (c.opened.kind == OpenFile::Kind::picture && c.opened.seen_by != state.document.model) {
      state.notice = notice_of(bad_input(c.path, "", "the model that was open when it was asked for", "another one"));
      return;
    }
    if (c.opened.kind != OpenFile::Kind::lesson) return take_opened(state, c, kind);
    take_lesson(state, *c.opened.lesson, kind);
    remember(state.settings, c.path);
  }
  void operator()(FileSaved& c) {
    const bool session = c.session.has_value();
    if (session) {
      state.session_path = c.path;
      state.saved_document = std::move(*c.session);
      remember(state.settings, c.path);
    }
    state.notice = Notice{session ? Notice::Kind::saved : Notice::Kind::exported, std::move(c.path)};
  }
  void operator()(OpenFailed& c) {
    state.notice = notice_of(c.error);
    state.open_failure = OpenFailure{std::move(c.path), std::move(c.error), false, std::move(c.text)};
  }
  void operator()(FileFailed& c) { state.notice = notice_of(c.error); }
  void operator()(const ShowFailure& c) {
    if (state.open_failure) state.open_failure->details = c.details;
    else state.shows_problem = c.details;
  }
  void operator()(const LeaveFailure&) { state.open_failure.reset(); }
  void operator()(const DismissNotice&) {
    state.notice.reset();
    state.open_failure.reset();
  }
  void operator()(Changed& c) { state.notice = Notice{Notice::Kind::changed, std::move(c.text)}; }
  void operator()(Copied& c) { state.notice = Notice{Notice::Kind::copied, std::move(c.text)}; }
};

}  // namespace headlight
