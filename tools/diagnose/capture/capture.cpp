#include "diagnose/capture/capture.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/formatted.h"
#include "base/parallel.h"
#include "diagnose/capture/capture_given.h"
#include "diagnose/capture/capture_masks.h"
#include "diagnose/diagnosis.h"
#include "diagnose/slips.h"

namespace headlight {
namespace {

using namespace mistakes;

/// What is seen while a program is followed, without numbers; after a final one nothing else is judged.
struct Observable {
  MistakeCode code;
  bool final = true;
};
constexpr Observable kObservable[] = {{heads_not_split},      {sentences_mixed},     {softmax_sums},
                                      {softmax_replaced},     {softmax_axis},        {softmax_twice},
                                      {dropout_on_scores},    {weights_scaled},      {dropout_left_on, false},
                                      {sides_swapped, false}, {heads_summed, false}, {merge_axis, false}};

/// The part of an array (K, …) that belongs to one sentence.
Array sentence_of(const Array& array, Index sentence) {
  const auto size = static_cast<std::ptrdiff_t>(array.values.size()) / array.shape[0];
  const auto begin = array.values.begin() + sentence * size;
  return {.dtype = array.dtype, .shape = {array.shape.begin() + 1, array.shape.end()}, .values = {begin, begin + size}};
}

/// How the rows of an output were put together from heads.
struct Merge {
  std::optional<MistakeCode> mistake = {};
  bool whole = true;                    // a row is one token, its heads in order
  std::vector<Index> sentence_of = {};  // of each row; empty: rows mix sentences or columns
};

/// `elements` (rows, H·d_v): which element of (sentences, H, T, d_v) stands where.
Merge merge_of(const Array& elements, const CapturedCall& call, Index tokens) {
  const Index rows = elements.shape[0], cols = elements.shape[1], width = cols / call.heads, size = rows * cols;
  Merge merge;
  bool in_order = true, one_token = true;
  for (Index row = 0; row < rows; ++row) {
    const auto part = [&, row](Index col, Index unit, Index count) {
      return static_cast<Index>(elements.values[static_cast<std::size_t>(row * cols + col)]) / unit % count;
    };
    const Index of_head = tokens * width, of_sentence = call.heads * of_head;
    for (Index col = 0; col < cols; ++col) {
      if (part(col, of_sentence, size) != part(0, of_sentence, size)) return {.mistake = merge_sentences_mixed};
      in_order = in_order && part(col, of_head, call.heads) == col / width && part(col, 1, width) == col % width;
      one_token = one_token && part(col, width, tokens) == part(0, width, tokens);
    }
    merge.sentence_of.push_back(part(0, of_sentence, size));
  }
  if (!in_order && one_token) return {.mistake = merge_columns_mixed};
  merge.whole = in_order && one_token;
  // The sentence may change along one axis of the rows alone.
  bool along_rows = false, along_outer = false;
  for (Index row = 0; call.row_length > 0 && row < rows; ++row) {
    const auto differs_from = [&](Index back) {
      return merge.sentence_of[static_cast<std::size_t>(row)] !=
             merge.sentence_of[static_cast<std::size_t>(row - back)];
    };
    along_rows = along_rows || (row % call.row_length > 0 && differs_from(1));
    along_outer = along_outer || (row >= call.row_length && differs_from(call.row_length));
  }
  if (along_rows && along_outer) merge.mistake = merge_sentences_mixed;
  return merge;
}

bool is_scale(const MistakeCode& code) { return code.name.starts_with("scale_"); }

/// Whether the numbers show the mistake that the steps show; then the words of the numbers are the more exact ones.
bool are_alike(const MistakeCode& of_numbers, const MistakeCode& of_steps) {
  const auto missing = [](const MistakeCode& code) {
    return code == mask_not_applied || code.name.ends_with("mask_missing");
  };
  const bool off_by_one = of_numbers == mask_off_by_one && of_steps != mask_of_other_sentences;
  return of_numbers == of_steps || off_by_one || (missing(of_numbers) && missing(of_steps));
}

bool rows_sum_to_one(const Array& weights) {
  const Index cols = weights.shape.back(), rows = static_cast<Index>(weights.values.size()) / cols;
  return sums_to_one(Eigen::Map<const Matrix>(weights.values.data(), rows, cols).cast<double>(), 1e-3);
}

/// How many queries have weights that are NaN, of the sentence that has most.
Index queries_without_keys(const Array& attentions) {
  Index most = 0;
  for (Index b = 0; b < attentions.shape[0]; ++b) {
    std::set<Index> queries;
    for (Index h = 0; h < attentions.shape[1]; ++h) {
      const Grid weights = cells_of(attentions, b, h);
      for (Index i = 0; i < weights.rows(); ++i)
        if (weights.row(i).array().isNaN().any()) queries.insert(i);
    }
    most = std::max(most, static_cast<Index>(queries.size()));
  }
  return most;
}

/// One call while it is judged.
struct Judge {
  const std::vector<CapturedCall>& calls;
  const CapturedCall& call;  // calls[index] without its parts
  Index index;
  CaptureReport& report;
  Merge merge = {};
  bool observed = false;                  // a mistake was seen while following
  std::set<std::string_view> meant = {};  // what was taken as meant, once

  void add(Mistake mistake) {
    if (is_scale(mistake.code) && call.scale != 0) {
      if (std::count(call.given.begin(), call.given.end(), FactRow{"scale", "meant"}) > 0) return;  // (said)
      mistake.text = scale_text(mistake.code, call);
    }
    if (std::count(call.meant.begin(), call.meant.end(), FactRow{std::string(mistake.code.name)}) > 0) {
      if (meant.insert(mistake.code.name).second) take(words(phrases::meant, mistake.text));
      return;
    }
    // The sentences of these two contain numbers, which differ from call to call.
    const bool by_numbers = mistake.code == unexplained || mistake.code == dropout_left_on;
    const auto same = [&](const CapturedMistake& known) {
      return known.mistake.text == mistake.text || (by_numbers && known.mistake.code == mistake.code);
    };
    const auto step = call.step_of.find(mistake.code.name);
    if (step != call.step_of.end()) mistake.role = step->second;
    if (std::none_of(report.mistakes.begin(), report.mistakes.end(), same))
      report.mistakes.push_back({std::move(mistake), index});
  }
  void add(const MistakeCode& code, const Bilingual& detail = {}) {
    add(Mistake{.code = code, .text = words(code, detail)});
  }
  void take(const Bilingual& line) {
    report.unchecked.push_back(call.where.empty() ? line : words(phrases::at, call.where, line));
  }

  /// Whether a mistake ends the judgement.
  bool take_observed() {
    bool final = false;
    for (const FactRow& one : call.observed)
      for (const Observable& observable : kObservable)
        if (one[0] == observable.code.name) {
          std::vector<Bilingual> parts;
          for (std::size_t part = 1; part < one.size(); ++part)  // (names of the caller's are not words)
            parts.push_back(observable.code == sides_swapped ? Bilingual(one[part]) : translated(one[part]));
          if (observable.code == dropout_left_on && !parts[0].empty()) parts = {words(phrases::of_p_in_eval, parts[0])};
          add(Mistake{.code = observable.code, .text = filled(observable.code, parts)});
          observed = true;
          final = final || observable.final;
        }
    return final;
  }

  /// Weights that are there and not used, or used for something else than they are named for.
  void take_roles() {
    FactRow wrong;
    std::set<std::string> used;
    bool value_of_key = false;
    for (const FactRow& role : call.roles) {
      used.insert(role[1]);
      value_of_key = value_of_key || (role[0] == "value" && role[1] == "key");
      if (role[0] != role[1]) wrong.push_back(role[0]);
    }
    const bool values_too = std::find(wrong.begin(), wrong.end(), "value") != wrong.end();
    if (used == std::set<std::string>{"query", "key", "value"} && values_too) {
      const std::string last = wrong.back();
      wrong.pop_back();
      add(roles_swapped, translated(joined_texts(wrong, ", ") + " and " + last));
    } else if (values_too && used == std::set<std::string>{"query", "key"} && wrong.size() == 1 &&
               call.unused.empty()) {
      add(value_of_key ? value_from_key : value_from_query);
    }
    for (const FactRow& one : call.unused) {
      const Bilingual role = translated(one[0]);
      const Bilingual missing = words(phrases::not_used, words(projection_missing, role), one[1]);
      if (one[2].empty()) add(Mistake{.code = projection_missing, .text = missing, .role = one[0]});
      else add(Mistake{projection_replaced, words(projection_replaced, role, one[2], one[1]), one[0]});
    }
  }

  /// The inputs of one sentence as a tensors file.
  ArrayFile inputs_of(Index sentence) const {
    ArrayFile file{.arrays = {}, .metadata = {{"num_heads", std::to_string(call.heads)}}};
    for (const auto& [name, array] : call.arrays) {
      if (name == "query" || name == "key" || name == "value") file.arrays[name] = sentence_of(array, sentence);
      else if (name.find("_proj.") != std::string::npos || name == "mask") file.arrays[name] = array;
    }
    return file;
  }

  /// The output of one sentence, (T, …), zero where a query may attend to nothing; nothing where there is none.
  std::optional<Array> output_of(Index sentence, const Allowed& allowed) const {
    const Array* output = call.array("output");
    if (!output || merge.mistake == merge_columns_mixed || (call.array("merge") && merge.sentence_of.empty()))
      return std::nullopt;
    Array rows{.shape = {0, output->shape.back()}, .values = {}};
    if (!call.array("merge")) rows = sentence_of(*output, sentence);
    const auto cols = static_cast<std::ptrdiff_t>(output->shape.back());
    for (std::size_t row = 0; row < merge.sentence_of.size(); ++row) {
      if (merge.sentence_of[row] != sentence) continue;
      const auto begin = output->values.begin() + static_cast<std::ptrdiff_t>(row) * cols;
      rows.values.insert(rows.values.end(), begin, begin + cols);
      ++rows.shape[0];
    }
    for (Index i = 0; merge.whole && rows.shape[0] == allowed.rows() && i < allowed.rows(); ++i)
      if (!allowed.row(i).any()) std::fill_n(rows.values.begin() + i * cols, cols, 0.0f);
    return rows;
  }

  /// A mask, and the weights of some heads under it; rows that may attend to nothing have none.
  void put_heads(ArrayFile& file, Index sentence, const std::vector<Allowed>& allowed, const Heads* bias, Index first,
                 Index count) const {
    const Allowed& one = allowed[static_cast<std::size_t>(first)];
    if (bias) file.arrays["mask"] = array_of(((*bias)[static_cast<std::size_t>(first)] + mask_of(one)).cast<float>());
    else if (!one.all()) file.arrays["mask"] = array_of(mask_of(one).cast<float>());
    const Array* attentions = call.array("attentions");
    if (!attentions) return;
    Array& weights = file.arrays["attentions"];
    weights = {.shape = {1, count, one.rows(), one.cols()}, .values = {}};
    for (Index head = first; head < first + count; ++head) {
      Grid cells = cells_of(*attentions, sentence, head);
      for (Index i = 0; i < cells.rows(); ++i)
        if (!one.row(i).any()) cells.row(i).setZero();
      const Array values = array_of(cells.cast<float>());
      weights.values.insert(weights.values.end(), values.values.begin(), values.values.end());
    }
  }

  Result<std::optional<Examination>> examine_file(const ArrayFile& file) const {
    if (!file.arrays.contains("attentions") && !file.arrays.contains("output")) return std::optional<Examination>();
    auto mine = TRY(export_from(call.where.empty() ? "arrays" : call.where, file, std::nullopt));
    auto ours = TRY(answers_to(mine));
    const float tolerance = call.tolerance > 0 ? call.tolerance : tolerance_of(call.dtype);
    constexpr double kCells = kSearchCells / 4;  // of a call and a sentence
    return std::optional(examine(std::move(ours), std::move(mine), tolerance, RightSide::a, kCells));
  }

  /// One sentence under its mask; nothing where it cannot be judged. Heads with different masks are judged one by one,
  /// and the first that differs counts.
  Result<std::optional<Examination>> examine_sentence(Index sentence, const MeantMask& mask) const {
    ArrayFile file = inputs_of(sentence);
    const std::vector<Allowed>& allowed = mask.allowed[static_cast<std::size_t>(sentence)];
    const Heads* bias = mask.bias.empty() ? nullptr : &mask.bias[static_cast<std::size_t>(sentence)];
    bool varies = false;
    for (std::size_t h = 0; h < allowed.size(); ++h)
      varies = varies || (allowed[h] != allowed[0]).any() || (bias && (*bias)[h] != (*bias)[0]);
    if (!varies) {
      put_heads(file, sentence, allowed, bias, 0, call.heads);
      auto output = output_of(sentence, allowed[0]);
      if (output) file.arrays["output"] = std::move(*output);
      return examine_file(file);
    }
    std::optional<Examination> worst;
    if (!call.array("attentions") || call.array("q_proj.weight") || call.array("k_proj.weight")) return worst;
    for (Index head = 0; head < call.heads; ++head) {
      ArrayFile one{.arrays = {}, .metadata = {{"num_heads", "1"}}};
      for (const char* name : {"query", "key"})
        one.arrays[name] = array_of(
            reference::split_heads(rows_of(call.arrays.at(name), sentence), call.heads)[static_cast<std::size_t>(head)]
                .cast<float>());
      one.arrays["value"] = one.arrays["key"];  // any will do: the weights alone are judged
      put_heads(one, sentence, allowed, bias, head, 1);
      auto examined = examine_file(one);
      if (!examined) return examined;
      if (!worst || worst->comparison.equal()) worst = std::move(*examined);
    }
    return worst;
  }

  /// Adds the mistakes that the steps and the numbers of one sentence show.
  void name(const Examination& examined, const std::optional<Mistake>& of_mask) {
    if (examined.comparison.equal()) {
      if (merge.mistake) add(*merge.mistake);
      else if (call.by_query && call.over.empty()) add(weights_transposed);
      return;
    }
    std::vector<Mistake> all;
    if (const auto& rounding = examined.diagnosis.rounding) { return take(rounding->text()); }
    if (!examined.diagnosis.verdicts.empty()) all = examined.diagnosis.verdicts.front().mistakes;
    for (Mistake& one : all)  // the steps have the number
      if (one.code == blocked_scores_weak && call.filled) one.text = number_words(call);
    const auto shown = all.empty() ? std::nullopt : std::optional(all.front());
    const auto scale = wrong_scale(call);
    const int seen = int{of_mask.has_value()} + int{scale.has_value()} + int{!call.over.empty()};
    const bool stated = of_mask && of_mask->code == blocked_scores_weak && shown && shown->code != blocked_scores_weak;
    if (seen == 1 && shown && of_mask && are_alike(shown->code, of_mask->code)) return add(stated ? *of_mask : *shown);
    if (seen == 1 && shown && scale && is_scale(shown->code)) return add(*shown);
    if (scale) add(*scale);
    if (of_mask) add(*of_mask);
    if (!call.over.empty()) add(softmax_axis, translated(call.over));
    if (seen > 0) return;
    const bool in_output = examined.comparison.arrays[*examined.comparison.first].name == "output";
    if ((merge.mistake || !merge.whole) && in_output && !shown) return add(merge.mistake.value_or(merge_columns_mixed));
    if (observed) return;
    const auto weights = examined.b.arrays.find("attentions");
    const bool changed = call.changed && weights != examined.b.arrays.end() && !rows_sum_to_one(weights->second);
    if (!shown && changed) add(weights_changed);
    else if (!shown) add(examined.mistakes().front());
    for (const Mistake& one : all) add(one);
  }

  /// Whether some sentence could be judged.
  Result<bool> judge_numbers() {
    const Array& query = *call.array("query");
    if (const Array* elements = call.array("merge")) merge = merge_of(*elements, call, query.shape[1]);
    const MeantMask mask = meant_mask(calls, call);
    GivenParts parts = judge_parts(calls, index, call.given, mask.allowed);
    for (Mistake& mistake : parts.mistakes) add(std::move(mistake));
    for (const Bilingual& line : parts.taken) take(line);
    bool judged = false;
    for (Index sentence = 0; sentence < query.shape[0]; ++sentence) {
      auto examined = TRY(examine_sentence(sentence, mask));
      if (!examined) continue;
      judged = true;
      name(*examined, mask.mistakes[static_cast<std::size_t>(sentence)]);
    }
    if (!report.mistakes.empty()) return true;
    const Array* attentions = call.array("attentions");
    const Index blank = attentions ? queries_without_keys(*attentions) : 0;
    if (merge.mistake) add(*merge.mistake);
    else if (blank > 0)
      add(empty_rows_nan, words(blank == 1 ? phrases::queries_one : phrases::queries_many, std::to_string(blank)));
    return judged;
  }

  Status run() {
    const bool final = take_observed();
    if (!final && !call.opaque.empty()) {
      take(words(phrases::scores_opaque, call.opaque));
      return Done{};
    }
    if (!final && !call.array("query")) return Done{};
    const std::size_t before = report.mistakes.size();
    const auto judged = final ? Result<bool>(true) : judge_numbers();
    if (!judged && call.where.empty()) return judged.error();
    if (!judged) report.unchecked.emplace_back(judged.error().message());
    const bool of_roles = std::any_of(
        report.mistakes.begin() + static_cast<std::ptrdiff_t>(before), report.mistakes.end(), [](const auto& one) {
          return one.mistake.code.name.ends_with("swapped") || one.mistake.code.name.starts_with("projection_");
        });
    if (!final && !of_roles) take_roles();
    if ((judged && *judged) || !report.mistakes.empty()) ++report.judged;
    return Done{};
  }
};

}  // namespace

Result<CaptureReport> judge(const Capture& capture) {
  const std::vector<CapturedCall>& calls = capture.calls;
  std::vector<CaptureReport> reports(calls.size());
  std::vector<Status> states(calls.size(), Done{});
  parallel_for(static_cast<Index>(calls.size()), 0, [&](Index i) {
    const auto at = static_cast<std::size_t>(i);
    const CapturedCall call = without_parts(calls[at]);
    states[at] = Judge{.calls = calls, .call = call, .index = i, .report = reports[at]}.run();
  });
  CaptureReport all;
  all.calls = static_cast<Index>(calls.size());
  for (std::size_t i = 0; i < reports.size(); ++i) {
    if (!states[i]) return states[i].error();
    all.judged += reports[i].judged;
    all.mistakes.insert(all.mistakes.end(), reports[i].mistakes.begin(), reports[i].mistakes.end());
    for (const Bilingual& line : reports[i].unchecked)
      if (std::find(all.unchecked.begin(), all.unchecked.end(), line) == all.unchecked.end())
        all.unchecked.push_back(line);
  }
  all.notes = capture.note_texts();
  return all;
}

}  // namespace headlight
