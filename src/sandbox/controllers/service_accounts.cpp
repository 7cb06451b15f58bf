#include "sandbox/controllers/service_accounts.h"

#include <boost/json.hpp>

#include "sandbox/document.h"

namespace berth::sandbox {

ServiceAccounts::ServiceAccounts(const ControllerContext& context)
    : context_(context),
      namespaces_(ResourceOf("v1", "Namespace")),
      accounts_(ResourceOf("v1", "ServiceAccount")),
      queue_(context.plane, [this](const std::string& name) { Ensure(name); }),
      namespaces_subscription_(context.plane.store().Subscribe(Selection(namespaces_), *this)),
      accounts_subscription_(context.plane.store().Subscribe(Selection(accounts_), *this)) {
  context_.plane.writer().ForEach(namespaces_, [&](const RevisionPtr& found) { queue_.Add(found->key()); });
}

ServiceAccounts::~ServiceAccounts() {
  context_.plane.store().Unsubscribe(namespaces_subscription_);
  context_.plane.store().Unsubscribe(accounts_subscription_);
}

void ServiceAccounts::OnChange(const Change& change, ChangeFrames&) {
  const bool is_account = &change.object->resource() == &accounts_;
  const bool is_gone = change.type == wire::WatchType::kDeleted;
  if (is_account && is_gone) queue_.Add(std::string(change.object->namespace_name()));
  if (!is_account && !is_gone) queue_.Add(change.object->key());
}

void ServiceAccounts::Ensure(const std::string& namespace_name) {
  const RevisionPtr found = context_.plane.store().Find(namespaces_, "", namespace_name);
  if (found == nullptr || found->is_terminating()) return;
  if (context_.plane.store().Find(accounts_, namespace_name, "default") != nullptr) return;
  boost::json::object account;
  ObjectAt(account, {"metadata"})["name"] = "default";
  static_cast<void>(context_.plane.writer().Create({.resource = &accounts_, .namespace_name = namespace_name},
                                                   std::move(account)));
}

}  // namespace berth::sandbox
