#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "net/http_message.h"

namespace berth::net {

struct ParserLimits {
  std::size_t header_bytes_max = std::size_t{1} << 20;
  std::size_t body_bytes_max = std::size_t{3} << 20;
};

enum class ParseState { kHeader, kBody, kComplete, kFailed };

// Reads one HTTP/1.x request out of bytes that arrive in any pieces.
class RequestParser {
 public:
  explicit RequestParser(const ParserLimits& limits);
  ~RequestParser();

  // Returns how many bytes were taken. The caller offers the rest again, with what arrived since; bytes after
  // the end of the message are never taken.
  std::size_t Feed(std::string_view bytes);

  ParseState state() const;
  // Whether a byte of the message has been seen. False between messages of one connection.
  bool started() const;
  bool keep_alive() const;  // once the header is there
  bool is_http_1_0() const;
  int failure_status() const;  // what to answer, once failed
  const std::string& failure() const;

  // May be moved from once complete.
  std::string& method();
  std::string& target();
  Headers& headers();
  std::string& body();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Reads one response. The body is handed on as it arrives.
class ResponseParser {
 public:
  using DataCallback = std::function<void(std::string_view data)>;

  ResponseParser(std::size_t header_bytes_max, bool is_answer_to_head);
  ~ResponseParser();

  // Stops once after the header, so that the caller can look at it before the first byte of the body.
  std::size_t Feed(std::string_view bytes, const DataCallback& on_data);
  // The connection has ended: the end of a body that has no other, a failure for any other.
  void FeedEnd();

  ParseState state() const;
  bool keep_alive() const;
  int status() const;
  Headers& headers();
  const std::string& failure() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::net
