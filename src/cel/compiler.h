#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"

#include "base/error.h"
#include "cel/program.h"

namespace berth::cel {

// Compiles without a cache. The error is the text for the user: "compilation failed: ERROR: <input>:1:5:
// ...", "must evaluate to bool or the unknown type, not int", "program instantiation failed: ...".
base::Result<std::shared_ptr<const Program>> CompileExpression(std::string_view expression,
                                                               ExpressionKind kind);

// Compiles expressions and remembers the last ones used.
//
// The same few selectors are met again and again, for every device of every attempt. What does not compile is
// not remembered: it is an error that ends the attempt. Not thread-safe: it belongs to the core.
class Compiler {
 public:
  explicit Compiler(std::size_t capacity = 1000) : capacity_(capacity) {}

  base::Result<std::shared_ptr<const Program>> Compile(const std::string& expression,
                                                       ExpressionKind kind = ExpressionKind::kSelector);
  std::size_t size() const { return entries_.size(); }

 private:
  using Key = std::pair<ExpressionKind, std::string>;
  using Recent = std::list<std::pair<Key, std::shared_ptr<const Program>>>;

  std::size_t capacity_;
  Recent recent_;  // last used first
  absl::flat_hash_map<Key, Recent::iterator> entries_;
};

}  // namespace berth::cel
