#pragma once

#include <boost/json/fwd.hpp>
#include <string>

namespace berth::wire {
struct Message;
}  // namespace berth::wire

namespace berth::sandbox {

// What is wrong with a configuration that is to be applied, in the words of the library that merges them on a
// cluster: values of wrong types, fields that the kind does not have, elements of a list that its keys do not
// tell apart. Each with its path, `.spec.containers[name="c"].port: field not declared in schema`; empty if
// nothing is.
std::string TypedProblem(const wire::Message& message, const boost::json::object& config);

}  // namespace berth::sandbox
