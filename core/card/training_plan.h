// What a training does, as data: its task, what it hides of the words, what it teaches, how its steps are taken.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/config.h"

namespace headlight {

class JsonField;

enum class Task {
  masked,       // words are hidden, swapped or left as they are, and predicted at their positions (Devlin et al. 2019,
                // section 3.1)
  causal,       // each position predicts the next word
  translation,  // the same of a sentence in English, with its Chinese in the encoder; the last word is kEndWord
};
std::string_view name(Task task);

/// The training task of this architecture.
Task task_of(Arch arch);

/// What a masked task does to the words, each a probability. Of a translation, to the English words that the decoder
/// reads: hidden and swapped ones are to be predicted at their positions, as corrections; after the others the next
/// word is predicted as always.
struct Corruption {
  float mask = 0.15f;    // hidden behind <mask>
  float swap = 0.15f;    // replaced by another word: a word that is not hidden must be checked against its partners
  float keep = 0.10f;    // left as it is and predicted
  float family = 0.7f;   // of swaps: by a word that stands at the same positions of the grammar
  float restore = 0.5f;  // of pronouns that the grammar knows: the noun is predicted, as if the pronoun had replaced it

  friend bool operator==(const Corruption&, const Corruption&) = default;
};

/// A head that learns where words with some relations look: from the dependent to its head.
struct TaughtHead {
  Index layer = 0, head = 0;
  std::vector<std::string> relations = {};  // of Universal Dependencies, with or without subtype; or of the grammar

  friend bool operator==(const TaughtHead&, const TaughtHead&) = default;
};

/// Which of the heads is taught a relation, "nmod:poss": the one that names it, else one that names it without its
/// subtype. Nothing where none is.
std::optional<std::size_t> taught_head(const std::vector<TaughtHead>& heads, std::string_view relation);

/// How a training teaches. The loss is Objective::attention times the weighted mean, over the taught words and their
/// heads, of −ln of the weight that the head gives to the right word.
struct Teaching {
  std::vector<TaughtHead> heads = {};  // ascending by layer and head; none: nothing is taught
  float share = 0.66f;                 // of a step's sentences …
  float from = 0.8f;                   // … once this share of the steps is taken
  float grammar = 0;                   // of those the share from the grammar; the rest is from treebanks
  float rest = 0.15f;                  // weight of a word without such a relation, which is to look at <s>
  float hide = 0.1f;                   // share of the words of taught sentences that are hidden, and predicted

  friend bool operator==(const Teaching&, const Teaching&) = default;
};

/// Decoupled weight decay (Loshchilov & Hutter 2019, algorithm 2, with PyTorch's reading of it: the decay is
/// multiplied by the learning rate).
struct AdamW {
  float beta1 = 0.9f, beta2 = 0.98f;
  float epsilon = 1e-8f;
  float decay = 0.01f;
};

/// Linear warm-up, then half a cosine down to `floor` of the peak (Loshchilov & Hutter 2017).
struct Schedule {
  float peak = 3e-3f;
  Index warmup = 200, steps = 4000;
  float floor = 0.05f;
};

/// The settings of the loss besides cross-entropy of the right word.
struct Objective {
  float label_smoothing = 0;  // this share of the target is spread evenly over all words (Szegedy et al. 2016, sec. 7)
  float attention = 0;        // weight of what heads are taught beside that of the words
  float dropout = 0;          // of attention weights and of what each sublayer adds (Srivastava et al. 2014)
};

struct TrainingRecipe {
  AdamW adamw = {};
  Schedule schedule = {};
  float clip = 1;  // largest global norm of the gradients; 0: none
  Objective objective = {};
};

struct TrainingPlan {
  Config config = {};  // the model's shape, and the seed of everything that is drawn
  Task task = Task::masked;
  Corruption corruption = {};  // of a masked task
  TrainingRecipe recipe = {};  // its schedule has the number of steps
  Index batch = 64;            // sentences a step
  Teaching teaching = {};      // what heads are taught in addition; Objective::attention weighs it

  Index steps() const { return recipe.schedule.steps; }
};

/// The plan in training.json. Errors go to the field's problems.
TrainingPlan plan_from(const JsonField& field);

}  // namespace headlight
