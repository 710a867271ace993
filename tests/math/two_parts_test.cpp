// CLIP and SigLIP: a model of pictures and a model of texts in one folder.
#include <gtest/gtest.h>

#include <utility>

#include "core/checkpoints.h"
#include "math/forward.h"

namespace headlight {
namespace {

using namespace checkpoints;

TEST(Families, OfTwoPartsTheOneThatIsAskedForIsRead) {
  for (const auto& [name, type] :
       {std::pair{"family-clip_text_model", "clip"}, {"family-siglip_text_model", "siglip"}}) {
    const Parts alone(name);
    Parts both = alone;
    both.config = {{"model_type", type}, {"text_config", alone.config}, {"vision_config", {{"hidden_size", 24}}}};
    both.config["text_config"].erase("architectures");
    both.file.arrays.emplace("vision_model.embeddings.class_embedding", filled({24}, 1));
    both.file.arrays.emplace("text_projection.weight", filled({16, 24}, 1));
    const auto hub = parse_hub_config("config.json", both.config.dump(), ModelPart::text);
    ASSERT_TRUE(hub) << hub.error().message();
    EXPECT_FALSE(hub->picture) << name;
    const auto one = alone.load();
    const auto other = checkpoint_from("both", *hub, both.file);
    ASSERT_TRUE(one && other) << other.error().message();
    for (const Error& warning : other->warnings)
      EXPECT_NE(warning.message().find("needed neither for attention nor for the next word"), std::string::npos)
          << warning.message();
    const auto last = [](const Checkpoint& checkpoint) {
      return (*forward(request_for(checkpoint.model, tokens_of_ids({5, 9}))))->last_hidden_state();
    };
    EXPECT_TRUE(same(last(*one), last(*other))) << name;
    const auto one_part = parse_hub_config("config.json", Parts("bert").config.dump(), ModelPart::text);
    ASSERT_FALSE(one_part);
    EXPECT_NE(one_part.error().message().find("--part: expected a model of a picture and a text"), std::string::npos);
    const auto pictures = parse_hub_config("config.json", both.config.dump());
    EXPECT_TRUE(!pictures || pictures->picture) << "without being asked the part that reads pictures";
  }
}

}  // namespace
}  // namespace headlight
