#include <algorithm>

#include "base/result.h"
#include "explain/patch/patch_pass.h"
#include "math/attention.h"
#include "math/variants.h"

namespace headlight {
namespace {

/// Where a pass computes a head: the encoder's layers stand before the others, and of a decoder's layer its
/// cross-attention behind its own.
Index place_of(const Trace& trace, const HeadRef& head) {
  if (head.stack == Stack::encoder) return head.layer;
  const Index encoder = trace.has(Stack::encoder) ? trace.num_layers(Stack::encoder) : 0;
  return encoder + 2 * head.layer + (head.stack == Stack::cross ? 1 : 0);
}

Matrix z_of(const Trace& trace, const HeadRef& head) { return z_rows(trace, head, 0, trace.queries(head.stack)); }

/// All heads that stand at `first` or behind it, with their z.
std::vector<std::pair<Index, Patch>> held_heads(const Trace& base, Index first) {
  std::vector<std::pair<Index, Patch>> held;
  for (const Stack stack : kStacks) {
    if (!base.has(stack)) continue;
    for (Index layer = 0; layer < base.num_layers(stack); ++layer)
      for (Index head = 0; head < base.attention(stack, layer).num_heads(); ++head) {
        const HeadRef one{layer, head, stack};
        if (place_of(base, one) < first) continue;
        held.emplace_back(place_of(base, one), patch_of_rows(PatchAt::heads, one, z_of(base, one)));
      }
  }
  return held;
}

/// The sender's z of the source, and that of the base in all other heads from its place to before `end`.
Patches sender_alone(const Patching& patching, const HeadRef& from, std::optional<Index> end,
                     const std::vector<std::pair<Index, Patch>>& held) {
  const Index begin = place_of(patching.base, from);
  Patches patches{patch_of_pairs(PatchAt::heads, from, z_of(patching.source, from), patching.wanted.queries)};
  for (const auto& [place, patch] : held)
    if (place >= begin && (!end || place < *end) && HeadRef{patch.layer, patch.head, patch.stack} != from)
      patches.push_back(patch);
  return patches;
}

/// All tokens of a part of a head, as a pass with the sender's patch computed it.
Patch patch_of_reader(const Trace& pass, PatchAt part, const HeadRef& to) {
  const AttentionTrace& attention = pass.attention(to.stack, to.layer);
  const Index head = part == PatchAt::q ? to.head : attention.kv_head(to.head);
  const Matrix& all = part == PatchAt::q ? attention.query : part == PatchAt::k ? attention.key : attention.value;
  const Index heads = part == PatchAt::q ? attention.num_heads() : attention.num_kv_heads;
  return patch_of_rows(part, {to.layer, head, to.stack}, head_columns(all, head, heads));
}

/// What the receiver reads in a pass in which the sender alone is another. Keys and values that several heads share
/// would move all of these: where `to` alone is to read them, its z is put in instead, from a pass in which they are
/// patched.
Result<Patches> read_by(const Patching& patching, const PathWanted& path, const Trace& read) {
  const Trace& base = patching.base;
  const HeadRef& to = *path.to;
  const AttentionTrace& attention = base.attention(to.stack, to.layer);
  const bool shared = attention.num_kv_heads < attention.num_heads() && path.part != PatchAt::q && !path.group;
  if (shared && !path.part) return Patches{patch_of_rows(PatchAt::heads, to, z_of(read, to))};
  Patches parts;
  for (const PatchAt part : {PatchAt::q, PatchAt::k, PatchAt::v})
    if (!path.part || path.part == part) parts.push_back(patch_of_reader(read, part, to));
  if (!shared) return parts;
  const auto alone = TRY(forward(base.request, unwatched(), &base, patching.threads, &parts));
  return Patches{patch_of_rows(PatchAt::heads, to, z_of(*alone, to))};
}

Result<std::shared_ptr<const Trace>> pass_with(const Patching& patching, const Patches& sent) {
  return forward(patching.base.request, unwatched(), &patching.base, patching.threads, &sent);
}

/// What each reader of a head restores: those of one place read the same pass.
Status restore_readers(Patching& patching, const HeadRef& from, const std::vector<std::pair<Index, Patch>>& held,
                       PatchAnswer& answer) {
  const Trace& base = patching.base;
  std::vector<HeadRef> readers;
  for (const auto& [place, patch] : held)
    if (place > place_of(base, from)) readers.push_back({patch.layer, patch.head, patch.stack});
  const auto earlier = [&](const HeadRef& a, const HeadRef& b) { return place_of(base, a) < place_of(base, b); };
  std::stable_sort(readers.begin(), readers.end(), earlier);
  patching.passes = 3 * readers.size() + 1;
  const auto most = static_cast<std::size_t>(std::max<Index>(3, variants_at_once(base, std::ssize(readers))));
  std::shared_ptr<const Trace> read;
  std::optional<Index> place;
  std::vector<Patches> variants;
  for (std::size_t i = 0; i < readers.size(); ++i) {
    const HeadRef& to = readers[i];
    if (place != place_of(base, to)) {
      place = place_of(base, to);
      read = TRY(pass_with(patching, sender_alone(patching, from, place, held)));
    }
    for (const PatchAt part : {PatchAt::q, PatchAt::k, PatchAt::v}) {
      variants.push_back(TRY(read_by(patching, {.to = to, .part = part}, *read)));
      answer.cells.push_back({.layer = to.layer, .head = to.head, .stack = to.stack, .part = part});
    }
    const bool ends = i + 1 == readers.size() || place_of(base, readers[i + 1]) != *place;
    if (!ends && variants.size() + 3 <= most) continue;
    const auto restored = TRY(restored_by(patching, variants));
    for (std::size_t at = 0; at < restored.size(); ++at)
      answer.cells[answer.cells.size() - restored.size() + at].restored = restored[at];
    variants.clear();
  }
  const auto restored = TRY(restored_by(patching, {sender_alone(patching, from, std::nullopt, held)}));
  answer.cells.push_back({.layer = base.num_layers(), .restored = restored.front()});
  return Done{};
}

Status check_path(const Trace& trace, const PathWanted& path) {
  const auto check_head = [&](const char* option, const HeadRef& head) -> Status {
    if (!trace.has(head.stack)) return bad_input(option, "", "a head of a stack that this model has", head_text(head));
    TRY(check_within(option, "layer", head.layer, trace.num_layers(head.stack)));
    return check_within(option, "head", head.head, trace.attention(head.stack, head.layer).num_heads());
  };
  for (const HeadRef& head : path.from) TRY(check_head("--from-head", head));
  if (!path.to) return Done{};
  TRY(check_head("--to", *path.to));
  for (const HeadRef& head : path.from)
    if (place_of(trace, head) >= place_of(trace, *path.to)) {
      const std::string to = stack_prefix(path.to->stack) + head_label(*path.to);
      return bad_input("--from-head", "",
                       (head.stack == path.to->stack ? "a head of a layer below " : "a head that stands before ") + to,
                       stack_prefix(head.stack) + head_label(head));
    }
  return Done{};
}

}  // namespace

Result<PatchAnswer> patch_paths(const Trace& clean, const Trace& corrupt, const PatchWanted& wanted,
                                const PathWanted& path, int threads, Progress* progress) {
  PatchAnswer answer;
  Progress unwatched;
  auto patching = TRY(patching_of(clean, corrupt, wanted, threads, progress ? *progress : unwatched, answer));
  const Trace& base = patching.base;
  TRY(check_path(base, path));
  if (path.all && path.from.size() != 1)
    return bad_input("--to all", "", "one head in --from-head", std::to_string(path.from.size()));
  patching.passes = path.from.size();
  std::optional<Index> first, end;
  for (const HeadRef& from : path.from) first = std::min(first.value_or(place_of(base, from)), place_of(base, from));
  if (path.to) end = place_of(base, *path.to);
  const auto held = held_heads(base, first.value_or(0));
  if (path.all) {
    TRY(restore_readers(patching, path.from.front(), held, answer));
    return answer;
  }
  for (const HeadRef& from : path.from) {
    Patches patches = sender_alone(patching, from, end, held);
    if (path.to) {
      const auto read = TRY(pass_with(patching, patches));
      patches = TRY(read_by(patching, path, *read));
    }
    const auto restored = TRY(restored_by(patching, {patches}));
    answer.cells.push_back({.layer = from.layer, .head = from.head, .restored = restored.front(), .stack = from.stack});
  }
  return answer;
}

}  // namespace headlight
