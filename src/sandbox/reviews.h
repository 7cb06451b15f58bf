#pragma once

#include <boost/json/fwd.hpp>
#include <string_view>

#include "sandbox/kinds.h"

namespace berth::sandbox {

struct ReviewContext {
  std::string_view token;  // the one that is valid; empty: any
  std::string_view user;
};

// Fills in the status of a question about credentials or permissions. Whoever has got in may do everything.
void AnswerReview(const Resource& resource, boost::json::object& review, const ReviewContext& context);

}  // namespace berth::sandbox
