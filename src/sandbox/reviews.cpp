#include "sandbox/reviews.h"

#include <boost/json.hpp>

#include "sandbox/document.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

json::object UserInfo(std::string_view user) {
  json::object info;
  info["username"] = user;
  info["groups"] = json::array({"system:masters", "system:authenticated"});
  return info;
}

json::object AllRules() {
  json::object everything;
  everything["verbs"] = json::array({"*"});
  everything["apiGroups"] = json::array({"*"});
  everything["resources"] = json::array({"*"});
  json::object paths;
  paths["verbs"] = json::array({"*"});
  paths["nonResourceURLs"] = json::array({"*"});
  json::object status;
  status["resourceRules"] = json::array({std::move(everything)});
  status["nonResourceRules"] = json::array({std::move(paths)});
  status["incomplete"] = false;
  return status;
}

}  // namespace

void AnswerReview(const Resource& resource, json::object& review, const ReviewContext& context) {
  json::object status;
  if (resource.kind == "TokenReview") {
    const std::string_view token = TextAt(review, {"spec", "token"});
    const bool known = context.token.empty() || token == context.token;
    status["authenticated"] = known;
    if (known) status["user"] = UserInfo(context.user);
  } else if (resource.kind == "SelfSubjectReview") {
    status["userInfo"] = UserInfo(context.user);
  } else if (resource.kind == "SelfSubjectRulesReview") {
    status = AllRules();
  } else {
    status["allowed"] = true;
  }
  review["status"] = std::move(status);
}

}  // namespace berth::sandbox
