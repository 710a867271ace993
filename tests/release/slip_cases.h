// Cases for the diagnosis, made by combining: a slip or two, a mask, what the files hold, which of them is wrong, how
// exact its numbers are, and the shape. Attentions are those of the tests (mistaken.h), not the program's.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "diagnose/diagnosis.h"
#include "diagnose/mistaken.h"

namespace headlight::mistaken {

/// What two files hold.
enum class Held { weights, scores, scores_and_weights, projected, answers, output, everything };
inline constexpr int kHeld = 7;

/// Families of slips, as the table of docs/check-your-attention.md has them.
inline constexpr const char* kFamilies[] = {"scale",       "softmax",          "mask",     "heads",
                                            "projections", "value and output", "rounding", "none"};
inline constexpr std::size_t kFamilyCount = 8, kRounding = 6, kNone = 7;
std::size_t family_of(std::string_view code);

struct PlantedSlip {
  std::string code;
  std::function<void(Attention&)> make;
  std::vector<Held> seen_in;  // from these arrays it must be named where it changes them
  const char* needs = "";     // "mask", "causal", "padding", "both", "bias", "groups"; empty: nothing
  bool in_heads = false;      // may be made in some heads alone
  std::size_t part = 0;       // two slips of one part are not made together
};
std::vector<PlantedSlip> planted_slips();

struct Case {
  std::string name;
  std::vector<std::string> codes;  // that were made; empty: no mistake
  bool must = true;                // be named; else it may stay without a name, and may not get a wrong one
  bool rounded = false;            // no mistake, but rounding
  bool in_heads = false;
  ExportFile right = {}, wrong = {};
  bool reversed = false;  // the wrong file is A, and B is given as the right one
};

/// Calls use(case) for each case; all of them are the same on every machine.
void for_each_case(const std::function<void(const Case&)>& use);

/// The report on a case: the codes of the first verdict, and whether any verdict is the mistake that was made.
struct Said {
  std::vector<std::string> codes;
  bool right = false;  // the verdict, or one that explains as much, is what was made; or nothing is reported where
                       // there is nothing
  bool equal = false;  // the files are equal to the tolerance: there is nothing to be named
  std::size_t family = kNone;
};
Said said_of(const Case& one);

}  // namespace headlight::mistaken
