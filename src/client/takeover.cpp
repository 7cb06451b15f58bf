#include "client/takeover.h"

#include <string>
#include <utility>

#include "api/list.h"
#include "base/log.h"
#include "base/task_group.h"

namespace berth::client {
namespace {

// The newest resource version that the server has stored, whatever the object: a read of one small list
// without a version goes to the storage and not to a cache.
base::Task<ApiResult<std::string>> NewestVersion(ApiClient& client) {
  ApiRequest request;
  request.path = CollectionPath(InfoOf(Resource::kNamespaces));
  request.query.emplace_back("limit", "1");
  const auto response = co_await client.Send(std::move(request));
  if (!response) co_return std::unexpected(response.error());
  auto list = DecodeObject<api::List<api::Namespace>>(*response);
  if (!list) co_return std::unexpected(std::move(list.error()));
  co_return std::move(list->metadata.resource_version);
}

}  // namespace

base::Task<void> CatchUp(ApiClient& client, std::span<Reflector* const> reflectors) {
  const auto newest = co_await NewestVersion(client);
  if (!newest) {
    BERTH_LOG_WARNING("The newest resource version is not known, reading everything anew",
                      {"err", newest.error().message});
  }
  base::TaskGroup refreshes(client.executor());
  for (Reflector* reflector : reflectors) {
    const bool is_new = newest && !newest->empty() && reflector->has_synced() &&
                        IsResourceVersionAtLeast(reflector->resource_version(), *newest);
    if (!is_new) refreshes.Spawn(reflector->Refresh());
  }
  co_await refreshes.WaitForAll();
}

}  // namespace berth::client
