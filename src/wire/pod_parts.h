#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "wire/proto_reader.h"
#include "wire/typed_table.h"

// Which fields of a pod the reader of pods treats in its own way, and the messages that it cuts out. Private
// to wire.
namespace berth::wire {

// What the walk does with a field.
enum class Part : std::uint8_t {
  kUnread,  // no struct has it
  kBound,   // some struct has it, and the walk has no rule of its own for it
  kMetadata,
  kSpec,
  kStatus,
  kName,
  kNamespace,
  kUid,
  kResourceVersion,
  kGeneration,
  kCreationTimestamp,
  kDeletionTimestamp,
  kLabels,
  kAnnotations,
  kOwnerReferences,
  kFinalizers,
  kUnkeptText,
  kUnkeptNumber,
  kNodeName,
  kContainer,
  kVolumeMount,
  kVolume,
  kVolumeSource,
  kVolumeClaim,
  kUnreadVolume,  // secret and configMap: bound, but no reason to keep a volume
  kClaimName,
  kResourceClaim,
  kPhase,
  kNominatedNodeName,
  kStartTime,
  kCondition,
  kConditionType,
  kContainerStatus,
  kResourceStatus
};

// The parts of one message by field number. A field that a struct has and that is not listed is kBound, so
// that a new binding is never overlooked.
class Parts {
 public:
  Parts(const TypedTable& table, std::initializer_list<std::pair<std::string_view, Part>> listed);

  Part operator[](std::uint32_t number) const {
    return number < parts_.size() ? parts_[number] : Part::kUnread;
  }

 private:
  void Set(std::uint32_t number, Part part);

  std::array<Part, 64> parts_{};
};

struct PodParts {
  PodParts();
  static const PodParts& Get();

  Parts pod;
  Parts meta;
  Parts spec;
  Parts container;
  Parts volume_mount;
  Parts volume;
  Parts volume_source;
  Parts volume_claim;
  Parts resource_claim;
  Parts status;
  Parts container_status;
  Parts condition;
};

// A message put together from the fields of another. Nested lengths are not known when they are due and get
// three bytes, which any decoder reads.
class Extract {
 public:
  void Clear() { bytes_.clear(); }
  void Copy(const ProtoField& field) { bytes_.append(field.raw); }
  std::size_t size() const { return bytes_.size(); }
  void Truncate(std::size_t size) { bytes_.resize(size); }
  std::string_view view() const { return bytes_; }

  // Begins a message under the tag that `field` has; returns what Close() wants.
  std::size_t Open(const ProtoField& field) {
    bytes_.append(field.raw.substr(0, TagLength(field))).append(kLengthBytes, '\0');
    return bytes_.size();
  }
  bool Close(std::size_t begin) {
    const std::size_t length = bytes_.size() - begin;
    if (length >= std::size_t{1} << (7 * kLengthBytes)) return false;
    char* digits = bytes_.data() + begin - kLengthBytes;
    digits[0] = static_cast<char>(length | 0x80);
    digits[1] = static_cast<char>(length >> 7 | 0x80);
    digits[2] = static_cast<char>(length >> 14);
    return true;
  }
  // `field` with nothing in it.
  void CopyEmpty(const ProtoField& field) { bytes_.append(field.raw.substr(0, TagLength(field))) += '\0'; }

 private:
  static constexpr std::size_t kLengthBytes = 3;

  static std::size_t TagLength(const ProtoField& field) {
    std::size_t length = 1;
    while (static_cast<unsigned char>(field.raw[length - 1]) >= 0x80) ++length;
    return length;
  }

  std::string bytes_;
};

}  // namespace berth::wire
