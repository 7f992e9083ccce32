import { resolve } from "node:path";
import { UsageError } from "../process/failure.ts";
import { goDuration } from "./duration.ts";
import type { FlagName } from "./names.ts";
import { entryOf, type FlagKind, type FlagTable } from "./table.ts";

/** The flags of a command, as given. What is read of them is checked then. */
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
    const duration = goDuration(value);
    if (duration === undefined) throw new UsageError(`--${name} ${value}: give a duration such as 30s, 1m30s or 500ms`);
    return duration;
  }
}

const FLAG = /^--?([^=]+)(?:=(.*))?$/s;

/** Whether a word is a flag that a command knows, to take or to refuse. */
export function isFlagOf(arg: string, table: FlagTable): boolean {
  const [, written = ""] = FLAG.exec(arg) ?? [];
  return kindOf(written.replaceAll("_", "-"), table) !== undefined;
}

/**
 * Reads `--flag value` and `--flag=value`, `_` for `-` as well. A flag that nobody knows is a warning, and a word behind it
 * its value; one that protects something and does nothing here is refused.
 *
 * @throws UsageError
 */
export function readFlags(args: readonly string[], table: FlagTable): Flags {
  const values = new Map<string, string[]>();
  const warnings: string[] = [];
  const rest = [...args];
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    const [, written = "", inline] = FLAG.exec(arg) ?? [];
    if (written === "" || written === "-") throw new UsageError(`${arg} is one word too many: ${table.words}`);
    const name = written.replaceAll("_", "-");
    const value = inline ?? valueBehind(kindOf(name, table), { name, rest });
    if (Object.hasOwn(table.taken, name)) values.set(name, [...(values.get(name) ?? []), value]);
    else warnings.push(...told(name, value, table));
  }
  return new Flags(values, warnings);
}

/** Takes what stands behind a flag, where that is its value. */
function valueBehind(
  known: FlagKind | undefined,
  { name, rest }: { readonly name: string; readonly rest: string[] },
): string {
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
function kindOf(name: string, { taken, refused, ignored }: FlagTable): FlagKind | undefined {
  if (Object.hasOwn(taken, name)) return taken[name];
  const entry = entryOf(refused, name) ?? entryOf(ignored, name);
  return entry && (entry.kind ?? "text");
}

/** What is to be said of a flag that does not count. @throws UsageError when it must not be ignored */
function told(name: string, value: string, table: FlagTable): readonly string[] {
  const refused = entryOf(table.refused, name);
  if (refused?.unless?.includes(value) === true) return [];
  if (refused !== undefined) throw new UsageError(`--${name} is not implemented: ${refused.why}`);
  const ignored = entryOf(table.ignored, name);
  if (ignored !== undefined) return [`--${name} is accepted and ignored: ${ignored.why}`];
  if (table.others === "refused") throw new UsageError(`--${name} is no flag of this server: leave it out`);
  return [`--${name} is no flag of this server, and ignored`];
}

/** The absolute path that a flag gives. */
export function pathOf(flags: Flags, name: FlagName): string | undefined {
  const value = flags.text(name);
  return value === undefined ? undefined : resolve(value);
}
