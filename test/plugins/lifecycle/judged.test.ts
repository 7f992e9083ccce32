// Writes through the views of initializing and terminating workspaces are judged by the webhooks and policies of the workspace,
// as writes of its owner.
import { expect } from "chai";
import { anywhere, configure, hook } from "../../workspace-server/admission/support/configured.ts";
import { enact } from "../../workspace-server/admission/support/policies.ts";
import { WebhookServer } from "../../workspace-server/admission/support/webhook.ts";
import type { Workspaces } from "../../workspace-server/support/workspaces.ts";
import { LC, MAPS, map, Owner, startViewed, UNIVERSAL } from "./support/owner.ts";

describe("admission of writes through lifecycle views", function () {
  this.timeout(60_000);
  let server: Workspaces;
  let owner: Owner;
  let webhooks: WebhookServer;

  before(async () => {
    webhooks = await WebhookServer.start();
    server = await startViewed({ admissionWebhooks: anywhere });
    owner = await Owner.make(server, {
      app: { initializer: true, ...UNIVERSAL },
      ending: { terminator: true, ...UNIVERSAL },
    });
  });
  after(async () => {
    await server?.[Symbol.asyncDispose]();
    await webhooks?.[Symbol.asyncDispose]();
  });

  /** Returns the logical cluster of a new workspace that initializes, or terminates. */
  const waiting = async (view: "initializing" | "terminating", name: string): Promise<string> => {
    if (view === "initializing") return owner.settled(name, "app");
    const cluster = await owner.settled(name, "ending");
    await owner.until(cluster, ({ body }) => body.status.phase === "Ready");
    await owner.remove(name);
    await owner.until(cluster, ({ body }) => body.status.phase === "Terminating");
    return cluster;
  };

  for (const { view, type } of [
    { view: "initializing", type: "app" },
    { view: "terminating", type: "ending" },
  ] as const) {
    it(`is by the policies of a workspace that is ${view}`, async () => {
      const cluster = await waiting(view, `policies-${view}`);
      await enact(server, cluster, {
        kind: "Validating",
        spec: { validations: [{ expression: "object.metadata.name != 'no'", message: "judged" }] },
      });
      const calls = owner.in(view, cluster, type);
      const rejected = await calls.send(`POST ${MAPS}`, map("no"));
      expect([rejected.status, rejected.body.message]).to.deep.equal([
        422,
        "configmaps \"no\" is forbidden: ValidatingAdmissionPolicy 'test' with binding 'test-binding' denied request: judged",
      ]);
      expect((await calls.send(`POST ${MAPS}`, map("yes"))).status).to.equal(201);
    });

    it(`is by the webhooks of a workspace that is ${view}, which change and reject objects`, async () => {
      const cluster = await waiting(view, `webhooks-${view}`);
      const path = `/${view}`;
      webhooks.at(`${path}/change`, () => ({ patch: [{ op: "replace", path: "/data/by", value: "a webhook" }] }));
      webhooks.at(`${path}/judge`, ({ object }) => ({
        allowed: object.metadata.name !== "no",
        status: { message: "judged" },
      }));
      for (const [kind, at] of [
        ["Mutating", `${path}/change`],
        ["Validating", `${path}/judge`],
      ] as const)
        await configure(server, cluster, { kind, name: "test", webhooks: [hook(webhooks, at)] });
      const calls = owner.in(view, cluster, type);
      const rejected = await calls.send(`POST ${MAPS}`, map("no"));
      expect([rejected.status, rejected.body.message]).to.deep.equal([
        400,
        `admission webhook "${view}-judge.example.dev" denied the request: judged`,
      ]);
      const made = await calls.send(`POST ${MAPS}`, map("yes"));
      expect([made.status, made.body.data]).to.deep.equal([201, { by: "a webhook" }]);
      const seen = webhooks.calls(`${path}/judge`).map(({ object: { data, metadata }, userInfo }) => {
        return [metadata.name, data.by, metadata.annotations["kcp.io/cluster"], userInfo.username];
      });
      expect(seen).to.deep.equal(["no", "yes"].map((name) => [name, "a webhook", cluster, "bob"]));
    });

    it(`is by webhooks when a controller reports that it is done with a workspace that is ${view}`, async () => {
      const cluster = await waiting(view, `done-${view}`);
      const path = `/${view}/done`;
      let isDenied = true;
      webhooks.at(path, () => ({ allowed: !isDenied, status: { message: "not yet" } }));
      const rules = [
        {
          operations: ["UPDATE"],
          apiGroups: ["core.kcp.io"],
          apiVersions: ["v1alpha1"],
          resources: ["logicalclusters/status"],
        },
      ];
      await configure(server, cluster, {
        kind: "Validating",
        name: "test",
        webhooks: [hook(webhooks, path, { rules })],
      });
      const holders = view === "initializing" ? "initializers" : "terminators";
      const calls = owner.in(view, cluster, type);
      const { body } = await calls.get(`${LC}/cluster`);
      const remaining = body.status[holders].filter((name: string) => name !== `${owner.cluster}:${type}`);
      const patch = [{ op: "replace", path: `/status/${holders}`, value: remaining }];
      const headers = { "content-type": "application/json-patch+json" };
      const rejected = await calls.send(`PATCH ${LC}/cluster/status`, patch, { headers });
      expect([rejected.status, rejected.body.message]).to.deep.equal([
        400,
        `admission webhook "${view}-done.example.dev" denied the request: not yet`,
      ]);
      isDenied = false;
      await owner.finish(view, cluster, type);
    });
  }
});
