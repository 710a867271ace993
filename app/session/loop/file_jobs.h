// The jobs that read and write files for the window. Each answers with a command.
#pragma once

#include <string>

#include "session/figure_request.h"
#include "session/state.h"

namespace headlight {

/// Any file that the window opens. `shown`: a picture is resized as its model wants it, its picture as a model that is
/// opened wants it: of a large one that takes longer than a frame.
Job open_job(const OpenPath& open, const Document& shown);
/// A session's file.
Job save_job(const std::string& path, Session session);
/// The numbers of all that is asked, or of the chosen head; of a .py the program of the chosen head's layer.
Job export_job(const std::string& path, const AppState& state);
Job figure_job(const std::string& path, FigureRequest order, DrawFigure draw);
/// The entries of a folder: folders first, then files, by name, without hidden ones.
Job list_job(const std::string& folder);
/// The models of this disk that can be opened by their names, and what each is.
Job models_job();

}  // namespace headlight
