#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "net/http_server.h"

namespace berth::sandbox {

// Somebody who uses the API. Names tell clients apart; whoever has got in may do everything.
struct User {
  std::string name;
  std::string uid = {};
  std::vector<std::string> groups = {};
};

// The one whom the sandbox's kubeconfig names, and everybody else where nobody is asked.
const User& Administrator();

// Who is who, by bearer token.
class Users {
 public:
  // Replaces whom the token stood for.
  void Add(std::string token, User user);
  // Adds those of a file as kube-apiserver's --token-auth-file takes it: a line
  // `token,name,uid,"group,group"` for each, the groups optional. Errors name the line.
  base::Result<void> AddFile(std::string_view csv);

  bool empty() const { return known_.empty(); }
  // Null if the token is nobody's.
  const User* Find(std::string_view token) const;
  // By the request's Authorization header.
  const User* Of(const net::Request& request) const;

 private:
  struct Known {
    std::string token;
    User user;
  };
  std::vector<Known> known_;  // a handful
};

}  // namespace berth::sandbox
