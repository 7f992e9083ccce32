import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Operation, Store } from "@virtual-workspaces/store";
import { everything } from "../contract/subject.ts";

/** Directory of the running test. */
export class Folder {
  path = "";

  /** Gives each test of the surrounding suite its own directory. */
  static forEachTest(): Folder {
    const folder = new Folder();
    beforeEach(async () => {
      folder.path = await mkdtemp(join(tmpdir(), "backup-"));
    });
    afterEach(() => rm(folder.path, { recursive: true, force: true }));
    return folder;
  }

  file(name = "backup"): string {
    return join(this.path, name);
  }

  names(): Promise<string[]> {
    return readdir(this.path);
  }
}

/** Applies one operation. */
export async function write(store: Store, operation: Operation): Promise<void> {
  await store.commit({ conditions: [], operations: [operation] });
}

/** Returns all entries of a store, as key=value. */
export async function contents(store: Store, revision?: number): Promise<string[]> {
  const { entries } = await store.range(everything, revision === undefined ? {} : { revision });
  return entries.map(({ key, value }) => `${key}=${value}`);
}

/** Returns a store with some methods replaced. */
export function changed(store: Store, methods: Partial<Store>): Store {
  const own: Partial<Store> = {};
  for (const name of [
    "head",
    "get",
    "range",
    "commit",
    "watch",
    "compact",
    "grant",
    "renew",
    "revoke",
    "remaining",
  ] as const)
    Object.assign(own, { [name]: store[name].bind(store) });
  return Object.assign(Object.create(store), own, methods);
}
