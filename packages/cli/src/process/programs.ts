import { readFileSync } from "node:fs";
import module from "node:module";
import { dirname, extname, join } from "node:path";

/** The folder of the sources, or of what is built of them. */
const HOME = dirname(import.meta.dirname);

/** This program, for processes that are a part of it. */
export const BIN: string = join(HOME, `bin${extname(import.meta.filename)}`);

/** What kubectl runs for `kubectl ws` and `kubectl create workspace`, by the names that it looks for. */
export const KUBECTL_PLUGINS: Readonly<Record<string, string>> = Object.fromEntries(
  ["kubectl-ws", "kubectl-create-workspace", "kubectl_complete-ws"].map((name) => [
    name,
    join(HOME, `${name}${extname(import.meta.filename)}`),
  ]),
);

/** Another process keeps its compiled code where this one does. */
export function environment(): NodeJS.ProcessEnv {
  const cache = module.getCompileCacheDir();
  return cache === undefined ? process.env : { ...process.env, NODE_COMPILE_CACHE: dirname(cache) };
}

/** The version of this program. */
export function version(): string {
  const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  return manifest.version;
}

/** As it is where a shell takes it so, else in quotes. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
