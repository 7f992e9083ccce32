// Audit events of kubectl commands: verb, object and user.
import { allow, defineVirtualWorkspace, deny } from "@virtual-workspaces/framework";
import { audit } from "@virtual-workspaces/framework/audit";
import { clientCertificates } from "@virtual-workspaces/framework/authn";
import { expect } from "chai";
import { type AuditEvent, Memo, policy } from "../_support/audited.ts";
import { createAuthority, kubeconfigHome, startTls } from "../_support/server.ts";
import { kubectl } from "../go/support/kubectl.ts";
import { kubectls, nameOf } from "./support/kubectls.ts";

const COMPLETE = {
  ...policy({ level: "None", nonResourceURLs: ["*"] }, { level: "Metadata" }),
  omitStages: ["RequestReceived"] as const,
};

/** Formats an event in short. */
function told({ verb, objectRef, user, impersonatedUser, responseStatus }: AuditEvent): string {
  const { resource, namespace, name = "" } = objectRef;
  const who = impersonatedUser === undefined ? user.username : `${user.username} as ${impersonatedUser.username}`;
  return `${who}: ${verb} ${[namespace, resource, name].join("/")} ${responseStatus.code}`;
}

describe("the audit log of kubectl", function () {
  this.timeout(60_000);
  for (const file of kubectls()) {
    it(`records the requests of ${nameOf(file)}`, async () => {
      const events: AuditEvent[] = [];
      const authority = createAuthority();
      const memos = Memo.collection();
      memos.in("root", "default").set("first", { text: "hello" });
      const view = defineVirtualWorkspace({
        name: "memos",
        path: "/clusters/:cluster",
        authorize: ({ user, verb }) => (user.name === "eve" && verb === "delete" ? deny("not eve") : allow()),
        resources: [Memo.serve(memos)],
      });
      const server = await startTls([view], {
        authority,
        authentication: [clientCertificates({ ca: authority.ca })],
        impersonation: ({ user }) => (user.in("admins") ? allow() : deny("admins only")),
        audit: audit({ policy: COMPLETE, to: (line) => void events.push(JSON.parse(line)) }),
      });
      using home = await kubeconfigHome({
        authority,
        port: server.port,
        contexts: { view: "/services/memos/clusters/root" },
        namespace: "default",
      });
      const run = (...args: string[]) => kubectl(file, home, args);
      await run("get", "memos");
      await run("get", "memo", "first", "--as", "eve", "--as-group", "guests");
      await run("delete", "memo", "first", "--as", "eve");
      await run("annotate", "memo", "first", "a=b");
      await run("delete", "memo", "first", "--wait=false");
      await server.close();
      expect(events.map(told)).to.deep.equal([
        "admin: list default/memos/ 200",
        "admin as eve: get default/memos/first 200",
        "admin as eve: delete default/memos/first 403",
        "admin: get default/memos/first 200",
        "admin: patch default/memos/first 200",
        "admin: delete default/memos/first 200",
      ]);
      const [, get, refused] = events;
      expect(get?.["impersonatedUser"].groups).to.include.members(["guests", "system:authenticated"]);
      expect(get?.["user"].groups).to.include("admins");
      expect(get?.["userAgent"]).to.match(/^kubectl/);
      expect(get?.["sourceIPs"]).to.deep.equal(["127.0.0.1"]);
      expect(refused?.["annotations"]).to.include({
        "authorization.k8s.io/decision": "forbid",
        "authorization.k8s.io/reason": "not eve",
      });
    });
  }
});
