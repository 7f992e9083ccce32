import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** Folder outside the repository that is deleted at the end of its `using` block. */
export interface Tree extends Disposable {
  readonly path: string;
}

/** Creates a folder with these files: path to content. */
export function tree(files: Readonly<Record<string, string>>): Tree {
  const path = mkdtempSync(join(tmpdir(), "virtual-workspaces-test-"));
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(join(path, file)), { recursive: true });
    writeFileSync(join(path, file), content);
  }
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}
