// The tools that an agent is offered: commands of the program, their options as JSON.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/refusal.h"
#include "base/result.h"

namespace headlight {

/// What the commands of an agent read, write and print. It is that of the process until it ends.
struct AgentPlaces : Confines {
  std::vector<std::filesystem::path> folders = {};
  /// Where the program looks by itself, for assets and for models by name: that these are not read is no news.
  std::vector<std::filesystem::path> looked_at = {};

  /// Files below these folders, assets and fonts are read; those below the folders written. Errors: no folder.
  Status confine(const std::vector<std::string>& names);
  ~AgentPlaces() { confines = nullptr; }
};

/// Each tool with the JSON Schema of its arguments.
nlohmann::json agent_tools(AgentPlaces& places);

/// The result of a call, what is wrong as one line of text beside `isError`; null where there is no such tool.
nlohmann::json call_agent_tool(AgentPlaces& places, const std::string& name, const nlohmann::json& given);

}  // namespace headlight
