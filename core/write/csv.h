// The CSV export: one line for every attention weight, tidy, for spreadsheets and data frames.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/progress.h"
#include "base/result.h"
#include "write/arrays.h"

namespace headlight {

/// A field as RFC 4180 quotes it: in quotes where it holds a comma, a quote or a line break, quotes doubled.
std::string csv_field(std::string_view text);

/// `stack,layer,head,query,key,query_token,key_token,weight`, the stack being Self, or Encoder, Decoder, Cross; for
/// several traces a last column `sentence` counts them. Tokens that are left out are not counted either.
Status write_csv(const std::vector<std::shared_ptr<const Trace>>& traces, const ExportOptions& options, Output& output,
                 Progress& progress);

}  // namespace headlight
