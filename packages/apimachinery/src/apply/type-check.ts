import { isJsonObject } from "../json/value.ts";
import { formOf, memberType } from "./form.ts";
import { goSyntax, goType, goValue } from "./go-text.ts";
import { elementOf } from "./list-element.ts";
import { formatListElement } from "./path-element.ts";
import { DEDUCED, type ListType, type MapType, UNTYPED, type ValueType } from "./value-type.ts";

/** How strictly a value is checked. */
export interface TypeCheckOptions {
  /** Whether a list may hold two elements of one name, as stored objects and updates may. */
  readonly allowDuplicates: boolean;
}

interface Problem {
  readonly path: string;
  readonly message: string;
}

/**
 * Why a value is not of a type, in the words of Kubernetes' structured merge; undefined if it is. Says less than
 * validation does: only what merging depends on.
 */
export function typeProblem(value: unknown, type: ValueType, options: TypeCheckOptions): string | undefined {
  const problems = check(value, type, options);
  if (problems === undefined) return undefined;
  const texts = problems.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  return texts.length === 1 ? texts[0] : ["errors:", ...texts.map((text) => `  ${text}`)].join("\n");
}

/** Undefined rather than an empty list: most values are right, and cost nothing. */
type Problems = Problem[] | undefined;

function check(value: unknown, type: ValueType, options: TypeCheckOptions): Problems {
  if (type === DEDUCED || type === UNTYPED || value === null || value === undefined) return undefined;
  switch (formOf(type, value)) {
    case "map":
      return type.map && checkMap(value, type.map, options);
    case "list":
      return type.list && checkList(value, type.list, options);
    case "scalar":
      return checkScalar(value, type.scalar);
  }
}

function checkScalar(value: unknown, scalar: ValueType["scalar"]): Problems {
  switch (scalar) {
    case "numeric":
      if (typeof value === "number" || typeof value === "bigint") return undefined;
      return problem(`expected numeric (int or float), got ${goType(value)}`);
    case "string":
      if (typeof value === "string") return undefined;
      return problem(`expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`);
    case "boolean":
      if (typeof value === "boolean") return undefined;
      return problem(`expected boolean, got &{${goValue(value)}}`);
    default:
      if (typeof value !== "object") return undefined;
      return problem(`expected any scalar, got &{${goValue(value)}}`);
  }
}

function checkMap(value: unknown, type: MapType, options: TypeCheckOptions): Problems {
  if (!isJsonObject(value)) return problem(`expected map, got &{${goValue(value)}}`);
  let problems: Problems;
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (member === undefined) continue;
    const known = memberType(type, name);
    const found = known === undefined ? problem("field not declared in schema") : check(member, known, options);
    if (found !== undefined) problems = append(problems, `.${name}`, found);
    if (known === undefined) break;
  }
  return problems;
}

function checkList(value: unknown, type: ListType, options: TypeCheckOptions): Problems {
  if (!Array.isArray(value)) return problem(`expected list, got &{${goValue(value)}}`);
  if (type.atomic && (type.element === UNTYPED || type.element === DEDUCED)) return undefined;
  let problems: Problems;
  const seen = new Set<string>();
  for (const [at, item] of value.entries()) {
    const element = type.atomic ? `i:${at}` : elementOf(type, item);
    if (typeof element !== "string") return append(problems, "", problem(`element ${at}: ${element.problem}`));
    if (seen.has(element) && !options.allowDuplicates)
      problems = append(problems, "", problem(`duplicate entries for key ${formatListElement(element)}`));
    seen.add(element);
    const found = check(item, type.element, options);
    if (found !== undefined) problems = append(problems, formatListElement(element), found);
  }
  return problems;
}

function problem(message: string): Problem[] {
  return [{ path: "", message }];
}

function append(problems: Problems, prefix: string, found: readonly Problem[]): Problem[] {
  return [...(problems ?? []), ...found.map(({ path, message }) => ({ path: prefix + path, message }))];
}
