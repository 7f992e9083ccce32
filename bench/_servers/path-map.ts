// The rival: a plain Map of full paths, which is told of each what has to be found.
import { serveCommands } from "../_harness/commands.ts";
import { lookedUp } from "../_harness/looked-up.ts";

const map = new Map<string, { readonly leadsTo: string; readonly shard: string }>();

/** A text that is put together is in pieces until it is used: as it would come from a watch. */
const whole = (text: string): string => Buffer.from(text, "latin1").toString("latin1");

serveCommands(
  lookedUp({
    fill: ({ path, leadsTo, workspace, logicalCluster }) => {
      const shard = (logicalCluster ?? workspace)?.shard ?? "";
      map.set(whole(path), { leadsTo: whole(leadsTo), shard });
    },
    apply: ({ path, kind, leadsTo, shard }) => {
      if (kind === "cluster" || kind === "mount") map.set(path, { leadsTo, shard });
      else map.delete(path);
    },
    find: (path) => map.get(path)?.leadsTo,
  }),
);
