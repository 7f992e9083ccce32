// Server of custom resources over a directory, which tests kill. Prints its URL.
import { lmdbStore } from "@virtual-workspaces/store";
import { startShard } from "./subject.ts";

const [dir = ""] = process.argv.slice(2);
const shard = await startShard({ store: await lmdbStore({ dir, wait: 10_000 }) });
process.stdout.write(`${shard.server.url}\n`);
