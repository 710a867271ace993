#include "diagnose/check/judgements.h"

#include "diagnose/check/checkpoint_check.h"

namespace headlight {

const ToolState kDiagnoseState{.check_model = check_checkpoint};

}  // namespace headlight
