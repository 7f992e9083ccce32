import { closeSync, copyFileSync, openSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { writePrivately } from "../../files.ts";
import { Failure } from "../../usage.ts";
import type { KubeconfigFile } from "./file.ts";

/** How long to wait for another program that writes, ms. */
const PATIENCE = 2000;
const PAUSE = 50;

/**
 * Writes what was changed: all or nothing of each file, never over what somebody else has written meanwhile, and with a copy of how
 * it was beside it, `<file>.before-ws`. Others are kept out as kubectl does it, by `<file>.lock`.
 *
 * @throws Failure when a file is locked, was changed meanwhile, or cannot be written
 */
export async function writeChanged(files: readonly KubeconfigFile[]): Promise<void> {
  const changed = files.filter((file) => file.changed).toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const locks: string[] = [];
  try {
    for (const { path } of changed) locks.push(await locked(path));
    for (const file of changed) checkUnchanged(file);
    for (const file of changed) replace(file);
  } finally {
    for (const lock of locks) rmSync(lock, { force: true });
  }
}

async function locked(path: string): Promise<string> {
  const lock = `${path}.lock`;
  for (const deadline = performance.now() + PATIENCE; ; await sleep(PAUSE))
    try {
      closeSync(openSync(lock, "wx", 0o600));
      return lock;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EEXIST") throw new Failure(`${lock} cannot be made: ${code}`);
      if (performance.now() > deadline)
        throw new Failure(`${path} is locked by another program: if none writes it, remove ${lock}`);
    }
}

function checkUnchanged({ path, text }: KubeconfigFile): void {
  if (readFileSync(path, "utf8") !== text)
    throw new Failure(`${path} was changed by another program meanwhile: nothing was written, try again`);
}

function replace(file: KubeconfigFile): void {
  // What a link leads to is replaced, and not the link.
  const path = realpathSync(file.path);
  try {
    copyFileSync(path, `${path}.before-ws`);
    writePrivately(path, file.toString(), statSync(path).mode & 0o777);
  } catch (error) {
    throw new Failure(`${path} cannot be written: ${(error as NodeJS.ErrnoException).code}`);
  }
}
