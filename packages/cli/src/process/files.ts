import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { UsageError } from "./failure.ts";

/**
 * Writes a file atomically: a reader sees the old or the new content, never a part.
 *
 * @param mode permissions; by default only the owner has access
 */
export function writePrivately(path: string, text: string, mode = 0o600): void {
  const beside = `${path}.${process.pid}.new`;
  writeFileSync(beside, text, { mode });
  renameSync(beside, path);
}

/** Returns the text of a file, or `undefined` if it does not exist. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Returns the paths of kubeconfigs without a flag, as kubectl does: those of `KUBECONFIG`, else `~/.kube/config`. */
export function kubeconfigPaths(): readonly string[] {
  const listed = (process.env["KUBECONFIG"] ?? "").split(delimiter).filter((path) => path !== "");
  return listed.length > 0 ? [...new Set(listed)] : [join(process.env["HOME"] ?? homedir(), ".kube", "config")];
}

/** Returns the content of the file that a flag names. @throws UsageError */
export function contentOf(path: string, flag: string): string {
  return checked(`cannot read --${flag} ${path}`, () => readFileSync(path, "utf8"));
}

/**
 * Returns the certificate and key that two flags name, or `undefined` if neither is set.
 *
 * @throws UsageError when one is missing or cannot be read
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
      `--${certFlag} and --${keyFlag} must be set together: --${certFile === undefined ? certFlag : keyFlag} is missing`,
    );
  contentOf(certFile, certFlag);
  contentOf(keyFile, keyFlag);
  return { certFile, keyFile };
}

/** Returns the result of `make`. @throws UsageError with `mistake` and the error of `make` */
export function checked<T>(mistake: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new UsageError(`${mistake}: ${(error as Error).message}`);
  }
}
