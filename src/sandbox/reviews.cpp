#include "sandbox/reviews.h"

#include <boost/json.hpp>

#include "sandbox/document.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

json::object UserInfo(const User& user) {
  json::object info;
  info["username"] = user.name;
  if (!user.uid.empty()) info["uid"] = user.uid;
  json::array groups(user.groups.begin(), user.groups.end());
  groups.emplace_back("system:authenticated");
  info["groups"] = std::move(groups);
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
    const User* known =
        context.users.empty() ? &context.user : context.users.Find(TextAt(review, {"spec", "token"}));
    status["authenticated"] = known != nullptr;
    if (known != nullptr) status["user"] = UserInfo(*known);
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
