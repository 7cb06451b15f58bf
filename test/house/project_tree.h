#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth::house {

// One text file of the project; `path` is relative to the project's root and uses '/'.
struct File {
  std::string path;
  std::string text;
};

// Every text file that people write, sorted by path. Left out: build folders, what a dot hides, recorded
// cases, and tables and checksums that programs write. Inputs of a corpus are listed without their bytes.
std::vector<File> ReadProject();

std::string ReadWhole(const std::string& path);
std::vector<std::string_view> Lines(std::string_view text);
std::vector<std::string_view> Lines(std::string&&) = delete;  // the lines would outlive their text
std::string Trim(std::string_view text);
// Pieces between separators; empty ones are left out.
std::vector<std::string> Words(std::string_view text, char separator = ' ');

std::string_view FileName(std::string_view path);
bool IsHeader(std::string_view path);
bool IsCode(std::string_view path);  // .h and .cpp

// "queue" for src/queue/heap.h; empty outside src/.
std::string_view RoomOf(std::string_view path);

}  // namespace berth::house
