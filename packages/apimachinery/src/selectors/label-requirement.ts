import { ApiError } from "../meta/api-error.ts";
import { fieldInvalid, formatCauses } from "../meta/field-cause.ts";
import { labelKeyProblems, labelValueProblems } from "../meta/names.ts";
import type { StatusCause } from "../meta/status.ts";

/** Relation between a label and the values: the tokens of the selector grammar, and `exists`. */
export type LabelOperator = "=" | "!=" | "in" | "notin" | "exists" | "!" | ">" | "<";

const INTEGER = /^[+-]?[0-9]+$/;
const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);

/** Requirement of a label selector, valid and in canonical form. Immutable. */
export class LabelRequirement {
  readonly key: string;
  /** With a single value, `in` and `notin` become `=` and `!=`. */
  readonly operator: LabelOperator;
  /** Sorted, without duplicates; empty for `exists` and `!`. */
  readonly values: readonly string[];
  readonly #set: ReadonlySet<string>;
  readonly #bound: bigint;

  constructor(key: string, operator: LabelOperator, values: readonly string[]) {
    this.#set = new Set(values);
    const sorted = [...this.#set].sort();
    this.key = key;
    this.operator = sorted.length === 1 ? singular(operator) : operator;
    this.#bound = operator === ">" || operator === "<" ? (int64(sorted[0] ?? "") ?? 0n) : 0n;
    this.values = operator === ">" || operator === "<" ? [this.#bound.toString()] : sorted;
  }

  /** Whether an object whose label has this value satisfies the requirement; undefined for a missing label. */
  matches(value: unknown): boolean {
    // Also ignores properties that a plain object inherits: a label may be named "constructor".
    if (typeof value !== "string") {
      return this.operator === "!" || this.operator === "!=" || this.operator === "notin";
    }
    switch (this.operator) {
      case "=":
        return value === this.values[0];
      case "!=":
        return value !== this.values[0];
      case "in":
        return this.#set.has(value);
      case "notin":
        return !this.#set.has(value);
      case "exists":
        return true;
      case "!":
        return false;
      default:
        return this.#compares(value);
    }
  }

  /** Formats the requirement canonically, as in a selector. */
  toString(): string {
    switch (this.operator) {
      case "exists":
        return this.key;
      case "!":
        return `!${this.key}`;
      case "in":
      case "notin":
        return `${this.key} ${this.operator} (${this.values.join(",")})`;
      default:
        return `${this.key}${this.operator}${this.values[0] ?? ""}`;
    }
  }

  #compares(value: string): boolean {
    const number = int64(value);
    if (number === undefined) return false;
    return this.operator === ">" ? number > this.#bound : number < this.#bound;
  }
}

/** Returns the faults of a requirement, like labels.NewRequirement. */
export function requirementProblems(key: string, operator: LabelOperator, values: readonly string[]): StatusCause[] {
  const keyProblems = labelKeyProblems(key);
  const causes = keyProblems.length === 0 ? [] : [fieldInvalid("key", key, keyProblems.join("; "))];
  causes.push(...operatorProblems(operator, values));
  values.forEach((value, index) => {
    const problems = labelValueProblems(value);
    if (problems.length > 0) causes.push(fieldInvalid(`values[${index}][${key}]`, value, problems.join("; ")));
  });
  return causes;
}

/** @throws ApiError 400 for an invalid requirement. */
export function checkedRequirement(key: string, operator: LabelOperator, values: readonly string[]): LabelRequirement {
  const problems = requirementProblems(key, operator, values);
  if (problems.length > 0) throw ApiError.badRequest(formatCauses(problems));
  return new LabelRequirement(key, operator, values);
}

/** Checks the number of values for `in`, `notin`, `exists` and `!`. The other operators always have one. */
function operatorProblems(operator: LabelOperator, values: readonly string[]): StatusCause[] {
  switch (operator) {
    case "in":
    case "notin":
      if (values.length > 0) return [];
      return [fieldInvalid("values", values, "for 'in', 'notin' operators, values set can't be empty")];
    case "exists":
    case "!":
      if (values.length === 0) return [];
      return [fieldInvalid("values", values, "values set must be empty for exists and does not exist")];
    case ">":
    case "<":
      return values.flatMap(boundProblems);
    default:
      return [];
  }
}

function boundProblems(value: string, index: number): StatusCause[] {
  if (int64(value) !== undefined) return [];
  return [fieldInvalid(`values[${index}]`, value, "for 'Gt', 'Lt' operators, the value must be an integer")];
}

function singular(operator: LabelOperator): LabelOperator {
  if (operator === "in") return "=";
  return operator === "notin" ? "!=" : operator;
}

/** Parses an integer like strconv.ParseInt(text, 10, 64); undefined for an invalid or out-of-range one. */
function int64(text: string): bigint | undefined {
  if (text.length > 32 || !INTEGER.test(text)) return undefined;
  const number = BigInt(text.startsWith("+") ? text.slice(1) : text);
  return number > INT64_MAX || number < INT64_MIN ? undefined : number;
}
