#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/pod_requests.h"
#include "api/pod_template.h"
#include "cluster/ids.h"
#include "cluster/pod_classes.h"
#include "cluster/pod_table.h"
#include "cluster/ports.h"
#include "cluster/resources.h"
#include "cluster/terms.h"

namespace berth::cluster {

// Makes the facts that the pod table keeps out of a pod's record, once per template where the template alone
// decides: the next pod of a Deployment costs a few look-ups and no allocation.
//
// Facts hold references to everything that they name. Make gives them, Release takes them back.
class PodFactory {
 public:
  struct Tables {
    LabelTable& labels;
    NamespaceTable& namespaces;
    PodClassTable& classes;
    MatcherTable& matchers;
    ResourceTable& resources;
    NodeTable& nodes;
    PortTable& ports;
    TermTable& terms;
    PodTable& pods;
  };
  PodFactory(const Tables& tables, const api::ResourceGates& gates);

  PodFacts Make(PodRecordRef record);
  void Release(const PodFacts& facts);

  const Requests& requests(RequestsId id) const { return t_.resources.requests(id); }
  // The host ports of the template's pods, as often as it names them.
  std::span<const PortId> ports(api::TemplateId id) const { return templates_[id.index()].ports; }
  const api::TemplateTable& templates() const { return template_table_; }

  // Makes room for the resource in the node columns as well.
  ResourceId InternResource(std::string_view name);
  bool empty() const { return template_table_.size() == 0; }

 private:
  // The class of the pods that have these labels in this namespace, which the pods of a template mostly
  // share.
  struct KnownClass {
    base::SharedTextMap labels;
    base::SharedText namespace_;
    base::Versioned<PodClassId> pod_class;
  };
  struct TemplateFacts {
    bool known = false;
    bool has_terms = false;
    std::int32_t priority = 0;
    std::vector<PortId> ports;
    // Of the pods with this status (null: with none), which the pods of a template mostly share.
    std::shared_ptr<const api::PodResourceStatus> resource_status;
    RequestsId requests;
    // Terms that name no namespace speak of their owner's, so they are remembered for the namespace seen
    // last.
    NamespaceId terms_namespace;
    TermListId terms;
    KnownClass last_class;
  };

  api::TemplateId UseTemplate(const api::PodTemplateRef& spec);
  void ReleaseTemplate(api::TemplateId id);
  PodClassId ClassOf(const api::PodRecord& record, TemplateFacts& facts);
  RequestsId RequestsOf(const api::PodRecord& record, TemplateFacts& facts);
  RequestsId InternRequests(const api::PodResourceView& view);
  TermListId TermsOf(const api::PodRecord& record, NamespaceId namespace_, TemplateFacts& facts);

  Tables t_;
  const api::ResourceGates gates_;
  api::TemplateTable template_table_;
  std::vector<TemplateFacts> templates_;  // by TemplateId
  std::string scratch_;
};

}  // namespace berth::cluster
