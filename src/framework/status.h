#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::framework {

// How a plugin answered, and so what becomes of the pod. The names and the order are upstream's.
enum class Code : std::uint8_t {
  kSuccess,
  // Our own or the API server's fault: the attempt fails and the pod is tried again after its backoff.
  kError,
  // The pod does not fit as things are; evicting pods might help.
  kUnschedulable,
  // The pod does not fit, and no eviction can change that.
  kUnschedulableAndUnresolvable,
  // Permit only: the pod waits before it is bound.
  kWait,
  // The plugin has nothing to say about this pod; its later calls of the cycle are left out.
  kSkip,
  // The pod was rejected, and an outside action that the plugin has started will bring it back.
  kPending,
};

// "Success", "UnschedulableAndUnresolvable", ...
std::string_view CodeName(Code code);

// A plugin's answer. A default-constructed one is a success and allocates nothing.
//
// The reasons are upstream's words, to the letter: users and autoscalers search for them. An error has its
// text as the one reason.
class Status {
 public:
  Status() = default;
  explicit Status(Code code) : code_(code) {}
  Status(Code code, std::string reason) : code_(code) { reasons_.push_back(std::move(reason)); }
  Status(Code code, std::vector<std::string> reasons) : code_(code), reasons_(std::move(reasons)) {}
  // Without it two literals in braces would be taken for the two ends of one string.
  Status(Code code, std::initializer_list<std::string> reasons) : code_(code), reasons_(reasons) {}

  static Status Error(std::string message);
  static Status Skip() { return Status(Code::kSkip); }
  static Status Unschedulable(std::string reason) { return {Code::kUnschedulable, std::move(reason)}; }
  static Status Unresolvable(std::string reason) {
    return {Code::kUnschedulableAndUnresolvable, std::move(reason)};
  }

  Code code() const { return code_; }
  bool IsSuccess() const { return code_ == Code::kSuccess; }
  bool IsSkip() const { return code_ == Code::kSkip; }
  bool IsWait() const { return code_ == Code::kWait; }
  // The pod does not fit, as opposed to: something went wrong.
  bool IsRejected() const {
    return code_ == Code::kUnschedulable || code_ == Code::kUnschedulableAndUnresolvable ||
           code_ == Code::kPending;
  }

  const std::vector<std::string>& reasons() const { return reasons_; }
  // Whose answer it is; empty while no runner has set it.
  std::string_view plugin() const { return plugin_; }
  void SetPlugin(std::string_view plugin) { plugin_ = plugin; }
  Status WithPlugin(std::string_view plugin) && {
    plugin_ = plugin;
    return std::move(*this);
  }

  // The reasons, joined by ", ".
  std::string Message() const;
  // What a runner reports when this answer ends the attempt. Empty for success, skip and wait, which end
  // nothing.
  std::string AsError() const;

  bool operator==(const Status&) const = default;

 private:
  Code code_ = Code::kSuccess;
  std::string plugin_;
  std::vector<std::string> reasons_;
};

}  // namespace berth::framework
