// Why: the documentation site is tested in a browser: search, accessibility, links that scripts make. Chromium is Debian's, with the
// libraries that the machine lacks beside it.
import { bring, findProgram, unpackedLibraries } from "./debian.mjs";

export const CHROMIUM_REMEDY =
  "Chromium is not there: put a chromium on the PATH, or, on Debian and Ubuntu, run `node tools/bootstrap.mjs tools/chromium.mjs` (after `apt-get update` if a package is not found)";

const chromium = {
  package: "chromium",
  program: "chromium",
  path: "usr/lib/chromium/chromium",
  remedy: CHROMIUM_REMEDY,
  libraries: true,
};

/** The program and the environment that it needs, or undefined. @returns {{ path: string, env: NodeJS.ProcessEnv } | undefined} */
export function findChromium() {
  const path = findProgram(chromium);
  return path === undefined ? undefined : { path, env: { ...process.env, ...unpackedLibraries(chromium) } };
}

if (process.argv[1] === import.meta.filename) bring(chromium);
