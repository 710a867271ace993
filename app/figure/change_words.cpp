#include "figure/change_words.h"

#include "figure/head_name.h"
#include "words/grid_words.h"
#include "words/words.h"

namespace headlight {

std::string change_label(Language language, const WordChange& change, const ShownText& shown) {
  const std::string before = share_text(change.before);
  const std::string shares = before.substr(0, before.find(' ')) + " → " + share_text(change.after);
  return filled(words(language, kStageWords.moved),
                {shown(change.from), shown(change.to), shown(change.looked_at) + " " + shares});
}

std::string change_tip(Language language, const WordChanges& changes, const WordChange& change,
                       const ShownText& shown) {
  const std::string word = shown(changes.word), key = shown(change.looked_at), before = share_text(change.before),
                    after = share_text(change.after);
  const std::string tip =
      change.key == change.token
          ? filled(words(language, kStageWords.tip_moved_itself), {change.to, change.from, word, after, before})
          : filled(words(language, kStageWords.tip_moved), {change.to, change.from, word, key, after, before});
  return tip + "\n\n" +
         filled(words(language, kStageWords.tip_changes),
                {std::to_string(changes.tried), std::to_string(changes.moving), share_text(kMovedWeight)});
}

std::string no_change_line(Language language, const WordChanges& changes, const std::string& own,
                           const ShownText& shown) {
  if (!own.empty()) return changes.own ? "" : filled(words(language, kStageWords.own_fits_nowhere), {shown(own)});
  if (!changes.best.empty() || changes.tried == 0) return {};
  return filled(words(language, kStageWords.none_moves), {std::to_string(changes.tried), shown(changes.word)});
}

}  // namespace headlight
