import { memoryStore } from "@virtual-workspaces/store";
import { describeStore } from "../contract/describe-store.ts";

describeStore("the store in memory", {
  histories: 1000,
  open: async () => {
    const store = memoryStore({ revision: 1 });
    return { store, close: async () => store[Symbol.asyncDispose]() };
  },
});
