// Differences of a kcp shard that runs its views in another process, be it kcp's own `virtual-workspaces` or ours. The
// recorded kcp serves its views itself.
import type { Known } from "./found.ts";
import { messageOf, refuses } from "./found.ts";

export const OF_SHARDS: readonly Known[] = [
  {
    // kcp forwards only paths below `/services/`.
    name: "The path of all views",
    is: ({ sent, theirs, ours }) =>
      / \/services(?: |$)/.test(sent) && theirs.status === 307 && [403, 404].includes(Number(ours.status)),
  },
  {
    // kcp itself checks impersonation before it forwards a request, for a path outside logical clusters. Views check it for
    // the target of the request.
    name: "Impersonation in a view",
    is: ({ sent, theirs, ours }) =>
      sent.includes("/services/") &&
      refuses(theirs, 403) &&
      messageOf(ours).includes("cannot impersonate-on:user-info:"),
  },
];
