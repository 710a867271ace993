#include "session/loop/file_version.h"

#include <string>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/formatted.h"

namespace headlight {

bool is_of_newer_version(const std::filesystem::path& path, std::string_view name, int version) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 28;
  const auto text = read_file(path, kMostBytes);
  const nlohmann::json object = text ? nlohmann::json::parse(*text, nullptr, false) : nlohmann::json();
  const auto schema = object.is_object() ? object.find("schema") : object.end();
  if (!object.is_object() || schema == object.end() || !schema->is_string()) return false;
  const std::string& said = schema->get_ref<const std::string&>();
  if (!said.starts_with(name) || said.size() <= name.size() || said[name.size()] != '/') return false;
  return parse_number<int>(std::string_view(said).substr(name.size() + 1)).value_or(0) > version;
}

}  // namespace headlight
