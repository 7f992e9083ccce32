// Our informers, in a process of their own.
import { type Follower, GROUP, serveFollower } from "./follower.ts";

export type FollowOurs = Follower;

serveFollower(async () => {
  const { Client, Informer } = await import("@virtual-workspaces/client");
  return async ({ port, ca, changed }) => {
    const headers = ["Authorization", "Bearer token"];
    const client = new Client({
      upstream: {
        url: `https://127.0.0.1:${port}/services/notes`,
        tls: { ca },
        credentials: { get: () => ({ headers }) },
      },
      cluster: "root",
    });
    const informer = new Informer({ resource: client.resource({ ...GROUP, kind: "Note", scope: "Cluster" }) });
    informer.on({
      added: ({ metadata }) => changed(metadata.name ?? ""),
      updated: ({ metadata }) => changed(metadata.name ?? ""),
    });
    await informer.start().synced;
    return { lists: () => 1 + informer.metrics.relists, size: () => informer.store.size };
  };
});
