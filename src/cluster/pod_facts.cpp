#include "cluster/pod_facts.h"

#include <algorithm>
#include <utility>

namespace berth::cluster {

PodFactory::PodFactory(const Tables& tables, const api::ResourceGates& gates) : t_(tables), gates_(gates) {}

ResourceId PodFactory::InternResource(std::string_view name) {
  const ResourceId id = t_.resources.Intern(name);
  t_.nodes.EnsureColumn(id);
  return id;
}

PodFacts PodFactory::Make(PodRecordRef record) {
  PodFacts facts;
  facts.template_id = UseTemplate(record->spec);
  TemplateFacts& shared = templates_[facts.template_id.index()];
  facts.priority = shared.priority;
  facts.requests = RequestsOf(*record, shared);
  facts.pod_class = ClassOf(*record, shared);
  if (shared.has_terms) {
    facts.terms = TermsOf(*record, t_.classes.Get(facts.pod_class).namespace_, shared);
  }
  for (const std::string& claim : record->claims().volume_claim_names) {
    scratch_.assign(record->namespace_).append("/").append(claim);
    facts.claims.push_back(t_.pods.InternClaim(scratch_));
  }
  facts.record = std::move(record);
  return facts;
}

void PodFactory::Release(const PodFacts& facts) {
  for (const ClaimId claim : facts.claims) t_.pods.ReleaseClaim(claim);
  if (facts.terms.IsValid()) t_.terms.ReleaseList(facts.terms);
  if (t_.classes.Release(facts.pod_class)) t_.matchers.Forget(facts.pod_class);
  t_.resources.ReleaseRequests(facts.requests);
  ReleaseTemplate(facts.template_id);
}

api::TemplateId PodFactory::UseTemplate(const api::PodTemplateRef& spec) {
  const api::TemplateId id = template_table_.Intern(spec);
  if (id.index() >= templates_.size()) templates_.resize(id.index() + 1);
  TemplateFacts& facts = templates_[id.index()];
  if (facts.known) return id;
  facts.known = true;
  facts.priority = spec->spec.priority.value_or(0);
  facts.has_terms = spec->spec.affinity && HasTerms(*spec->spec.affinity);
  for (const HostPort& port : HostPortsOf(spec->spec)) facts.ports.push_back(t_.ports.Intern(port));
  return id;
}

void PodFactory::ReleaseTemplate(api::TemplateId id) {
  if (!template_table_.Release(id)) return;
  TemplateFacts& facts = templates_[id.index()];
  for (const PortId port : facts.ports) t_.ports.Release(port);
  if (facts.requests.IsValid()) t_.resources.ReleaseRequests(facts.requests);
  if (facts.terms.IsValid()) {
    t_.terms.ReleaseList(facts.terms);
    t_.namespaces.Release(facts.terms_namespace);
  }
  facts = {};
}

PodClassId PodFactory::ClassOf(const api::PodRecord& record, TemplateFacts& facts) {
  KnownClass& last = facts.last_class;
  // Labels that are shared are equal; it is not worth to compare others.
  if (last.labels.IsSame(record.labels) && last.namespace_ == record.namespace_ &&
      t_.classes.IsCurrent(last.pod_class)) {
    t_.classes.Acquire(last.pod_class.id);
    return last.pod_class.id;
  }
  const LabelSetId labels = t_.labels.Intern(record.labels);
  const PodClassId id = t_.classes.Intern({labels, t_.namespaces.Intern(record.namespace_)});
  last = {record.labels, record.namespace_, t_.classes.Version(id)};
  return id;
}

RequestsId PodFactory::RequestsOf(const api::PodRecord& record, TemplateFacts& facts) {
  const api::PodResourceView view(record);
  if (view.resize_infeasible || !view.claims.empty()) return InternRequests(view);
  if (!facts.requests.IsValid() || facts.resource_status != record.resource_status) {
    const RequestsId requests = InternRequests(view);
    if (facts.requests.IsValid()) t_.resources.ReleaseRequests(facts.requests);
    facts.requests = requests;
    facts.resource_status = record.resource_status;
  }
  t_.resources.AcquireRequests(facts.requests);
  return facts.requests;
}

RequestsId PodFactory::InternRequests(const api::PodResourceView& view) {
  const api::AssignedRequests assigned = api::AssignedPodRequests(view, gates_);
  Requests requests{.milli_cpu = assigned.requests.milli_cpu,
                    .memory = assigned.requests.memory,
                    .ephemeral_storage = assigned.requests.ephemeral_storage,
                    .non_zero_milli_cpu = assigned.non_zero_milli_cpu,
                    .non_zero_memory = assigned.non_zero_memory,
                    .scalars = {}};
  for (const auto& [name, amount] : assigned.requests.scalars) {
    requests.scalars.push_back({InternResource(name), amount});
  }
  std::ranges::sort(requests.scalars, {}, &ResourceAmount::resource);
  return t_.resources.InternRequests(std::move(requests));
}

TermListId PodFactory::TermsOf(const api::PodRecord& record, NamespaceId namespace_, TemplateFacts& facts) {
  if (!facts.terms.IsValid() || facts.terms_namespace != namespace_) {
    // Before the old ones are let go: both may share terms.
    const TermListId terms = t_.terms.InternList(*record.spec->spec.affinity, record.namespace_);
    t_.namespaces.Acquire(namespace_);
    if (facts.terms.IsValid()) {
      t_.terms.ReleaseList(facts.terms);
      t_.namespaces.Release(facts.terms_namespace);
    }
    facts.terms = terms;
    facts.terms_namespace = namespace_;
  }
  t_.terms.AcquireList(facts.terms);
  return facts.terms;
}

}  // namespace berth::cluster
