#pragma once

#include <cstddef>
#include <functional>

#include "api/structural_hash.h"
#include "base/shared_pool.h"
#include "base/shared_value.h"

namespace berth::api {

// For .cpp files: gives equal values one allocation. The pool is for one thread; the values outlive it.
template <class T>
class SharedValuePool {
 public:
  void Share(base::SharedValue<T>& value) {
    if (*value == T()) {
      value = {};
    } else {
      value = pool_.Intern(Hashed{value, StructuralHash(*value)}).value;
    }
  }

 private:
  struct Hashed {
    base::SharedValue<T> value;
    std::size_t hash;

    bool IsUnshared() const { return value.IsUnshared(); }
    bool operator==(const Hashed&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Hashed& hashed) const { return hashed.hash; }
  };

  base::SharedPool<Hashed, Hash, std::equal_to<>> pool_;
};

}  // namespace berth::api
