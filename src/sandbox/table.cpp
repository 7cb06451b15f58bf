#include "sandbox/table.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include "sandbox/document.h"
#include "sandbox/table_columns.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

json::array ColumnDefinitions(std::span<const Column> columns) {
  json::array definitions;
  for (const Column& column : columns) {
    json::object definition;
    definition["name"] = column.name;
    definition["type"] = column.type;
    definition["format"] = column.name == "Name" ? "name" : "";
    definition["description"] = "";
    definition["priority"] = column.priority;
    definitions.push_back(std::move(definition));
  }
  return definitions;
}

json::object PartialMetadata(const json::object& document) {
  json::object partial;
  partial["kind"] = "PartialObjectMetadata";
  partial["apiVersion"] = "meta.k8s.io/v1";
  if (const json::value* metadata = FindValue(document, {"metadata"})) partial["metadata"] = *metadata;
  return partial;
}

json::object MakeRow(const Resource& served, const Revision& object, const TableOptions& options) {
  const json::object document = object.Document();
  json::object row;
  json::array cells;
  for (const Column& column : ColumnsOf(*served.storage)) cells.push_back(column.cell(document, options.now));
  row["cells"] = std::move(cells);
  if (options.include_object == "Object") {
    row["object"] = ServedDocument(served, object);
  } else if (options.include_object != "None") {
    row["object"] = PartialMetadata(document);
  }
  return row;
}

std::string TwoUnits(std::int64_t large, char large_unit, std::int64_t small, char small_unit) {
  if (small == 0) return fmt::format("{}{}", large, large_unit);
  return fmt::format("{}{}{}{}", large, large_unit, small, small_unit);
}

}  // namespace

json::object MakeTable(const Resource& served, std::span<const RevisionPtr> items, const ListHead& head,
                       const TableOptions& options) {
  json::object table;
  table["kind"] = "Table";
  table["apiVersion"] = "meta.k8s.io/v1";
  table["metadata"] = ListMetadata(head);
  table["columnDefinitions"] =
      options.with_columns ? ColumnDefinitions(ColumnsOf(*served.storage)) : json::array();
  json::array rows;
  rows.reserve(items.size());
  for (const RevisionPtr& item : items) rows.push_back(MakeRow(served, *item, options));
  table["rows"] = std::move(rows);
  return table;
}

json::object MetadataOnly(const Resource&, const Revision& object) {
  return PartialMetadata(object.Document());
}

json::object MetadataOnlyList(const Resource& served, std::span<const RevisionPtr> items,
                              const ListHead& head) {
  json::object list;
  list["kind"] = "PartialObjectMetadataList";
  list["apiVersion"] = "meta.k8s.io/v1";
  list["metadata"] = ListMetadata(head);
  json::array entries;
  for (const RevisionPtr& item : items) entries.push_back(MetadataOnly(served, *item));
  list["items"] = std::move(entries);
  return list;
}

std::string HumanDuration(base::Duration duration) {
  const std::int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(duration).count();
  if (seconds < -1) return "<invalid>";
  if (seconds < 120) return fmt::format("{}s", std::max<std::int64_t>(seconds, 0));
  const std::int64_t minutes = seconds / 60;
  if (minutes < 10) return TwoUnits(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return fmt::format("{}m", minutes);
  const std::int64_t hours = minutes / 60;
  if (hours < 8) return TwoUnits(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return fmt::format("{}h", hours);
  const std::int64_t days = hours / 24;
  if (days < 8) return TwoUnits(days, 'd', hours % 24, 'h');
  if (days < 730) return fmt::format("{}d", days);
  if (days < 8 * 365) return TwoUnits(days / 365, 'y', days % 365, 'd');
  return fmt::format("{}y", days / 365);
}

}  // namespace berth::sandbox
