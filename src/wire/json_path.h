#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace berth::wire {

// Where a reader stands in a JSON document. Keys are views: they must live while they are on the path.
class JsonPath {
 public:
  // Pushes on construction, pops on destruction.
  class Step {
   public:
    Step(JsonPath& path, std::string_view key) : path_(path) { path.steps_.push_back({key, kField}); }
    Step(JsonPath& path, std::size_t index) : path_(path) { path.steps_.push_back({{}, index}); }
    static Step MapKey(JsonPath& path, std::string_view key) { return Step(path, key, kMapKey); }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;
    ~Step() { path_.steps_.pop_back(); }

   private:
    Step(JsonPath& path, std::string_view key, std::size_t kind) : path_(path) {
      path.steps_.push_back({key, kind});
    }
    JsonPath& path_;
  };

  // "spec.containers[2].resources.requests[cpu]"
  std::string ToString() const;
  // The same as strict decoding errors of Kubernetes spell it, with `key` at the end:
  // "spec.containers[2].resources.requests.cpu".
  std::string StrictPath(std::string_view key) const;

 private:
  static constexpr std::size_t kField = static_cast<std::size_t>(-1);
  static constexpr std::size_t kMapKey = static_cast<std::size_t>(-2);
  struct Part {
    std::string_view key;
    std::size_t index;
  };

  std::vector<Part> steps_;
};

// The unknown and duplicate keys of a document, in its order. Bounded, each named once.
class StrictErrors {
 public:
  void Unknown(std::string path) { Add("unknown field", std::move(path)); }
  void Duplicate(std::string path) { Add("duplicate field", std::move(path)); }
  bool empty() const { return errors_.empty(); }
  std::string ToString() const;  // "strict decoding error: unknown field \"a\", ..."

 private:
  void Add(std::string_view what, std::string path);

  std::vector<std::string> errors_;
};

}  // namespace berth::wire
