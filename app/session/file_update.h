// The commands of files: the browser, what a file that was opened or saved changes, and the notices about it. Called by
// update() alone.
#pragma once

#include "session/state.h"

namespace headlight {

/// One function a command; `kind` is the command's index in the variant.
struct FileUpdate {
  AppState& state;
  std::size_t kind;

  void operator()(const Browse& c);
  void operator()(NameFile& c);
  void operator()(const ChooseExport& c);
  void operator()(const ChooseFigure& c);
  void operator()(const ChoosePlace& c);
  void operator()(ModelsListed& c);
  void operator()(FolderListed& c);
  void operator()(const OpenPath&);
  void operator()(const SaveSession&);
  void operator()(const ExportTo&);
  void operator()(const FigureTo&);
  void operator()(const CancelFileWork&);
  void operator()(FileOpened& c);
  void operator()(FileSaved& c);
  void operator()(OpenFailed& c);
  void operator()(FileFailed& c);
  void operator()(const ShowFailure& c);
  void operator()(const LeaveFailure&);
  void operator()(const DismissNotice&);
  void operator()(Changed& c);
  void operator()(Copied& c);
};

}  // namespace headlight
