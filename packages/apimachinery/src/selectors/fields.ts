import { ApiError } from "../meta/api-error.ts";

/** One requirement of a field selector. */
export interface FieldRequirement {
  readonly field: string;
  readonly operator: "=" | "!=";
  readonly value: string;
}

/** Which objects are meant, by fields of theirs. Immutable; {@link parseFieldSelector} makes one. */
export class FieldSelector {
  /** All must hold. Sorted, and each only once. */
  readonly requirements: readonly FieldRequirement[];
  /** The fields that are asked about, sorted: a server refuses those it has no value for. */
  readonly fields: readonly string[];
  readonly #text: string;

  constructor(requirements: readonly FieldRequirement[]) {
    const byText = new Map(requirements.map((requirement) => [format(requirement), requirement]));
    const texts = [...byText.keys()].sort();
    this.requirements = texts.flatMap((text) => byText.get(text) ?? []);
    this.fields = [...new Set(requirements.map(({ field }) => field))].sort();
    this.#text = texts.join(",");
  }

  /** Whether everything matches. */
  get empty(): boolean {
    return this.requirements.length === 0;
  }

  /** Whether an object with these fields is meant; a missing field counts as "". Allocates nothing. */
  matches(fields: Readonly<Record<string, string>>): boolean {
    for (const { field, operator, value } of this.requirements) {
      const actual: unknown = fields[field];
      // What a plain object inherits is no string, and no field.
      const equal = (typeof actual === "string" ? actual : "") === value;
      if (equal !== (operator === "=")) return false;
    }
    return true;
  }

  /** The one value that a field must have; undefined when the selector leaves it open. */
  exactMatch(field: string): string | undefined {
    return this.requirements.find((requirement) => requirement.field === field && requirement.operator === "=")?.value;
  }

  /** Canonical text: two selectors of the same requirements have the same. It parses back to an equal selector. */
  toString(): string {
    return this.#text;
  }
}

/** The selector that matches everything. */
export const everyField: FieldSelector = new FieldSelector([]);

/**
 * A selector from its text: `a=b`, `a==b`, `a!=b`, separated by commas. In values `\`, `,` and `=` are escaped with
 * `\`. Which fields there are is the server's to say: see {@link FieldSelector.fields}. "" matches everything.
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

/** Cuts at the commas that no backslash stands before, and leaves out empty terms. */
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
