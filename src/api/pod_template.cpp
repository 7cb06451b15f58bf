#include "api/pod_template.h"

#include <cstddef>

#include "api/structural_hash.h"

namespace berth::api {

std::size_t SpecHash(const PodSpec& spec) { return StructuralHash(spec); }

TemplateId TemplateTable::Intern(const PodTemplateRef& pod_template) { return table_.Intern(pod_template); }

void TemplateTable::Acquire(TemplateId id) { table_.Acquire(id); }

bool TemplateTable::Release(TemplateId id) { return table_.Release(id); }

bool TemplateTable::Equal::operator()(const PodTemplateRef& a, const PodTemplateRef& b) const {
  return a == b || *a == *b;
}

bool PodTemplate::operator==(const PodTemplate& other) const {
  return hash == other.hash && spec == other.spec;
}

}  // namespace berth::api
