import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { writePrivately } from "../files.ts";
import { KUBECTL_PLUGINS } from "../programs.ts";
import { shellWord } from "../shell.ts";

/**
 * Puts kubectl's plugins into a folder for the PATH: this program's own, run by this Node, so that nothing has to be installed. Not on
 * Windows, where the PATH has no such scripts.
 *
 * @returns the folder
 */
export function kubectlPlugins(rootDirectory: string): string | undefined {
  if (process.platform === "win32") return undefined;
  const folder = join(rootDirectory, "bin");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const node = [process.execPath, ...process.execArgv.filter((arg) => arg.startsWith("--conditions="))];
  for (const [name, file] of Object.entries(KUBECTL_PLUGINS)) {
    const path = join(folder, name);
    writePrivately(path, `#!/bin/sh\nexec ${[...node, file].map(shellWord).join(" ")} "$@"\n`, 0o700);
    chmodSync(path, 0o700);
  }
  return folder;
}
