import { allow, defineVirtualWorkspace, type VirtualWorkspace } from "@virtual-workspaces/framework";
import type { Shard } from "./shard.ts";

/**
 * `/healthz`, which Kubernetes has kept from before `/livez` and `/readyz`: `ok` once the shard has started, 503 before.
 * Everybody may ask who may come in at all, without credentials where there is `anonymous()`.
 */
export function healthzView(shard: Shard): VirtualWorkspace {
  return defineVirtualWorkspace({
    name: "healthz",
    prefix: "/healthz",
    path: "/",
    authorize: () => allow(),
    ready: () => shard.started,
    handle: (_, res) => {
      res
        .writeHead(200, { "Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff" })
        .end("ok");
    },
  });
}
