// Why: what a forwarded list costs is told beside what nginx needs for the same, where there is one.
import { bring, findProgram } from "./debian.mjs";

const nginx = {
  package: "nginx",
  program: "nginx",
  path: "usr/sbin/nginx",
  remedy: "put an nginx on the PATH, or, on Debian and Ubuntu, run `node tools/bootstrap.mjs tools/nginx.mjs`",
};

/** The program, or undefined. @returns {string | undefined} */
export function findNginx() {
  return findProgram(nginx);
}

if (process.argv[1] === import.meta.filename) bring(nginx);
