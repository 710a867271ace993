// Opening a checkpoint in the window's loop: its progress, its cancelling, and what is found out about it afterwards.
#include <gtest/gtest.h>

#include "app/session_fixture.h"
#include "app/shipped.h"
#include "diagnose/check/checkpoint_check.h"
#include "models/bundled_models.h"
#include "models/open_model.h"
#include "session/file/open_file.h"
#include "session/file/session_file.h"
#include "session/loop/loop.h"
#include "session/model_check.h"

namespace headlight {
namespace {

using fixture::Folder;
using fixture::golden;
using fixture::settle;
using fixture::small_state;

/// A golden checkpoint with its answers beside it as a reference's; gives the folder's path.
std::string with_reference(const Folder& folder, const std::string& name) {
  const auto path = folder / name;
  fixture::fs::copy(golden(name), path);
  fixture::fs::rename(path / "expected.npz", path / "reference.npz");
  return path.string();
}

TEST(ModelCheck, ComesAfterOpeningAndBelongsToItsModel) {
  const Folder folder;
  AppState state = small_state();
  Loop loop({}, {});
  loop.settle(state);
  EXPECT_EQ(findings_of_model(state), nullptr) << "fresh weights are as they were drawn";
  settle(loop, state, {OpenPath{with_reference(folder, "family-roberta")}});
  const std::vector<Finding>* check = findings_of_model(state);
  ASSERT_NE(check, nullptr);
  EXPECT_LE(gravest(*check), Severity::note);
  EXPECT_TRUE(agrees_with_reference(*check));

  settle(loop, state, {OpenPath{golden("family-mistral").string()}});
  check = findings_of_model(state);
  ASSERT_NE(check, nullptr);
  EXPECT_FALSE(agrees_with_reference(*check)) << "nothing is beside it";

  settle(loop, state, {Undo{}});
  check = findings_of_model(state);
  ASSERT_NE(check, nullptr);
  EXPECT_TRUE(agrees_with_reference(*check)) << "and is known from before";
  settle(loop, state, {Undo{}});
  EXPECT_EQ(findings_of_model(state), nullptr);
  EXPECT_EQ(state.loaded.size(), 2u);
}

TEST(ModelCheck, HasTheWarningsOfLoading) {
  const Folder folder;
  const auto path = folder / "bert";
  fixture::fs::copy(golden("bert"), path);
  auto config = *read_file(path / "config.json");
  const auto at = config.find("\"num_hidden_layers\": ");
  ASSERT_NE(at, std::string::npos);
  config[config.find_first_of("0123456789", at)] = '1';
  ASSERT_TRUE(write_file(path / "config.json", config));
  AppState state = small_state();
  Loop loop({}, {});
  settle(loop, state, {OpenPath{path.string()}});
  ASSERT_NE(findings_of_model(state), nullptr);
  EXPECT_EQ(gravest(*findings_of_model(state)), Severity::warning);

  // A session that names the folder loads it with the same warnings.
  const std::string session = folder.with("s.headlight.json", to_json(Session{state.document, state.view}));
  AppState other = small_state();
  settle(loop, other, {OpenPath{session}});
  ASSERT_NE(findings_of_model(other), nullptr);
  EXPECT_EQ(*findings_of_model(other), *findings_of_model(state));
}

TEST(ModelCheck, AStateThatBeginsWithACheckpointLooksAtItToo) {
  auto opened = open_model(golden("family-qwen2"));
  ASSERT_TRUE(opened) << opened.error().message();
  AppState state = initial_state(fixture::lexicon(), opened->document, {},
                                 {Error(ErrorCode::bad_value, "model.safetensors", "odd")});
  EXPECT_NE(loaded_model(state), nullptr);
  EXPECT_EQ(findings_of_model(state), nullptr);
  Loop loop({}, {});
  loop.settle(state);
  ASSERT_TRUE(findings_of_model(state));
  EXPECT_EQ(gravest(*findings_of_model(state)), Severity::warning) << "the one that it was given";
}

TEST(ModelCheck, AShippedModelIsLookedAtInItsOwnFolder) {
  auto opened = open_model(kDefaultModel);
  ASSERT_TRUE(opened) << opened.error().message();
  AppState state = initial_state(fixture::lexicon(), opened->document, {});
  Loop loop({}, {});
  loop.settle(state);
  ASSERT_TRUE(findings_of_model(state));
  const auto folder = resolved_source(kDefaultModel);
  ASSERT_TRUE(folder);
  Progress progress;
  EXPECT_EQ(*findings_of_model(state), check_checkpoint(*folder, progress));
}

TEST(ModelCheck, AShippedModelThatTheControlsTakeIsCheckedToo) {
  auto opened = open_model(kDefaultModel);
  ASSERT_TRUE(opened) << opened.error().message();
  AppState state = initial_state(fixture::lexicon(), opened->document, {}, {}, fixture::shipped());
  EXPECT_EQ(state.document.model, fixture::shipped()->front().model) << "one model, one identity";
  Loop loop({}, {});
  loop.settle(state);
  settle(loop, state, {UseTrained{false}});
  EXPECT_EQ(findings_of_model(state), nullptr);
  settle(loop, state, {UseTrained{true}});
  EXPECT_TRUE(findings_of_model(state));
  EXPECT_EQ(state.loaded.size(), 1u);

  const BundledModel& last = fixture::shipped()->back();
  settle(loop, state, {SetConfig{last.model->config}});
  ASSERT_EQ(state.document.model, last.model);
  EXPECT_TRUE(findings_of_model(state)) << "reached without being opened";
}

TEST(ModelCheck, AModelThatIsGoneIsForgotten) {
  AppState state = small_state();
  state.loaded.push_back({std::make_shared<const Model>(), {Error(ErrorCode::bad_value, "gone")}});
  ASSERT_TRUE(state.loaded[0].model.expired());
  Loop loop({}, {});
  settle(loop, state, {OpenPath{golden("gpt2").string()}});
  ASSERT_EQ(state.loaded.size(), 1u);
  EXPECT_EQ(state.loaded[0].model.lock(), state.document.model);
}

TEST(Opening, IsFollowedAndCanBeCancelled) {
  const auto path = golden("gpt2");
  Progress progress;
  ASSERT_TRUE(open_any(path, progress));
  EXPECT_EQ(progress.done, 1.0f);
  const Folder folder;
  auto opened = open_model(path);
  ASSERT_TRUE(opened);
  const std::string session = folder.with("s.headlight.json", to_json(Session{opened->document, {}}));
  for (const auto& file : {path, fixture::fs::path(session)}) {
    Progress stopped;
    stopped.stop = true;
    const auto cancelled = open_any(file, stopped);
    ASSERT_FALSE(cancelled) << file;
    EXPECT_TRUE(cancelled.error().message().ends_with("gpt2: cancelled, nothing was opened"))
        << cancelled.error().message();
  }
}

TEST(Opening, CancelledLeavesTheStateAsItWas) {
  AppState state = small_state();
  Loop loop({}, {});
  loop.settle(state);
  const Document before = state.document;
  settle(loop, state, {OpenPath{golden("gpt2").string()}, CancelFileWork{}});
  EXPECT_EQ(state.document, before);
  EXPECT_TRUE(state.undo.empty());
  EXPECT_TRUE(state.loaded.empty());
}

}  // namespace
}  // namespace headlight
