import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { writePrivately } from "../files.ts";
import { KUBECTL_WS } from "../programs.ts";
import { shellWord } from "../shell.ts";

/**
 * Puts `kubectl-ws` into a folder for the PATH, where kubectl finds it as `kubectl ws`: this program's own, run by this Node, so that
 * nothing has to be installed. Not on Windows, where the PATH has no such scripts.
 *
 * @returns the folder
 */
export function kubectlPlugin(rootDirectory: string): string | undefined {
  if (process.platform === "win32") return undefined;
  const folder = join(rootDirectory, "bin");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const command = [process.execPath, ...process.execArgv.filter((arg) => arg.startsWith("--conditions=")), KUBECTL_WS];
  const path = join(folder, "kubectl-ws");
  writePrivately(path, `#!/bin/sh\nexec ${command.map(shellWord).join(" ")} "$@"\n`, 0o700);
  chmodSync(path, 0o700);
  return folder;
}
