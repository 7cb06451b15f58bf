#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <string_view>

namespace berth::wire {
struct Message;
}  // namespace berth::wire

// What Go's JSON decoder says about input that it does not take. People paste these words into searches, and
// some clients look for them.
namespace berth::sandbox {

// "invalid character 'x' looking for beginning of value"; empty if the text is JSON.
std::string JsonSyntaxProblem(std::string_view text);

// "json: cannot unmarshal string into Go struct field PodSpec.spec.containers of type []v1.Container": the
// first value whose type is not the one that the message has there; empty if there is none.
std::string JsonTypeProblem(const wire::Message& message, const boost::json::object& document);

}  // namespace berth::sandbox
