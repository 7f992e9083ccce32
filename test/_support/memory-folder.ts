// Folder for stores in tests that do not concern the disk. It is in memory if there is room, so that tests do not wait for
// fsync.
import { statfsSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SHARED_MEMORY = "/dev/shm";
const ENOUGH = 1 << 30;

export function memoryFolder(prefix: string): Promise<string> {
  return mkdtemp(join(hasRoom() ? SHARED_MEMORY : tmpdir(), prefix));
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(SHARED_MEMORY);
    return bavail * bsize > ENOUGH;
  } catch {
    return false;
  }
}
