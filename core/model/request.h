// Everything an answer depends on, and nothing else. Two equal Requests have the same answer.
#pragma once

#include <memory>

#include "base/result.h"
#include "model/config.h"
#include "model/edits.h"
#include "model/mask.h"
#include "model/tokens.h"
#include "model/weights.h"

namespace headlight {

struct Request {
  std::shared_ptr<const Model> model = {};            // compared by identity; null: fresh weights drawn from `config`
  Config config = {};                                 // that of the model where there is one
  std::shared_ptr<const Vocabulary> vocabulary = {};  // of fresh weights; compared by identity; null: no output layer
  Tokens tokens = {};          // the sentence; of an encoder-decoder: the source, which the encoder reads
  Tokens target = {};          // what the decoder of an encoder-decoder reads
  MaskSpec mask = {};          // of Stack::self
  MaskSpec encoder_mask = {};  // of Stack::encoder
  MaskSpec cross_mask = {};    // of Stack::cross
  Edits edits = {};

  friend bool operator==(const Request&, const Request&) = default;
};

/// Whether the request is about this attention: every request is about `self`.
bool has_stack(const Request& request, Stack stack);

/// The tokens along the two sides of an attention: those of a tensors file, of the sentence, or of the target.
const Tokens& query_tokens(const Request& request, Stack stack = Stack::self);
const Tokens& key_tokens(const Request& request, Stack stack = Stack::self);

/// The mask that the request has for this attention, in layers without another mask.
const MaskSpec& mask_spec(const Request& request, Stack stack);

/// The same request without edits and without painted cells.
Request unedited(Request request);

/// Whether this layer of the model has such a part: a tensors file has neither residual sum, norm nor feed-forward, and
/// weights that another program computed have no scale. Only the scale belongs to Stack::cross.
bool has_part(const Model& model, Stack stack, Index layer, BlockPart part);

/// An Error that names the first part that is switched off and that the model does not have.
Status check_parts(const Model& model, const Edits& edits);

}  // namespace headlight
