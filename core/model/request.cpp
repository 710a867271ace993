#include "model/request.h"

namespace headlight {

bool has_stack(const Request& request, Stack stack) {
  if (stack == Stack::self) return true;
  if (request.model && request.model->given) return request.model->given->stacks.contains(stack);
  return request.config.arch == Arch::encoder_decoder;
}

const Tokens& query_tokens(const Request& request, Stack stack) {
  if (request.model && request.model->given) return request.model->given->stacks.at(stack).query_tokens;
  return request.config.arch == Arch::encoder_decoder && stack != Stack::encoder ? request.target : request.tokens;
}

const Tokens& key_tokens(const Request& request, Stack stack) {
  if (request.model && request.model->given) return request.model->given->stacks.at(stack).key_tokens;
  return request.config.arch == Arch::encoder_decoder && stack == Stack::self ? request.target : request.tokens;
}

const MaskSpec& mask_spec(const Request& request, Stack stack) {
  switch (stack) {
    case Stack::encoder: return request.encoder_mask;
    case Stack::cross: return request.cross_mask;
    case Stack::self: break;
  }
  return request.mask;
}

Request unedited(Request request) {
  request.edits = {};
  for (MaskSpec* mask : {&request.mask, &request.encoder_mask, &request.cross_mask}) mask->painted.clear();
  return request;
}

}  // namespace headlight
