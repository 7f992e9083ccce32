import { createRequire } from "node:module";
import type { RE2JS } from "re2js";

const require = createRequire(import.meta.url);

/** Up to so many steps (instructions times characters) a pattern is matched by automaton: fast, but at worst 60 ns each. */
const AUTOMATON_STEPS = 700_000;
/** Up to so many it is matched in place at all: some 9 ns each, 50 ms. */
const MAX_STEPS = 5_000_000;
/** After so many steps the memory of the automaton is freed: it could grow to 8 bytes for each. */
const STEPS_KEPT = 100_000;

/** A regular expression as Go has them (RE2), matched in time linear in the text whatever it is. */
export class LinearPattern {
  readonly #pattern: RE2JS;
  readonly #size: number;
  /** Of the pattern's text. */
  readonly sourceSize: number;
  #steps = 0;

  /** @throws Error with RE2's own words if it is none */
  constructor(source: string) {
    this.#pattern = compile(source);
    this.#size = this.#pattern.programSize();
    this.sourceSize = source.length;
  }

  /** How many steps matching a text takes at most. */
  steps(text: string): number {
    return this.#size * (text.length + 1);
  }

  /** Whether the pattern is found anywhere in the text. */
  test(text: string): boolean {
    const steps = this.steps(text);
    if (steps > AUTOMATON_STEPS) return this.#pattern.matcher(text).find();
    const found = this.#pattern.test(text);
    this.#account(steps);
    return found;
  }

  /** What is found, from left to right, at most `limit` times. */
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
 * Compiles a `pattern` of a schema as Kubernetes does (Go's regexp, RE2), so that no pattern and no text can stall the
 * process: time is linear in the text. A text so long that matching could take more than some 50 ms (5 million divided
 * by the size of the compiled pattern; 50,000 characters for a usual one) counts as not matching.
 *
 * @throws Error if Go would refuse the pattern
 */
export function linearPattern(source: string): (text: string) => boolean {
  const pattern = new LinearPattern(source);
  return (text) => pattern.steps(text) <= MAX_STEPS && pattern.test(text);
}

/** The library is loaded with the first pattern: most schemas have none. @throws Error with RE2's own words */
function compile(source: string): RE2JS {
  const library: typeof import("re2js") = require("re2js");
  return library.RE2JS.compile(source);
}

/** Whether Go takes a pattern. */
export function isPattern(source: string): boolean {
  try {
    compile(source);
    return true;
  } catch {
    return false;
  }
}

/** Patterns that texts of requests spell; the last ones used are kept. */
export class PatternCache {
  readonly #patterns = new Map<string, LinearPattern>();
  readonly #size: number;

  constructor(size: number) {
    this.#size = size;
  }

  /** @throws Error if Go would refuse it */
  get(source: string): LinearPattern {
    const pattern = this.#patterns.get(source) ?? new LinearPattern(source);
    this.#patterns.delete(source);
    this.#patterns.set(source, pattern);
    if (this.#patterns.size > this.#size) this.#patterns.delete(this.#patterns.keys().next().value ?? "");
    return pattern;
  }
}
