import { UsageError } from "../usage.ts";
import { entryOf, type FlagKind, type FlagName, IGNORED, REFUSED, TAKEN } from "./known-flags.ts";

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** The flags of a start, as given. What is read of them is checked then. */
export class Flags {
  readonly #values: ReadonlyMap<string, readonly string[]>;
  /** What is said of flags that do nothing, for the log. */
  readonly warnings: readonly string[];

  constructor(values: ReadonlyMap<string, readonly string[]>, warnings: readonly string[]) {
    this.#values = values;
    this.warnings = warnings;
  }

  /** Those of some that are given. */
  given(names: readonly FlagName[]): readonly FlagName[] {
    return names.filter((name) => this.#values.has(name));
  }

  /** The last one given; an empty one is none, as in Go. */
  text(name: FlagName): string | undefined {
    const value = this.#values.get(name)?.at(-1);
    return value === "" ? undefined : value;
  }

  /** All that are given, also with commas between. */
  list(name: FlagName): readonly string[] {
    const values = this.#values.get(name) ?? [];
    return values.flatMap((value) => value.split(",").map((part) => part.trim())).filter((part) => part !== "");
  }

  /** @throws UsageError on what is neither true nor false */
  on(name: FlagName, fallback: boolean): boolean {
    const value = this.text(name);
    if (value === undefined) return fallback;
    if (/^(1|t|true)$/i.test(value)) return true;
    if (/^(0|f|false)$/i.test(value)) return false;
    throw new UsageError(`--${name}=${value}: give true or false`);
  }

  /** @throws UsageError on what is no whole number up to `most` */
  count(name: FlagName, { fallback, most }: { readonly fallback: number; readonly most: number }): number {
    const value = this.text(name);
    if (value === undefined) return fallback;
    if (!/^\d+$/.test(value) || Number(value) > most)
      throw new UsageError(`--${name} ${value}: give a number from 0 to ${most}`);
    return Number(value);
  }

  /** A duration as Go writes it, in ms. @throws UsageError */
  duration(name: FlagName): number {
    const value = this.text(name) ?? "0";
    if (value === "0") return 0;
    if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(value))
      throw new UsageError(`--${name} ${value}: give a duration such as 30s, 1m30s or 500ms`);
    const parts = value.matchAll(/([\d.]+)(ms|s|m|h)/g);
    return parts.reduce((sum, [, count, unit = ""]) => sum + Number(count) * (UNITS[unit] ?? 0), 0);
  }
}

/**
 * Reads `--flag value` and `--flag=value`, `_` for `-` as well. A flag that nobody knows is a warning, and a word behind it
 * its value; one that protects something and does nothing here is refused.
 *
 * @throws UsageError
 */
export function readFlags(args: readonly string[]): Flags {
  const values = new Map<string, string[]>();
  const warnings: string[] = [];
  const rest = [...args];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    const [, written = "", inline] = /^--?([^=]+)(?:=(.*))?$/s.exec(arg) ?? [];
    if (!arg.startsWith("-") || written === "" || written === "-")
      throw new UsageError(`${arg} is one word too many: flags name everything, as in --root-directory .kcp`);
    const name = written.replaceAll("_", "-");
    const value = inline ?? valueBehind(name, rest);
    if (Object.hasOwn(TAKEN, name)) values.set(name, [...(values.get(name) ?? []), value]);
    else warnings.push(...told(name, value));
  }
  return new Flags(values, warnings);
}

/** Takes what stands behind a flag, where that is its value. */
function valueBehind(name: string, rest: string[]): string {
  const known = kindOf(name);
  if (known === "switch") return "true";
  const [next] = rest;
  if (next !== undefined && !/^--?[a-z]/.test(next)) {
    rest.shift();
    return next;
  }
  if (known !== undefined) throw new UsageError(`--${name} needs a value: --${name} <value>`);
  return "";
}

/** `undefined`: nobody knows the flag. */
function kindOf(name: string): FlagKind | undefined {
  if (Object.hasOwn(TAKEN, name)) return TAKEN[name as FlagName];
  const entry = entryOf(REFUSED, name) ?? entryOf(IGNORED, name);
  return entry && (entry.kind ?? "text");
}

/** What is to be said of a flag that does not count. @throws UsageError when it must not be ignored */
function told(name: string, value: string): readonly string[] {
  const refused = entryOf(REFUSED, name);
  if (refused?.unless?.includes(value) === true) return [];
  if (refused !== undefined) throw new UsageError(`--${name} is not implemented: ${refused.why}`);
  const ignored = entryOf(IGNORED, name);
  return [
    ignored === undefined
      ? `--${name} is no flag of this server, and ignored`
      : `--${name} is accepted and ignored: ${ignored.why}`,
  ];
}
