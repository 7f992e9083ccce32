import { rm } from "node:fs/promises";
import { lmdbStore } from "@virtual-workspaces/store";
import { memoryFolder } from "../../_support/memory-folder.ts";
import { describeStore } from "../contract/describe-store.ts";

describeStore("the store on lmdb", {
  durable: true,
  histories: 100,
  open: async () => {
    const dir = await memoryFolder("store-");
    let store = await lmdbStore({ dir });
    return {
      store,
      reopen: async () => {
        await store[Symbol.asyncDispose]();
        store = await lmdbStore({ dir });
        return store;
      },
      close: async () => {
        await store[Symbol.asyncDispose]();
        await rm(dir, { recursive: true });
      },
    };
  },
});
