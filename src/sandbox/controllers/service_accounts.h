#pragma once

#include <string>

#include "sandbox/controllers/work_queue.h"
#include "sandbox/controllers/workload.h"

namespace berth::sandbox {

// Every namespace has a ServiceAccount "default", however often somebody deletes it.
class ServiceAccounts final : public ChangeReceiver {
 public:
  explicit ServiceAccounts(const ControllerContext& context);
  ~ServiceAccounts() override;

  void OnChange(const Change& change, ChangeFrames& frames) override;

 private:
  void Ensure(const std::string& namespace_name);

  const ControllerContext context_;
  const Resource& namespaces_;
  const Resource& accounts_;
  WorkQueue queue_;
  SubscriptionId namespaces_subscription_;
  SubscriptionId accounts_subscription_;
};

}  // namespace berth::sandbox
