import { excerpt, fail, skip } from "../assertions/expect.ts";
import { groupVersionPath } from "../assertions/report.ts";
import type { ServerProbe } from "../probe/server-probe.ts";
import type { ServerCheck } from "./check.ts";

/** Paths that attackers probe first. */
const SECRETS = ["/api", "/apis", "/openapi/v3", "/openapi/v2", "/metrics", "/logs", "/debug/pprof"];

/** S: access without valid credentials. */
export const securityChecks: readonly ServerCheck[] = [
  {
    id: "S1",
    title: "requests without credentials get no resources, discovery or schemas",
    protects: "unauthenticated clients read protected data",
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
    title: "a wrong token gets 401 and is never anonymous",
    protects: "a client with an expired token silently becomes another user",
    scope: "server",
    run: async (probe) => {
      if (!probe.identified) skip("the run has no credentials");
      const answer = await probe.get("/apis", { token: "conformance-no-such-token" });
      if (answer.status !== 401) fail(answer.request, "401", excerpt(answer));
    },
  },
  {
    id: "S3",
    title: "requests without credentials get answers only from /livez and /readyz",
    protects: "unauthenticated clients learn versions and resources: Kubernetes itself serves /version and /healthz",
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

/** Returns whether this is a health probe of the server. Those below a view belong to the view. */
function isHealth(url: string): boolean {
  return ["/livez", "/readyz"].includes(new URL(url).pathname);
}
