#include "plugins/image_locality.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "plugins/go_arithmetic.h"
#include "plugins/pod_signatures.h"

namespace berth::plugins {
namespace {

constexpr std::int64_t kMebibyte = 1024 * 1024;
constexpr std::int64_t kBytesMin = 23 * kMebibyte;
constexpr std::int64_t kBytesMaxPerImage = 1000 * kMebibyte;

struct WantedImage {
  std::string name;
  std::int64_t times = 1;  // how often the pod names it
};

struct ImagePlan final : framework::Plan {
  std::vector<WantedImage> wanted;  // by name
  std::int64_t image_count = 0;
};

// What an image that the pod wants counts for on a node that has it.
struct ImageWeight {
  cluster::ImageId image;
  std::int64_t bytes = 0;

  bool operator==(const ImageWeight&) const = default;
};

struct ImageState final : framework::State {
  std::vector<ImageWeight> weights;  // of the wanted images that some node has

  std::size_t MemoryBytes() const override {
    return sizeof(*this) + weights.capacity() * sizeof(ImageWeight);
  }
};

std::vector<std::string> ImagesOf(const api::PodSpec& spec) {
  std::vector<std::string> images;
  images.reserve(spec.init_containers.size() + spec.containers.size());
  for (const api::Container& container : spec.init_containers) {
    images.push_back(NormalizedImageName(container.image));
  }
  for (const api::Container& container : spec.containers) {
    images.push_back(NormalizedImageName(container.image));
  }
  std::ranges::sort(images);
  return images;
}

std::int64_t ScoreOf(std::int64_t bytes, std::int64_t image_count) {
  const std::int64_t bytes_max = kBytesMaxPerImage * image_count;
  // Not std::clamp: a pod without images has a maximum below the minimum.
  if (bytes < kBytesMin) {
    bytes = kBytesMin;
  } else if (bytes > bytes_max) {
    bytes = bytes_max;
  }
  return framework::kScoreMax * (bytes - kBytesMin) / (bytes_max - kBytesMin);
}

}  // namespace

std::string NormalizedImageName(std::string_view name) {
  // A colon before the last slash belongs to a registry's port.
  const std::size_t colon = name.rfind(':');
  const std::size_t slash = name.rfind('/');
  const bool has_tag = colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash);
  std::string normalized(name);
  if (!has_tag) normalized += ":latest";
  return normalized;
}

std::unique_ptr<framework::Plan> ImageLocality::MakePlan(const framework::PlanInput& input) const {
  auto plan = std::make_unique<ImagePlan>();
  for (std::string& image : ImagesOf(input.spec)) {
    ++plan->image_count;
    if (!plan->wanted.empty() && plan->wanted.back().name == image) {
      ++plan->wanted.back().times;
    } else {
      plan->wanted.push_back({std::move(image), 1});
    }
  }
  plan->score_reads = framework::Reads::RowAndState(cluster::kImagesFact);
  return plan;
}

std::unique_ptr<framework::State> ImageLocality::MakeState(framework::Cycle&) const {
  return std::make_unique<ImageState>();
}

void ImageLocality::Refresh(framework::Cycle& cycle, framework::State& state,
                            framework::StateChanges& changes) const {
  const auto& plan = cycle.PlanOf<ImagePlan>(*this);
  auto& weights = static_cast<ImageState&>(state).weights;
  const cluster::ImageTable& images = cycle.cluster().images();
  const auto node_count = static_cast<double>(cycle.cluster().nodes().existing_count());

  std::size_t count = 0;
  bool moved = false;
  for (const WantedImage& wanted : plan.wanted) {
    const cluster::ImageId image = images.Find(wanted.name);
    if (!image.IsValid()) continue;
    const double spread = static_cast<double>(images.NodeCount(image)) / node_count;
    const std::int64_t bytes = Truncated(static_cast<double>(images.SizeBytes(image)) * spread);
    const ImageWeight weight{image, WrappingMultiply(bytes, wanted.times)};
    if (count == weights.size()) weights.emplace_back();
    moved |= weights[count] != weight;
    weights[count++] = weight;
  }
  moved |= count != weights.size();
  weights.resize(count);
  if (moved) changes.scores.AddAll();
}

bool ImageLocality::ScoresAlike(const framework::Cycle& cycle) const {
  return cycle.StateOf<ImageState>(*this).weights.empty();
}

framework::Status ImageLocality::Score(const framework::Cycle& cycle, std::span<const cluster::NodeRow> rows,
                                       std::span<std::int64_t> scores) const {
  const auto& plan = cycle.PlanOf<ImagePlan>(*this);
  const auto& weights = cycle.StateOf<ImageState>(*this).weights;
  const cluster::NodeTable& table = cycle.cluster().nodes();
  if (weights.empty()) {
    std::ranges::fill(scores, ScoreOf(0, plan.image_count));
    return {};
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::span<const cluster::ImageId> present = table.images(rows[i]);
    std::int64_t bytes = 0;
    for (const ImageWeight& weight : weights) {
      if (std::ranges::binary_search(present, weight.image)) bytes = WrappingAdd(bytes, weight.bytes);
    }
    scores[i] = ScoreOf(bytes, plan.image_count);
  }
  return {};
}

bool ImageLocality::Sign(const framework::WaitingPod& pod, framework::Signature& signature) const {
  std::string text;
  for (const std::string& image : ImagesOf(pod.record().spec->spec)) AppendField(text, image);
  signature.Add("v1.Pod.Spec.CanonicalImageNames()", std::move(text));
  return true;
}

}  // namespace berth::plugins
