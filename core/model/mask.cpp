#include "model/mask.h"

#include <cmath>
#include <limits>

#include "base/formatted.h"
#include "base/result.h"
#include "model/batch_mask.h"

namespace headlight {
namespace {

constexpr float kBlocked = -std::numeric_limits<float>::infinity();

bool before(const PaintedCell& a, const PaintedCell& b) {
  return a.query != b.query ? a.query < b.query : a.key < b.key;
}

const PaintedCell* find(const std::vector<PaintedCell>& painted, Index query, Index key) {
  const auto at = std::lower_bound(painted.begin(), painted.end(), PaintedCell{query, key}, before);
  return at != painted.end() && at->query == query && at->key == key ? &*at : nullptr;
}

std::string shape(Index rows, Index cols) { return axes_text({rows, cols}); }

/// The words of a mask as parse_mask_words() reads them; 0: no chunks, no prefix.
std::string joined_words(bool causal, bool padding, std::optional<Index> window, Index chunk, Index prefix) {
  std::vector<std::string> words;
  if (causal) words.emplace_back("causal");
  if (padding) words.emplace_back("padding");
  if (window) words.push_back("window:" + std::to_string(*window));
  if (chunk > 0) words.push_back("chunk:" + std::to_string(chunk));
  if (prefix > 0) words.push_back("prefix:" + std::to_string(prefix));
  return words.empty() ? "none" : joined_texts(words, "+");
}

}  // namespace

bool operator==(const MaskSpec& a, const MaskSpec& b) {
  if (a.causal != b.causal || a.padding != b.padding || a.painted != b.painted) return false;
  if (a.window != b.window || a.chunk != b.chunk || a.prefix != b.prefix) return false;
  if (a.heads != b.heads || a.sentences != b.sentences || !a.batch != !b.batch) return false;
  if (a.batch != b.batch && *a.batch != *b.batch) return false;
  if (a.given == b.given) return true;
  return a.given && b.given && same(*a.given, *b.given);
}

void paint(std::vector<PaintedCell>& painted, PaintedCell cell) {
  const auto at = std::lower_bound(painted.begin(), painted.end(), cell, before);
  if (at != painted.end() && at->query == cell.query && at->key == cell.key) *at = cell;
  else painted.insert(at, cell);
}

float masked_from(float largest) {
  constexpr float kLikely = -5e3f, kBelow = 4e3f;
  // A number so large that 4,000 less is the same float masks what is below it, and never itself.
  return std::min({kLikely, largest - kBelow, std::nextafter(largest, kBlocked)});
}

std::string mask_words(const MaskSpec& spec) {
  return joined_words(spec.causal, spec.padding, spec.window, spec.chunk, spec.prefix);
}

Result<MaskSpec> parse_mask_words(std::string_view where, std::string_view text) {
  const Error unknown =
      bad_input(where, "", "none, or causal, padding, window:N, chunk:N, prefix:N with + between them", text,
                ErrorCode::not_a_mask);
  MaskSpec spec{.padding = false};
  if (text == "none") return spec;
  for (std::string_view rest = text; !rest.empty() || text.empty();) {
    const auto end = std::min(rest.find('+'), rest.size());
    const std::string_view word = rest.substr(0, end);
    const auto colon = word.find(':');
    Index number = 0;
    if (colon != std::string_view::npos) {
      number = parse_number<Index>(word.substr(colon + 1)).value_or(-1);
      if (number < 0 || number > kMaxMaskTokens) return unknown;
    }
    const std::string_view kind = word.substr(0, colon);
    const bool numbered = colon != std::string_view::npos;
    if (kind == "causal" && !numbered && !spec.causal) spec.causal = true;
    else if (kind == "padding" && !numbered && !spec.padding) spec.padding = true;
    else if (kind == "window" && numbered && !spec.window) spec.window = number;
    else if (kind == "chunk" && number > 0 && spec.chunk == 0) spec.chunk = number;
    else if (kind == "prefix" && number > 0 && spec.prefix == 0) spec.prefix = number;
    else return unknown;
    if (end == rest.size()) break;
    rest.remove_prefix(end + 1);
    if (rest.empty()) return unknown;
  }
  return spec;
}

float Mask::added(Index query, Index key) const {
  if (const auto* cell = find(painted_, query, key)) return cell->allowed ? 0.0f : kBlocked;
  if (key >= prefix_) {
    if (causal_ && key > query) return kBlocked;
    const auto [begin, end] = near(query);
    if (key < begin || key >= end) return kBlocked;
  }
  if (is_blocked_[static_cast<std::size_t>(key)]) return kBlocked;
  if (!given_) return 0.0f;
  const float number = given(query, key);
  return masked_from_.empty() || number > masked_from_[static_cast<std::size_t>(query)] ? number : kBlocked;
}

float Mask::given(Index query, Index key) const {
  return (*given_)(given_->rows() == 1 ? 0 : query, given_->cols() == 1 ? 0 : key);
}

void Mask::find_masked_from() {
  std::vector<float> rows(static_cast<std::size_t>(queries_));
  for (Index query = 0; query < queries_; ++query) {
    float largest = kBlocked;
    for (Index key = 0; key < keys_ && largest < 0; ++key) largest = std::max(largest, added(query, key));
    rows[static_cast<std::size_t>(query)] = masked_from(largest);  // the same for all that are 0 or larger
  }
  masked_from_ = std::move(rows);
}

std::pair<Index, Index> Mask::near(Index query) const {
  std::pair<Index, Index> keys{0, keys_};
  if (window_ > 0) keys = {std::max<Index>(0, query - window_ + 1), std::min(keys_, query + window_)};
  if (chunk_ > 0) {
    const Index begin = query / chunk_ * chunk_;
    keys = {std::max(keys.first, begin), std::min(keys.second, begin + chunk_)};
  }
  return keys;
}

bool Mask::allowed(Index query, Index key) const { return added(query, key) != kBlocked; }

Index Mask::reach(Index query) const {
  if (!causal_) return keys_;
  Index reached = std::min(query > 0 ? std::max(query, prefix_) : query, keys_);
  for (const PaintedCell& cell : painted_)
    if (cell.query < query && cell.allowed) reached = std::max(reached, cell.key + 1);
  return reached;
}

Index Mask::common_rows(const Mask& other, Index most, bool self) const {
  if (heads() != other.heads()) return 0;
  for (std::size_t head = 0; head < heads_.size(); ++head)
    most = heads_[head].common_rows(other.heads_[head], most, self);
  if (causal_ != other.causal_ || (self && !causal_) || (given_ != nullptr) != (other.given_ != nullptr)) return 0;
  if (window_ != other.window_ || chunk_ != other.chunk_ || prefix_ != other.prefix_) return 0;
  if (given_ && (queries_ != other.queries_ || keys_ != other.keys_ || !same(*given_, *other.given_))) return 0;
  if (!self && (keys_ != other.keys_ || blocked_keys_ != other.blocked_keys_)) return 0;
  Index rows = std::min({most, queries_, other.queries_});
  const auto differing = std::mismatch(painted_.begin(), painted_.end(), other.painted_.begin(), other.painted_.end());
  if (differing.first != painted_.end()) rows = std::min(rows, differing.first->query);
  if (differing.second != other.painted_.end()) rows = std::min(rows, differing.second->query);
  if (!self) return rows;
  if (rows < prefix_) return 0;  // its rows see all of it
  const Index keys = std::min(keys_, other.keys_);
  for (Index key = 0; key < std::min(rows, keys); ++key)
    if (is_blocked_[static_cast<std::size_t>(key)] != other.is_blocked_[static_cast<std::size_t>(key)]) rows = key;
  // A painted cell may look ahead, beyond what is in common, and shorten it.
  for (Index before = rows + 1; before != rows;) {
    before = rows;
    for (const PaintedCell& cell : painted_)
      if (cell.query < rows && cell.allowed && cell.key >= rows) rows = cell.query;
  }
  return rows;
}

void Mask::add_to(MatrixRef scores, Index first) const {
  const Index columns = scores.cols();
  for (Index r = 0; r < scores.rows(); ++r) {
    const Index query = first + r;
    auto row = scores.row(r);
    auto cell = std::lower_bound(painted_.begin(), painted_.end(), PaintedCell{query, 0}, before);
    const auto painted_end = std::lower_bound(cell, painted_.end(), PaintedCell{query, columns}, before);
    // Cells painted as allowed have their plain score, whatever the other masks add.
    std::vector<std::pair<Index, float>> allowed_scores;
    for (auto c = cell; c != painted_end; ++c)
      if (c->allowed) allowed_scores.emplace_back(c->key, row(c->key));
    if (given_) {
      const Index given_row = given_->rows() == 1 ? 0 : query;
      if (given_->cols() == 1) row.array() += (*given_)(given_row, 0);
      else row += given_->row(given_row).head(columns);
      if (!masked_from_.empty())
        for (Index key = 0; key < columns; ++key)
          if (given(query, key) <= masked_from_[static_cast<std::size_t>(query)]) row(key) = kBlocked;
    }
    const auto [begin, end] = near(query);
    if (prefix_ < begin && prefix_ < columns)
      row.segment(prefix_, std::min(begin, columns) - prefix_).setConstant(kBlocked);
    const Index reached = std::max(prefix_, causal_ ? std::min(end, query + 1) : end);
    if (reached < columns) row.tail(columns - reached).setConstant(kBlocked);
    for (const Index key : blocked_keys_) {
      if (key >= columns) break;
      row(key) = kBlocked;
    }
    for (const auto& [key, score] : allowed_scores) row(key) = score;
    for (; cell != painted_end; ++cell)
      if (!cell->allowed) row(cell->key) = kBlocked;
  }
}

std::string Mask::kind() const {
  if (!heads_.empty()) return "heads";
  if (given_ || !painted_.empty()) return "custom";
  return joined_words(causal_, !blocked_keys_.empty(), has_window() ? std::optional(window_) : std::nullopt,
                      has_chunks() ? chunk_ : 0, causal_ || has_window() || has_chunks() ? prefix_ : 0);
}

Result<Mask> resolve(const MaskSpec& spec, const Tokens& queries, const Tokens& keys, Index own_window) {
  Mask mask;
  mask.queries_ = static_cast<Index>(queries.size());
  mask.keys_ = static_cast<Index>(keys.size());
  mask.causal_ = spec.causal;
  mask.window_ = spec.window.value_or(own_window);
  mask.chunk_ = spec.chunk;
  mask.prefix_ = spec.prefix;
  mask.is_blocked_.assign(keys.size(), false);
  if (spec.padding) {
    for (std::size_t key = 0; key < keys.size(); ++key) {
      if (!keys.tokens[key].pad) continue;
      mask.is_blocked_[key] = true;
      mask.blocked_keys_.push_back(static_cast<Index>(key));
    }
  }
  bool is_far = false;  // whether a finite given number may mask
  if (spec.batch && !spec.given)
    return bad_input("mask", "axes", "(queries, keys), a mask of one sentence", "three axes",
                     ErrorCode::mask_of_several);
  if (spec.given) {
    const Matrix& given = *spec.given;
    const Index rows = given.rows() / spec.heads;
    const bool fits = (rows == mask.queries_ || rows == 1) && (given.cols() == mask.keys_ || given.cols() == 1);
    if (!fits)
      return bad_input("mask", "shape (queries, keys)", shape(mask.queries_, mask.keys_), shape(rows, given.cols()),
                       ErrorCode::mask_shape);
    for (Index i = 0; i < given.size(); ++i) {
      const float value = given.data()[i];
      is_far |= value <= masked_from(0) && value != kBlocked;
      if (value < -kBlocked) continue;  // false for NaN too
      return not_finite("mask", shape(i / given.cols(), i % given.cols()), value, "a finite number or -inf",
                        ErrorCode::mask_not_finite);
    }
    if (spec.heads == 1) mask.given_ = spec.given;
  }
  for (const auto& cell : spec.painted)
    if (cell.query >= 0 && cell.query < mask.queries_ && cell.key >= 0 && cell.key < mask.keys_)
      mask.painted_.push_back(cell);
  std::vector<Mask> heads(spec.given && spec.heads > 1 ? static_cast<std::size_t>(spec.heads) : 0, mask);
  for (std::size_t head = 0; head < heads.size(); ++head) {
    heads[head].given_ = std::make_shared<const Matrix>(given_of_head(spec, static_cast<Index>(head)));
    if (is_far) heads[head].find_masked_from();
  }
  mask.heads_ = std::move(heads);
  if (is_far && mask.given_) mask.find_masked_from();
  return mask;
}

Matrix given_of_head(const MaskSpec& spec, Index head) {
  const Index rows = spec.given->rows() / spec.heads;
  return spec.given->middleRows(spec.heads > 1 ? head * rows : 0, rows);
}

Status check_heads(std::string_view where, const Mask& mask, Index heads) {
  if (mask.heads() == 0 || mask.heads() == heads) return Done{};
  return bad_input(where, "masks", std::to_string(heads) + ", one a head", std::to_string(mask.heads()),
                   ErrorCode::mask_shape);
}

}  // namespace headlight
