#include "config/flag_set.h"

#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <memory>

#include "base/go_duration.h"
#include "base/go_text.h"

namespace berth::config {
namespace {

constexpr std::string_view kTrueWords[] = {"1", "t", "T", "TRUE", "true", "True"};
constexpr std::string_view kFalseWords[] = {"0", "f", "F", "FALSE", "false", "False"};

std::unexpected<base::Error> NotParsed(std::string_view function, std::string_view text,
                                       std::string_view why) {
  return base::Fail(fmt::format("strconv.{}: parsing {}: {}", function, base::QuoteGo(text), why));
}

// As strconv.ParseInt with base 0: 0x, 0o and 0b are understood.
base::Result<std::int64_t> ParseInteger(std::string_view text, std::int64_t min, std::int64_t max) {
  std::string_view digits = text;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  int base = 10;
  if (digits.size() > 1 && digits[0] == '0') {
    const char kind = static_cast<char>(digits[1] | 0x20);
    base = kind == 'x' ? 16 : kind == 'b' ? 2 : 8;
    digits.remove_prefix(kind == 'x' || kind == 'b' || kind == 'o' ? 2 : 1);
  }
  const std::string signed_digits = (negative ? "-" : "") + std::string(digits);
  std::int64_t number = 0;
  const char* const end = signed_digits.data() + signed_digits.size();
  const auto read = std::from_chars(signed_digits.data(), end, number, base);
  if (digits.empty() || read.ec == std::errc::invalid_argument || read.ptr != end) {
    return NotParsed("ParseInt", text, "invalid syntax");
  }
  if (read.ec != std::errc() || number < min || number > max) {
    return NotParsed("ParseInt", text, "value out of range");
  }
  return number;
}

template <class Integer>
std::function<base::Result<void>(const std::string&)> IntegerSetter(Integer* target) {
  return [target](const std::string& text) -> base::Result<void> {
    const auto number =
        ParseInteger(text, std::numeric_limits<Integer>::min(), std::numeric_limits<Integer>::max());
    if (!number) return std::unexpected(number.error());
    *target = static_cast<Integer>(*number);
    return {};
  };
}

std::vector<std::string> SplitList(const std::string& text) {
  if (text.empty()) return {};
  return absl::StrSplit(text, ',');
}

std::string ListText(const std::vector<std::string>& list) { return "[" + absl::StrJoin(list, ",") + "]"; }

std::string Quoted(const std::string& text) { return text.empty() ? "" : "\"" + text + "\""; }

}  // namespace

void FlagSet::Add(Flag flag) {
  flag.group = group_;
  flags_.push_back(std::move(flag));
}

void FlagSet::Add(std::string name, std::string* target, std::string help) {
  Add({.name = std::move(name),
       .shorthand = 0,
       .group = {},
       .type = "string",
       .help = std::move(help),
       .default_text = Quoted(*target),
       .value_if_bare = {},
       .set = [target](const std::string& text) -> base::Result<void> {
         *target = text;
         return {};
       },
       .get = [target] { return *target; }});
}

base::Result<bool> FlagSet::ParseBool(std::string_view text) {
  if (std::ranges::find(kTrueWords, text) != std::end(kTrueWords)) return true;
  if (std::ranges::find(kFalseWords, text) != std::end(kFalseWords)) return false;
  return NotParsed("ParseBool", text, "invalid syntax");
}

base::Result<std::int32_t> FlagSet::ParseLevel(std::string_view text) {
  std::int32_t level = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, level);
  if (read.ec == std::errc::result_out_of_range) return NotParsed("ParseUint", text, "value out of range");
  if (read.ec != std::errc() || read.ptr != end || level < 0) {
    return NotParsed("ParseUint", text, "invalid syntax");
  }
  return level;
}

void FlagSet::Add(std::string name, bool* target, std::string help) {
  Add({.name = std::move(name),
       .shorthand = 0,
       .group = {},
       .type = {},
       .help = std::move(help),
       .default_text = *target ? "true" : "",
       .value_if_bare = "true",
       .set = [target](const std::string& text) -> base::Result<void> {
         const auto value = ParseBool(text);
         if (!value) return std::unexpected(value.error());
         *target = *value;
         return {};
       },
       .get = [target] { return std::string(*target ? "true" : "false"); }});
}

void FlagSet::AddLevel(std::string name, std::int32_t* target, std::string help, char shorthand) {
  Add({.name = std::move(name),
       .shorthand = shorthand,
       .group = {},
       .type = "Level",
       .help = std::move(help),
       .default_text = {},
       .value_if_bare = {},
       .set = [target](const std::string& text) -> base::Result<void> {
         const auto level = ParseLevel(text);
         if (!level) return std::unexpected(level.error());
         *target = *level;
         return {};
       },
       .get = [target] { return std::to_string(*target); }});
}

void FlagSet::AddChecked(std::string name, std::string* target, std::string type, Check check,
                         std::string help) {
  Add({.name = std::move(name),
       .shorthand = 0,
       .group = {},
       .type = std::move(type),
       .help = std::move(help),
       .default_text = *target,
       .value_if_bare = {},
       .set = [target, check = std::move(check)](const std::string& text) -> base::Result<void> {
         if (auto checked = check(text); !checked) return checked;
         *target = text;
         return {};
       },
       .get = [target] { return *target; }});
}

void FlagSet::AddNumbers(std::string name, std::vector<std::int32_t>* target, std::string help) {
  auto replaced = std::make_shared<bool>(false);
  Add({.name = std::move(name),
       .shorthand = 0,
       .group = {},
       .type = "int32Slice",
       .help = std::move(help),
       .default_text = {},
       .value_if_bare = {},
       .set = [target, replaced](const std::string& text) -> base::Result<void> {
         std::vector<std::int32_t> numbers;
         for (const std::string& item : SplitList(text)) {
           const auto number = ParseInteger(item, std::numeric_limits<std::int32_t>::min(),
                                            std::numeric_limits<std::int32_t>::max());
           if (!number) return std::unexpected(number.error());
           numbers.push_back(static_cast<std::int32_t>(*number));
         }
         if (!std::exchange(*replaced, true)) target->clear();
         target->insert(target->end(), numbers.begin(), numbers.end());
         return {};
       },
       .get = [target] { return "[" + absl::StrJoin(*target, ",") + "]"; }});
}

void FlagSet::Add(std::string name, std::int32_t* target, std::string help) {
  Add({.name = std::move(name),
       .shorthand = 0,
       .group = {},
       .type = "int",
       .help = std::move(help),
       .default_text = *target == 0 ? "" : std::to_string(*target),
       .value_if_bare = {},
       .set = IntegerSetter(target),
       .get = [target] { return std::to_string(*target); }});
}

void FlagSet::Add(std::string name, std::int64_t* target, std::string help) {
  Add({.name = std::move(name),
       .shorthand = 0,
       .group = {},
       .type = "int",
       .help = std::move(help),
       .default_text = *target == 0 ? "" : std::to_string(*target),
       .value_if_bare = {},
       .set = IntegerSetter(target),
       .get = [target] { return std::to_string(*target); }});
}

void FlagSet::Add(std::string name, float* target, std::string help) {
  Add({.name = std::move(name),
       .shorthand = 0,
       .group = {},
       .type = "float",
       .help = std::move(help),
       .default_text = base::FormatGoFloat(*target),
       .value_if_bare = {},
       .set = [target](const std::string& text) -> base::Result<void> {
         float number = 0;
         const char* const end = text.data() + text.size();
         const auto read = std::from_chars(text.data(), end, number);
         if (read.ec == std::errc::invalid_argument || read.ptr != end) {
           return NotParsed("ParseFloat", text, "invalid syntax");
         }
         if (read.ec != std::errc()) return NotParsed("ParseFloat", text, "value out of range");
         *target = number;
         return {};
       },
       .get = [target] { return base::FormatGoFloat(*target); }});
}

void FlagSet::Add(std::string name, base::Duration* target, std::string help) {
  Add({.name = std::move(name),
       .shorthand = 0,
       .group = {},
       .type = "duration",
       .help = std::move(help),
       .default_text = base::FormatGoDuration(*target),
       .value_if_bare = {},
       .set = [target](const std::string& text) -> base::Result<void> {
         const auto duration = base::ParseGoDuration(text);
         if (!duration) return std::unexpected(duration.error());
         *target = *duration;
         return {};
       },
       .get = [target] { return base::FormatGoDuration(*target); }});
}

void FlagSet::AddList(std::string name, std::vector<std::string>* target, std::string help) {
  auto replaced = std::make_shared<bool>(false);
  Add({.name = std::move(name),
       .shorthand = 0,
       .group = {},
       .type = "strings",
       .help = std::move(help),
       .default_text = target->empty() ? "" : ListText(*target),
       .value_if_bare = {},
       .set = [target, replaced](const std::string& text) -> base::Result<void> {
         if (!std::exchange(*replaced, true)) target->clear();
         for (std::string& item : SplitList(text)) target->push_back(std::move(item));
         return {};
       },
       .get = [target] { return ListText(*target); }});
}

void FlagSet::AddRepeated(std::string name, std::vector<std::string>* target, std::string type,
                          std::string help, Check check) {
  // As kube-scheduler shows them: pairs of files are lists themselves, and gates stand without brackets.
  const std::string_view separator = type == "namedCertKey" ? ";" : ",";
  const bool is_bracketed = type != "colonSeparatedMultimapStringString";
  Add({.name = std::move(name),
       .shorthand = 0,
       .group = {},
       .type = std::move(type),
       .help = std::move(help),
       .default_text = {},
       .value_if_bare = {},
       .set = [target, check = std::move(check)](const std::string& text) -> base::Result<void> {
         if (check) {
           if (auto checked = check(text); !checked) return checked;
         }
         target->push_back(text);
         return {};
       },
       .get =
           [target, separator, is_bracketed] {
             const std::string joined =
                 absl::StrJoin(*target, absl::string_view(separator.data(), separator.size()));
             return is_bracketed ? "[" + joined + "]" : joined;
           }});
}

const FlagSet::Flag* FlagSet::Find(std::string_view name) const {
  const auto found = std::ranges::find(flags_, name, &Flag::name);
  return found == flags_.end() ? nullptr : &*found;
}

const FlagSet::Flag* FlagSet::FindShorthand(char shorthand) const {
  const auto found = std::ranges::find(flags_, shorthand, &Flag::shorthand);
  return found == flags_.end() ? nullptr : &*found;
}

base::Result<void> FlagSet::Set(const Flag& flag, const std::string& value) {
  if (auto done = flag.set(value); !done) {
    const std::string name =
        flag.shorthand == 0 ? "--" + flag.name : fmt::format("-{}, --{}", flag.shorthand, flag.name);
    return base::Fail(fmt::format("invalid argument {} for \"{}\" flag: {}", base::QuoteGo(value), name,
                                  done.error().message));
  }
  set_.insert(flag.name);
  return {};
}

base::Result<std::vector<std::string>> FlagSet::Parse(std::span<const std::string> arguments) {
  std::vector<std::string> rest;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") {
      rest.insert(rest.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1, arguments.end());
      break;
    }
    if (argument.size() < 2 || argument[0] != '-') {
      rest.push_back(argument);
      continue;
    }
    const bool is_long = argument[1] == '-';
    const std::size_t equals = argument.find('=');
    const Flag* flag = nullptr;
    std::string value;
    bool has_value = equals != std::string::npos;
    if (is_long) {
      std::string name = argument.substr(2, has_value ? equals - 2 : std::string::npos);
      if (name.empty() || name[0] == '-') return base::Fail(fmt::format("bad flag syntax: {}", argument));
      const std::string asked = name;
      std::ranges::replace(name, '_', '-');
      flag = Find(name);
      if (flag == nullptr) return base::Fail(fmt::format("unknown flag: --{}", asked));
      if (has_value) value = argument.substr(equals + 1);
    } else {
      flag = FindShorthand(argument[1]);
      if (flag == nullptr) {
        return base::Fail(fmt::format("unknown shorthand flag: '{}' in {}", argument[1], argument));
      }
      // -v2 and -v=2 alike.
      has_value = argument.size() > 2;
      if (has_value) value = argument.substr(argument[2] == '=' ? 3 : 2);
    }
    if (!has_value && !flag->value_if_bare.empty()) {
      value = flag->value_if_bare;
    } else if (!has_value) {
      if (i + 1 == arguments.size()) {
        return base::Fail(is_long ? fmt::format("flag needs an argument: --{}", flag->name)
                                  : fmt::format("flag needs an argument: '{}' in {}", argument[1], argument));
      }
      value = arguments[++i];
    }
    if (auto done = Set(*flag, value); !done) return std::unexpected(done.error());
  }
  return rest;
}

std::string FlagSet::Usage() const {
  std::vector<std::string> groups;
  for (const Flag& flag : flags_) {
    if (std::ranges::find(groups, flag.group) == groups.end()) groups.push_back(flag.group);
  }
  std::string text;
  for (const std::string& group : groups) {
    std::string title = group;
    title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
    text += fmt::format("\n{} flags:\n\n", title);
    std::vector<std::pair<std::string, const Flag*>> lines;
    std::size_t width = 0;
    for (const Flag& flag : flags_) {
      if (flag.group != group) continue;
      std::string left = flag.shorthand == 0 ? fmt::format("      --{}", flag.name)
                                             : fmt::format("  -{}, --{}", flag.shorthand, flag.name);
      if (!flag.type.empty()) left += " " + flag.type;
      width = std::max(width, left.size());
      lines.emplace_back(std::move(left), &flag);
    }
    std::ranges::sort(lines, {}, [](const auto& line) { return line.second->name; });
    for (const auto& [left, flag] : lines) {
      text += fmt::format("{:<{}}   {}", left, width, flag->help);
      if (!flag->default_text.empty()) text += fmt::format(" (default {})", flag->default_text);
      text += '\n';
    }
  }
  return text;
}

}  // namespace berth::config
