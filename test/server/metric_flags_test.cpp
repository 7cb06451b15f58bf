#include "server/metric_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

namespace berth::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(MetricFlags, AllowedLabelsAreRead) {
  const auto one = ParseAllowedLabels({"m1,l1=v1,v2"});
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_THAT(*one, ElementsAre(AllowedLabel{"m1", "l1", {"v1", "v2"}}));
  const auto several = ParseAllowedLabels({"m1,l1='v1,v2',m1,l2='v3'", "m2,l1=v"});
  ASSERT_TRUE(several) << several.error().message;
  EXPECT_THAT(*several, ElementsAre(AllowedLabel{"m1", "l1", {"v1", "v2"}}, AllowedLabel{"m1", "l2", {"v3"}},
                                    AllowedLabel{"m2", "l1", {"v"}}));
  EXPECT_EQ(ParseAllowedLabels({"x"}).error().message, "x must be formatted as key=value");
  EXPECT_FALSE(ParseAllowedLabels({"metric=v"}));
}

TEST(MetricFlags, AFileSaysTheSame) {
  const auto allowed = ParseAllowedLabelsFile("m1,l1: v1,v2\nm2,l1: ''\n");
  ASSERT_TRUE(allowed) << allowed.error().message;
  EXPECT_THAT(*allowed, ElementsAre(AllowedLabel{"m1", "l1", {"v1", "v2"}}, AllowedLabel{"m2", "l1", {}}));
  EXPECT_FALSE(ParseAllowedLabelsFile("[a]"));
  EXPECT_FALSE(ParseAllowedLabelsFile("m1,l1: [v1]\n"));
  EXPECT_FALSE(ParseAllowedLabelsFile("m1: v1\n"));
}

// Cases 48 and 49 of the operations chapter.
TEST(MetricFlags, WishesDecideWhatIsShown) {
  const auto text = [](const MetricWishes& wishes) {
    base::MetricRegistry registry;
    registry.AddCounter({.name = "a_total", .help = "A."});
    auto& labelled = registry.AddCounters({.name = "b_total", .help = "B.", .labels = {"l"}});
    registry.AddHistogram({.name = "scheduler_preemption_goroutines_duration_seconds",
                           .help = "Old.",
                           .deprecated_since = "1.37.0",
                           .buckets = {1}});
    ApplyWishes(registry, wishes);
    labelled.With({"x"})->Increment();
    labelled.With({"y"})->Increment();
    return registry.Text();
  };
  EXPECT_THAT(text({}), HasSubstr("a_total 0\n"));
  EXPECT_THAT(text({}), Not(HasSubstr("scheduler_preemption_goroutines_duration_seconds")));
  EXPECT_THAT(text({.show_hidden = true}),
              HasSubstr("# HELP scheduler_preemption_goroutines_duration_seconds [ALPHA] (Deprecated since "
                        "1.37.0) Old.\n"));
  EXPECT_THAT(text({.show_hidden = true, .disabled = {"scheduler_preemption_goroutines_duration_seconds"}}),
              Not(HasSubstr("scheduler_preemption_goroutines_duration_seconds")));
  EXPECT_THAT(text({.disabled = {"a_total", "unheard_of"}}), Not(HasSubstr("a_total")));
  EXPECT_THAT(text({.allowed = {{"b_total", "l", {"x"}}, {"unheard_of", "l", {}}}}),
              HasSubstr("b_total{l=\"unexpected\"} 1\nb_total{l=\"x\"} 1\n"));
}

}  // namespace
}  // namespace berth::server
