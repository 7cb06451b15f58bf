#include "sandbox/openapi_schema.h"

#include <boost/json.hpp>
#include <fmt/format.h>
#include <set>
#include <vector>

#include "sandbox/kinds.h"
#include "wire/schema.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

json::object Typed(std::string_view type, std::string_view format = {}) {
  json::object schema;
  schema["type"] = type;
  if (!format.empty()) schema["format"] = format;
  return schema;
}

json::object EitherOr(std::string_view first, std::string_view second) {
  json::object schema;
  schema["oneOf"] = json::array({Typed(first), Typed(second)});
  return schema;
}

// Collects definitions; what they refer to is put on a list and done later, so that cycles end.
class Builder {
 public:
  explicit Builder(OpenApiVersion version) : version_(version) {}

  void Want(const wire::Message* message) {
    if (seen_.insert(message).second) waiting_.push_back(message);
  }
  json::object Build() {
    while (!waiting_.empty()) {
      const wire::Message* message = waiting_.back();
      waiting_.pop_back();
      definitions_[DefinitionName(message->name)] = Define(*message);
    }
    return std::move(definitions_);
  }

 private:
  json::object Define(const wire::Message& message) {
    if (message.form != wire::SpecialForm::kNone) return Special(message.form);
    json::object properties;
    if (message.has_type_meta) {
      properties["apiVersion"] = Typed("string");
      properties["kind"] = Typed("string");
    }
    for (const wire::Message::JsonKey& key : message.json_keys) {
      if (!key.field->inlined) properties[key.key] = FieldSchema(*key.field);
    }
    json::object definition = Typed("object");
    definition["description"] = "";
    if (!properties.empty()) definition["properties"] = std::move(properties);
    return definition;
  }

  json::object Special(wire::SpecialForm form) const {
    const bool is_v2 = version_ == OpenApiVersion::kV2;
    switch (form) {
      case wire::SpecialForm::kTime:
      case wire::SpecialForm::kMicroTime:
        return Typed("string", "date-time");
      case wire::SpecialForm::kQuantity:
        return is_v2 ? Typed("string") : EitherOr("string", "number");
      case wire::SpecialForm::kIntOrString: {
        json::object schema = is_v2 ? Typed("string") : EitherOr("integer", "string");
        schema["format"] = "int-or-string";
        return schema;
      }
      case wire::SpecialForm::kStringList: {
        json::object schema = Typed("array");
        schema["items"] = Typed("string");
        return schema;
      }
      case wire::SpecialForm::kRawJson:
      case wire::SpecialForm::kNone:
        break;
    }
    return Typed("object");
  }

  json::object ElementSchema(const wire::Field& field) {
    switch (field.kind) {
      case wire::ValueKind::kString:
        return Typed("string");
      case wire::ValueKind::kBytes:
        return Typed("string", "byte");
      case wire::ValueKind::kBool:
        return Typed("boolean");
      case wire::ValueKind::kInt32:
        return Typed("integer", "int32");
      case wire::ValueKind::kInt64:
        return Typed("integer", "int64");
      case wire::ValueKind::kDouble:
        return Typed("number", "double");
      case wire::ValueKind::kMessage:
        break;
    }
    Want(field.message);
    json::object reference;
    reference["$ref"] =
        fmt::format("{}{}", version_ == OpenApiVersion::kV2 ? "#/definitions/" : "#/components/schemas/",
                    DefinitionName(field.message->name));
    return reference;
  }

  json::object FieldSchema(const wire::Field& field) {
    json::object schema = ElementSchema(field);
    if (field.shape == wire::Shape::kList) {
      json::object list = Typed("array");
      list["items"] = std::move(schema);
      schema = std::move(list);
    } else if (field.shape == wire::Shape::kMap) {
      json::object map = Typed("object");
      map["additionalProperties"] = std::move(schema);
      schema = std::move(map);
    } else if (schema.contains("$ref")) {
      // Nothing may stand beside a reference, so that it goes one level down.
      json::object wrapped;
      wrapped["allOf"] = json::array({std::move(schema)});
      schema = std::move(wrapped);
    }
    schema["description"] = "";
    if (!field.patch.merge_key.empty()) schema["x-kubernetes-patch-merge-key"] = field.patch.merge_key;
    if (field.patch.merge || field.patch.retain_keys) {
      schema["x-kubernetes-patch-strategy"] = !field.patch.retain_keys ? "merge"
                                              : field.patch.merge      ? "merge,retainKeys"
                                                                       : "retainKeys";
    }
    return schema;
  }

  const OpenApiVersion version_;
  std::set<const wire::Message*> seen_;
  std::vector<const wire::Message*> waiting_;
  json::object definitions_;
};

}  // namespace

std::string DefinitionName(std::string_view message) {
  if (message.starts_with("meta.v1.")) return fmt::format("io.k8s.apimachinery.pkg.apis.{}", message);
  if (message == "resource.Quantity") return "io.k8s.apimachinery.pkg.api.resource.Quantity";
  if (message.starts_with("runtime.")) return fmt::format("io.k8s.apimachinery.pkg.{}", message);
  if (message.starts_with("intstr.")) return fmt::format("io.k8s.apimachinery.pkg.util.{}", message);
  return fmt::format("io.k8s.api.{}", message);
}

json::object Definitions(std::span<const Resource* const> resources, OpenApiVersion version) {
  Builder builder(version);
  for (const Resource* resource : resources) {
    builder.Want(resource->message);
    if (resource->list_message != nullptr) builder.Want(resource->list_message);
  }
  json::object definitions = builder.Build();
  for (const Resource* resource : resources) {
    json::object kind;
    kind["group"] = resource->group;
    kind["version"] = resource->version;
    kind["kind"] = resource->kind;
    definitions[DefinitionName(resource->message->name)].as_object()["x-kubernetes-group-version-kind"] =
        json::array({std::move(kind)});
  }
  return definitions;
}

}  // namespace berth::sandbox
