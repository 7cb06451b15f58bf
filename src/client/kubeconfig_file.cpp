#include "client/kubeconfig_file.h"

#include <absl/strings/escaping.h>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <utility>

#include "fmt/format.h"

#include "wire/json_document.h"
#include "wire/yaml.h"

namespace berth::client {
namespace {

namespace json = boost::json;

// Reads members of one object; the first that has the wrong type is remembered, and the rest is of no
// interest.
class Members {
 public:
  Members(const json::object& object, std::string path, std::string& error)
      : object_(object), path_(std::move(path)), error_(error) {}

  const json::value* Find(std::string_view key) const {
    const json::value* value = object_.if_contains(key);
    return value == nullptr || value->is_null() ? nullptr : value;
  }
  void Text(std::string_view key, std::string& out) const {
    const json::value* value = Find(key);
    if (value == nullptr) return;
    if (value->is_string()) {
      out = std::string(value->get_string());
    } else {
      Wrong(key, "a string");
    }
  }
  void Bool(std::string_view key, bool& out) const {
    const json::value* value = Find(key);
    if (value == nullptr) return;
    if (value->is_bool()) {
      out = value->get_bool();
    } else {
      Wrong(key, "a boolean");
    }
  }
  void Base64(std::string_view key, std::string& out) const {
    std::string encoded;
    Text(key, encoded);
    if (!encoded.empty() && !absl::Base64Unescape(encoded, &out)) Fail(key, "illegal base64 data");
  }
  void Texts(std::string_view key, std::vector<std::string>& out) const {
    const json::value* value = Find(key);
    if (value == nullptr) return;
    if (!value->is_array()) return Wrong(key, "a list");
    for (const json::value& item : value->get_array()) {
      if (!item.is_string()) return Wrong(key, "a list of strings");
      out.emplace_back(item.get_string());
    }
  }
  const json::object* Object(std::string_view key) const {
    const json::value* value = Find(key);
    if (value == nullptr) return nullptr;
    if (value->is_object()) return &value->get_object();
    Wrong(key, "an object");
    return nullptr;
  }
  const json::array* Array(std::string_view key) const {
    const json::value* value = Find(key);
    if (value == nullptr) return nullptr;
    if (value->is_array()) return &value->get_array();
    Wrong(key, "a list");
    return nullptr;
  }
  std::string PathOf(std::string_view key) const {
    return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
  }

  void Fail(std::string_view key, std::string_view what) const {
    if (error_.empty()) error_ = fmt::format("{}: {}", PathOf(key), what);
  }
  void Wrong(std::string_view key, std::string_view wanted) const {
    Fail(key, fmt::format("must be {}", wanted));
  }
  std::string& error() const { return error_; }

 private:
  const json::object& object_;
  std::string path_;
  std::string& error_;
};

// "clusters: [{name: n, cluster: {...}}]": calls with the name and the members of each.
template <class Read>
void EachNamed(const Members& top, std::string_view list, std::string_view inner, Read read) {
  const json::array* items = top.Array(list);
  if (items == nullptr) return;
  std::size_t index = 0;
  for (const json::value& item : *items) {
    const std::string path = fmt::format("{}[{}]", list, index++);
    if (!item.is_object()) return top.Fail(path, "must be an object");
    const Members entry(item.get_object(), path, top.error());
    std::string name;
    entry.Text("name", name);
    static const json::object kEmpty;
    const json::object* object = entry.Object(inner);
    read(name, Members(object == nullptr ? kEmpty : *object, entry.PathOf(inner), top.error()));
  }
}

KubeconfigFile::Cluster ReadCluster(const Members& in) {
  KubeconfigFile::Cluster cluster;
  in.Text("server", cluster.server);
  in.Text("tls-server-name", cluster.tls_server_name);
  in.Bool("insecure-skip-tls-verify", cluster.insecure_skip_tls_verify);
  in.Text("certificate-authority", cluster.certificate_authority);
  in.Base64("certificate-authority-data", cluster.certificate_authority_data);
  in.Text("proxy-url", cluster.proxy_url);
  in.Bool("disable-compression", cluster.disable_compression);
  if (const json::array* extensions = in.Array("extensions")) {
    for (const json::value& item : *extensions) {
      const json::object* entry = item.if_object();
      if (entry == nullptr) continue;
      const json::value* name = entry->if_contains("name");
      const json::value* extension = entry->if_contains("extension");
      if (name != nullptr && extension != nullptr &&
          *name == json::value("client.authentication.k8s.io/exec")) {
        cluster.exec_extension_json = wire::WriteJson(*extension);
      }
    }
  }
  return cluster;
}

KubeconfigFile::Exec ReadExec(const Members& in) {
  KubeconfigFile::Exec exec;
  in.Text("command", exec.command);
  in.Texts("args", exec.args);
  in.Text("apiVersion", exec.api_version);
  in.Text("installHint", exec.install_hint);
  in.Bool("provideClusterInfo", exec.provide_cluster_info);
  in.Text("interactiveMode", exec.interactive_mode);
  if (const json::array* env = in.Array("env")) {
    for (const json::value& item : *env) {
      if (!item.is_object()) {
        in.Wrong("env", "a list of objects");
        break;
      }
      const Members entry(item.get_object(), in.PathOf("env"), in.error());
      auto& variable = exec.env.emplace_back();
      entry.Text("name", variable.first);
      entry.Text("value", variable.second);
    }
  }
  return exec;
}

KubeconfigFile::User ReadUser(const Members& in) {
  KubeconfigFile::User user;
  in.Text("client-certificate", user.client_certificate);
  in.Base64("client-certificate-data", user.client_certificate_data);
  in.Text("client-key", user.client_key);
  in.Base64("client-key-data", user.client_key_data);
  in.Text("token", user.token);
  in.Text("tokenFile", user.token_file);
  in.Text("username", user.username);
  in.Text("password", user.password);
  in.Text("as", user.as);
  in.Text("as-uid", user.as_uid);
  in.Texts("as-groups", user.as_groups);
  if (const json::object* extra = in.Object("as-user-extra")) {
    const Members entries(*extra, in.PathOf("as-user-extra"), in.error());
    for (const json::key_value_pair& entry : *extra) {
      entries.Texts(entry.key(), user.as_user_extra[std::string(entry.key())]);
    }
  }
  if (const json::object* provider = in.Object("auth-provider")) {
    Members(*provider, in.PathOf("auth-provider"), in.error()).Text("name", user.auth_provider.emplace());
  }
  if (const json::object* exec = in.Object("exec")) {
    user.exec = ReadExec(Members(*exec, in.PathOf("exec"), in.error()));
  }
  return user;
}

KubeconfigFile::Context ReadContext(const Members& in) {
  KubeconfigFile::Context context;
  in.Text("cluster", context.cluster);
  in.Text("user", context.user);
  in.Text("namespace", context.namespace_);
  return context;
}

}  // namespace

base::Result<KubeconfigFile> ReadKubeconfigFile(std::string_view text) {
  auto as_json = wire::YamlToJson(text);
  if (!as_json) return std::unexpected(std::move(as_json.error()));
  auto document = wire::ParseJson(*as_json);
  if (!document) return std::unexpected(std::move(document.error()));
  KubeconfigFile file;
  if (document->is_null()) return file;
  if (!document->is_object()) return base::Fail("a kubeconfig is an object");
  std::string error;
  const Members top(document->get_object(), "", error);
  std::string kind = "Config";
  std::string version = "v1";
  top.Text("kind", kind);
  top.Text("apiVersion", version);
  if (kind != "Config" || version != "v1") {
    return base::Fail(fmt::format("no kind \"{}\" is registered for version \"{}\"", kind, version));
  }
  top.Text("current-context", file.current_context);
  EachNamed(top, "clusters", "cluster", [&](const std::string& name, const Members& in) {
    file.clusters.emplace(name, ReadCluster(in));
  });
  EachNamed(top, "users", "user",
            [&](const std::string& name, const Members& in) { file.users.emplace(name, ReadUser(in)); });
  EachNamed(top, "contexts", "context", [&](const std::string& name, const Members& in) {
    file.contexts.emplace(name, ReadContext(in));
  });
  if (!error.empty()) return base::Fail(std::move(error));
  return file;
}

}  // namespace berth::client
