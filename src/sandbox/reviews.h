#pragma once

#include <boost/json/fwd.hpp>

#include "sandbox/kinds.h"
#include "sandbox/users.h"

namespace berth::sandbox {

struct ReviewContext {
  const Users& users;  // empty: any token is good
  const User& user;    // who asks
};

// Fills in the status of a question about credentials or permissions. Whoever has got in may do everything.
void AnswerReview(const Resource& resource, boost::json::object& review, const ReviewContext& context);

}  // namespace berth::sandbox
