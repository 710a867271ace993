#include "gl/map_pages.h"

#include <epoxy/gl.h>

#include <algorithm>
#include <bit>
#include <cassert>

namespace headlight {
namespace {

constexpr int kSmallestSlot = 16, kLargestSlot = 512;
constexpr int kPageSide = 2048, kSlotsASide = 16;
constexpr std::size_t kOwnTexels = std::size_t{1} << 26;  // 256 MiB of textures of their own, where that is enough

unsigned float_texture(int width, int height) {
  GLuint texture = 0;
  glGenTextures(1, &texture);
  glBindTexture(GL_TEXTURE_2D, texture);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_R32F, width, height, 0, GL_RED, GL_FLOAT, nullptr);
  return texture;
}

}  // namespace

MapPages::~MapPages() {
  for (const auto& [key, held] : held_)
    if (held.side == 0) glDeleteTextures(1, &held.at.texture);
  if (!pages_.empty()) glDeleteTextures(static_cast<GLsizei>(pages_.size()), pages_.data());
}

std::optional<MapSlot> MapPages::find(const MapKey& key, int frame) {
  const auto found = held_.find(key);
  if (found == held_.end()) return std::nullopt;
  found->second.frame = frame;
  return found->second.at;
}

MapSlot MapPages::add(const Matrix& weights, const MapKey& key, int frame) {
  const int rows = static_cast<int>(weights.rows()), columns = static_cast<int>(weights.cols());
  const int longer = std::max(rows, columns);
  Held held;
  held.frame = frame;
  held.texels = static_cast<std::size_t>(weights.size());
  if (longer <= kLargestSlot) {
    held.side = std::max(kSmallestSlot, static_cast<int>(std::bit_ceil(static_cast<unsigned>(longer))));
    held.at = take_slot(held.side, frame);
  } else {
    held.at = own_texture(weights, frame);
  }
  held.at.rows = rows, held.at.columns = columns;
  held.at.negative = (weights.array() < 0).any();
  glBindTexture(GL_TEXTURE_2D, held.at.texture);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  glTexSubImage2D(GL_TEXTURE_2D, 0, held.at.x, held.at.y, columns, rows, GL_RED, GL_FLOAT, weights.data());
  ++uploads_;
  held_.emplace(key, held);
  return held.at;
}

MapSlot MapPages::take_slot(int side, int frame) {
  auto& slots = free_[side];
  if (slots.empty()) {
    if (const auto old = oldest(false, side, frame); old != held_.end()) {
      const MapSlot place = old->second.at;
      held_.erase(old);
      return place;
    }
    const int across = std::min(kSlotsASide, kPageSide / side);
    const unsigned page = float_texture(across * side, across * side);
    pages_.push_back(page);
    for (int i = across * across - 1; i >= 0; --i) slots.push_back({page, i % across * side, i / across * side});
  }
  const MapSlot place = slots.back();
  slots.pop_back();
  return place;
}

MapSlot MapPages::own_texture(const Matrix& weights, int frame) {
  GLint largest = 0;
  glGetIntegerv(GL_MAX_TEXTURE_SIZE, &largest);
  assert(weights.rows() <= largest && weights.cols() <= largest);
  const auto texels = static_cast<std::size_t>(weights.size());
  while (own_texels_ + texels > kOwnTexels) {
    const auto old = oldest(true, 0, frame);
    if (old == held_.end()) break;
    glDeleteTextures(1, &old->second.at.texture);
    own_texels_ -= old->second.texels;
    held_.erase(old);
  }
  own_texels_ += texels;
  return {float_texture(static_cast<int>(weights.cols()), static_cast<int>(weights.rows())), 0, 0};
}

std::map<MapKey, MapPages::Held>::iterator MapPages::oldest(bool own, int side, int frame) {
  auto best = held_.end();
  for (auto it = held_.begin(); it != held_.end(); ++it) {
    const Held& held = it->second;
    if ((held.side == 0) != own || held.side != side || held.frame >= frame - 1) continue;
    if (best == held_.end() || held.frame < best->second.frame) best = it;
  }
  return best;
}

}  // namespace headlight
