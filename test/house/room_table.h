#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace berth::house {

// Each room and the rooms that its DEPENDS line names.
using RoomTable = std::map<std::string, std::set<std::string>>;

// "queue:cluster framework", one room per line: how the build writes it down.
RoomTable ParseBuildTable(std::string_view text);
// Rows "| `queue` | what lives there | cluster, framework | ... |" of the first table whose heading starts
// with "room"; a dash stands for no dependency.
RoomTable ParsePageTable(std::string_view markdown);

// The room itself and everything it reaches.
std::set<std::string> Closure(const RoomTable& table, const std::string& room);

// The table of the build folder this test was built in.
RoomTable BuildTable();

}  // namespace berth::house
