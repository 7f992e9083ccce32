// Why: the store is tested with the oldest line of etcd that it supports, 3.4, which Debian still ships; the newest is built
// from test/go/etcd.
import { bring, findProgram } from "./debian.mjs";

export const ETCD_REMEDY =
  "etcd 3.4 is not there: put an etcd on the PATH, or, on Debian and Ubuntu, run `node tools/bootstrap.mjs tools/etcd.mjs` (after `apt-get update` if the package etcd-server is not found)";

const etcd = { package: "etcd-server", program: "etcd", path: "usr/bin/etcd", remedy: ETCD_REMEDY };

/** The program, or undefined. @returns {string | undefined} */
export function findEtcd() {
  return findProgram(etcd);
}

if (process.argv[1] === import.meta.filename) bring(etcd);
