import { TypeError as CheckError, EvaluationError, ParseError } from "@marcbachmann/cel-js";
import { HAS, type Node, OWN, placeOf, typeOf } from "./node.ts";

/** Error of an expression and its position as a UTF-16 index. */
export interface Problem {
  readonly at: number;
  readonly message: string;
}

/** Formats errors of an expression like cel-go: position, message, the line, and a mark below it. */
export function formatProblems(source: string, problems: readonly Problem[]): string {
  return problems.map((problem) => formatProblem(source, problem)).join("\n");
}

function formatProblem(source: string, problem: Problem): string {
  const before = source.slice(0, problem.at).split("\n");
  const line = (source.split("\n")[before.length - 1] ?? "").replaceAll("\t", " ");
  const column = [...(before.at(-1) ?? "")].length;
  return `ERROR: <input>:${before.length}:${column + 1}: ${problem.message}\n | ${line}\n | ${".".repeat(column)}^`;
}

/** Converts a parse or type error, with cel-go's text if there is one. */
export function problemOf(error: unknown): Problem {
  if (error instanceof ParseError) return { at: error.range?.start ?? 0, message: syntaxMessage(error) };
  if (error instanceof CheckError) {
    const { node } = error as { readonly node?: Node };
    return { at: node === undefined ? 0 : placeOf(culprit(error, node)), message: checkMessage(error) };
  }
  return { at: 0, message: error instanceof Error ? error.message : String(error) };
}

/** For a logical operator, the operand with the wrong type. */
function culprit({ code }: CheckError, node: Node): Node {
  if (code !== "invalid_logical_operand" || (node.op !== "&&" && node.op !== "||")) return node;
  return node.args.find((arg) => !["bool", "dyn"].includes(typeOf(arg))) ?? node;
}

function syntaxMessage({ code, summary }: ParseError): string {
  if (code === "invalid_macro_argument") return "argument must be a simple name";
  const message = lowered(plain(summary));
  return message.startsWith("reserved identifier") ? message : `Syntax error: ${message}`;
}

function checkMessage(error: CheckError): string {
  if (error.code === "no_such_overload") return operatorMessage(error.summary.replace(/^[^:]*: /, ""));
  const message = plain(error.summary);
  const detail = message.replace(/^[^:]*: /, "");
  switch (error.code) {
    case "unknown_variable":
      return undeclared(detail);
    case "no_such_key":
      return `undefined field '${detail}'`;
    case "no_matching_overload":
      return overloadMessage(message);
    case "cannot_index_type":
      return message.replace(/^Cannot index type '(.*)'$/s, "type '$1' does not support field selection");
    case "invalid_logical_operand":
      return message.replace(/^.*got '(.*)'$/s, "expected type 'bool' but found '$1'");
    case "heterogeneous_list_element":
    case "heterogeneous_map_key":
    case "heterogeneous_map_value":
      return message.replace(/^.*(?=expected type)/s, "");
    case "invalid_comprehension_range":
      return message.replace(/^Expression/, "expression").replace(/\.$/, "");
    case "incompatible_ternary_branches":
      return message.replace(
        /^.*got '(.*)' and '(.*)'$/s,
        "found no matching overload for '_?_:_' applied to '(bool, $1, $2)'",
      );
    default:
      return lowered(message.replace(/^.*must return bool, got '(.*)'$/s, "expected type 'bool' but found '$1'"));
  }
}

/** Returns cel-go's message for an unknown name. */
export function undeclared(name: string): string {
  return `undeclared reference to '${name}' (in container '')`;
}

function operatorMessage(operands: string): string {
  const [, left, operator, right] = /^(.*) (==|!=|<=|>=|[-+*/%<>]|in) (.*)$/s.exec(operands) ?? [];
  if (operator === undefined) {
    return `found no matching overload for '${operands[0]}_' applied to '(${plain(operands.slice(1))})'`;
  }
  const name = operator === "in" ? "@in" : `_${operator}_`;
  return `found no matching overload for '${name}' applied to '(${plain(left ?? "")}, ${plain(right ?? "")})'`;
}

function overloadMessage(message: string): string {
  const [, receiver, name, args] = /^found no matching overload for '(?:(.*)\.)?(\w+)\((.*)\)'$/s.exec(message) ?? [];
  if (name === undefined) return message;
  const shown = args?.replace(/,(?=\S)/g, ", ");
  const applied = receiver === undefined ? `(${shown})` : `${receiver}.(${shown})`;
  return `found no matching overload for '${name}' applied to '${applied}'`;
}

/** Returns the name that Kubernetes gives a type. */
export function typeName(type: string): string {
  const name = plain(type);
  if (name === "list") return "list(dyn)";
  if (name === "map") return "map(dyn, dyn)";
  return name === "null" ? "null_type" : name;
}

/** Converts the library's type names to those that Kubernetes' users know. */
function plain(text: string): string {
  return text
    .replaceAll(OWN, "")
    .replaceAll(HAS, "has")
    .replaceAll("google.protobuf.Timestamp", "timestamp")
    .replaceAll("google.protobuf.Duration", "duration")
    .replace(/\bObject\d+\b/g, "object")
    .replace(/\bObjectValue\b/g, "Object")
    .replace(/\b(?:Authorizer|PathCheck|GroupCheck|ResourceCheck|Decision)\b/g, "kubernetes.authorization.$&")
    .replace(/\boptional</g, "optional_type<")
    .replaceAll("<", "(")
    .replaceAll(">", ")");
}

function lowered(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}

/** Returns cel-go's message for an evaluation error. */
export function evaluationMessage(error: unknown): string {
  if (!(error instanceof EvaluationError)) return error instanceof Error ? error.message : String(error);
  const summary = error.summary;
  switch (error.code) {
    case "no_such_key":
    case "unknown_variable":
      return summary.replace(/^[^:]*: /, "no such key: ");
    case "index_out_of_bounds":
      return summary.replace(/^.*index (-?\d+) .*$/s, "index out of bounds: $1");
    case "modulo_by_zero":
      return "modulus by zero";
    case "numeric_overflow":
      return /unsigned/i.test(summary) ? "unsigned integer overflow" : "integer overflow";
    case "optional_value_missing":
      return "optional.none() dereference";
    case "no_such_overload":
    case "no_matching_overload":
    case "invalid_logical_operand":
    case "invalid_condition_type":
      return "no such overload";
    default:
      return lowered(plain(summary));
  }
}
