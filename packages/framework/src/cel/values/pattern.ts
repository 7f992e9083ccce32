import { createRequire } from "node:module";
import type { RE2JS } from "re2js";

const require = createRequire(import.meta.url);

/** Limit of matching by automaton, in steps (instructions times characters): fast, but 60 ns a step at worst. */
const AUTOMATON_STEPS = 700_000;
/** Limit of matching in place, in steps of some 9 ns: 50 ms. */
const MAX_STEPS = 5_000_000;
/** Steps after which the automaton's memory, up to 8 bytes a step, is freed. */
const STEPS_KEPT = 100_000;

/** Go regular expression (RE2), matched in time linear in the length of the text. */
export class LinearPattern {
  readonly #pattern: RE2JS;
  readonly #size: number;
  /** Length of the pattern. */
  readonly sourceSize: number;
  #steps = 0;

  /** @throws Error with RE2's text if it is invalid */
  constructor(source: string) {
    this.#pattern = compile(source);
    this.#size = this.#pattern.programSize();
    this.sourceSize = source.length;
  }

  /** Returns the maximum number of steps for matching a text. */
  steps(text: string): number {
    return this.#size * (text.length + 1);
  }

  /** Returns whether the pattern matches anywhere in the text. */
  test(text: string): boolean {
    const steps = this.steps(text);
    if (steps > AUTOMATON_STEPS) return this.#pattern.matcher(text).find();
    const found = this.#pattern.test(text);
    this.#account(steps);
    return found;
  }

  /** Returns the matches from left to right, at most `limit`. */
  findAll(text: string, limit: number): string[] {
    const found: string[] = [];
    const matcher = this.#pattern.matcher(text);
    while (found.length < limit && matcher.find()) found.push(matcher.group() ?? "");
    this.#account(this.steps(text));
    return found;
  }

  #account(steps: number): void {
    this.#steps += steps;
    if (this.#steps < STEPS_KEPT) return;
    this.#steps = 0;
    this.#pattern.reset();
  }
}

/**
 * Compiles a `pattern` of a schema as Kubernetes does (Go's regexp, RE2). Matching takes time linear in the length of the
 * text, so that no pattern and no text can stall the process. A text counts as not matching if it could take more than some
 * 50 ms (5 million divided by the size of the compiled pattern; 50,000 characters for a typical one).
 *
 * @throws Error if Go would reject the pattern
 */
export function linearPattern(source: string): (text: string) => boolean {
  const pattern = new LinearPattern(source);
  return (text) => pattern.steps(text) <= MAX_STEPS && pattern.test(text);
}

/** Loads the library with the first pattern: most schemas have none. @throws Error with RE2's text */
function compile(source: string): RE2JS {
  const library: typeof import("re2js") = require("re2js");
  return library.RE2JS.compile(source);
}

/** Returns whether Go accepts a pattern. */
export function isPattern(source: string): boolean {
  try {
    compile(source);
    return true;
  } catch {
    return false;
  }
}

/** Cache of patterns from requests; the most recently used are kept. */
export class PatternCache {
  readonly #patterns = new Map<string, LinearPattern>();
  readonly #size: number;

  constructor(size: number) {
    this.#size = size;
  }

  /** @throws Error if Go would reject the pattern */
  get(source: string): LinearPattern {
    const pattern = this.#patterns.get(source) ?? new LinearPattern(source);
    this.#patterns.delete(source);
    this.#patterns.set(source, pattern);
    if (this.#patterns.size > this.#size) this.#patterns.delete(this.#patterns.keys().next().value ?? "");
    return pattern;
  }
}
