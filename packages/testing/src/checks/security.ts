import { excerpt, fail, skip } from "../assertions/expect.ts";
import { groupVersionPath } from "../assertions/report.ts";
import type { ServerProbe } from "../probe/server-probe.ts";
import type { ServerCheck } from "./check.ts";

/** What strangers like to look at first. */
const SECRETS = ["/api", "/apis", "/openapi/v3", "/openapi/v2", "/metrics", "/logs", "/debug/pprof"];

/** S: nobody gets in where they do not belong. */
export const securityChecks: readonly ServerCheck[] = [
  {
    id: "S1",
    title: "without credentials nothing is told of resources, discovery or schemas",
    protects: "strangers read what is not theirs",
    scope: "server",
    run: async (probe) => {
      if (!probe.identified) skip("the run has no credentials to leave out");
      const collections = probe.resources.map((resource) => `${groupVersionPath(resource)}/${resource.name}`);
      const watches = collections.map((path) => `${path}?watch=true&timeoutSeconds=1`);
      await Promise.all([...SECRETS, ...collections, ...watches].map((path) => expectRefused(probe, path)));
    },
  },
  {
    id: "S2",
    title: "a wrong token is 401, never anonymous",
    protects: "an expired token quietly becomes somebody else",
    scope: "server",
    run: async (probe) => {
      if (!probe.identified) skip("the run has no credentials");
      const answer = await probe.get("/apis", { token: "conformance-no-such-token" });
      if (answer.status !== 401) fail(answer.request, "401", excerpt(answer));
    },
  },
  {
    id: "S3",
    title: "without credentials nothing answers but /livez and /readyz",
    protects: "strangers learn versions and what is there: Kubernetes itself tells /version and /healthz",
    strict: true,
    scope: "server",
    run: async (probe) => {
      if (!probe.identified) skip("the run has no credentials to leave out");
      for (const path of ["/", "/version", "/healthz", "/livez", "/readyz", "/conformance-nothing-here"]) {
        if (!isHealth(probe.client.line(path, {}).url)) await expectRefused(probe, path);
      }
      for (const path of ["/livez", "/readyz"]) {
        const answer = await probe.get(path, { anonymous: true, fromRoot: true });
        if (![200, 500, 503].includes(answer.status)) fail(answer.request, "a verdict", excerpt(answer));
      }
    },
  },
];

async function expectRefused(probe: ServerProbe, path: string): Promise<void> {
  const answer = await probe.get(path, { anonymous: true });
  if (![401, 403].includes(answer.status)) fail(answer.request, "401 or 403", excerpt(answer));
}

/** The server's own probes; below a view they are the view's. */
function isHealth(url: string): boolean {
  return ["/livez", "/readyz"].includes(new URL(url).pathname);
}
