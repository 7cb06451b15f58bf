#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace berth::config {

// Where a configuration may name plugins, in the order of its fields. Those before kMultiPoint have the
// numbers of framework::ExtensionPoint.
enum class Point : std::uint8_t {
  kPreEnqueue,
  kQueueSort,
  kPreFilter,
  kFilter,
  kPostFilter,
  kPreScore,
  kScore,
  kReserve,
  kPermit,
  kPreBind,
  kBind,
  kPostBind,
  kMultiPoint,
  kPlacementGenerate,
  kPlacementScore,
  kPodGroupPostFilter,
};
inline constexpr std::size_t kPointCount = 16;

// As files spell them.
inline constexpr std::array<std::string_view, kPointCount> kPointNames = {
    "preEnqueue", "queueSort",         "preFilter",      "filter",
    "postFilter", "preScore",          "score",          "reserve",
    "permit",     "preBind",           "bind",           "postBind",
    "multiPoint", "placementGenerate", "placementScore", "podGroupPostFilter"};

// The order in which multiPoint is expanded, and so in which mistakes are found.
inline constexpr std::array<Point, kPointCount - 1> kExpansionOrder = {
    Point::kPreFilter,         Point::kFilter,         Point::kPostFilter,        Point::kReserve,
    Point::kPreScore,          Point::kScore,          Point::kPreBind,           Point::kBind,
    Point::kPostBind,          Point::kPermit,         Point::kPreEnqueue,        Point::kQueueSort,
    Point::kPlacementGenerate, Point::kPlacementScore, Point::kPodGroupPostFilter};

constexpr std::size_t Index(Point point) { return static_cast<std::size_t>(point); }

// "PreFilterPlugin": what errors call the interface of a point.
std::string InterfaceName(Point point);

}  // namespace berth::config
