// A mistake as it is reported.
#pragma once

#include <optional>
#include <string>

#include "diagnose/texts.h"

namespace headlight {

/// A number of the diagnosis' texts, with four digits.
std::string decimal(double value);

struct Mistake {
  MistakeCode code;
  Bilingual text;          // words(code, …), with its numbers
  std::string role = {};   // the projection that it is about: query, key, value, output, "query and key"; "step.0"
  std::string array = {};  // in which it shows; empty where it was seen in the program that was watched
  std::optional<double> before = {};  // the largest difference of that array, and what is left of it with the mistake
  std::optional<double> after = {};   // made on the right side as well
};

}  // namespace headlight
