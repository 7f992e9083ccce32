import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Flags } from "../flags/flags.ts";
import type { FlagName } from "../flags/names.ts";
import { UsageError } from "../usage.ts";

/** The absolute path that a flag gives. */
export function pathOf(flags: Flags, name: FlagName): string | undefined {
  const value = flags.text(name);
  return value === undefined ? undefined : resolve(value);
}

/** What is in the file that a flag names. @throws UsageError */
export function contentOf(path: string, flag: FlagName): string {
  return checked(`--${flag} ${path} cannot be read`, () => readFileSync(path, "utf8"));
}

/** What `make` gives. @throws UsageError with the mistake, and what `make` throws */
export function checked<T>(mistake: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new UsageError(`${mistake}: ${(error as Error).message}`);
  }
}
