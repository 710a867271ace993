// Activation patching: numbers of one answer in the pass of another.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "asking.h"
#include "core/checkpoints.h"
#include "explain/patch/patching.h"
#include "math/attention.h"
#include "math/output.h"
#include "math/variants.h"

namespace headlight {
namespace {

using namespace checkpoints;

constexpr PatchAt kEveryPlace[] = {PatchAt::heads, PatchAt::residual, PatchAt::ffn, PatchAt::pattern,
                                   PatchAt::q,     PatchAt::k,        PatchAt::v};

/// Two sentences of one length in one model, with their tokens paired by position.
struct TwoAnswers {
  std::shared_ptr<const Trace> clean, corrupt;
  PatchWanted wanted;
};

TwoAnswers two_answers(const std::string& name, Stack stack = Stack::self) {
  const auto checkpoint = read_checkpoint(kGolden / name);
  EXPECT_TRUE(checkpoint) << name;
  const auto& model = checkpoint->model;
  const bool two = model->config.arch == Arch::encoder_decoder;
  const auto asked = [&](const std::vector<std::int64_t>& ids) {
    return reference::ask(request_for(model, tokens_of_ids(ids), two ? tokens_of_ids({2, 7, 19}) : Tokens{}));
  };
  TwoAnswers answers{asked({5, 44, 12, 9, 7, 3}), asked({5, 31, 12, 9, 20, 3}), {}};
  answers.wanted.stack = stack;
  for (Index i = 0; i < answers.clean->queries(stack); ++i) answers.wanted.queries.emplace_back(i, i);
  for (Index i = 0; i < answers.clean->keys(stack); ++i) answers.wanted.keys.emplace_back(i, i);
  return answers;
}

double restored_by(const PatchAnswer& answer, Index layer, std::optional<Index> head, std::optional<Index> token = {}) {
  for (const PatchCell& cell : answer.cells)
    if (cell.layer == layer && cell.head == head && cell.token == token) return cell.restored;
  ADD_FAILURE() << "no such cell";
  return 0;
}

/// Every part of every stack is reached: the clean sentence's numbers there move the answer.
TEST(Patching, ReachesEveryPlace) {
  for (const std::string name :
       {"gpt2", "llama-gqa", "family-gptj", "family-olmo2", "family-bart", "family-opt-post"}) {
    const bool two = two_answers(name).clean->encoder != nullptr;
    for (const Stack stack : kStacks) {
      if (stack != Stack::self && !two) continue;
      TwoAnswers answers = two_answers(name, stack);
      for (const PatchAt at : kEveryPlace) {
        if ((at == PatchAt::residual || at == PatchAt::ffn) && stack == Stack::cross) continue;
        SCOPED_TRACE(name + " " + std::string(stack_name(stack)) + " " + std::string(headlight::name(at)));
        answers.wanted.at = at;
        answers.wanted.layers = {0};
        const auto moved = patch_answers(*answers.clean, *answers.corrupt, answers.wanted);
        ASSERT_TRUE(moved) << moved.error().message();
        ASSERT_FALSE(moved->cells.empty());
        // The target is the same in both: only what has read the encoder's output differs.
        const bool differs = !two || stack == Stack::encoder || (stack == Stack::cross && at != PatchAt::q);
        double most = 0;
        for (const PatchCell& cell : moved->cells) most = std::max(most, std::abs(cell.restored));
        if (differs) { EXPECT_GT(most, 1e-4); }
      }
    }
  }
}

/// The stream after a layer is all that the layers above read: patched at every token it gives the clean answer itself.
TEST(Patching, TheWholeStreamIsTheCleanAnswer) {
  for (const std::string name : {"gpt2", "llama-gqa", "family-bart", "family-opt-post", "family-gptj"}) {
    SCOPED_TRACE(name);
    const TwoAnswers answers = two_answers(name);
    if (answers.clean->encoder) continue;
    for (Index layer = 0; layer < answers.clean->num_layers(); ++layer) {
      Patch patch{.at = PatchAt::residual, .layer = layer};
      patch.values = answers.clean->blocks[static_cast<std::size_t>(layer)].output;
      for (Index row = 0; row < patch.values.rows(); ++row) patch.rows.push_back(row);
      Progress progress;
      const Patches patches{patch};
      const auto patched = forward(answers.corrupt->request, progress, answers.corrupt.get(), 1, &patches);
      ASSERT_TRUE(patched && *patched);
      EXPECT_TRUE(same((*patched)->logits, answers.clean->logits)) << layer;
    }
  }
}

/// After the last layer only the token that answers matters.
TEST(Patching, TheLastStreamOfTheAnsweringTokenRestoresAll) {
  TwoAnswers answers = two_answers("gpt2");
  answers.wanted.at = PatchAt::residual;
  const auto answer = patch_answers(*answers.clean, *answers.corrupt, answers.wanted);
  ASSERT_TRUE(answer) << answer.error().message();
  const Index last = answers.clean->num_layers() - 1, tokens = answers.clean->queries();
  EXPECT_EQ(answer->cells.size(), static_cast<std::size_t>((last + 1) * tokens));
  for (Index token = 0; token < tokens; ++token)
    EXPECT_NEAR(restored_by(*answer, last, {}, token), token == answers.clean->answering ? 1 : 0, 1e-6) << token;
}

/// A pattern put in is the same pass as the same weights set by hand.
TEST(Patching, APatternIsTheWeightsSetByHand) {
  for (const std::string name : {"gpt2", "llama-gqa", "family-mpnet", "family-bart"}) {
    SCOPED_TRACE(name);
    TwoAnswers answers = two_answers(name);
    answers.wanted.at = PatchAt::pattern;
    const auto answer = patch_answers(*answers.clean, *answers.corrupt, answers.wanted);
    if (answers.clean->logits.size() == 0) continue;
    ASSERT_TRUE(answer) << answer.error().message();
    const HeadRef head{0, 1};
    const Matrix weights = attention_rows(*answers.clean, head, 0, answers.clean->queries());
    Request request = answers.corrupt->request;
    for (Index i = 0; i < weights.rows(); ++i)
      for (Index j = 0; j < weights.cols(); ++j) set_weight(request.edits, head, {i, j}, weights(i, j));
    const auto by_hand = reference::ask(request);
    ASSERT_TRUE(by_hand);
    // The metric again, from the logits.
    const auto top = [](const Vector& logits) {
      Index best = 0;
      logits.maxCoeff(&best);
      return best;
    };
    const Index word = top(answers.clean->logits), other = top(answers.corrupt->logits);
    const auto metric = [&](const Vector& logits) {
      return word == other ? double(probabilities(logits)(word)) : double(logits(word)) - double(logits(other));
    };
    const double corrupt = metric(answers.corrupt->logits);
    EXPECT_NEAR(answer->corrupt, corrupt, 1e-6);
    EXPECT_NEAR(restored_by(*answer, 0, 1) * (answer->clean - answer->corrupt), metric(by_hand->logits) - corrupt,
                1e-5);
  }
}

/// A head's z is a head that is off, where zeros are put in.
TEST(Patching, ZerosAreAHeadThatIsOff) {
  const TwoAnswers answers = two_answers("llama-gqa");
  const Trace& corrupt = *answers.corrupt;
  Patch patch{.at = PatchAt::heads, .layer = 1, .head = 2};
  for (Index row = 0; row < corrupt.queries(); ++row) patch.rows.push_back(row);
  patch.values = Matrix::Zero(corrupt.queries(), corrupt.attention(Stack::self, 1).z.cols() / corrupt.num_heads());
  Progress progress;
  const Patches patches{patch};
  const auto patched = forward(corrupt.request, progress, &corrupt, 1, &patches);
  Request request = corrupt.request;
  switch_off(request.edits, {1, 2}, true);
  const auto off = reference::ask(request);
  ASSERT_TRUE(patched && *patched && off);
  EXPECT_TRUE(same((*patched)->logits, off->logits));
}

/// All golden checkpoints that answer these ids.
std::vector<std::string> golden_models() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kGolden))
    if (std::filesystem::exists(entry.path() / "model.safetensors") &&
        std::filesystem::exists(entry.path() / "config.json"))
      names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

Patch whole_patch(const Trace& from, PatchAt at, const HeadRef& head) {
  Patch patch{.at = at, .stack = head.stack, .layer = head.layer, .head = head.head};
  const AttentionTrace& attention = from.attention(head.stack, head.layer);
  if (at == PatchAt::heads) patch.values = z_rows(from, head, 0, from.queries(head.stack));
  else if (at == PatchAt::residual)
    patch.values = from.blocks_of(head.stack)[static_cast<std::size_t>(head.layer)].output;
  else if (at == PatchAt::q) patch.values = head_columns(attention.query, head.head, attention.num_heads());
  else {
    patch.head = attention.kv_head(head.head);
    patch.values = head_columns(at == PatchAt::k ? attention.key : attention.value, patch.head, attention.num_kv_heads);
  }
  for (Index row = 0; row < patch.values.rows(); ++row) patch.rows.push_back(row);
  return patch;
}

/// The same from this row on, and of no row where the patch has fewer.
Patch from_row(Patch patch, Index row) {
  const auto dropped = std::min(static_cast<std::size_t>(row), patch.rows.size());
  patch.rows.erase(patch.rows.begin(), patch.rows.begin() + static_cast<std::ptrdiff_t>(dropped));
  patch.values = Matrix(patch.values.bottomRows(static_cast<Index>(patch.rows.size())));
  return patch;
}

/// In every family a batch of passes has the bits of each pass alone, whatever is patched, from any row and of any
/// query on.
TEST(Variants, ABatchIsTheSamePasses) {
  int models = 0;
  for (const std::string& name : golden_models()) {
    SCOPED_TRACE(name);
    const auto checkpoint = read_checkpoint(kGolden / name);
    ASSERT_TRUE(checkpoint);
    const auto& model = checkpoint->model;
    const bool two = model->config.arch == Arch::encoder_decoder;
    const auto asked = [&](const std::vector<std::int64_t>& ids) {
      return forward(request_for(model, tokens_of_ids(ids), two ? tokens_of_ids({2, 7, 4}) : Tokens{}));
    };
    const auto clean = asked({5, 14, 12, 9, 7, 3}), corrupt = asked({5, 3, 12, 9, 2, 3});
    if (!clean || !corrupt) continue;  // of fewer positions
    ++models;
    for (const Stack stack : kStacks) {
      if (!(*corrupt)->has(stack)) continue;
      for (const auto& [at, row] : {std::pair{PatchAt::heads, Index{0}},
                                    {PatchAt::residual, Index{0}},
                                    {PatchAt::v, Index{0}},
                                    {PatchAt::heads, Index{2}},
                                    {PatchAt::residual, Index{5}},
                                    {PatchAt::q, Index{3}},
                                    {PatchAt::k, Index{1}},
                                    {PatchAt::v, Index{2}}}) {
        if (at == PatchAt::residual && stack == Stack::cross) continue;
        std::vector<Patches> variants;
        const Index last = (*corrupt)->num_layers(stack) - 1;
        for (const Index layer : {Index{0}, last})
          for (const Index head : {Index{0}, (*corrupt)->num_heads(stack) - 1})
            variants.push_back({from_row(whole_patch(**clean, at, {layer, head, stack}), row)});
        const Index tokens = (*corrupt)->queries();
        for (const Index first : {Index{0}, tokens - 1}) {
          Progress progress;
          const auto batch = forward_variants(**corrupt, variants, first, progress, 2);
          ASSERT_TRUE(batch && *batch);
          for (std::size_t i = 0; i < variants.size(); ++i) {
            const auto alone = forward((*corrupt)->request, progress, corrupt->get(), 1, &variants[i]);
            ASSERT_TRUE(alone && *alone);
            EXPECT_TRUE(same((*batch)->middleRows(static_cast<Index>(i) * (tokens - first), tokens - first),
                             (*alone)->last_hidden_state().bottomRows(tokens - first)))
                << headlight::name(at) << " from row " << row << " " << stack_name(stack) << " variant " << i
                << " from " << first;
          }
        }
      }
    }
  }
  EXPECT_GT(models, 40);
}

/// Every part patched gives the clean answer, no part patched the corrupt one, bit for bit.
TEST(Patching, EverythingIsTheCleanAnswerAndNothingTheCorruptOne) {
  for (const std::string& name : golden_models()) {
    SCOPED_TRACE(name);
    const auto checkpoint = read_checkpoint(kGolden / name);
    ASSERT_TRUE(checkpoint);
    if (checkpoint->model->encoder || !checkpoint->model->output) continue;
    const auto asked = [&](const std::vector<std::int64_t>& ids) {
      return forward(request_for(checkpoint->model, tokens_of_ids(ids)));
    };
    const auto clean = asked({5, 14, 12, 9, 7, 3}), corrupt = asked({5, 3, 12, 9, 2, 3});
    if (!clean || !corrupt) continue;
    Patches everything;
    for (Index layer = 0; layer < (*clean)->num_layers(); ++layer)
      everything.push_back(whole_patch(**clean, PatchAt::residual, {layer, 0}));
    Progress progress;
    EXPECT_TRUE(
        same((*forward((*corrupt)->request, progress, corrupt->get(), 1, &everything))->logits, (*clean)->logits));
    Patches nothing = everything;
    for (Patch& patch : nothing) patch.rows.clear(), patch.values.resize(0, patch.values.cols());
    EXPECT_TRUE(
        same((*forward((*corrupt)->request, progress, corrupt->get(), 1, &nothing))->logits, (*corrupt)->logits));
  }
}

/// The random parts beside the map count in the progress.
TEST(Patching, ProgressEndsWithTheRandomPlaces) {
  TwoAnswers answers = two_answers("gpt2");
  Progress progress;
  progress.begin = 0.25f, progress.share = 0.5f;
  ASSERT_TRUE(patch_answers(*answers.clean, *answers.corrupt, answers.wanted, 1, &progress));
  EXPECT_EQ(progress.done, 0.75f);
  answers.wanted.control = 5;
  answers.wanted.heads = {{.layer = 1, .head = 1}};
  ASSERT_TRUE(patch_answers(*answers.clean, *answers.corrupt, answers.wanted, 1, &progress));
  EXPECT_EQ(progress.done, 0.75f);
  EXPECT_EQ(progress.share, 0.5f);
}

TEST(Patching, RefusesWhatIsNotThere) {
  TwoAnswers answers = two_answers("gpt2");
  const auto refusal_of = [&](const PatchWanted& wanted) {
    const auto answer = patch_answers(*answers.clean, *answers.corrupt, wanted);
    return answer ? std::string() : answer.error().message();
  };
  PatchWanted wanted = answers.wanted;
  wanted.layers = {7};
  EXPECT_EQ(refusal_of(wanted), "--at-layers: expected 0 to 1, found 7");
  wanted = answers.wanted;
  wanted.heads = {{.layer = 1, .head = 9}};
  EXPECT_EQ(refusal_of(wanted), "--at-heads: head: expected 0 to 2, found 9");
  wanted = answers.wanted;
  wanted.tokens = {6};
  EXPECT_EQ(refusal_of(wanted), "--at-tokens: expected 0 to 5, found 6");
  wanted.tokens = {5};
  wanted.queries.pop_back();
  EXPECT_EQ(refusal_of(wanted), "--at-tokens: expected tokens that both sentences have, found 5");
  wanted.stack = Stack::cross;
  EXPECT_EQ(refusal_of(wanted), "--stack: expected self, the only attention of this model, found cross");
  const auto elsewhere = patch_answers(*answers.clean, *two_answers("llama-gqa").corrupt, answers.wanted);
  ASSERT_FALSE(elsewhere);
  EXPECT_EQ(elsewhere.error().message(), "--from: model: expected the shape of the SOURCE's, found another");
}

}  // namespace
}  // namespace headlight
