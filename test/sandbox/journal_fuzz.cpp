#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "sandbox/journal_records.h"

// A journal may hold anything after a disk failed. What is read without complaint reads the same when it is
// written anew, and the place where it breaks off lies within it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace berth;
  const std::string_view content(reinterpret_cast<const char*>(data), size);
  std::string again(sandbox::kJournalHeader);
  const auto end =
      sandbox::ReadRecords(content, [&](const sandbox::JournalRecord& record) -> base::Result<void> {
        sandbox::AppendRecord(again, record);
        return {};
      });
  if (!end) {
    BERTH_CHECK(!end.error().message.empty());
    return 0;
  }
  const bool is_torn = end->torn != std::string_view::npos;
  BERTH_CHECK(!is_torn || end->torn <= size);
  if (content.size() >= sandbox::kJournalHeader.size()) BERTH_CHECK(again == content.substr(0, end->torn));
  return 0;
}
