#include "shell/extender_requests.h"

#include <fmt/format.h>
#include <string_view>
#include <utility>

#include "client/kubeconfig.h"

#include "net/tls.h"
#include "net/url.h"

namespace berth::shell {
namespace {

using cycle::ExtenderCall;
using cycle::ExtenderVerb;

constexpr base::Duration kDefaultTimeout = std::chrono::seconds(5);

net::PemSource PemOf(const config::Base64Bytes& data, const std::string& file) {
  return data.empty() ? net::PemSource{.file = file} : net::PemSource{.text = data.bytes};
}

net::TlsClientConfig TlsOf(const config::Extender& extender) {
  const config::ExtenderTls tls = extender.tls_config.value_or(config::ExtenderTls{});
  net::TlsClientConfig config{.authority = PemOf(tls.ca_data, tls.ca_file),
                              .certificate = PemOf(tls.cert_data, tls.cert_file),
                              .key = PemOf(tls.key_data, tls.key_file),
                              .server_name = tls.server_name,
                              .insecure = tls.insecure};
  // As it has always been: asking for HTTPS without saying whom to trust trusts anybody.
  if (extender.enable_https && config.authority.empty()) config.insecure = true;
  return config;
}

std::string_view WithoutSlash(std::string_view prefix) {
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  return prefix;
}

const std::string& VerbOf(const config::Extender& extender, ExtenderVerb verb) {
  switch (verb) {
    case ExtenderVerb::kFilter:
      return extender.filter_verb;
    case ExtenderVerb::kPrioritize:
      return extender.prioritize_verb;
    case ExtenderVerb::kPreempt:
      return extender.preempt_verb;
    case ExtenderVerb::kBind:
      break;
  }
  return extender.bind_verb;
}

base::Result<std::unique_ptr<client::HttpTransport>> TransportTo(client::LoopExecutor& executor,
                                                                 const config::Extender& extender) {
  auto url = net::ParseUrl(WithoutSlash(extender.url_prefix));
  if (!url) return base::Fail(fmt::format("extender {}: {}", extender.url_prefix, url.error().message));
  net::HttpClientOptions options;
  options.base = *std::move(url);
  auto proxy = client::ProxyFromEnvironment(options.base, client::Surroundings::OfThisProcess());
  if (!proxy) return std::unexpected(std::move(proxy.error()));
  options.proxy = *std::move(proxy);
  if (options.base.is_https()) {
    auto tls = net::TlsContext::ForClient(TlsOf(extender));
    if (!tls) return base::Fail(fmt::format("extender {}: {}", extender.url_prefix, tls.error().message));
    options.tls = *std::move(tls);
  }
  return std::make_unique<client::HttpTransport>(executor, std::move(options));
}

net::ClientRequest RequestOf(const config::Extender& extender, const std::string& verb, std::string body) {
  net::ClientRequest request;
  request.method = "POST";
  request.target = "/" + verb;
  request.headers.Add("Content-Type", "application/json");
  request.body = net::MakeBody(std::move(body));
  request.timeout = extender.http_timeout.count() > 0 ? extender.http_timeout : kDefaultTimeout;
  request.response_bytes_max = ExtenderRequests::kAnswerBytesMax;
  return request;
}

}  // namespace

cycle::ExtenderSpec SpecOf(const config::Extender& extender) {
  cycle::ExtenderSpec spec{.url_prefix = extender.url_prefix,
                           .filter_verb = extender.filter_verb,
                           .prioritize_verb = extender.prioritize_verb,
                           .preempt_verb = extender.preempt_verb,
                           .bind_verb = extender.bind_verb,
                           .weight = extender.weight,
                           .node_cache_capable = extender.node_cache_capable,
                           .ignorable = extender.ignorable};
  for (const config::ManagedResource& resource : extender.managed_resources) {
    spec.managed_resources.push_back(resource.name);
  }
  return spec;
}

base::Result<std::unique_ptr<ExtenderRequests>> ExtenderRequests::Make(
    client::LoopExecutor& executor, const std::vector<config::Extender>& extenders) {
  auto made = std::make_unique<ExtenderRequests>();
  for (const config::Extender& extender : extenders) {
    auto transport = TransportTo(executor, extender);
    if (!transport) return std::unexpected(std::move(transport.error()));
    made->extenders_.push_back({extender, *std::move(transport)});
  }
  return made;
}

base::Task<base::Result<cycle::ExtenderAnswer>> ExtenderRequests::Ask(ExtenderCall call) {
  const Extender& extender = extenders_[call.extender];
  const std::string& verb = VerbOf(extender.config, call.verb);
  net::ClientRequest request =
      RequestOf(extender.config, verb, QuestionBody(call, extender.config.node_cache_capable, texts_));
  const net::NetResult<net::ClientResponse> response = co_await extender.transport->Send(std::move(request));
  if (!response) co_return base::Fail(response.error().message);
  if (response->status != 200) {
    co_return base::Fail(fmt::format("failed {} with extender at URL {}/{}, code {}", verb,
                                     WithoutSlash(extender.config.url_prefix), verb, response->status));
  }
  co_return ReadAnswer(call.verb, response->body);
}

}  // namespace berth::shell
