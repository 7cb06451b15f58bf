#include "wire/pod_reader.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "wire/bindings/pod.h"
#include "wire/byte_cache.h"
#include "wire/pod_parts.h"
#include "wire/proto_reader.h"
#include "wire/typed_codec.h"

namespace berth::wire {
namespace {

constexpr std::size_t kKeyBytesMax = 8 << 20;  // per cache and reader
constexpr std::size_t kConditionBytesMax = 64 << 10;
constexpr std::size_t kMapEntriesMax = 1'000;

bool Text(const ProtoField& field, std::string& out) {
  if (field.wire != WireType::kBytes) return false;
  out.assign(field.bytes);
  return true;
}

}  // namespace

struct PodReader::Caches {
  ByteCache<api::PodTemplate> templates{kKeyBytesMax};
  ByteCache<std::vector<api::OwnerReference>> owners{kKeyBytesMax};
  ByteCache<std::vector<std::string>> finalizers{kKeyBytesMax};
  ByteCache<std::vector<std::string>> condition_types{kKeyBytesMax};
  // Pods that were scheduled in one second have the same.
  ByteCache<std::vector<api::PodCondition>> kept_conditions{kConditionBytesMax};
  ByteCache<api::PodResourceStatus> resource_statuses{kKeyBytesMax};

  // Scratch of one walk, kept for its capacity.
  Extract spec, owners_part, finalizers_part, conditions, kept_part, resources, rest;
  std::vector<base::SharedTextMap::Entry> labels, annotations;  // in the bytes of the pod
};

// One pod. Methods return false for whatever is malformed or merely unusual: the plain decoder then decides.
class PodReader::Walk {
 public:
  Walk(api::SharedParts& shared, Caches& caches) : shared_(shared), caches_(caches) {
    for (Extract* extract : {&caches.spec, &caches.owners_part, &caches.finalizers_part, &caches.conditions,
                             &caches.kept_part, &caches.resources, &caches.rest}) {
      extract->Clear();
    }
    caches.labels.clear();
    caches.annotations.clear();
  }

  bool Pod(std::string_view bytes) {
    std::string_view metadata, spec, status;
    ProtoReader reader(bytes);
    ProtoField in;
    while (reader.Next(in)) {
      const Part part = parts_.pod[in.number];
      if (part == Part::kUnread) continue;
      if (part == Part::kBound) return false;
      std::string_view& target = part == Part::kMetadata ? metadata : part == Part::kSpec ? spec : status;
      // Twice the same message would have to be merged.
      if (in.wire != WireType::kBytes || target.data() != nullptr) return false;
      target = in.bytes;
    }
    return reader.ok() && Metadata(metadata) && Spec(spec) && Status(status);
  }

  api::PodRecord Take() { return std::move(record_); }

 private:
  bool Metadata(std::string_view bytes) {
    ProtoReader reader(bytes);
    ProtoField in;
    while (reader.Next(in)) {
      if (!MetadataField(in)) return false;
    }
    return reader.ok() && SharedMetadata();
  }

  bool MetadataField(const ProtoField& in) {
    switch (parts_.meta[in.number]) {
      case Part::kUnread:
        return true;
      case Part::kUnkeptText:
        return in.wire == WireType::kBytes;
      case Part::kUnkeptNumber:
        return in.wire == WireType::kVarint;
      case Part::kName:
        return Text(in, record_.name);
      case Part::kNamespace:
        return Shared(in, record_.namespace_);
      case Part::kUid:
        return Text(in, record_.uid);
      case Part::kResourceVersion:
        return Text(in, record_.resource_version);
      case Part::kGeneration:
        record_.generation = static_cast<std::int64_t>(in.varint);
        return in.wire == WireType::kVarint;
      case Part::kCreationTimestamp:
        return Time(in, record_.creation_timestamp);
      case Part::kDeletionTimestamp:
        return Time(in, record_.deletion_timestamp.emplace());
      case Part::kLabels:
        return MapEntry(in, caches_.labels);
      case Part::kAnnotations:
        return MapEntry(in, caches_.annotations);
      case Part::kOwnerReferences:
        caches_.owners_part.Copy(in);
        return true;
      case Part::kFinalizers:
        caches_.finalizers_part.Copy(in);
        return true;
      default:
        return false;
    }
  }

  // Few entries: for many the plain decoder watches how much they take.
  static bool MapEntry(const ProtoField& in, std::vector<base::SharedTextMap::Entry>& entries) {
    if (in.wire != WireType::kBytes || entries.size() == kMapEntriesMax) return false;
    base::SharedTextMap::Entry& entry = entries.emplace_back();
    ProtoReader reader(in.bytes);
    ProtoField part;
    while (reader.Next(part)) {
      if (part.number > 2) continue;
      if (part.wire != WireType::kBytes) return false;
      (part.number == 1 ? entry.first : entry.second) = part.bytes;
    }
    return reader.ok();
  }

  bool Shared(const ProtoField& in, base::SharedText& out) {
    if (in.wire != WireType::kBytes) return false;
    out = shared_.Text(in.bytes);
    return true;
  }

  static bool Time(const ProtoField& in, api::Time& out) {
    if (in.wire != WireType::kBytes) return false;
    out = {};
    if (in.bytes.empty()) return true;
    out.unix_seconds = 0;
    ProtoReader reader(in.bytes);
    ProtoField part;
    while (reader.Next(part)) {
      if (part.number > 2) continue;
      if (part.wire != WireType::kVarint) return false;
      if (part.number == 1) out.unix_seconds = static_cast<std::int64_t>(part.varint);
    }
    return reader.ok();
  }

  bool SharedMetadata() {
    record_.labels = shared_.Map(caches_.labels);
    record_.annotations = shared_.Map(caches_.annotations);
    return Shared<api::ObjectMeta>(
               caches_.owners, caches_.owners_part, record_.owner_references,
               [&](auto& meta) { return shared_.Owners(std::move(meta.owner_references)); }) &&
           Shared<api::ObjectMeta>(caches_.finalizers, caches_.finalizers_part, record_.finalizers,
                                   [&](auto& meta) { return shared_.Names(std::move(meta.finalizers)); });
  }

  // The extract is a message of type T by itself: looked up, or decoded and remembered.
  template <class T, class Cached, class Intern>
  bool Shared(ByteCache<Cached>& cache, const Extract& extract, std::shared_ptr<const Cached>& out,
              Intern intern) {
    if (extract.size() == 0) return true;
    out = cache.Find(extract.view());
    if (out != nullptr) return true;
    auto decoded = DecodeProtobuf<T>(extract.view());
    if (!decoded) return false;
    out = intern(*decoded);
    if (out != nullptr) cache.Put(extract.view(), out);
    return true;
  }

  bool Spec(std::string_view bytes) {
    ProtoReader reader(bytes);
    ProtoField in;
    while (reader.Next(in)) {
      if (!SpecField(in)) return false;
    }
    if (!reader.ok()) return false;
    if (caches_.spec.size() == 0) {
      record_.spec = shared_.Template({});
      return true;
    }
    return Shared<api::PodSpec>(caches_.templates, caches_.spec, record_.spec,
                                [&](auto& spec) { return shared_.Template(std::move(spec)); });
  }

  bool SpecField(const ProtoField& in) {
    switch (parts_.spec[in.number]) {
      case Part::kUnread:
        return true;
      case Part::kNodeName:
        return Shared(in, record_.node_name);
      case Part::kContainer:
        return Nested(in, caches_.spec, parts_.container);
      case Part::kVolume:
        return Volume(in);
      case Part::kResourceClaim:
        return ResourceClaim(in);
      default:
        caches_.spec.Copy(in);
        return true;
    }
  }

  // What is bound of a message, into `out`. Of a mount only its options are: its name is often a random one.
  bool Nested(const ProtoField& in, Extract& out, const Parts& parts) {
    if (in.wire != WireType::kBytes) return false;
    const std::size_t begin = out.Open(in);
    ProtoReader reader(in.bytes);
    ProtoField field;
    while (reader.Next(field)) {
      const Part part = parts[field.number];
      if (part == Part::kUnread) continue;
      if (part == Part::kVolumeMount) {
        if (!Nested(field, out, parts_.volume_mount)) return false;
      } else {
        out.Copy(field);
      }
    }
    return reader.ok() && out.Close(begin);
  }

  bool Volume(const ProtoField& in) {
    if (in.wire != WireType::kBytes) return false;
    Extract& out = caches_.spec;
    const std::size_t before = out.size();
    const std::size_t begin = out.Open(in);
    bool is_read = false;
    std::optional<std::string_view> claim;
    ProtoReader reader(in.bytes);
    ProtoField field;
    while (reader.Next(field)) {
      const Part part = parts_.volume[field.number];
      if (part == Part::kUnread) continue;
      if (part == Part::kVolumeSource) {
        if (!VolumeSource(field, is_read, claim)) return false;
      } else {
        out.Copy(field);
      }
    }
    if (!reader.ok() || !out.Close(begin)) return false;
    if (claim) record_.Claims().volume_claim_names.emplace_back(*claim);
    if (is_read) return true;
    out.Truncate(before);
    return IsWellFormed(TableOf<api::Volume>(), in.bytes);
  }

  bool VolumeSource(const ProtoField& in, bool& is_read, std::optional<std::string_view>& claim) {
    if (in.wire != WireType::kBytes) return false;
    Extract& out = caches_.spec;
    const std::size_t begin = out.Open(in);
    ProtoReader reader(in.bytes);
    ProtoField field;
    while (reader.Next(field)) {
      const Part part = parts_.volume_source[field.number];
      if (part == Part::kUnread) continue;
      is_read |= part != Part::kUnreadVolume;
      if (part != Part::kVolumeClaim) {
        out.Copy(field);
        continue;
      }
      if (!claim) claim = "";
      if (!WithoutClaimName(field, parts_.volume_claim, claim)) return false;
    }
    return reader.ok() && out.Close(begin);
  }

  // Copies all but the claim's name, which is the pod's own and leaves an empty field behind.
  bool WithoutClaimName(const ProtoField& in, const Parts& parts, std::optional<std::string_view>& claim) {
    if (in.wire != WireType::kBytes) return false;
    Extract& out = caches_.spec;
    const std::size_t begin = out.Open(in);
    ProtoReader reader(in.bytes);
    ProtoField field;
    while (reader.Next(field)) {
      const Part part = parts[field.number];
      if (part == Part::kUnread) continue;
      if (part != Part::kClaimName) {
        out.Copy(field);
        continue;
      }
      if (field.wire != WireType::kBytes) return false;
      out.CopyEmpty(field);
      claim = field.bytes;
    }
    return reader.ok() && out.Close(begin);
  }

  bool ResourceClaim(const ProtoField& in) {
    std::optional<std::string_view> claim;
    if (!WithoutClaimName(in, parts_.resource_claim, claim)) return false;
    if (claim) record_.Claims().resource_claim_names.emplace_back(*claim);
    return true;
  }

  bool Status(std::string_view bytes) {
    ProtoReader reader(bytes);
    ProtoField in;
    while (reader.Next(in)) {
      if (!StatusField(in)) return false;
    }
    return reader.ok() && SharedStatus() && RestOfStatus();
  }

  bool StatusField(const ProtoField& in) {
    switch (parts_.status[in.number]) {
      case Part::kUnread:
        return true;
      case Part::kPhase:
        return Shared(in, record_.phase);
      case Part::kNominatedNodeName:
        return Shared(in, record_.nominated_node_name);
      case Part::kStartTime:
        return Time(in, record_.start_time.emplace());
      case Part::kCondition:
        return Condition(in);
      case Part::kContainerStatus:
        return Nested(in, caches_.resources, parts_.container_status);
      case Part::kResourceStatus:
        caches_.resources.Copy(in);
        return true;
      default:
        caches_.rest.Copy(in);
        return true;
    }
  }

  bool Condition(const ProtoField& in) {
    if (in.wire != WireType::kBytes) return false;
    Extract& out = caches_.conditions;
    const std::size_t begin = out.Open(in);
    std::string_view type;
    ProtoReader reader(in.bytes);
    ProtoField field;
    while (reader.Next(field)) {
      if (parts_.condition[field.number] != Part::kConditionType) continue;
      if (field.wire != WireType::kBytes) return false;
      out.Copy(field);
      type = field.bytes;
    }
    if (!reader.ok() || !out.Close(begin)) return false;
    if (!api::IsKeptCondition(type)) return IsWellFormed(TableOf<api::PodCondition>(), in.bytes);
    caches_.kept_part.Copy(in);
    return true;
  }

  bool SharedStatus() {
    const auto types = [&](api::PodStatus& status) {
      std::vector<std::string> names;
      names.reserve(status.conditions.size());
      for (api::PodCondition& condition : status.conditions) names.push_back(std::move(condition.type));
      return shared_.Names(std::move(names));
    };
    const auto resources = [&](api::PodStatus& status) {
      return shared_.ResourceStatus({.init_container_statuses = std::move(status.init_container_statuses),
                                     .container_statuses = std::move(status.container_statuses),
                                     .allocated_resources = std::move(status.allocated_resources),
                                     .resources = std::move(status.resources)});
    };
    const auto kept = [](api::PodStatus& status) {
      return std::make_shared<const std::vector<api::PodCondition>>(std::move(status.conditions));
    };
    return Shared<api::PodStatus>(caches_.condition_types, caches_.conditions, record_.condition_types,
                                  types) &&
           Shared<api::PodStatus>(caches_.kept_conditions, caches_.kept_part, record_.kept_conditions,
                                  kept) &&
           Shared<api::PodStatus>(caches_.resource_statuses, caches_.resources, record_.resource_status,
                                  resources);
  }

  // Claims in the status: few pods have them, and each its own.
  bool RestOfStatus() {
    if (caches_.rest.size() == 0) return true;
    auto status = DecodeProtobuf<api::PodStatus>(caches_.rest.view());
    if (!status) return false;
    api::Pod pod;
    pod.status = *std::move(status);
    api::PodRecord record = api::MakeRecord(std::move(pod), shared_);
    if (!record.own_claims) return true;
    api::PodClaims& claims = record_.Claims();
    claims.resource_claim_statuses = std::move(record.own_claims->resource_claim_statuses);
    claims.extended_resource_claim_status = std::move(record.own_claims->extended_resource_claim_status);
    claims.node_allocatable_resource_claim_statuses =
        std::move(record.own_claims->node_allocatable_resource_claim_statuses);
    return true;
  }

  const PodParts& parts_ = PodParts::Get();
  api::SharedParts& shared_;
  Caches& caches_;
  api::PodRecord record_;
};

PodReader::PodReader(api::SharedParts& shared) : shared_(shared), caches_(std::make_unique<Caches>()) {}
PodReader::~PodReader() = default;

base::Result<api::PodRecord> PodReader::Read(std::string_view bytes) {
  Walk walk(shared_, *caches_);
  if (walk.Pod(bytes)) return walk.Take();
  auto pod = DecodeProtobuf<api::Pod>(bytes);
  if (!pod) return std::unexpected(std::move(pod).error());
  return api::MakeRecord(*std::move(pod), shared_);
}

base::Result<api::PodRecord> PodReader::ReadJson(std::string_view text) {
  auto pod = DecodeJson<api::Pod>(text);
  if (!pod) return std::unexpected(std::move(pod).error());
  return api::MakeRecord(*std::move(pod), shared_);
}

}  // namespace berth::wire
