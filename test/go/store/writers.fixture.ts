// 64 writers to an etcd, which print each acknowledged write, until the process is killed.
import { writeSync } from "node:fs";
import { type EtcdOptions, etcdStore } from "@virtual-workspaces/store";
import { write } from "./load.ts";

const store = await etcdStore(JSON.parse(process.argv[2] ?? "{}") as EtcdOptions);
await write(store, new AbortController().signal, (...acknowledged) => {
  writeSync(1, `${acknowledged.join(" ")}\n`);
});
