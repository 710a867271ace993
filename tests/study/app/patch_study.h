// What a study of the tests says that it is: heads patched in three pairs.
#pragma once

#include "study/kept/rows.h"

namespace headlight {

inline const StudyStatement kPatchStudy{.study = "s",
                                        .title = "patch heads, logit-difference",
                                        .columns = {"what", "layer", "head", "token"},
                                        .words = {"patch", "MODEL", "--at", "heads", "--pairs", "p.csv"},
                                        .pairs = 3,
                                        .model = "0123456789abcdef",
                                        .version = "1.0.0",
                                        .machine = "AVX2"};

}  // namespace headlight
