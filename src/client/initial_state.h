#pragma once

#include <utility>
#include <vector>

#include "client/objects.h"

namespace berth::client {

// The state that a watch tells before its marker. Servers tell it in the order of names, each once; what
// changes meanwhile may follow in any order.
class InitialState {
 public:
  void Set(ReadObject object) { Add(std::move(object), false); }
  void Remove(ReadObject object) { Add(std::move(object), true); }

  // In the order of names.
  std::vector<ReadObject> Take();

 private:
  void Add(ReadObject object, bool is_gone);

  std::vector<ReadObject> objects_;
  std::vector<bool> is_gone_;  // beside objects_
  bool is_plain_ = true;       // in order, none twice, none gone
};

}  // namespace berth::client
