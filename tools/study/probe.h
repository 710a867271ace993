// heads --probe: sequences in which what comes next can be known from what came before alone.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "model/request.h"

namespace headlight {

/// `repeated-random:50x10` gives 50 sequences of 10 random tokens, each twice (Elhage et al. 2021; Olsson et al. 2022):
/// always the same ones, without special tokens. Errors: another text, a model without a vocabulary.
Result<std::vector<Request>> probing(const Request& like, const std::string& probe);

}  // namespace headlight
