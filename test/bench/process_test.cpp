#include <csignal>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>

#include "base/files.h"
#include "bench/child_process.h"
#include "bench/process_stats.h"
#include "bench/remote_cluster.h"
#include "bench/runner.h"
#include "net/event_loop.h"
#include "sandbox/control_plane.h"
#include "sandbox/document.h"
#include "sandbox/http_front.h"

// Processes beside this one, and whole runs with a scheduler that is a script.
namespace berth::bench {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

bool Never() { return false; }

bool IsAlive(pid_t process) { return ::kill(process, 0) == 0; }

class ProcessTest : public testing::Test {
 protected:
  ProcessTest() : folder_(*TemporaryFolder::Make()) {}

  fs::path Script(const char* name, const std::string& text) {
    const fs::path path = folder_.path() / name;
    std::ofstream(path) << "#!/bin/bash\n" << text;
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }
  base::Result<std::unique_ptr<ChildProcess>> Start(const std::string& text) {
    return ChildProcess::Start({.command = {Script("child", text).string(), "argument"},
                                .environment = {{"WORD", "hello"}},
                                .log = folder_.path() / "log"});
  }

  TemporaryFolder folder_;
};

TEST_F(ProcessTest, SaysItsLine) {
  auto child = Start("echo not this; echo \"ready $WORD $1\"; exec sleep 1000");
  ASSERT_TRUE(child.has_value()) << child.error().message;
  EXPECT_EQ(*(*child)->AwaitLine("ready ", seconds(30), Never), "hello argument");
  EXPECT_FALSE((*child)->Ended().has_value());
}

TEST_F(ProcessTest, EndsWithItsObjectAndTakesItsOwnChildrenAlong) {
  auto child = Start("sleep 1000 & echo \"ready $!\"; trap '' TERM; wait; sleep 1000");
  ASSERT_TRUE(child.has_value()) << child.error().message;
  const pid_t grandchild = std::stoi(*(*child)->AwaitLine("ready ", seconds(30), Never));
  const pid_t process = (*child)->id();
  EXPECT_TRUE(IsAlive(process));
  EXPECT_TRUE(IsAlive(grandchild));
  // It does not listen, so it is made to.
  (*child)->Stop(std::chrono::milliseconds(1));
  EXPECT_FALSE(IsAlive(process));
  EXPECT_THAT(*(*child)->Ended(), HasSubstr("signal 9"));
}

TEST_F(ProcessTest, ItsGroupIsAllThatItStarted) {
  auto child = Start("sleep 1000 & echo \"ready $!\"; wait");
  ASSERT_TRUE(child.has_value()) << child.error().message;
  const pid_t grandchild = std::stoi(*(*child)->AwaitLine("ready ", seconds(30), Never));
  EXPECT_THAT(ProcessesOfGroup((*child)->id()), testing::UnorderedElementsAre((*child)->id(), grandchild));
}

TEST_F(ProcessTest, OneThatIsStoppedEndsWhenItIsToldTo) {
  auto child = Start("echo ready; exec sleep 1000");
  ASSERT_TRUE(child.has_value()) << child.error().message;
  ASSERT_TRUE((*child)->AwaitLine("ready", seconds(30), Never).has_value());
  ::kill((*child)->id(), SIGSTOP);
  // Long enough for the test to fail by its own limit if it is not woken.
  (*child)->Stop(std::chrono::hours(1));
  EXPECT_THAT(*(*child)->Ended(), HasSubstr("signal 15"));
}

TEST_F(ProcessTest, SaysWhichVersionItIs) {
  const auto version = [&](const std::string& text) {
    return SchedulerVersion(ChooseScheduler(Script("scheduler", text), /*is_bare=*/false), Never);
  };
  EXPECT_EQ(version("[[ $1 == --version ]] && echo Kubernetes v1.37.1"), "Kubernetes v1.37.1");
  EXPECT_EQ(version("echo no such flag; exit 1"), "version unknown");
  EXPECT_EQ(version("exit 1"), "version unknown");
  EXPECT_EQ(SchedulerVersion(ChooseScheduler("/no/such/program", false), Never), "version unknown");
  EXPECT_EQ(SchedulerVersion(ChooseScheduler(Script("bare", "echo 1.2"), /*is_bare=*/true), Never),
            "version unknown");
}

TEST_F(ProcessTest, SaysHowItEnded) {
  auto child = Start("echo oh; exit 3");
  ASSERT_TRUE(child.has_value()) << child.error().message;
  EXPECT_THAT((*child)->AwaitLine("ready ", seconds(30), Never).error().message,
              HasSubstr("ended with code 3"));
  auto waiting = Start("exec sleep 1000");
  EXPECT_EQ((*waiting)->AwaitLine("ready ", seconds(30), [] { return true; }).error().message, "interrupted");
  EXPECT_THAT(
      ChildProcess::Start({.command = {"/no/such/program"}, .log = folder_.path() / "log"}).error().message,
      HasSubstr("cannot run /no/such/program: No such file"));
}

TEST_F(ProcessTest, ASchedulerIsToldWhatAllAreTold) {
  std::ofstream(folder_.path() / "own.yaml") << "apiVersion: kubescheduler.config.k8s.io/v1\n"
                                                "kind: KubeSchedulerConfiguration\n"
                                                "parallelism: 3\nclientConnection: {qps: 7}\n";
  SchedulerChoice choice = ChooseScheduler("/bin/kube-scheduler", false);
  EXPECT_EQ(choice.name, "kube-scheduler");
  choice.config = folder_.path() / "own.yaml";
  choice.arguments = {"--more"};
  const auto config = SchedulerConfig(choice, "", {.kubeconfig = "/k", .folder = folder_.path()});
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(sandbox::NumberAt(*config, {"parallelism"}), 3);
  EXPECT_EQ(sandbox::TextAt(*config, {"clientConnection", "kubeconfig"}), "/k");
  EXPECT_EQ(config->at("clientConnection").at("qps").to_number<double>(), 5000);
  EXPECT_EQ(config->at("clientConnection").at("burst").to_number<int>(), 5000);
  EXPECT_FALSE(config->at("leaderElection").at("leaderElect").as_bool());
  EXPECT_THAT(SchedulerConfig(choice, "/none.yaml", {}).error().message, HasSubstr("/none.yaml"));
  EXPECT_THAT(
      SchedulerCommand(choice, "/c", {{"A", true}, {"NodeDeclaredFeatures", false}}, 77),
      ElementsAre("/bin/kube-scheduler", "--config=/c", "--v=2", "--bind-address=127.0.0.1",
                  "--secure-port=77", "--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics",
                  "--feature-gates=A=true,NodeDeclaredFeatures=false", "--emulated-version=1.36", "--more"));
  EXPECT_THAT(SchedulerCommand(ChooseScheduler("/x/null", true), "/c", {{"A", true}}, 77),
              ElementsAre("/x/null", "--config=/c"));
  EXPECT_THAT(ChooseScheduler("/x/berth", false).command, ElementsAre("/x/berth", "scheduler"));
  EXPECT_THAT(ChooseScheduler("/x/berth-before", false).command, ElementsAre("/x/berth-before", "scheduler"));
}

// A control plane on a thread of its own.
class Server {
 public:
  Server() {
    auto front = sandbox::HttpFront::Listen(loop_, plane_, {});
    front_ = *std::move(front);
    thread_ = std::thread([this] { loop_.Run(); });
  }
  ~Server() {
    loop_.Stop();
    thread_.join();
  }
  std::uint16_t port() const { return front_->port(); }

 private:
  base::RealClock clock_;
  sandbox::ControlPlane plane_{clock_, {}};
  net::EventLoop loop_;
  std::unique_ptr<sandbox::HttpFront> front_;
  std::thread thread_;
};

class RemoteRunTest : public ProcessTest {
 protected:
  RemoteRunTest() {
    std::ofstream(folder_.path() / "node.yaml")
        << "metadata: {name: 'n-{{.Index}}'}\nstatus: {capacity: {cpu: 8, pods: 50}}\n";
    std::ofstream(folder_.path() / "pod.yaml")
        << "metadata: {name: 'p-{{.Index}}'}\nspec: {containers: [{name: c, image: i}]}\n";
    std::ofstream(folder_.path() / "kubeconfig") << fmt::format(
        "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
        "clusters: [{{name: c, cluster: {{server: 'http://127.0.0.1:{}'}}}}]\n"
        "users: [{{name: u, user: {{}}}}]\n"
        "contexts: [{{name: c, context: {{cluster: c, user: u}}}}]\n",
        server_.port());
  }

  RemoteClusterOptions OptionsFor(const std::string& script) {
    RemoteClusterOptions options;
    options.kubeconfig = (folder_.path() / "kubeconfig").string();
    options.scheduler = ChooseScheduler(Script("script-scheduler", script), /*is_bare=*/true);
    options.logs = folder_.path();
    return options;
  }
  RunResults Run(RemoteCluster& cluster, const RunOptions& options = {}) {
    const auto file = ParseWorkloadFile(folder_.path() / "performance-config.yaml", R"(
- name: Case
  workloadTemplate:
  - {opcode: createNodes, count: 2, nodeTemplatePath: node.yaml}
  - {opcode: createPods, count: 4, podTemplatePath: pod.yaml, namespace: x, collectMetrics: true}
  workloads:
  - {name: W}
)");
    EXPECT_TRUE(file.has_value()) << file.error().message;
    return Runner(*file, file->test_cases[0], file->test_cases[0].workloads[0], cluster, options).Run();
  }

  Server server_;
};

// Binds the pods that it has been told of, each as soon as it is there.
constexpr const char* kBindFour = R"(
port={}
bind() {{
  local body='{{"apiVersion":"v1","kind":"Binding","metadata":{{"name":"'$1'"}},"target":{{"kind":"Node","name":"'$2'"}}}}'
  exec 3<> /dev/tcp/127.0.0.1/$port
  printf 'POST /api/v1/namespaces/x/pods/%s/binding HTTP/1.1\r\nHost: s\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s' "$1" ${{#body}} "$body" >&3
  read -r _ code _ <&3
  exec 3>&-
  [[ $code == 201 ]]
}}
echo "config is $1"
for i in 0 1 2 3; do until bind p-$i n-$((i % 2)); do sleep 0.01; done; done
exec sleep 1000
)";

TEST_F(RemoteRunTest, AScriptThatBindsIsAScheduler) {
  pid_t scheduler = 0;
  {
    auto cluster = RemoteCluster::Make(OptionsFor(fmt::format(kBindFour, server_.port())));
    ASSERT_TRUE(cluster.has_value()) << cluster.error().message;
    const RunResults results = Run(**cluster);
    EXPECT_THAT(results.failures, IsEmpty());
    ASSERT_EQ(results.measurements.size(), 1);
    const Measurement& measured = results.measurements[0];
    EXPECT_EQ(measured.name, "x");
    EXPECT_EQ(measured.pods, 4);
    EXPECT_GT(measured.cpu_microseconds_per_pod, 0);
    EXPECT_GT(measured.peak_memory_mib, 0);
    EXPECT_GT(measured.latency_ms_max, 0);
    EXPECT_EQ(measured.attempt_ms_p99, 0) << "it serves no metrics";
    std::uint32_t bound = 0;
    for (const std::uint32_t in_tenth : measured.bound_per_tenth) bound += in_tenth;
    EXPECT_EQ(bound, 4);
    const auto pod = (*cluster)->Get(
        {.resource = &sandbox::ResourceOf("v1", "Pod"), .namespace_name = "x", .name = "p-3"});
    EXPECT_EQ(sandbox::TextAt(*pod, {"spec", "nodeName"}), "n-1");
    const auto log = base::ReadFile((folder_.path() / "scheduler.log").string());
    EXPECT_THAT(*log, HasSubstr("config is --config=" + (folder_.path() / "scheduler.yaml").string()));
    EXPECT_GT((*cluster)->usage().cpu.count(), 0);
    scheduler = (*cluster)->scheduler_id();
    EXPECT_TRUE(IsAlive(scheduler));
  }
  EXPECT_FALSE(IsAlive(scheduler));
}

// What the script itself uses once its child runs is nothing.
TEST_F(RemoteRunTest, AScriptIsMeasuredWithWhatItStarts) {
  auto cluster =
      RemoteCluster::Make(OptionsFor("{\n" + fmt::format(kBindFour, server_.port()) + "\n} &\nwait"));
  ASSERT_TRUE(cluster.has_value()) << cluster.error().message;
  const RunResults results = Run(**cluster);
  ASSERT_THAT(results.failures, IsEmpty());
  EXPECT_GT((*cluster)->usage().cpu, ProcessorTimeOf((*cluster)->scheduler_id()));
  EXPECT_GT(results.measurements[0].cpu_microseconds_per_pod, 0);
}

TEST_F(RemoteRunTest, ASchedulerThatEndsEndsTheRun) {
  auto cluster = RemoteCluster::Make(OptionsFor("echo no such flag; exit 7"));
  ASSERT_TRUE(cluster.has_value()) << cluster.error().message;
  EXPECT_THAT(Run(**cluster).failures,
              ElementsAre(testing::AllOf(HasSubstr("script-scheduler ended with code 7"),
                                         HasSubstr("no such flag"))));
}

TEST_F(RemoteRunTest, AnInterruptedRunSaysSoAndEndsItsScheduler) {
  auto cluster = RemoteCluster::Make(OptionsFor("exec sleep 1000"));
  ASSERT_TRUE(cluster.has_value()) << cluster.error().message;
  RunOptions options;
  options.is_interrupted = [&] { return !(*cluster)->NodeNames().empty(); };
  EXPECT_THAT(Run(**cluster, options).failures, ElementsAre(HasSubstr("interrupted")));
  EXPECT_EQ((*cluster)->NodeNames().size(), 1) << "the second node was not begun";
  const pid_t scheduler = (*cluster)->scheduler_id();
  EXPECT_TRUE(IsAlive(scheduler));
  cluster->reset();
  EXPECT_FALSE(IsAlive(scheduler));
}

TEST_F(RemoteRunTest, AClusterThatIsInUseIsRefused) {
  auto first = RemoteCluster::Make(OptionsFor("exec sleep 1000"));
  ASSERT_TRUE(first.has_value()) << first.error().message;
  boost::json::object node;
  sandbox::ObjectAt(node, {"metadata"})["name"] = "here";
  ASSERT_TRUE((*first)->Create({.resource = &sandbox::ResourceOf("v1", "Node")}, node).has_value());
  EXPECT_THAT(RemoteCluster::Make(OptionsFor("exec sleep 1000")).error().message,
              HasSubstr("has nodes or pods already"));
}

TEST_F(ProcessTest, AControlPlaneThatDoesNotComeUpIsReported) {
  RemoteClusterOptions options;
  options.control_plane.program =
      Script("plane", "echo gates $BERTH_BENCH_GATES; echo port is taken; exit 1");
  options.gates = {{"A", true}};
  EXPECT_THAT(RemoteCluster::Make(options).error().message,
              testing::AllOf(HasSubstr("the control plane ended with code 1"), HasSubstr("gates A=true"),
                             HasSubstr("port is taken")));
}

}  // namespace
}  // namespace berth::bench
