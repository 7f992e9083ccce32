import { isJsonObject } from "../json/value.ts";
import { goSyntax, goType, goValue } from "../text/go-format.ts";
import { formatListElement } from "./path-element.ts";
import {
  DEDUCED,
  elementOf,
  formOf,
  type ListType,
  type MapType,
  memberType,
  UNTYPED,
  type ValueType,
} from "./value-type.ts";

/** Strictness of {@link typeProblem}. */
export interface TypeCheckOptions {
  /** Whether a list may hold two elements of one name, as stored objects and updates may. */
  readonly allowDuplicates: boolean;
}

/** Maximum number of reported problems of a value. Their paths may be long, and there may be many. */
const MAX_PROBLEMS = 20;

/** Limit on the reported problems, in characters; the first one is always whole. */
const MAX_TEXT = 64 * 1024;

interface Problem {
  path: string;
  readonly message: string;
}

/**
 * Returns why a value does not fit a type, in the words of Kubernetes' structured merge, or undefined if it fits. Checks less
 * than validation: only facts that merging depends on.
 */
export function typeProblem(
  value: unknown,
  type: ValueType,
  { allowDuplicates }: TypeCheckOptions,
): string | undefined {
  const problems = check(value, type, allowDuplicates);
  if (problems === undefined) return undefined;
  let room = MAX_TEXT;
  const told = problems.filter(({ path, message }, at) => {
    room -= path.length + message.length;
    return at === 0 || room > 0;
  });
  const texts = told.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  return texts.length === 1 ? texts[0] : ["errors:", ...texts.map((text) => `  ${text}`)].join("\n");
}

/** Undefined and not an empty list: most values are valid, and then cost nothing. */
type Problems = Problem[] | undefined;

function check(value: unknown, type: ValueType, allowDuplicates: boolean): Problems {
  if (type === DEDUCED || type === UNTYPED || value === null || value === undefined) return undefined;
  switch (formOf(type, value)) {
    case "map":
      return type.map && checkMap(value, type.map, allowDuplicates);
    case "list":
      return type.list && checkList(value, type.list, allowDuplicates);
    case "scalar":
      return checkScalar(value, type.scalar);
  }
}

function checkScalar(value: unknown, scalar: ValueType["scalar"]): Problems {
  switch (scalar) {
    case "numeric":
      if (typeof value === "number" || typeof value === "bigint") return undefined;
      return [problem(`expected numeric (int or float), got ${goType(value)}`)];
    case "string":
      if (typeof value === "string") return undefined;
      return [problem(`expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`)];
    case "boolean":
      if (typeof value === "boolean") return undefined;
      return [problem(`expected boolean, got &{${goValue(value)}}`)];
    default:
      if (typeof value !== "object") return undefined;
      return [problem(`expected any scalar, got &{${goValue(value)}}`)];
  }
}

function checkMap(value: unknown, type: MapType, allowDuplicates: boolean): Problems {
  if (!isJsonObject(value)) return [problem(`expected map, got &{${goValue(value)}}`)];
  const problems: Problem[] = [];
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (member === undefined) continue;
    const known = memberType(type, name);
    const found =
      known === undefined ? [problem("field not declared in schema")] : check(member, known, allowDuplicates);
    if (found !== undefined) append(problems, `.${name}`, found);
    if (known === undefined || problems.length >= MAX_PROBLEMS) break;
  }
  return problems.length === 0 ? undefined : problems;
}

function checkList(value: unknown, type: ListType, allowDuplicates: boolean): Problems {
  if (!Array.isArray(value)) return [problem(`expected list, got &{${goValue(value)}}`)];
  if (type.atomic && (type.element === UNTYPED || type.element === DEDUCED)) return undefined;
  const problems: Problem[] = [];
  const seen = new Set<string>();
  for (const [at, item] of value.entries()) {
    if (problems.length >= MAX_PROBLEMS) break;
    const element = type.atomic ? `i:${at}` : elementOf(type, item);
    if (typeof element !== "string") {
      problems.push(problem(`element ${at}: ${element.problem}`));
      break;
    }
    if (!type.atomic && !allowDuplicates) {
      if (seen.has(element)) problems.push(problem(`duplicate entries for key ${formatListElement(element)}`));
      seen.add(element);
    }
    const found = check(item, type.element, allowDuplicates);
    if (found !== undefined) append(problems, formatListElement(element), found);
  }
  return problems.length === 0 ? undefined : problems;
}

function problem(message: string): Problem {
  return { path: "", message };
}

function append(problems: Problem[], prefix: string, found: readonly Problem[]): void {
  for (const one of found) {
    one.path = prefix + one.path;
    problems.push(one);
  }
}
