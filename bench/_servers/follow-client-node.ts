// The informers of @kubernetes/client-node, in a process of their own.
import { type Follower, GROUP, serveFollower } from "./follower.ts";

export type FollowClientNode = Follower;

serveFollower(async () => {
  const { CustomObjectsApi, KubeConfig, makeInformer } = await import("@kubernetes/client-node");
  return async ({ port, ca, restart, changed }) => {
    const config = new KubeConfig();
    const server = `https://127.0.0.1:${port}/services/notes/clusters/root`;
    config.loadFromOptions({
      clusters: [{ name: "bench", server, caData: Buffer.from(ca).toString("base64") }],
      users: [{ name: "alice", token: "token" }],
      contexts: [{ name: "bench", cluster: "bench", user: "alice" }],
      currentContext: "bench",
    });
    const api = config.makeApiClient(CustomObjectsApi);
    let lists = 0;
    const path = `/apis/${GROUP.group}/${GROUP.version}/${GROUP.plural}`;
    const informer = makeInformer(config, path, () => {
      lists += 1;
      return api.listClusterCustomObject(GROUP);
    });
    const change = ({ metadata }: { metadata?: { name?: string } }): void => changed(metadata?.name ?? "");
    informer.on("add", change);
    informer.on("update", change);
    // Its documentation's way to go on after an error.
    informer.on("error", () => {
      if (restart) setTimeout(() => void informer.start(), 1000);
    });
    await informer.start();
    return { lists: () => lists, size: () => informer.list().length };
  };
});
