/**
 * Compiles a path in the subset of Kubernetes' JSONPath that printer columns and selectable fields use: `.spec.text`,
 * `.metadata.labels.app\.kubernetes\.io/name`, `['key']`, `[0]`, `[-1]`, `[*]`, `.*`, `[?(@.type=="Ready")]`. Filters also
 * have `!=`, numbers, booleans, and a bare path for existence. The returned function gives all values at the path, in order,
 * and none if a part is missing or of another shape. It follows own properties only.
 * @throws Error with the position, for a malformed path.
 */
export function compileJsonPath(path: string): (object: unknown) => unknown[] {
  const parsed = parseJsonPath(path);
  return (object) => {
    const results: unknown[] = [];
    collect(parsed, object, results);
    return results;
  };
}

/**
 * Like {@link compileJsonPath}, for the first value only; undefined if there is none. Calls allocate nothing, except for
 * wildcards over objects.
 * @throws Error with the position, for a malformed path.
 */
export function compileJsonPathFirst(path: string): (object: unknown) => unknown {
  const parsed = parseJsonPath(path);
  return (object) => first(parsed, object);
}

/**
 * Returns the steps of a path: names of fields, indexes, and `{ each: true }` for a wildcard or a filter. The names in filters are left out.
 * @throws Error with the position, for a malformed path.
 */
export function jsonPathSteps(path: string): readonly (string | number | { readonly each: true })[] {
  const { steps, each } = parseJsonPath(path);
  const all: (string | number | { readonly each: true })[] = [...steps];
  for (let at = each; at !== undefined; at = at.rest.each) all.push(EACH, ...at.rest.steps);
  return all;
}

const EACH = { each: true } as const;

function collect(path: JsonPath, start: unknown, results: unknown[]): void {
  const value = follow(path.steps, start);
  if (value === undefined) return;
  if (path.each === undefined) {
    results.push(value);
    return;
  }
  const { filter, rest } = path.each;
  for (const element of elements(path.each, value)) if (passes(filter, element)) collect(rest, element, results);
}

function first(path: JsonPath, start: unknown): unknown {
  const value = follow(path.steps, start);
  if (value === undefined || path.each === undefined) return value;
  const { filter, rest } = path.each;
  for (const element of elements(path.each, value)) {
    const found = passes(filter, element) ? first(rest, element) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function follow(steps: readonly (string | number)[], start: unknown): unknown {
  let value = start;
  for (const step of steps) {
    if (typeof value !== "object" || value === null) return undefined;
    if (Array.isArray(value)) value = typeof step === "number" ? value.at(step) : undefined;
    else if (typeof step === "number" || !Object.hasOwn(value, step)) return undefined;
    else value = (value as Record<string, unknown>)[step];
  }
  return value;
}

const NONE: readonly unknown[] = [];

function elements({ filter }: JsonPathEach, value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  // Only a bare wildcard iterates over an object; filters apply to arrays.
  return filter === undefined && typeof value === "object" && value !== null ? Object.values(value) : NONE;
}

function passes(filter: JsonPathFilter | undefined, element: unknown): boolean {
  if (filter === undefined) return true;
  const value = first(filter.path, element);
  if (value === undefined || filter.comparison === undefined) return value !== undefined;
  const { operator, literal } = filter.comparison;
  // Values of different types are neither equal nor unequal.
  return typeof value === typeof literal && (value === literal) === (operator === "==");
}

/** Comparison of a filter. */
interface JsonPathComparison {
  readonly operator: "==" | "!=";
  readonly literal: string | number | boolean;
}

/** Filter `[?(@.path == literal)]`; without a comparison the path must have a value. */
interface JsonPathFilter {
  readonly path: JsonPath;
  readonly comparison?: JsonPathComparison;
}

/** Step to all elements, or to those that pass the filter; `rest` continues from each. */
interface JsonPathEach {
  readonly filter: JsonPathFilter | undefined;
  readonly rest: JsonPath;
}

/** Parsed path: steps to a field (by name) or an element (by index, from the end if negative), and then to each. */
interface JsonPath {
  readonly steps: readonly (string | number)[];
  readonly each: JsonPathEach | undefined;
}

interface MutableJsonPath {
  readonly steps: (string | number)[];
  each: JsonPathEach | undefined;
}

type Step = string | number | { readonly filter: JsonPathFilter | undefined };

const FIELD = /(?:[^\s.,[\]$@{}\\]|\\.)+/sy;
/** Within a filter a name also ends at an operator or the closing parenthesis. */
const FILTER_FIELD = /(?:[^\s.,[\]$@{}\\!<>=()]|\\.)+/sy;
const QUOTED = /'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"/sy;
const INDEX = /-?[0-9]{1,9}(?=\])/y;
const NUMBER = /-?[0-9]+(?:\.[0-9]+)?/y;
const BOOLEAN = /true|false/y;
const OPERATOR = /==|!=/y;
const SPACE = /[ \t]*/y;

/** @throws Error with the position, for a malformed path. */
function parseJsonPath(text: string): JsonPath {
  const input = new Input(text);
  input.skip("$");
  const steps = parseSteps(input, FIELD);
  if (!input.atEnd) throw input.error("expected '.' or '['");
  if (steps.length === 0) throw input.error("expected '.' or '[' and a field");
  return nest(steps);
}

class Input {
  readonly text: string;
  position = 0;

  constructor(text: string) {
    this.text = text;
  }

  get atEnd(): boolean {
    return this.position === this.text.length;
  }

  /** Skips a literal. Returns whether the text continued with it. */
  skip(literal: string): boolean {
    if (!this.text.startsWith(literal, this.position)) return false;
    this.position += literal.length;
    return true;
  }

  expect(literal: string): void {
    if (!this.skip(literal)) throw this.error(`expected '${literal}'`);
  }

  /** Takes the match of a sticky pattern at this position, if any. */
  take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.position;
    const match = pattern.exec(this.text) ?? undefined;
    this.position += match?.[0].length ?? 0;
    return match;
  }

  error(problem: string): Error {
    return new Error(`JSONPath ${JSON.stringify(this.text)}: ${problem} at position ${this.position}`);
  }
}

function parseSteps(input: Input, name: RegExp): Step[] {
  const steps: Step[] = [];
  for (;;) {
    if (input.skip(".")) steps.push(parseField(input, name));
    else if (input.skip("[")) steps.push(parseBracket(input, name === FILTER_FIELD));
    else return steps;
  }
}

/** Not recursive: a path may be arbitrarily long. */
function nest(steps: readonly Step[]): JsonPath {
  const path: MutableJsonPath = { steps: [], each: undefined };
  let last = path;
  for (const step of steps) {
    if (typeof step !== "object") {
      last.steps.push(step);
      continue;
    }
    const rest: MutableJsonPath = { steps: [], each: undefined };
    last.each = { filter: step.filter, rest };
    last = rest;
  }
  return path;
}

function parseField(input: Input, name: RegExp): Step {
  if (input.skip("*")) return { filter: undefined };
  const field = input.take(name)?.[0];
  if (field === undefined) throw input.error("expected a field name");
  return unescaped(field);
}

function parseBracket(input: Input, inFilter: boolean): Step {
  const step = parseSelection(input, inFilter);
  input.expect("]");
  return step;
}

function parseSelection(input: Input, inFilter: boolean): Step {
  if (input.skip("*")) return { filter: undefined };
  const index = input.take(INDEX);
  if (index !== undefined) return Number(index[0]);
  const key = parseQuoted(input);
  if (key !== undefined) return key;
  // This also bounds the recursion of the parser.
  if (inFilter) throw input.error("expected an index, '*' or a quoted key");
  if (input.skip("?(")) return { filter: parseFilter(input) };
  throw input.error("expected an index, '*', a quoted key or '?('");
}

function parseFilter(input: Input): JsonPathFilter {
  input.take(SPACE);
  input.expect("@");
  const path = nest(parseSteps(input, FILTER_FIELD));
  input.take(SPACE);
  if (input.skip(")")) return { path };
  const operator = input.take(OPERATOR)?.[0] as "==" | "!=" | undefined;
  if (operator === undefined) throw input.error("expected '==', '!=' or ')'");
  input.take(SPACE);
  const literal = parseLiteral(input);
  input.take(SPACE);
  input.expect(")");
  return { path, comparison: { operator, literal } };
}

function parseLiteral(input: Input): string | number | boolean {
  const text = parseQuoted(input);
  if (text !== undefined) return text;
  const number = input.take(NUMBER);
  if (number !== undefined) return Number(number[0]);
  const boolean = input.take(BOOLEAN);
  if (boolean !== undefined) return boolean[0] === "true";
  throw input.error("expected a quoted text, a number, true or false");
}

function parseQuoted(input: Input): string | undefined {
  const match = input.take(QUOTED);
  return match === undefined ? undefined : unescaped(match[1] ?? match[2] ?? "");
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/gs, "$1");
}
