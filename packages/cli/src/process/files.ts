import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { UsageError } from "./failure.ts";

/**
 * Writes a file so that a reader sees the old one or the new one, never a part.
 *
 * @param mode who may read it; default: its owner alone
 */
export function writePrivately(path: string, text: string, mode = 0o600): void {
  const beside = `${path}.${process.pid}.new`;
  writeFileSync(beside, text, { mode });
  renameSync(beside, path);
}

/** The text of a file, `undefined` when there is none. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** What is in the file that a flag names. @throws UsageError */
export function contentOf(path: string, flag: string): string {
  return checked(`--${flag} ${path} cannot be read`, () => readFileSync(path, "utf8"));
}

/**
 * The certificate and the key that two flags name, `undefined` when neither is given.
 *
 * @throws UsageError when one is missing, or cannot be read
 */
export function certificateOf<C extends string, K extends string>(
  values: { readonly [name in C | K]?: string | undefined },
  certFlag: C,
  keyFlag: K,
): { readonly certFile: string; readonly keyFile: string } | undefined {
  const [certFile, keyFile] = [values[certFlag], values[keyFlag]];
  if (certFile === undefined && keyFile === undefined) return undefined;
  if (certFile === undefined || keyFile === undefined)
    throw new UsageError(
      `--${certFlag} and --${keyFlag} go together: --${certFile === undefined ? certFlag : keyFlag} is missing`,
    );
  contentOf(certFile, certFlag);
  contentOf(keyFile, keyFlag);
  return { certFile, keyFile };
}

/** What `make` gives. @throws UsageError with the mistake, and what `make` throws */
export function checked<T>(mistake: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new UsageError(`${mistake}: ${(error as Error).message}`);
  }
}
