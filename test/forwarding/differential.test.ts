// What was recorded from Kubernetes, played against a view that forwards to another of ours: to write through it makes no
// difference. Watches and pages are forward()'s reads, and are played in its own tests.
import { allow, defineVirtualWorkspace, type ServedResource } from "@virtual-workspaces/framework";
import { startPlain } from "../_support/plain.ts";
import { answersAsRecorded } from "../differential/as-recorded.ts";
import { KINDS } from "../differential/kinds.ts";
import type { Step } from "../differential/step.ts";
import { type Subject, startSubject } from "../differential/subject.ts";
import { TOPICS } from "../differential/topics.ts";
import { forwarded, upstreamAt } from "./support.ts";

/** Cases that watch, or read a page or a version. */
const READS = TOPICS.flatMap(({ cases }) => cases.filter(({ steps }) => steps.some(isRead)).map(({ name }) => name));

function isRead(step: Step): boolean {
  if (!("send" in step)) return true;
  return /^GET .*[?&](limit|continue|resourceVersion(Match)?|watch)=/.test(step.send);
}

async function startForwarded(): Promise<Subject> {
  const behind = await startSubject(KINDS);
  const upstream = upstreamAt(behind.url, "admin");
  const resources = KINDS.flatMap((versions) =>
    versions.map((resource) =>
      resource.serve(forwarded({ resource: resource as never, upstream, identity: "none" }) as never),
    ),
  ) as readonly ServedResource[];
  const view = defineVirtualWorkspace({ name: "front", path: "/", authorize: () => allow(), resources });
  const server = await startPlain([view]);
  return {
    url: `${server.url}/services/front`,
    headers: { authorization: "Bearer admin" },
    reset: () => behind.reset?.() ?? Promise.resolve(),
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
      await behind[Symbol.asyncDispose]();
    },
  };
}

describe("what is written through a view that forwards is answered as Kubernetes does:", function () {
  this.timeout(20_000);
  answersAsRecorded(startForwarded, { without: READS });
});
