#include "wire/proto_reader.h"

namespace berth::wire {

bool ProtoReader::LongVarint(std::uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (next_ == end_) return Fail("unexpected EOF");
    const auto byte = static_cast<unsigned char>(*next_++);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return Fail("integer overflow");
}

bool ProtoReader::Skip(std::size_t size) {
  if (static_cast<std::size_t>(end_ - next_) < size) return Fail("unexpected EOF");
  next_ += size;
  return true;
}

bool ProtoReader::Unusual(const ProtoField& field) {
  // Groups are counted, not recursed into: their nesting is the sender's choice.
  std::size_t open_groups = 0;
  WireType wire = field.wire;
  while (true) {
    bool good = true;
    std::uint64_t number = 0;
    switch (wire) {
      case WireType::kVarint:
        good = Varint(number);
        break;
      case WireType::kFixed64:
        good = Skip(8);
        break;
      case WireType::kBytes:
        good = Varint(number) && Skip(number);
        break;
      case WireType::kGroup:
        ++open_groups;
        break;
      case WireType::kGroupEnd:
        if (open_groups == 0) return Fail("wiretype end group for non-group");
        --open_groups;
        break;
      case WireType::kFixed32:
        good = Skip(4);
        break;
      default:
        return Fail("illegal wireType");
    }
    if (!good || open_groups == 0) return good;
    std::uint64_t tag = 0;
    if (!Varint(tag)) return false;
    wire = static_cast<WireType>(tag & 7);
  }
}

}  // namespace berth::wire
