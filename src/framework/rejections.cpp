#include "framework/rejections.h"

#include "base/check.h"

namespace berth::framework {

RejectionTable::RejectionTable(std::size_t capacity) : capacity_(capacity) {
  BERTH_CHECK(capacity >= 2 * kHeadroom && capacity <= kCapacityMax);
}

RejectionId RejectionTable::Put(const Rejection& rejection) {
  entries_.push_back(rejection);
  const RejectionId id(static_cast<std::uint16_t>(entries_.size()));
  ids_.try_emplace(rejection, id);
  return id;
}

RejectionId RejectionTable::AddFixed(PluginIndex plugin, std::span<const ReasonText> reasons) {
  BERTH_CHECK(entries_.size() == fixed_count_ && HasRoom(kHeadroom + reasons.size()));
  RejectionId first;
  for (const ReasonText& reason : reasons) {
    const RejectionId id = Put({plugin, reason.code, {{reason.words, {}}}});
    if (!first.IsRefusal()) first = id;
  }
  fixed_count_ = entries_.size();
  return first;
}

RejectionId RejectionTable::Intern(const Rejection& rejection) {
  if (const auto found = ids_.find(rejection); found != ids_.end()) return found->second;
  if (HasRoom(kHeadroom)) return Put(rejection);

  Rejection coarse = rejection;
  for (Reason& reason : coarse.reasons) reason.parameter.clear();
  if (const auto found = ids_.find(coarse); found != ids_.end()) return found->second;
  // The last quarter of the headroom is for refusals without any reason, of which there are few.
  if (HasRoom(kHeadroom / 4)) return Put(coarse);

  coarse.reasons.clear();
  if (const auto found = ids_.find(coarse); found != ids_.end()) return found->second;
  BERTH_CHECK(HasRoom(0));
  return Put(coarse);
}

const Rejection& RejectionTable::Get(RejectionId id) const {
  BERTH_DCHECK(id.IsRefusal() && id.value() <= entries_.size());
  return entries_[id.value() - 1u];
}

Status RejectionTable::ToStatus(RejectionId id, std::string_view plugin_name) const {
  const Rejection& rejection = Get(id);
  std::vector<std::string> reasons;
  reasons.reserve(rejection.reasons.size());
  for (const Reason& reason : rejection.reasons) reasons.push_back(reason.Text());
  return Status(rejection.code, std::move(reasons)).WithPlugin(plugin_name);
}

void RejectionTable::Reset() {
  std::vector<Rejection> fixed(entries_.begin(),
                               entries_.begin() + static_cast<std::ptrdiff_t>(fixed_count_));
  entries_.clear();
  ids_.clear();
  for (const Rejection& rejection : fixed) Put(rejection);
  ++epoch_;
}

}  // namespace berth::framework
