// Everything an answer depends on, and nothing else. Two equal Requests have the same answer.
#pragma once

#include <memory>

#include "model/config.h"
#include "model/edits.h"
#include "model/mask.h"
#include "model/tokens.h"
#include "model/weights.h"

namespace headlight {

struct Request {
  std::shared_ptr<const Model> model = {};  // compared by identity; null: fresh weights drawn from `config`
  Config config = {};                       // the model's own where there is a model
  Tokens tokens = {};
  MaskSpec mask = {};
  Edits edits = {};

  friend bool operator==(const Request&, const Request&) = default;
};

}  // namespace headlight
