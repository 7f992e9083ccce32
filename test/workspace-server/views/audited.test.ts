// Requests of a server's own views to its workspaces appear in its audit log and metrics, as in kcp, like those to the views.
import { audit } from "@virtual-workspaces/framework/audit";
import { metrics } from "@virtual-workspaces/framework/server";
import { memoryStore } from "@virtual-workspaces/store";
import { loopback } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import published from "../../../examples/over-workspaces/published.ts";
import { grant, makeAdmin, makeWorkspace } from "../support/logical-clusters.ts";
import { startWorkspaces } from "../support/workspaces.ts";

const POLICY = { apiVersion: "audit.k8s.io/v1", kind: "Policy", rules: [{ level: "Metadata" }] } as const;

interface Event {
  readonly stage: string;
  readonly requestURI: string;
  readonly userAgent?: string;
  readonly user: { readonly username: string };
  readonly impersonatedUser?: { readonly username: string };
}

describe("views over a server's own workspaces", function () {
  this.timeout(30_000);

  it("record both the requests to a view and its own requests", async () => {
    const events: Event[] = [];
    const to = (line: string): void => void events.push(JSON.parse(line));
    const own = loopback();
    {
      await using server = await startWorkspaces(memoryStore(), {
        loopback: own,
        virtualWorkspaces: [published(own)],
        audit: audit({ policy: POLICY, to }),
        metrics: metrics({ authorize: ({ user }) => ({ allowed: user.name === "bob", reason: "" }), process: false }),
      });
      const work = await makeWorkspace(server, "work");
      await makeAdmin(server, work, "bob");
      await grant(server, "root", { user: "bob", verbs: ["get"] });
      const path = `/services/published/clusters/${work}/api/v1/configmaps`;
      while ((await server.get(path, { user: "bob" })).status !== 200);
      const counted = async (view: string): Promise<number> => {
        const { text } = await server.get("/metrics", { user: "bob" });
        const series = text
          .split("\n")
          .filter((line) => line.startsWith(`apiserver_request_total{virtual_workspace="${view}"`));
        return series.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
      };
      const before = [await counted("published"), await counted("clusters")];
      expect((await server.get(`${path}?limit=7`, { user: "bob" })).status).to.equal(200);
      const after = [await counted("published"), await counted("clusters")];
      expect((after[0] ?? 0) - (before[0] ?? 0), "what was asked of it").to.equal(1);
      expect((after[1] ?? 0) - (before[1] ?? 0), "and of its workspaces").to.be.above(0);
    }
    const ended = events.filter(({ stage }) => stage === "ResponseComplete");
    const asked = ended.filter(({ requestURI }) => requestURI.endsWith("?limit=7"));
    expect(asked.map(({ user }) => user.username)).to.deep.equal(["bob"]);
    const ours = ended.filter(({ userAgent }) => userAgent?.startsWith("virtual-workspaces/loopback"));
    expect(ours).to.have.length.above(0);
    for (const { requestURI, user } of ours) {
      expect(requestURI).to.match(/^\/clusters\/|^\/version$/);
      expect(user.username).to.equal("system:apiserver");
    }
    expect(ours.some(({ impersonatedUser }) => impersonatedUser?.username === "bob")).to.equal(true);
  });
});
