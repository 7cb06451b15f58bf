#include "sandbox/change.h"

#include "sandbox/representation.h"

namespace berth::sandbox {

net::Buffer MakeFrame(const Resource& served, wire::WatchType type, const Revision& object,
                      WatchEncoding encoding) {
  if (encoding == WatchEncoding::kJson) {
    return net::MakeBuffer(wire::WriteWatchLine(type, *ObjectJson(served, object)));
  }
  return net::MakeBuffer(wire::WriteWatchFrame(type, ObjectEnvelope(served, object)));
}

const RevisionPtr& ChangeFrames::Object(wire::WatchType type) {
  if (type != wire::WatchType::kDeleted || change_.type == wire::WatchType::kDeleted) return change_.object;
  if (departed_ == nullptr) departed_ = change_.previous->WithVersion(change_.version);
  return departed_;
}

const net::Buffer& ChangeFrames::Frame(const Resource& served, wire::WatchType type, WatchEncoding encoding) {
  for (const Entry& entry : entries_) {
    if (entry.served == &served && entry.type == type && entry.encoding == encoding) return entry.frame;
  }
  entries_.push_back({&served, type, encoding, MakeFrame(served, type, *Object(type), encoding)});
  return entries_.back().frame;
}

}  // namespace berth::sandbox
