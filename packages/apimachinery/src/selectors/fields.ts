import { ApiError } from "../meta/api-error.ts";

/** Requirement of a field selector. */
export interface FieldRequirement {
  readonly field: string;
  readonly operator: "=" | "!=";
  readonly value: string;
}

/** Selects objects by their fields. Immutable; {@link parseFieldSelector} creates one. */
export class FieldSelector {
  /** Requirements, all of which must hold. Sorted, without duplicates. */
  readonly requirements: readonly FieldRequirement[];
  /** Fields in the requirements, sorted: a server rejects those that its objects do not have. */
  readonly fields: readonly string[];
  readonly #text: string;

  constructor(requirements: readonly FieldRequirement[]) {
    const byText = new Map(requirements.map((requirement) => [format(requirement), requirement]));
    const texts = [...byText.keys()].sort();
    this.requirements = texts.flatMap((text) => byText.get(text) ?? []);
    this.fields = [...new Set(requirements.map(({ field }) => field))].sort();
    this.#text = texts.join(",");
  }

  /** Whether the selector matches everything. */
  get empty(): boolean {
    return this.requirements.length === 0;
  }

  /** Whether an object with these fields matches; a missing field counts as "". Allocates nothing. */
  matches(fields: Readonly<Record<string, string>>): boolean {
    for (const { field, operator, value } of this.requirements) {
      const actual: unknown = fields[field];
      // Properties that a plain object inherits are not strings, and count as missing.
      const equal = (typeof actual === "string" ? actual : "") === value;
      if (equal !== (operator === "=")) return false;
    }
    return true;
  }

  /** Returns the single value that a field must have; undefined if the selector leaves it open. */
  exactMatch(field: string): string | undefined {
    return this.requirements.find((requirement) => requirement.field === field && requirement.operator === "=")?.value;
  }

  /** Formats the selector canonically: equal requirements give equal texts. The text parses to an equal selector. */
  toString(): string {
    return this.#text;
  }
}

/** Selector that matches everything. */
export const everyField: FieldSelector = new FieldSelector([]);

/**
 * Parses a selector: `a=b`, `a==b`, `a!=b`, separated by commas. In values, `\` escapes `\`, `,` and `=`. The server decides
 * which fields exist: see {@link FieldSelector.fields}. "" matches everything.
 * @throws ApiError 400 with Kubernetes' message.
 */
export function parseFieldSelector(text: string): FieldSelector {
  if (text === "") return everyField;
  const requirements = splitTerms(text)
    .sort()
    .map((term) => parseTerm(term, text));
  return new FieldSelector(requirements.filter(({ field, value }) => field !== "" || value !== ""));
}

function parseTerm(term: string, selector: string): FieldRequirement {
  const split = /!=|==?/.exec(term);
  if (split === null) throw ApiError.badRequest(`invalid selector: '${selector}'; can't understand '${term}'`);
  const operator = split[0] === "!=" ? "!=" : "=";
  return { field: term.slice(0, split.index), operator, value: unescaped(term.slice(split.index + split[0].length)) };
}

/** Splits at commas without a backslash before them, and drops empty terms. */
function splitTerms(text: string): string[] {
  return text.match(/(?:[^\\,]|\\.?)+/gs) ?? [];
}

function unescaped(value: string): string {
  return value.replace(/\\(.?)|[,=]/gsu, (sequence, special: string | undefined) => {
    if (special === undefined) {
      throw ApiError.badRequest(`invalid field selector: unescaped character in value: ${sequence.codePointAt(0)}`);
    }
    if (special !== "" && "\\,=".includes(special)) return special;
    throw ApiError.badRequest(`invalid field selector: invalid escape sequence: ${sequence}`);
  });
}

function format({ field, operator, value }: FieldRequirement): string {
  return `${field}${operator}${value.replace(/[\\,=]/g, "\\$&")}`;
}
