#include "net/http_parser.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <cstdint>
#include <limits>

// The parser asserts that five bytes of a last chunk have come when three may have ("0" and the end of its
// line, with a trailer still to come). It reads them rightly, but a build with assertions would end at a
// stranger's word.
#define BOOST_DISABLE_ASSERTS
#include <boost/beast/http/basic_parser.hpp>
#undef BOOST_DISABLE_ASSERTS
#include <boost/assert.hpp>

namespace berth::net {
namespace {

namespace http = boost::beast::http;
using boost::beast::string_view;
using boost::system::error_code;

std::uint32_t HeaderLimit(std::size_t bytes) {
  return static_cast<std::uint32_t>(std::min<std::size_t>(bytes, std::numeric_limits<std::uint32_t>::max()));
}

// What both directions keep of a header.
template <bool kIsRequest>
class HeaderKeeper : public http::basic_parser<kIsRequest> {
 public:
  std::string method;
  std::string target;
  int version = 11;
  int status = 0;
  Headers headers;

 protected:
  void on_request_impl(http::verb, string_view method_text, string_view target_text, int version_number,
                       error_code&) override {
    version = version_number;
    method.assign(method_text.data(), method_text.size());
    target.assign(target_text.data(), target_text.size());
  }
  void on_response_impl(int code, string_view, int, error_code&) override { status = code; }
  void on_field_impl(http::field, string_view name, string_view value, error_code&) override {
    headers.Add(std::string(name.data(), name.size()), std::string(value.data(), value.size()));
  }
  void on_header_impl(error_code&) override {}
  void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
  void on_finish_impl(error_code&) override {}
};

class RequestKeeper final : public HeaderKeeper<true> {
 public:
  std::string body;

 private:
  // A client may announce more than it ever sends, so room is made for what comes, not for what is promised.
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(string_view data, error_code&) override {
    body.append(data.data(), data.size());
    return data.size();
  }
  std::size_t on_chunk_body_impl(std::uint64_t, string_view data, error_code& error) override {
    return on_body_impl(data, error);
  }
};

class ResponseKeeper final : public HeaderKeeper<false> {
 public:
  const ResponseParser::DataCallback* on_data = nullptr;

 private:
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(string_view data, error_code&) override {
    if (!data.empty()) (*on_data)(std::string_view(data.data(), data.size()));
    return data.size();
  }
  std::size_t on_chunk_body_impl(std::uint64_t, string_view data, error_code& error) override {
    return on_body_impl(data, error);
  }
};

template <class Parser>
ParseState StateOf(const Parser& parser, const std::string& failure) {
  if (!failure.empty()) return ParseState::kFailed;
  if (parser.is_done()) return ParseState::kComplete;
  return parser.is_header_done() ? ParseState::kBody : ParseState::kHeader;
}

int StatusFor(const error_code& error) {
  if (error == http::error::header_limit) return 431;
  if (error == http::error::body_limit) return 413;
  if (error == http::error::bad_version) return 505;
  return 400;
}

}  // namespace

struct RequestParser::Impl {
  RequestKeeper parser;
  std::string failure;
  int failure_status = 0;
};

RequestParser::RequestParser(const ParserLimits& limits) : impl_(std::make_unique<Impl>()) {
  impl_->parser.header_limit(HeaderLimit(limits.header_bytes_max));
  impl_->parser.body_limit(limits.body_bytes_max);
  impl_->parser.eager(true);
}

RequestParser::~RequestParser() = default;

std::size_t RequestParser::Feed(std::string_view bytes) {
  std::size_t taken = 0;
  while (taken < bytes.size() && state() != ParseState::kComplete && state() != ParseState::kFailed) {
    error_code error;
    const std::size_t step = impl_->parser.put(boost::asio::buffer(bytes.substr(taken)), error);
    taken += step;
    if (error && error != http::error::need_more) {
      impl_->failure = error.message();
      impl_->failure_status = StatusFor(error);
    } else if (error || step == 0) {
      break;
    }
  }
  return taken;
}

ParseState RequestParser::state() const { return StateOf(impl_->parser, impl_->failure); }
bool RequestParser::started() const { return impl_->parser.got_some(); }
bool RequestParser::keep_alive() const { return impl_->parser.keep_alive(); }
bool RequestParser::is_http_1_0() const { return impl_->parser.version < 11; }
int RequestParser::failure_status() const { return impl_->failure_status; }
const std::string& RequestParser::failure() const { return impl_->failure; }
std::string& RequestParser::method() { return impl_->parser.method; }
std::string& RequestParser::target() { return impl_->parser.target; }
Headers& RequestParser::headers() { return impl_->parser.headers; }
std::string& RequestParser::body() { return impl_->parser.body; }

struct ResponseParser::Impl {
  ResponseKeeper parser;
  std::string failure;
};

ResponseParser::ResponseParser(std::size_t header_bytes_max, bool is_answer_to_head)
    : impl_(std::make_unique<Impl>()) {
  impl_->parser.header_limit(HeaderLimit(header_bytes_max));
  impl_->parser.body_limit(boost::none);
  impl_->parser.skip(is_answer_to_head);
}

ResponseParser::~ResponseParser() = default;

std::size_t ResponseParser::Feed(std::string_view bytes, const DataCallback& on_data) {
  impl_->parser.on_data = &on_data;
  std::size_t taken = 0;
  while (taken < bytes.size() && state() != ParseState::kComplete && state() != ParseState::kFailed) {
    const bool in_header = state() == ParseState::kHeader;
    error_code error;
    const std::size_t step = impl_->parser.put(boost::asio::buffer(bytes.substr(taken)), error);
    taken += step;
    if (error && error != http::error::need_more) {
      impl_->failure = error.message();
    } else if (error || step == 0 || (in_header && state() != ParseState::kHeader)) {
      break;
    }
  }
  impl_->parser.on_data = nullptr;
  return taken;
}

void ResponseParser::FeedEnd() {
  if (state() == ParseState::kComplete || state() == ParseState::kFailed) return;
  error_code error;
  if (impl_->parser.got_some()) {
    impl_->parser.put_eof(error);
    if (error) impl_->failure = error.message();
  }
  if (state() != ParseState::kComplete && impl_->failure.empty())
    impl_->failure = "the connection ended early";
}

ParseState ResponseParser::state() const { return StateOf(impl_->parser, impl_->failure); }
bool ResponseParser::keep_alive() const { return impl_->parser.keep_alive(); }
int ResponseParser::status() const { return impl_->parser.status; }
Headers& ResponseParser::headers() { return impl_->parser.headers; }
const std::string& ResponseParser::failure() const { return impl_->failure; }

}  // namespace berth::net
