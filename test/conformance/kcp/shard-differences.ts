// What a kcp's shard itself answers otherwise where its views are in another process: the same whether that is kcp's own
// `virtual-workspaces` or ours, and recorded is a kcp that has them in its own.
import type { Known } from "./found.ts";
import { messageOf, refuses } from "./found.ts";

export const OF_SHARDS: readonly Known[] = [
  {
    // Only what is below `/services/` is passed on.
    name: "The path of all views",
    is: ({ sent, theirs, ours }) =>
      / \/services(?: |$)/.test(sent) && theirs.status === 307 && [403, 404].includes(Number(ours.status)),
  },
  {
    // It asks itself, before it passes a request on, and that a path outside of logical clusters; views ask what the request is for.
    name: "Impersonation in a view",
    is: ({ sent, theirs, ours }) =>
      sent.includes("/services/") &&
      refuses(theirs, 403) &&
      messageOf(ours).includes("cannot impersonate-on:user-info:"),
  },
];
