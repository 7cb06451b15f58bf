#include "sim/call_link.h"

#include <boost/json.hpp>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <utility>

#include "client/pod_status_patch.h"

#include "api/wall_time.h"
#include "sandbox/patch.h"

namespace berth::sim {
namespace {

namespace json = boost::json;

sandbox::Target TargetOf(const api::PodRecord& pod, std::string subresource = {}) {
  return {.resource = &sandbox::ResourceOf("v1", "Pod"),
          .namespace_name = pod.namespace_,
          .name = pod.name,
          .subresource = std::move(subresource)};
}

json::object BindingOf(const core::ApiCall& call) {
  json::object metadata{
      {"name", call.pod->name}, {"namespace", call.pod->namespace_}, {"uid", call.pod->uid}};
  json::object target{{"kind", "Node"}, {"name", call.node}};
  return {{"apiVersion", "v1"}, {"kind", "Binding"}, {"metadata", metadata}, {"target", target}};
}

std::string_view NameOf(dispatch::CallType type) {
  if (type == dispatch::CallType::kPodBinding) return "bind";
  return type == dispatch::CallType::kPodDeletion ? "evict" : "patch";
}

template <class T>
base::Result<void> ToResult(const sandbox::ApiResult<T>& result) {
  if (!result) return base::Fail(result.error().message);
  return {};
}

}  // namespace

base::Duration CallLink::Delay() {
  if (faults_.call_delay_max.count() == 0) return {};
  return base::Duration(random_.Uniform(static_cast<std::uint64_t>(faults_.call_delay_max.count())));
}

void CallLink::Start(core::ApiCall call) {
  ++pending_count_;
  const base::TimePoint arrival = plane_.clock().Now() + Delay();
  timers_.Schedule(arrival, [this, generation = generation_, call = std::move(call)] {
    if (generation == generation_) {
      Arrive(call);
    } else {
      --pending_count_;
    }
  });
}

void CallLink::Arrive(const core::ApiCall& call) {
  const bool is_refused = random_.Chance(faults_.call_refused);
  base::Result<bool> had_effect =
      is_refused ? base::Fail("Internal error occurred: on purpose") : Execute(call);
  // Of a binding a client that hears nothing asks whether it was stored.
  if (call.type != dispatch::CallType::kPodBinding && random_.Chance(faults_.answer_lost)) {
    had_effect = base::Fail("the connection was lost: on purpose");
  }
  trace_.AddSigned(plane_.clock().Now().time_since_epoch().count());
  trace_.Add(static_cast<std::uint64_t>(call.type));
  trace_.Add(call.pod->name);
  trace_.Add(call.node);
  trace_.Add(had_effect ? std::string() : had_effect.error().message);
  if (story_ != nullptr) {
    story_->Tell(fmt::format("{} {} {}: {}", NameOf(call.type), call.pod->name, call.node,
                             had_effect ? "done" : had_effect.error().message));
  }
  core::CallFinished finished{.id = call.id, .result = {}, .had_effect = had_effect.value_or(false)};
  if (!had_effect) finished.result = std::unexpected(had_effect.error());
  timers_.Schedule(plane_.clock().Now() + Delay(),
                   [this, generation = generation_, finished = std::move(finished)] {
                     --pending_count_;
                     if (generation == generation_) deliver_(finished);
                   });
}

base::Result<bool> CallLink::Execute(const core::ApiCall& call) {
  if (call.type == dispatch::CallType::kPodDeletion) return Delete(call);
  const auto done = call.type == dispatch::CallType::kPodBinding ? Bind(call) : PatchStatus(call);
  if (!done) return std::unexpected(done.error());
  return true;
}

base::Result<void> CallLink::Bind(const core::ApiCall& call) {
  auto result = ToResult(plane_.writer().Bind(TargetOf(*call.pod, "binding"), BindingOf(call)));
  if (result) ++bound_count_;
  return result;
}

base::Result<void> CallLink::PatchStatus(const core::ApiCall& call) {
  const std::string patch =
      client::PodStatusPatch(*call.pod, call.change, api::TimeOf(plane_.clock().WallNow()), call.nomination);
  if (patch.empty()) return {};
  const sandbox::Target target = TargetOf(*call.pod, "status");
  return ToResult(plane_.writer().Change(target, [&](const json::object& current) {
    return sandbox::ApplyPatch(*target.resource, {.type = sandbox::PatchType::kStrategic, .body = patch},
                               current);
  }));
}

base::Result<bool> CallLink::Delete(const core::ApiCall& call) {
  // A victim that is gone already is a success without effect, as for the client.
  if (!plane_.writer().Find(sandbox::ResourceOf("v1", "Pod"), call.pod->namespace_, call.pod->name))
    return false;
  if (auto patched = PatchStatus(call); !patched) return std::unexpected(patched.error());
  const auto removed = plane_.writer().Delete(TargetOf(*call.pod), {.uid = call.pod->uid});
  if (removed) return true;
  if (removed.error().code == 404 || removed.error().code == 409) return false;
  return base::Fail(removed.error().message);
}

}  // namespace berth::sim
