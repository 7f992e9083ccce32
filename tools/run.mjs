// Why: the tools run other programs in one way: the repository's own first, output kept to be shown only when it matters.
import { spawn } from "node:child_process";
import { delimiter, join, resolve } from "node:path";
import { root } from "./install.mjs";

/** Output that is read by programs has no colours, also where CI=true makes tools paint it. */
const PLAIN = { NO_COLOR: "1", FORCE_COLOR: undefined };
const PATH = `${join(root, "node_modules/.bin")}${delimiter}${process.env["PATH"]}`;

/**
 * @param {string} command @param {string[]} args @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options]
 * @returns {Promise<{ ok: boolean, output: string }>}
 */
export async function run(command, args, { cwd = root, env = {} } = {}) {
  const child = spawn(command, args, {
    cwd,
    // A compiler written in Go takes PWD for its folder. A symbolic link there would hide that files are the clone's own.
    env: { ...process.env, ...PLAIN, PATH, PWD: resolve(cwd), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
  const end = await new Promise((resolve) => child.once("error", resolve).once("close", resolve));
  return { ok: end === 0, output: end instanceof Error ? `${command}: ${end.message}` : output.trimEnd() };
}
