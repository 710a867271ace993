// The bundled models, read once by a test program.
#pragma once

#include <gtest/gtest.h>

#include "models/bundled_models.h"

namespace headlight::fixture {

inline const std::shared_ptr<const BundledModels>& shipped() {
  static const auto read = read_shipped_models();
  if (!read) ADD_FAILURE() << read.error().message();
  return *read;
}

}  // namespace headlight::fixture
