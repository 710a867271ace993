#include "explain/patch/patching.h"

#include <algorithm>
#include <tuple>

#include "base/result.h"
#include "explain/matrices.h"
#include "explain/patch/neurons.h"
#include "math/attention.h"
#include "math/random_choice.h"
#include "math/variants.h"
#include "model/chosen_heads.h"

namespace headlight {
namespace {

constexpr std::size_t kMostNeuronNumbers = std::size_t{1} << 28;  // of the patches of all neurons that are wanted

bool of_stream(PatchAt at) { return at == PatchAt::residual || at == PatchAt::ffn; }

/// Of a feed-forward that has `heads` these are its neurons.
bool of_neurons(const PatchWanted& wanted) { return wanted.at == PatchAt::ffn && !wanted.heads.empty(); }

/// Whether each token is a cell.
bool one_by_one(const PatchWanted& wanted) {
  return wanted.by_token || !wanted.tokens.empty() || (of_stream(wanted.at) && !of_neurons(wanted));
}

/// The layers and heads that are wanted, in order.
Result<std::vector<HeadRef>> wanted_heads(const Trace& trace, const PatchWanted& wanted) {
  const Index layers = trace.num_layers(wanted.stack);
  const bool neural = of_neurons(wanted);
  const char* option = neural ? "--at-neurons" : "--at-heads";
  const auto heads_in = [&](Index layer) {
    if (neural) return num_neurons(trace, wanted.stack, layer);
    const AttentionTrace& attention = trace.attention(wanted.stack, layer);
    return of_stream(wanted.at) ? 1 : of_keys(wanted.at) ? attention.num_kv_heads : attention.num_heads();
  };
  const Error none = bad_input(
      option, "", neural ? "neurons of a feed-forward without experts" : "a head of the layers of --at-layers", "none");
  for (const Index layer : wanted.layers) TRY(check_within("--at-layers", "", layer, layers));
  for (const LayerHeads& heads : wanted.heads) {
    if (heads.stack != wanted.stack)
      return bad_input(option, "",
                       (neural ? "neurons of --stack " : "heads of --stack ") + std::string(stack_name(wanted.stack)),
                       stack_name(heads.stack));
    TRY(check_within(option, "layer", heads.layer, layers));
    if (heads_in(heads.layer) == 0) return none;
    TRY(check_within(option, neural ? "neuron" : "head", heads.head.value_or(0), heads_in(heads.layer)));
  }
  std::vector<HeadRef> heads;
  for (Index layer = 0; layer < layers; ++layer)
    for (Index head = 0; head < heads_in(layer); ++head)
      if (const HeadRef one{layer, head, wanted.stack}; is_chosen(one, wanted.layers, wanted.heads))
        heads.push_back(one);
  if (heads.empty()) return none;
  return heads;
}

/// Without the tokens at which the patch would put what is there: a pass begins at the first one that changes.
TokenPairs changed_by(const Matrix& values, const Matrix& own, TokenPairs pairs) {
  std::erase_if(
      pairs, [&](const auto& pair) { return (values.row(pair.first).array() == own.row(pair.second).array()).all(); });
  return pairs;
}

/// Each cell's pairs: those of one token, or all of them.
Result<std::vector<TokenPairs>> wanted_tokens(const Trace& corrupt, const PatchWanted& wanted) {
  const TokenPairs& all = of_keys(wanted.at) ? wanted.keys : wanted.queries;
  const Index count = of_keys(wanted.at) ? corrupt.keys(wanted.stack) : corrupt.queries(wanted.stack);
  for (const Index token : wanted.tokens) {
    TRY(check_within("--at-tokens", "", token, count));
    if (std::none_of(all.begin(), all.end(), [&](const auto& pair) { return pair.second == token; }))
      return bad_input("--at-tokens", "", "tokens that both sentences have", std::to_string(token));
  }
  std::vector<TokenPairs> cells;
  if (!one_by_one(wanted)) return std::vector<TokenPairs>{all};
  for (const auto& pair : all)
    if (wanted.tokens.empty() ||
        std::find(wanted.tokens.begin(), wanted.tokens.end(), pair.second) != wanted.tokens.end())
      cells.push_back({pair});
  return cells;
}

}  // namespace

Matrix part_of(const Trace& trace, PatchAt at, const HeadRef& head) {
  const auto all = [&](Quantity quantity) { return whole(trace, matrix_id(quantity, head)); };
  const Index queries = trace.queries(head.stack);
  switch (at) {
    case PatchAt::heads: return z_rows(trace, head, 0, queries);
    case PatchAt::residual: return trace.blocks_of(head.stack)[static_cast<std::size_t>(head.layer)].output;
    case PatchAt::ffn: return all(Quantity::ffn_output);
    case PatchAt::pattern: return attention_rows(trace, head, 0, queries);
    case PatchAt::q: return all(Quantity::query);
    case PatchAt::k:
    case PatchAt::v: break;
  }
  const AttentionTrace& attention = trace.attention(head.stack, head.layer);
  return head_columns(at == PatchAt::k ? attention.key : attention.value, head.head, attention.num_kv_heads);
}

Status check_part(const Trace& clean, const Trace& corrupt, const PatchWanted& wanted) {
  if (of_stream(wanted.at) && wanted.stack == Stack::cross)
    return bad_input("--stack", "", "self or encoder with --at " + std::string(name(wanted.at)), "cross");
  if (wanted.at == PatchAt::pattern && (clean.queries(wanted.stack) != corrupt.queries(wanted.stack) ||
                                        clean.keys(wanted.stack) != corrupt.keys(wanted.stack)))
    return bad_input("--from", "tokens", "as many as the other sentence has, with --at pattern", "another number");
  return Done{};
}

Status restore(Patching& patching, const std::vector<CellPatch>& cells, PatchAnswer& answer) {
  const Index most = variants_at_once(patching.base, static_cast<Index>(cells.size()));
  for (std::size_t first = 0, end = 0; first < cells.size(); first = end) {
    std::vector<Patches> variants;
    for (end = first; end < cells.size() && static_cast<Index>(end - first) < most &&
                      cells[end].cell.layer == cells[first].cell.layer;
         ++end)
      variants.push_back({cells[end].patch});
    const auto restored = TRY(restored_by(patching, variants));
    for (std::size_t i = first; i < end; ++i) {
      answer.cells.push_back(cells[i].cell);
      answer.cells.back().restored = restored[i - first];
    }
  }
  return Done{};
}

Result<std::vector<CellPatch>> cell_patches_of(const Patching& patching, const PatchWanted& wanted) {
  const auto heads = TRY(wanted_heads(patching.base, wanted));
  const auto tokens = TRY(wanted_tokens(patching.base, wanted));
  const bool neural = of_neurons(wanted);
  const std::size_t numbers =
      heads.size() * tokens.size() * tokens.front().size() * static_cast<std::size_t>(patching.base.embedding.cols());
  if (neural && numbers > kMostNeuronNumbers)
    return bad_input("--at neurons", "neurons",
                     "at most " + std::to_string(heads.size() * kMostNeuronNumbers / numbers) +
                         " at a time (--at-layers, --at-neurons)",
                     std::to_string(heads.size()));
  std::optional<NeuronPatches> neurons;  // of the last layer
  std::vector<CellPatch> cells;
  for (const HeadRef& head : heads) {
    if (neural && (!neurons || neurons->layer().layer != head.layer)) neurons.emplace(patching, wanted, head);
    if (wanted.at == PatchAt::ffn && !exists(patching.source, matrix_id(Quantity::ffn_output, head)))
      return bad_input("--at", "", "a part that the model has", "no feed-forward");
    const auto part = [&](const Trace& trace) { return part_of(trace, wanted.at, head); };
    const Matrix own = neural ? Matrix() : part(patching.base);
    const Matrix values = neural                    ? Matrix()
                          : wanted.baseline.given() ? replacements(own, wanted.baseline, part).front()
                                                    : part(patching.source);
    for (const TokenPairs& pairs : tokens) {
      CellPatch& one = cells.emplace_back();
      one.cell.layer = head.layer;
      one.cell.stack = head.stack;
      if (!of_stream(wanted.at) || neural) one.cell.head = head.head;
      if (one_by_one(wanted)) one.cell.token = pairs.front().second;
      one.patch = neural ? neurons->of(head.head, pairs)
                         : patch_of_pairs(wanted.at, head, values, changed_by(values, own, pairs));
    }
  }
  return cells;
}

namespace {

/// The chosen parts patched together, and as many others at random.
Result<PatchControl> control_of(Patching& patching, const std::vector<CellPatch>& chosen) {
  const PatchWanted& wanted = patching.wanted;
  PatchWanted everywhere = wanted;
  everywhere.layers = {}, everywhere.heads = {}, everywhere.tokens = {};
  for (const CellPatch& one : chosen)  // of neurons those of the same layers
    if (of_neurons(wanted) && (everywhere.heads.empty() || everywhere.heads.back().layer != one.cell.layer))
      everywhere.heads.push_back({wanted.stack, one.cell.layer, std::nullopt});
  everywhere.by_token = wanted.by_token || !wanted.tokens.empty();
  auto all = TRY(cell_patches_of(patching, everywhere));
  const auto is_chosen = [&](const CellPatch& one) {
    return std::any_of(chosen.begin(), chosen.end(), [&](const CellPatch& other) {
      return std::tie(one.cell.layer, one.cell.head, one.cell.token) ==
             std::tie(other.cell.layer, other.cell.head, other.cell.token);
    });
  };
  PatchControl control;
  const bool some = chosen.size() < all.size();
  if (some) control.cells = static_cast<Index>(chosen.size()), std::erase_if(all, is_chosen);
  control.cells = std::min(control.cells, static_cast<Index>(all.size()));
  Random random(0);
  std::vector<Patches> variants;
  const auto add = [&](Patches& patches, const Patch& one) {
    if (of_neurons(wanted)) add_neuron(patches, one, patching.base);
    else patches.push_back(one);
  };
  if (some) {
    variants.emplace_back();
    for (const CellPatch& one : chosen) add(variants.back(), one.patch);
  }
  for (Index draw = 0; draw < wanted.control; ++draw) {
    Patches& patches = variants.emplace_back();
    draw_to_front(random, all, static_cast<std::size_t>(control.cells));
    for (Index i = 0; i < control.cells; ++i) add(patches, all[static_cast<std::size_t>(i)].patch);
  }
  const auto most = static_cast<std::size_t>(variants_at_once(patching.base, static_cast<Index>(variants.size())));
  for (std::size_t first = 0; first < variants.size(); first += most) {
    const auto begin = variants.begin() + static_cast<std::ptrdiff_t>(first);
    const auto restored = TRY(
        restored_by(patching, {begin, begin + static_cast<std::ptrdiff_t>(std::min(most, variants.size() - first))}));
    control.restored.insert(control.restored.end(), restored.begin(), restored.end());
  }
  if (some) control.together = control.restored.front(), control.restored.erase(control.restored.begin());
  return control;
}

}  // namespace

Result<PatchAnswer> patch_answers(const Trace& clean, const Trace& corrupt, const PatchWanted& wanted, int threads,
                                  Progress* progress) {
  PatchAnswer answer;
  Progress unwatched;
  auto patching = TRY(patching_of(clean, corrupt, wanted, threads, progress ? *progress : unwatched, answer));
  TRY(check_part(clean, corrupt, wanted));
  const Baseline& baseline = wanted.baseline;
  const bool resamples = baseline.given() && baseline.kind == BaselineKind::resample;
  const std::size_t draws = resamples ? baseline.others.size() : 1;
  std::vector<CellPatch> cells;
  for (std::size_t draw = 0; draw < draws; ++draw) {
    if (resamples) patching.wanted.baseline.others = {baseline.others[draw]};
    cells = TRY(cell_patches_of(patching, patching.wanted));
    patching.passes = cells.size() * draws;
    if (wanted.control > 0) patching.passes += static_cast<std::size_t>(wanted.control) + 1;  // and the chosen together
    PatchAnswer one;
    TRY(restore(patching, cells, one));
    if (draw == 0) answer.cells = one.cells;
    for (std::size_t i = 0; i < cells.size() && draw > 0; ++i) answer.cells[i].restored += one.cells[i].restored;
  }
  for (PatchCell& cell : answer.cells) cell.restored /= static_cast<double>(draws);
  if (wanted.control > 0 && !cells.empty()) answer.control = TRY(control_of(patching, cells));
  return answer;
}

}  // namespace headlight
