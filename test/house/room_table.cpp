#include "house/room_table.h"

#include <cstddef>
#include <vector>

#include "house/project_tree.h"

namespace berth::house {
namespace {

std::string WithoutBackticks(const std::string& cell) {
  std::string text;
  for (const char c : cell) {
    if (c != '`') text += c;
  }
  return Trim(text);
}

void Reach(const RoomTable& table, const std::string& room, std::set<std::string>& reached) {
  if (!reached.insert(room).second) return;
  const auto found = table.find(room);
  if (found == table.end()) return;
  for (const std::string& next : found->second) Reach(table, next, reached);
}

}  // namespace

RoomTable ParseBuildTable(std::string_view text) {
  RoomTable table;
  for (const std::string_view line : Lines(text)) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::vector<std::string> depends = Words(line.substr(colon + 1));
    table[Trim(line.substr(0, colon))] = {depends.begin(), depends.end()};
  }
  return table;
}

RoomTable ParsePageTable(std::string_view markdown) {
  RoomTable table;
  bool inside = false;
  for (const std::string_view line : Lines(markdown)) {
    const std::vector<std::string> cells = Words(line, '|');
    if (!line.starts_with('|') || cells.size() < 3) {
      if (inside) break;
      continue;
    }
    if (!inside) {
      inside = cells[0].starts_with("room");
      continue;
    }
    if (cells[0].starts_with("-")) continue;
    std::set<std::string>& depends = table[WithoutBackticks(cells[0])];
    for (const std::string& word : Words(cells[2], ',')) {
      const std::string name = WithoutBackticks(word);
      if (name != "–" && name != "-") depends.insert(name);
    }
  }
  return table;
}

std::set<std::string> Closure(const RoomTable& table, const std::string& room) {
  std::set<std::string> reached;
  Reach(table, room, reached);
  return reached;
}

RoomTable BuildTable() { return ParseBuildTable(ReadWhole(BERTH_BUILD_DIR "/rooms/table.txt")); }

}  // namespace berth::house
