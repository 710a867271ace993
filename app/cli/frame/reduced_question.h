// --reduce where the maps that it leaves are an answer of their own: the table of heads, the window.
#pragma once

#include "cli/options/request_options.h"
#include "heads/reduce.h"

namespace headlight {

/// The maps that `reduction` leaves of the answers to a question, as weights that another program computed; a sentence
/// each, or one of all where these are summed up. A cell that is blocked in all of them has NaN, and is hatched; their
/// model says what they sum up. Errors: those of parse_reduction() and reduced_maps(), of any attention of the answer;
/// the strongest heads, which are colours.
Result<Asked> reduced_question(const Asked& asked, const std::string& reduction, int threads,
                               std::vector<Error>& warnings);
/// The same for a window.
Result<Startup> reduced_start(const RequestOptions& request, const std::string& reduction);

}  // namespace headlight
