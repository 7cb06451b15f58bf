#include "bench/text_template.h"

#include <fmt/format.h>
#include <utility>
#include <vector>

#include "bench/template_parts.h"

namespace berth::bench {
namespace {

namespace json = boost::json;

// More text than any object: a range over a large number must not eat the memory.
constexpr std::size_t kOutputMax = 64U << 20;

// One execution: the variables in scope, and the text so far.
class Execution {
 public:
  explicit Execution(const json::object& data) : variables_{{"", data}} {}

  base::Result<void> Run(const TemplateBlock& block, const json::value& dot) {
    // Variables end with the block that they were declared in.
    const std::size_t outer = variables_.size();
    for (const TemplateNode& node : block.nodes) {
      if (auto run = RunNode(node, dot); !run) return run;
      if (out_.size() > kOutputMax) return base::Fail("the text grows too large");
    }
    variables_.resize(outer);
    return {};
  }
  std::string TakeText() { return std::move(out_); }

 private:
  struct Variable {
    std::string name;
    json::value value;
  };

  base::Result<void> RunNode(const TemplateNode& node, const json::value& dot) {
    if (node.kind == TemplateNode::Kind::kText) {
      out_ += node.text;
      return {};
    }
    if (node.kind == TemplateNode::Kind::kRange) return RunRange(node, dot);
    const std::size_t outer = variables_.size();
    auto value = Evaluate(node.pipeline, dot);
    if (!value) return std::unexpected(std::move(value.error()));
    if (node.kind == TemplateNode::Kind::kAction) {
      if (node.pipeline.variables.empty()) AppendTemplateValue(out_, *value);
      return {};
    }
    auto run = Run(IsTrueInTemplate(*value) ? node.body : node.otherwise, dot);
    variables_.resize(outer);
    return run;
  }

  base::Result<void> RunRange(const TemplateNode& node, const json::value& dot) {
    const std::size_t outer = variables_.size();
    TemplatePipeline plain = node.pipeline;
    plain.variables.clear();
    const auto over = Evaluate(plain, dot);
    if (!over) return std::unexpected(over.error());
    bool any = false;
    const auto round = [&](const json::value& index, const json::value& element) -> base::Result<void> {
      any = true;
      const std::vector<std::string>& names = node.pipeline.variables;
      if (names.size() == 1) variables_.push_back({names[0], element});
      if (names.size() > 1) {
        variables_.push_back({names[0], index});
        variables_.push_back({names[1], element});
      }
      auto run = Run(node.body, element);
      variables_.resize(outer);
      return run;
    };
    base::Result<void> run;
    if (over->is_int64()) {
      for (std::int64_t i = 0; run && i < over->as_int64(); ++i) run = round(i, i);
    } else if (over->is_array()) {
      std::int64_t index = 0;
      for (const json::value& element : over->as_array()) {
        if (run) run = round(index++, element);
      }
    } else if (!over->is_null()) {
      std::string shown;
      AppendTemplateValue(shown, *over);
      return base::Fail("range can't iterate over " + shown);
    }
    if (!run || any) return run;
    return Run(node.otherwise, dot);
  }

  base::Result<json::value> Evaluate(const TemplatePipeline& pipeline, const json::value& dot) {
    json::value value;
    bool is_first = true;
    for (const auto& command : pipeline.commands) {
      auto result = EvaluateCommand(command, dot, std::exchange(is_first, false) ? nullptr : &value);
      if (!result) return result;
      value = *std::move(result);
    }
    for (const std::string& name : pipeline.variables) {
      if (pipeline.declares) {
        variables_.push_back({name, value});
      } else if (json::value* const variable = FindVariable(name)) {
        *variable = value;
      } else {
        return base::Fail("undefined variable \"$" + name + "\"");
      }
    }
    return value;
  }

  base::Result<json::value> EvaluateCommand(const std::vector<TemplateTerm>& command, const json::value& dot,
                                            const json::value* piped) {
    if (command[0].kind != TemplateTerm::Kind::kFunction) {
      if (piped != nullptr) return base::Fail("can't give argument to non-function");
      return EvaluateTerm(command[0], dot);
    }
    std::vector<json::value> arguments;
    for (std::size_t i = 1; i < command.size(); ++i) {
      auto argument = EvaluateTerm(command[i], dot);
      if (!argument) return argument;
      arguments.push_back(*std::move(argument));
    }
    if (piped != nullptr) arguments.push_back(*piped);
    return CallTemplateFunction(command[0].name, arguments);
  }

  base::Result<json::value> EvaluateTerm(const TemplateTerm& term, const json::value& dot) {
    switch (term.kind) {
      case TemplateTerm::Kind::kLiteral:
        return term.literal;
      case TemplateTerm::Kind::kDot:
        return Field(dot, term.fields);
      case TemplateTerm::Kind::kFunction:
        return CallTemplateFunction(term.name, {});
      case TemplateTerm::Kind::kVariable: {
        const json::value* const variable = FindVariable(term.name);
        if (variable == nullptr) return base::Fail("undefined variable \"$" + term.name + "\"");
        return Field(*variable, term.fields);
      }
      case TemplateTerm::Kind::kPipeline: {
        const auto inner = Evaluate(term.inner[0], dot);
        if (!inner) return inner;
        return Field(*inner, term.fields);
      }
    }
    std::unreachable();
  }

  static base::Result<json::value> Field(const json::value& from, const std::vector<std::string>& fields) {
    static const json::value nothing;
    const json::value* value = &from;
    for (const std::string& field : fields) {
      if (!value->is_object()) return base::Fail("can't evaluate field " + field);
      const json::value* const member = value->as_object().if_contains(field);
      value = member != nullptr ? member : &nothing;
    }
    return *value;
  }

  json::value* FindVariable(const std::string& name) {
    for (std::size_t i = variables_.size(); i > 0; --i) {
      if (variables_[i - 1].name == name) return &variables_[i - 1].value;
    }
    return nullptr;
  }

  std::vector<Variable> variables_;  // the first is $ alone
  std::string out_;
};

}  // namespace

base::Result<TextTemplate> TextTemplate::Parse(std::string_view text) {
  auto block = ParseTemplate(text);
  if (!block) return std::unexpected(std::move(block.error()));
  TextTemplate made;
  made.root_ = std::make_shared<const TemplateBlock>(*std::move(block));
  return made;
}

base::Result<std::string> TextTemplate::Execute(const json::object& data) const {
  Execution execution(data);
  const json::value dot = data;
  if (auto run = execution.Run(*root_, dot); !run) return base::Fail("template: " + run.error().message);
  return execution.TakeText();
}

bool TextTemplate::is_plain() const {
  for (const TemplateNode& node : root_->nodes) {
    if (node.kind != TemplateNode::Kind::kText) return false;
  }
  return true;
}

}  // namespace berth::bench
