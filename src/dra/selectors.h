#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "api/devices.h"
#include "base/ids.h"
#include "base/interner.h"
#include "cel/compiler.h"
#include "cel/device_environment.h"
#include "cel/program.h"

namespace berth::dra {

using ShapeId = base::Id<struct ShapeTag>;
using SelectorId = base::Id<struct SelectorTag>;

enum class Match : std::uint8_t { kUnknown, kNo, kYes, kError };

// Device selectors, and which devices they match, decided once per expression and shape of a device: devices
// that no expression can tell apart (driver, attributes, capacity) have one shape.
//
// The shapes live as long as slices have such devices. Expressions come from users without end, so all of
// them are forgotten, with what was decided, when there are too many; that happens in BeginAttempt only, and
// ids of expressions are good until the next one.
class SelectorTable {
 public:
  explicit SelectorTable(std::size_t expressions_max = 1000) : expressions_max_(expressions_max) {}

  // `text` tells the shape from all others; the device is only looked at if the shape is new.
  ShapeId InternShape(const std::string& text, std::string_view driver, const api::Device& device);
  void ReleaseShape(ShapeId shape);

  void BeginAttempt();
  SelectorId Use(const std::string& expression, cel::ExpressionKind kind = cel::ExpressionKind::kSelector);
  // Set if the expression does not compile.
  const std::optional<std::string>& compile_error(SelectorId id) const {
    return expressions_[id.index()].error;
  }

  // Requires a selector that compiles.
  Match Evaluate(SelectorId id, ShapeId shape);
  // After kError: why.
  const std::string& error(SelectorId id, ShapeId shape) const;
  using Attribute = std::expected<api::DeviceAttribute, std::string>;
  // Requires a derived attribute that compiles. Good until the next attempt.
  const Attribute& EvaluateAttribute(SelectorId id, ShapeId shape);

  std::size_t shape_count() const { return shapes_.slot_count(); }
  std::size_t expression_count() const { return expressions_.size(); }
  bool empty() const { return shapes_.empty(); }
  // Evaluations so far, not counting remembered ones.
  std::uint64_t evaluations() const { return evaluations_; }

 private:
  struct Expression {
    std::shared_ptr<const cel::Program> program;  // null: it does not compile
    std::optional<std::string> error;
  };
  struct Shape {
    std::optional<cel::DeviceView> view;
    std::vector<Match> matches;  // by SelectorId
    absl::flat_hash_map<SelectorId, std::string> errors;
    absl::flat_hash_map<SelectorId, std::unique_ptr<const Attribute>> attributes;
  };

  const std::size_t expressions_max_;
  std::vector<Expression> expressions_;  // by SelectorId
  absl::flat_hash_map<std::pair<cel::ExpressionKind, std::string>, SelectorId> ids_;
  base::Interner<ShapeId> shapes_;
  std::vector<Shape> by_shape_;  // by ShapeId
  std::uint64_t evaluations_ = 0;
};

}  // namespace berth::dra
