#include "base/result.h"
#include "explain/patch_pass.h"
#include "math/attention.h"

namespace headlight {
namespace {

/// All tokens of a part of a head, as a pass with the sender's patch computed it.
Patch patch_of_reader(const Trace& pass, PatchAt part, const HeadRef& to) {
  const AttentionTrace& attention = pass.attention(to.stack, to.layer);
  const Index head = part == PatchAt::q ? to.head : attention.kv_head(to.head);
  const Matrix& all = part == PatchAt::q ? attention.query : part == PatchAt::k ? attention.key : attention.value;
  const Index heads = part == PatchAt::q ? attention.num_heads() : attention.num_kv_heads;
  return patch_of_rows(part, {to.layer, head, to.stack}, head_columns(all, head, heads));
}

/// The sender's z of the source, and that of the base in all other heads from its layer to below `end`.
Patches sender_alone(const Patching& patching, const HeadRef& from, Index end) {
  const auto z_of = [](const Trace& trace, const HeadRef& head) {
    return z_rows(trace, head, 0, trace.queries(head.stack));
  };
  Patches patches;
  for (Index layer = from.layer; layer < end; ++layer)
    for (Index head = 0; head < patching.base.num_heads(from.stack); ++head) {
      const HeadRef one{layer, head, from.stack};
      patches.push_back(one == from
                            ? patch_of_pairs(PatchAt::heads, one, z_of(patching.source, one), patching.wanted.queries)
                            : patch_of_rows(PatchAt::heads, one, z_of(patching.base, one)));
    }
  return patches;
}

Status check_path(const Trace& trace, const PathWanted& path) {
  const auto check_head = [&](const char* option, const HeadRef& head) -> Status {
    TRY(check_within(option, "layer", head.layer, trace.num_layers(head.stack)));
    return check_within(option, "head", head.head, trace.attention(head.stack, head.layer).num_heads());
  };
  for (const HeadRef& head : path.from) TRY(check_head("--from-head", head));
  if (!path.to) return Done{};
  TRY(check_head("--to", *path.to));
  for (const HeadRef& head : path.from)
    if (head.layer >= path.to->layer)
      return bad_input("--from-head", "", "a head of a layer below " + head_label(*path.to), head_label(head));
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
  patching.passes = path.from.size();
  for (const HeadRef& from : path.from) {
    const Index end = path.to ? path.to->layer : base.num_layers(from.stack);
    Patches patches = sender_alone(patching, from, end);
    if (path.to) {
      Progress pass;
      const auto read = TRY(forward(base.request, pass, &base, threads, &patches));
      patches.clear();
      for (const PatchAt part : {PatchAt::q, PatchAt::k, PatchAt::v})
        if (!path.part || path.part == part) patches.push_back(patch_of_reader(*read, part, *path.to));
    }
    const auto restored = TRY(restored_by(patching, {patches}));
    answer.cells.push_back({.layer = from.layer, .head = from.head, .token = {}, .restored = restored.front()});
  }
  return answer;
}

}  // namespace headlight
