// A file of one watched call, for the tests of what is named from it.
#pragma once

#include <gtest/gtest.h>

#include "diagnose/capture/capture.h"
#include "diagnose/mistaken.h"

namespace headlight::captured {

using namespace mistaken;

/// A file of one call: the inputs of the right attention, the answers of the one that ran, and facts.
struct Captured {
  std::map<std::string, Array> arrays;
  std::string facts = R"("where":"mine.py:4","heads":3,"d_k":4)", expect = "{}";

  Captured(const Attention& right, const Attention& ran) {
    for (auto& [name, array] : inputs_of(right)) {
      if (name == "mask") continue;
      if (name == "query") array.shape.insert(array.shape.begin(), 1);
      arrays["0." + name] = array;
    }
    arrays["0.attentions"] = attentions_of(ran);
    arrays["0.output"] = array_of({1, 7, 12}, {ran.output});
  }

  Captured& blocks(Table allowed) {
    for (double& cell : allowed.values) cell = cell == 0 ? 1 : 0;
    arrays["0.blocked"] = array_of({1, 1, 7, 7}, {allowed});
    return *this;
  }

  Result<Capture> read() const {
    return capture_from(
        "f", {.arrays = arrays, .metadata = {{"capture", "{\"calls\":[{" + facts + "}]}"}, {"expect", expect}}});
  }
  CaptureReport judged() const {
    const auto capture = read();
    EXPECT_TRUE(capture) << capture.error().message();
    const auto report = capture ? judge(*capture) : Result<CaptureReport>(CaptureReport{});
    EXPECT_TRUE(report) << report.error().message();
    return report ? *report : CaptureReport{};
  }
  std::string named() const {
    const CaptureReport report = judged();
    EXPECT_EQ(report.calls, 1);
    std::string codes;
    for (const CapturedMistake& one : report.mistakes) {
      EXPECT_NE(one.mistake.text.en, one.mistake.text.zh);
      codes += (codes.empty() ? "" : " ") + std::string(one.mistake.code.name);
    }
    return codes;
  }
};

inline Attention causal_attention(const std::function<void(Attention&)>& change = {}) {
  Attention attention(3);
  attention.causal();
  if (change) change(attention);
  attention.run();
  return attention;
}

inline Table alibi(double slope) {
  Table bias(7, 7);
  for (std::size_t i = 0; i < 7; ++i)
    for (std::size_t j = 0; j < 7; ++j) bias(i, j) = slope * (static_cast<double>(j) - static_cast<double>(i));
  return bias;
}

}  // namespace headlight::captured
