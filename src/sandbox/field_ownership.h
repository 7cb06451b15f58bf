#pragma once

#include <boost/json/fwd.hpp>

#include "sandbox/field_set.h"

namespace berth::wire {
struct Message;
}  // namespace berth::wire

// Documents as sets of fields: what one sets, how two differ, how one is laid over the other. Driven by
// merge_schema.h. Pure.
namespace berth::sandbox {

// Every place that the document sets, down to what can have an owner of its own.
FieldSet FieldsOf(const wire::Message& message, const boost::json::object& document);

struct FieldChanges {
  FieldSet set;      // added, or of another value
  FieldSet removed;  // there before, and no more
};
FieldChanges CompareFields(const wire::Message& message, const boost::json::object& before,
                           const boost::json::object& after);

// Lays `config` over `live`: what it does not mention stays.
void MergeFields(const wire::Message& message, boost::json::object& live, const boost::json::object& config);

// Takes these places out of the document.
void RemoveFields(const wire::Message& message, boost::json::object& document, const FieldSet& fields);

}  // namespace berth::sandbox
