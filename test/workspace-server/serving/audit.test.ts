// Why: tools of kcp read the audit log as soon as they have an answer, and find requests by the path of a workspace.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { audit } from "@virtual-workspaces/framework/audit";
import { memoryStore } from "@virtual-workspaces/store";
import { expect } from "chai";
import { tree } from "../../_setup/tree.ts";
import { type AuditEvent, policy } from "../../_support/audited.ts";
import { makeWorkspace } from "../support/logical-clusters.ts";
import { startWorkspaces } from "../support/workspaces.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";

describe("audit events of a workspace server", function () {
  this.timeout(30_000);

  for (const level of ["Metadata", "RequestResponse"] as const)
    it(`are in the file before the answer with blocking, and name the workspace on every stage: ${level}`, async () => {
      using folder = tree({});
      const path = join(folder.path, "audit.log");
      const log = audit({ policy: policy({ level }), to: path, blocking: true });
      await using server = await startWorkspaces(memoryStore(), { audit: log });
      const cluster = await makeWorkspace(server, "org");
      const place = { "kcp.io/path": "root:org", "kcp.io/cluster": cluster, "tenancy.kcp.io/workspace": cluster };
      const lines = (): AuditEvent[] => {
        const text = readFileSync(path, "utf8");
        return text
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line));
      };
      for (const [said, code] of [
        ["root:org", 200],
        [cluster, 200],
        ["root:none", 404],
      ] as const) {
        const answer = await server.get(`/clusters/${said}${MAPS}`, { user: "root" });
        expect(answer.status).to.equal(code);
        const events = lines().filter(({ requestURI }) => requestURI === `/clusters/${said}${MAPS}`);
        expect(events.map(({ stage, responseStatus }) => [stage, responseStatus?.code])).to.deep.equal([
          ["RequestReceived", undefined],
          ["ResponseComplete", code],
        ]);
        const isBody = level === "RequestResponse";
        expect(events[1]?.["responseObject"]?.kind).to.equal(
          isBody ? (code === 200 ? "ConfigMapList" : "Status") : undefined,
        );
        for (const { annotations = {} } of events)
          if (code === 200) expect(annotations).to.include(place);
          else expect(annotations).to.not.have.any.keys(Object.keys(place));
      }
      await server.get(`/clusters/*/api/v1/configmaps`, { user: "root" });
      const [, everywhere] = lines().filter(({ requestURI }) => requestURI.startsWith("/clusters/*"));
      expect(everywhere?.["annotations"]).to.not.have.any.keys(Object.keys(place));
    });
});
