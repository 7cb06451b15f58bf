#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "bench/load_clock.h"
#include "bench/operations.h"
#include "bench/test_cluster.h"

namespace berth::bench {

// Creates nodes, and changes them as the operation's strategy says.
class NodeMaker {
 public:
  // Asked before each node; an error ends it.
  using MayGoOn = std::function<base::Result<void>()>;

  // Both outlive it.
  NodeMaker(TestCluster& cluster, LoadClock& clock, base::Random random, MayGoOn may_go_on)
      : cluster_(cluster), clock_(clock), random_(random), may_go_on_(std::move(may_go_on)) {}

  // Features that each node declares from now on.
  void Declare(std::vector<std::string> features) { declared_ = std::move(features); }
  base::Result<void> Create(const CreateNodes& op, const std::filesystem::path& folder, std::size_t op_index);

 private:
  base::Result<void> CreateOne(boost::json::object node, std::string_view field);
  base::Result<void> Apply(const NodeStrategy& strategy, std::span<const std::string> nodes);
  base::Result<void> Patch(const std::string& node, const boost::json::object& patch, std::string_view field);
  base::Result<void> PatchLabel(const std::string& node, const std::string& key, const std::string& value,
                                std::string_view field);
  base::Result<void> LimitNode(const std::string& node, const LimitVolumes& limits);
  base::Result<void> DeclareOn(const std::string& node);
  std::string RandomText(std::string_view alphabet, std::size_t size);

  TestCluster& cluster_;
  LoadClock& clock_;
  base::Random random_;
  const MayGoOn may_go_on_;
  std::size_t created_ = 0;  // by all operations so far
  std::vector<std::string> declared_;
};

}  // namespace berth::bench
