#include "house/project_tree.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace berth::house {
namespace {

namespace fs = std::filesystem;

bool IsText(std::string_view path) {
  constexpr std::array kEndings = {".h",   ".cpp",  ".md",   ".cmake", ".go",
                                   ".txt", ".yaml", ".html", ".css",   ".js"};
  if (std::ranges::any_of(kEndings, [&](std::string_view ending) { return path.ends_with(ending); }))
    return true;
  return path == "Makefile" ||
         (path.starts_with("tools/") && FileName(path).find('.') == std::string_view::npos);
}

bool IsSkippedFolder(std::string_view path) {
  return path == "build" || FileName(path).starts_with('.') || path == "test/conformance";
}

}  // namespace

std::vector<File> ReadProject() {
  const fs::path root = BERTH_SOURCE_DIR;
  std::vector<File> files;
  for (fs::recursive_directory_iterator it(root), end; it != end; ++it) {
    const std::string path = it->path().lexically_relative(root).generic_string();
    if (it->is_directory()) {
      if (IsSkippedFolder(path)) it.disable_recursion_pending();
    } else if (path.starts_with("test/corpus/")) {
      files.push_back({path, ""});
    } else if (it->is_regular_file() && IsText(path)) {
      files.push_back({path, ReadWhole(it->path())});
    }
  }
  std::ranges::sort(files, {}, &File::path);
  return files;
}

std::string ReadWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string Trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
}

std::vector<std::string> Words(std::string_view text, char separator) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (std::string word = Trim(text.substr(0, end)); !word.empty()) words.push_back(std::move(word));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::string_view FileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }
bool IsHeader(std::string_view path) { return path.ends_with(".h"); }
bool IsCode(std::string_view path) { return IsHeader(path) || path.ends_with(".cpp"); }

std::string_view RoomOf(std::string_view path) {
  constexpr std::string_view kSources = "src/";
  if (!path.starts_with(kSources)) return {};
  path.remove_prefix(kSources.size());
  const std::size_t end = path.find('/');
  return end == std::string_view::npos ? std::string_view{} : path.substr(0, end);
}

}  // namespace berth::house
