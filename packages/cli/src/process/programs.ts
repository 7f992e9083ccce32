import { readFileSync } from "node:fs";
import module from "node:module";
import { dirname, extname, join } from "node:path";

/** Folder of the sources, or of the build. */
const HOME = dirname(import.meta.dirname);

/** This program, to start child processes. */
export const BIN: string = join(HOME, `bin${extname(import.meta.filename)}`);

/** Programs that kubectl runs for `kubectl ws` and `kubectl create workspace`, by the names that kubectl looks for. */
export const KUBECTL_PLUGINS: Readonly<Record<string, string>> = Object.fromEntries(
  ["kubectl-ws", "kubectl-create-workspace", "kubectl_complete-ws"].map((name) => [
    name,
    join(HOME, `${name}${extname(import.meta.filename)}`),
  ]),
);

/** Returns an environment in which a child process shares the compile cache. */
export function environment(): NodeJS.ProcessEnv {
  const cache = module.getCompileCacheDir();
  return cache === undefined ? process.env : { ...process.env, NODE_COMPILE_CACHE: dirname(cache) };
}

/** Returns the version of this program. */
export function version(): string {
  const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  return manifest.version;
}

/** Quotes a text for a shell, if necessary. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
