#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"

namespace berth::config {

// A command line as Kubernetes' components read theirs: --name=value, --name value, --flag for --flag=true,
// -v 2, _ for -, and errors in the same words.
class FlagSet {
 public:
  struct Flag {
    std::string name;
    char shorthand = 0;  // 0: none
    std::string group;
    std::string type;  // as help shows it; empty for booleans
    std::string help;
    std::string default_text;
    std::string value_if_bare;  // what --name alone means; empty: it needs a value
    std::function<base::Result<void>(const std::string&)> set;
    std::function<std::string()> get;
  };

  // Flags that follow belong to it, in help.
  void Group(std::string name) { group_ = std::move(name); }

  // The targets hold the defaults, and outlive the set.
  void Add(std::string name, std::string* target, std::string help);
  void Add(std::string name, bool* target, std::string help);
  void Add(std::string name, std::int32_t* target, std::string help);
  // Not negative.
  void AddLevel(std::string name, std::int32_t* target, std::string help, char shorthand);
  void Add(std::string name, std::int64_t* target, std::string help);
  void Add(std::string name, float* target, std::string help);
  void Add(std::string name, base::Duration* target, std::string help);
  // Commas separate; the first use replaces the default, further ones add.
  void AddList(std::string name, std::vector<std::string>* target, std::string help);
  // A text of which `check` says whether it is one; `type` is for help.
  using Check = std::function<base::Result<void>(const std::string&)>;
  void AddChecked(std::string name, std::string* target, std::string type, Check check, std::string help);
  // As AddList, with numbers.
  void AddNumbers(std::string name, std::vector<std::int32_t>* target, std::string help);
  // Each use is one value.
  void AddRepeated(std::string name, std::vector<std::string>* target, std::string type, std::string help,
                   Check check = {});
  void Add(Flag flag);

  // In the words of Go's strconv.
  static base::Result<bool> ParseBool(std::string_view text);
  static base::Result<std::int32_t> ParseLevel(std::string_view text);

  // What is left when flags are taken out. Errors name the flag.
  base::Result<std::vector<std::string>> Parse(std::span<const std::string> arguments);

  bool WasSet(std::string_view name) const { return set_.contains(name); }
  std::span<const Flag> flags() const { return flags_; }
  // All flags with their help, by group.
  std::string Usage() const;

 private:
  const Flag* Find(std::string_view name) const;
  const Flag* FindShorthand(char shorthand) const;
  base::Result<void> Set(const Flag& flag, const std::string& value);

  std::string group_;
  std::vector<Flag> flags_;
  std::set<std::string, std::less<>> set_;
};

}  // namespace berth::config
