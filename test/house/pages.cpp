#include "house/pages.h"

#include <cctype>
#include <re2/re2.h>

#include "house/project_tree.h"

namespace berth::house {
namespace {

// As Git hosts make them: lower case, punctuation dropped, blanks to hyphens.
std::string Anchor(std::string_view heading) {
  std::string anchor;
  for (const char c : heading) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '-' || c == '_' || byte >= 0x80) {
      anchor += static_cast<char>(std::tolower(byte));
    } else if (c == ' ') {
      anchor += '-';
    }
  }
  return anchor;
}

void AddMakeTargets(const std::string& command, std::set<std::string>& targets) {
  static const RE2 make(R"((?:^|&& )make((?: [a-zA-Z0-9_=./:*-]+)+))");
  re2::StringPiece rest(command);
  std::string arguments;
  while (RE2::FindAndConsume(&rest, make, &arguments)) {
    for (const std::string& word : Words(arguments)) {
      if (word.find('=') == std::string::npos) targets.insert(word);
    }
  }
}

}  // namespace

Page ParsePage(std::string_view markdown) {
  static const RE2 span("`([^`]+)`");
  static const RE2 link(R"(\[[^\]]*\]\(([^)\s]+)\))");
  static const RE2 heading(R"(^#{1,6} +(.*)$)");
  Page page;
  bool fenced = false;
  for (const std::string_view line : Lines(markdown)) {
    if (Trim(line).starts_with("```")) {
      fenced = !fenced;
      continue;
    }
    if (fenced) {
      page.code_lines.push_back(Trim(line));
      continue;
    }
    const std::string text(line);
    std::string found;
    if (RE2::PartialMatch(text, heading, &found)) page.anchors.insert(Anchor(Trim(found)));
    re2::StringPiece rest(text);
    while (RE2::FindAndConsume(&rest, link, &found)) page.links.push_back(found);
    rest = text;
    while (RE2::FindAndConsume(&rest, span, &found)) page.code_spans.push_back(found);
  }
  return page;
}

std::set<std::string> MakeTargetsNamed(const Page& page) {
  std::set<std::string> targets;
  for (const std::string& span : page.code_spans) AddMakeTargets(span, targets);
  for (const std::string& line : page.code_lines) AddMakeTargets(line.substr(0, line.find('#')), targets);
  return targets;
}

std::set<std::string> MakeTargets(std::string_view makefile) {
  static const RE2 rule(R"(^([a-z0-9-]+):(?:$|[^=]))");
  std::set<std::string> targets;
  for (const std::string_view line : Lines(makefile)) {
    std::string name;
    if (RE2::PartialMatch({line.data(), line.size()}, rule, &name)) targets.insert(name);
  }
  return targets;
}

std::set<std::string> PathsNamed(const Page& page) {
  static const RE2 path(R"((?:src|test|tools|cmake|docs)/[\w./-]+|[A-Z][\w]+\.(?:md|txt|json)|\.clang-\w+)");
  std::set<std::string> paths;
  for (const std::string& span : page.code_spans) {
    const std::string first = span.substr(0, span.find(' '));
    if (RE2::FullMatch(first, path) && first.find("NNNN") == std::string::npos) paths.insert(first);
  }
  return paths;
}

}  // namespace berth::house
