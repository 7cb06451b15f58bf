#include "config/problem.h"

#include "api/validation.h"

namespace berth::config {

std::string Aggregate(std::span<const Problem> problems) {
  std::vector<std::string> messages;
  messages.reserve(problems.size());
  for (const Problem& problem : problems) messages.push_back(problem.message);
  return api::AggregateErrors(messages);
}

}  // namespace berth::config
