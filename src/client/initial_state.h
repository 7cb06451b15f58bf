#pragma once

#include <utility>
#include <vector>

#include "client/objects.h"

namespace berth::client {

// The state that a watch tells before its marker. Servers tell it in the order of names, each once; what
// changes meanwhile may follow in any order.
class InitialState {
 public:
  void Set(ReadObject object) { Add({.read = std::move(object), .is_gone = false}); }
  void Remove(ReadObject object) { Add({.read = std::move(object), .is_gone = true}); }

  // In the order of names.
  std::vector<ReadObject> Take();

 private:
  struct Entry {
    ReadObject read;
    bool is_gone = false;
  };

  void Add(Entry entry);

  std::vector<Entry> entries_;
  bool is_plain_ = true;  // in order, none twice, none gone
};

}  // namespace berth::client
