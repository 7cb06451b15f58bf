#include "sandbox/file_journal.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/api_harness.h"
#include "sandbox/journal_records.h"

// What was acknowledged is there again, whatever happened to the process.
namespace berth::sandbox::test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class JournalTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "berth-journal-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { fs::remove_all(directory_); }

  base::Result<FileJournal::Opened> Open(ApiHarness& api, std::uint64_t log_bytes_max = 64 << 20) {
    return FileJournal::Open(
        directory_, api.plane().store(), api.plane().clock(),
        {.log_bytes_max = log_bytes_max, .on_failure = [](const std::string& why) { ADD_FAILURE() << why; }});
  }
  fs::path Find(std::string_view prefix) {
    for (const fs::directory_entry& entry : fs::directory_iterator(directory_)) {
      if (entry.path().filename().string().starts_with(prefix)) return entry.path();
    }
    return {};
  }
  static std::string Read(const fs::path& path) {
    std::ifstream input(path, std::ios::binary);
    std::ostringstream text;
    text << input.rdbuf();
    return text.str();
  }
  static void Write(const fs::path& path, std::string_view text) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  }
  static std::vector<std::string> Pods(ApiHarness& api) {
    std::vector<std::string> names;
    const json::object list = api.Get(kPods).document();
    for (const json::value& pod : *FindArray(list, {"items"})) {
      names.emplace_back(TextAt(pod.get_object(), {"metadata", "name"}));
    }
    return names;
  }
  // Two pods are there, one is gone.
  void FillOnce() {
    ApiHarness api;
    const auto opened = Open(api);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    EXPECT_TRUE(opened->is_new);
    for (const char* name : {"a", "b", "c"}) ASSERT_EQ(api.Post(kPods, PodJson(name)).code, 201);
    api.Delete(PodPath("b"));
  }

  std::string directory_;
};

TEST_F(JournalTest, ObjectsAndVersionsSurviveARestart) {
  std::string version;
  std::string pod;
  {
    ApiHarness api;
    const auto opened = Open(api);
    ASSERT_TRUE(opened.has_value());
    for (const char* name : {"a", "b"}) ASSERT_EQ(api.Post(kPods, PodJson(name)).code, 201);
    api.Delete(PodPath("b"));
    version = api.version();
    pod = api.Get(PodPath("a")).body;
  }
  ApiHarness api;
  const auto opened = Open(api);
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  EXPECT_FALSE(opened->is_new);
  EXPECT_EQ(opened->message, "");
  EXPECT_THAT(Pods(api), ElementsAre("a"));
  EXPECT_EQ(api.Get(PodPath("a")).body, pod);
  EXPECT_EQ(api.version(), version);
  ASSERT_EQ(api.Post(kPods, PodJson("next")).code, 201);
  EXPECT_GT(std::stoull(api.version()), std::stoull(version));
}

TEST_F(JournalTest, FullLogIsReplacedByASnapshot) {
  {
    ApiHarness api;
    const auto opened = Open(api, 2000);
    ASSERT_TRUE(opened.has_value());
    for (int i = 0; i < 20; ++i) ASSERT_EQ(api.Post(kPods, PodJson("p-" + std::to_string(i))).code, 201);
    EXPECT_LT(fs::file_size(Find("log-")), 4000U);
  }
  ApiHarness api;
  ASSERT_TRUE(Open(api).has_value());
  EXPECT_EQ(Pods(api).size(), 20U);
}

TEST_F(JournalTest, ALogThatBreaksOffAnywhereLosesOnlyItsLastRecord) {
  FillOnce();
  const fs::path path = Find("log-");
  const std::string whole = Read(path);
  std::vector<std::size_t> ends = {kJournalHeader.size()};
  std::string_view rest = std::string_view(whole).substr(ends.back());
  while (!rest.empty()) {
    const std::size_t size =
        12U + static_cast<unsigned char>(rest[0]) + 256U * static_cast<unsigned char>(rest[1]);
    ends.push_back(ends.back() + size);
    rest.remove_prefix(size);
  }
  ASSERT_EQ(ends.back(), whole.size());
  const fs::path snapshot = Find("snapshot-");
  const std::string snapshot_text = Read(snapshot);
  for (std::size_t cut = kJournalHeader.size(); cut < whole.size(); cut += 7) {
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory_))
      fs::remove(entry.path(), ignored);
    Write(snapshot, snapshot_text);
    Write(path, std::string_view(whole).substr(0, cut));
    ApiHarness api;
    const auto opened = Open(api);
    ASSERT_TRUE(opened.has_value()) << "cut at " << cut << ": " << opened.error().message;
    const auto records =
        static_cast<std::size_t>(std::ranges::count_if(ends, [&](std::size_t end) { return end <= cut; }));
    const bool at_border = std::ranges::find(ends, cut) != ends.end();
    EXPECT_EQ(opened->message.empty(), at_border) << opened->message;
    if (!at_border) {
      EXPECT_THAT(opened->message, HasSubstr("cut at offset " + std::to_string(ends[records - 1])));
    }
    // a, b, c, then b terminating, then b gone.
    const std::vector<std::vector<std::string>> want = {
        {}, {"a"}, {"a", "b"}, {"a", "b", "c"}, {"a", "b", "c"}, {"a", "c"}};
    EXPECT_EQ(Pods(api), want[records - 1]) << "cut at " << cut;
  }
}

TEST_F(JournalTest, DamageInTheMiddleIsRefusedWithItsPlace) {
  FillOnce();
  const fs::path path = Find("log-");
  const std::string whole = Read(path);
  for (const std::size_t at :
       {kJournalHeader.size(), kJournalHeader.size() + 5, kJournalHeader.size() + 40}) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    Write(path, damaged);
    ApiHarness api;
    const auto opened = Open(api);
    ASSERT_FALSE(opened.has_value());
    EXPECT_THAT(opened.error().message,
                HasSubstr("is damaged at offset " + std::to_string(kJournalHeader.size())));
    EXPECT_THAT(opened.error().message, HasSubstr(path.filename().string()));
  }
  Write(path, "something else altogether, and long enough");
  ApiHarness api;
  EXPECT_THAT(Open(api).error().message, HasSubstr("is no journal of the sandbox"));
}

TEST_F(JournalTest, DamagedSnapshotIsRefused) {
  FillOnce();
  {
    ApiHarness api;
    ASSERT_TRUE(Open(api).has_value());
  }
  const fs::path path = Find("snapshot-");
  const std::string whole = Read(path);
  Write(path, std::string_view(whole).substr(0, whole.size() - 3));
  ApiHarness api;
  EXPECT_THAT(Open(api).error().message, HasSubstr("it ends too early"));
}

TEST_F(JournalTest, OneDirectoryServesOneProcess) {
  ApiHarness first;
  const auto opened = Open(first);
  ASSERT_TRUE(opened.has_value());
  ApiHarness second;
  EXPECT_THAT(Open(second).error().message, HasSubstr("is in use by another process"));
}

// A child writes pods and reports each one that was acknowledged; it is killed in the middle of that, two
// hundred times in all.
class KilledJournalTest : public JournalTest, public testing::WithParamInterface<int> {};

TEST_P(KilledJournalTest, LosesNothingThatItAcknowledged) {
  std::set<std::string> acknowledged;
  for (int round = 0; round < 20; ++round) {
    int reports[2];
    ASSERT_EQ(::pipe(reports), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(reports[0]);
      ApiHarness api;
      const auto opened = Open(api, 20'000);
      if (!opened) ::_exit(1);
      for (int i = 0;; ++i) {
        const std::string name = "p-" + std::to_string(round) + "-" + std::to_string(i);
        if (api.Post(kPods, PodJson(name)).code != 201) ::_exit(1);
        const std::string line = name + "\n";
        if (::write(reports[1], line.data(), line.size()) < 0) ::_exit(1);
      }
    }
    ::close(reports[1]);
    std::string text;
    char buffer[256];
    const std::size_t enough = 150 + static_cast<std::size_t>(round * 37 + GetParam() * 13);
    while (text.size() < enough) {
      const ssize_t count = ::read(reports[0], buffer, sizeof(buffer));
      ASSERT_GT(count, 0);
      text.append(buffer, static_cast<std::size_t>(count));
    }
    ::kill(child, SIGKILL);
    for (ssize_t count = 1; count > 0;) {
      count = ::read(reports[0], buffer, sizeof(buffer));
      if (count > 0) text.append(buffer, static_cast<std::size_t>(count));
    }
    ::close(reports[0]);
    ::waitpid(child, nullptr, 0);
    std::istringstream lines(text);
    for (std::string name; std::getline(lines, name);) acknowledged.insert(name);

    ApiHarness api;
    const auto opened = Open(api);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    const std::vector<std::string> kept = Pods(api);
    const std::set<std::string> there(kept.begin(), kept.end());
    for (const std::string& name : acknowledged) EXPECT_TRUE(there.contains(name)) << name;
  }
}
INSTANTIATE_TEST_SUITE_P(TenJournals, KilledJournalTest, testing::Range(0, 10));

}  // namespace
}  // namespace berth::sandbox::test
