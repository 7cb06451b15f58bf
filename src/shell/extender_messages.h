#pragma once

#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"

#include "base/error.h"
#include "cycle/extender.h"

namespace berth::shell {

// Pods and nodes as JSON text, whole: with every field that the server sent, as far as the bytes were kept
// (client/whole_object.h), else with those that berth reads. managedFields are left out.
//
// The text of a node is kept as long as the node does not change, since extenders are shown all nodes for
// every pod.
class ObjectTexts {
 public:
  std::string Of(const cluster::PodRecordRef& pod) const;
  const std::string& Of(const cluster::NodeRef& node);

 private:
  struct NodeText {
    cluster::NodeRef node;
    std::string text;
  };
  absl::flat_hash_map<std::string, NodeText> nodes_;
};

// What is sent to an extender, in the words of the extender API: keys are capitalised, lists that are not
// given are null.
std::string QuestionBody(const cycle::ExtenderCall& call, bool node_cache_capable, ObjectTexts& texts);

// What came back. Keys are read without regard to case, unknown ones and whatever follows the value are
// passed over.
base::Result<cycle::ExtenderAnswer> ReadAnswer(cycle::ExtenderVerb verb, std::string_view body);

}  // namespace berth::shell
