// Processes that work in a folder, such as those of Spaces that a test has left running.
import { readdirSync, readlinkSync } from "node:fs";

/** Returns the ids of the processes whose working directory is in a folder, also if it is deleted. None where there is no `/proc`. */
export function processesIn(folder: string): readonly number[] {
  const worksThere = (pid: string): boolean => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`).startsWith(`${folder}/`);
    } catch {
      return false;
    }
  };
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name) && worksThere(name))
      .map(Number);
  } catch {
    return [];
  }
}
