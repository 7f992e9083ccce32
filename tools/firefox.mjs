// Why: the console is tested in a second browser. Firefox is Debian's, the extended support release, with the libraries that the
// machine lacks beside it.
import { bring, findProgram, unpackedLibraries } from "./debian.mjs";

export const FIREFOX_REMEDY =
  "Firefox is not there: put a firefox-esr on the PATH, or, on Debian, run `node tools/bootstrap.mjs tools/firefox.mjs` (after `apt-get update` if a package is not found)";

const firefox = {
  package: "firefox-esr",
  program: "firefox-esr",
  path: "usr/lib/firefox-esr/firefox-esr",
  remedy: FIREFOX_REMEDY,
  libraries: true,
};

/** The program and the environment that it needs, or undefined. @returns {{ path: string, env: NodeJS.ProcessEnv } | undefined} */
export function findFirefox() {
  const path = findProgram(firefox);
  return path === undefined ? undefined : { path, env: { ...process.env, ...unpackedLibraries(firefox) } };
}

if (process.argv[1] === import.meta.filename) bring(firefox);
