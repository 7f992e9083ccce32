import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A folder of this process, gone with it. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "virtual-workspaces-bench-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
