// Authorization webhooks of a workspace server: what they get, and what their answers decide.
import { type AuthorizationWebhookOptions, authorizationWebhook } from "@virtual-workspaces/forwarding";
import { authorizationConfiguration } from "@virtual-workspaces/framework/authz";
import type { AuthorizationOptions } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { expectFault } from "../../_setup/faults.ts";
import { outcome } from "../../_support/plain.ts";
import { createAuthority } from "../../_support/server.ts";
import { type Review, WebhookServer } from "../admission/support/webhook.ts";
import { startWorkspaces } from "../support/workspaces.ts";

const MAPS = "/clusters/root/api/v1/namespaces/default/configmaps";
const REVIEWS = "/clusters/root/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

type Status = { readonly allowed: boolean; readonly denied?: boolean; readonly reason?: string };

/** Order with a webhook in it. */
type Order = (webhook: ReturnType<typeof authorizationWebhook>) => NonNullable<AuthorizationOptions["order"]>;
const LAST: Order = (webhook) => ["AlwaysAllowGroups", "AlwaysAllowPaths", "RBAC", webhook];
const FIRST: Order = (webhook) => [webhook, "AlwaysAllowGroups", "AlwaysAllowPaths", "RBAC"];

/** Starts a workspace server with a webhook at `/authorize`. */
async function start(order: Order, options: Partial<AuthorizationWebhookOptions> = {}) {
  await using stack = new AsyncDisposableStack();
  const authority = createAuthority();
  const hooks = stack.use(await WebhookServer.start(authority));
  const errors: string[] = [];
  const webhook = stack.use(
    authorizationWebhook({
      upstream: { url: `https://127.0.0.1:${hooks.port}/authorize`, tls: { ca: authority.ca } },
      onError: (error) => errors.push(String(error)),
      ...options,
    }),
  );
  const server = stack.use(await startWorkspaces(undefined, { authorization: { order: order(webhook) } }));
  const decide = (status: (spec: Review) => Status | object): void => {
    hooks.at("/authorize", () => {
      const sent = hooks.calls("/authorize").at(-1)?.sent;
      const { apiVersion, kind, spec } = sent;
      return { whole: { body: { apiVersion, kind, status: status(spec) } } };
    });
  };
  decide(() => ({ allowed: false }));
  const specs = (): Review[] => hooks.calls("/authorize").map(({ sent }) => sent.spec);
  const held = stack.move();
  return { server, hooks, webhook, errors, decide, specs, [Symbol.asyncDispose]: () => held.disposeAsync() };
}

describe("an authorization webhook of a workspace server", function () {
  this.timeout(20_000);

  it("is called where no other authorizer decides, with user, groups and attributes", async () => {
    await using it = await start(LAST);
    it.decide(({ user }) => ({ allowed: user === "alice" }));
    expect((await it.server.get(MAPS, { user: "admin" })).status).to.equal(200);
    expect(it.specs()).to.deep.equal([]);
    expect((await it.server.get(MAPS, { user: "alice" })).status).to.equal(200);
    const attributes = { namespace: "default", verb: "list", version: "v1", resource: "configmaps" };
    const groups = ["system:authenticated"];
    expect(it.specs()).to.deep.equal([{ resourceAttributes: attributes, user: "alice", groups }]);
    expect(outcome(await it.server.get(MAPS, { user: "bob" }))).to.deep.equal([
      403,
      "Forbidden",
      'configmaps is forbidden: User "bob" cannot list resource "configmaps" in API group "" in the namespace "default": access denied',
    ]);
    expect((await it.server.get("/clusters/root/logs", { user: "bob" })).status).to.equal(403);
    expect(it.specs().at(-1)).to.deep.equal({
      nonResourceAttributes: { path: "/logs", verb: "get" },
      user: "bob",
      groups,
    });
  });

  it("overrules RBAC where it comes first and denies, with its reason; members of system:masters pass", async () => {
    await using it = await start(FIRST);
    it.decide(() => ({ allowed: false, denied: true, reason: "closed on Sundays" }));
    const { status, body } = await it.server.get(MAPS, { user: "admin" });
    expect([status, body.message]).to.deep.equal([
      403,
      'configmaps is forbidden: User "kcp-admin" cannot list resource "configmaps" in API group "" in the namespace "default": closed on Sundays',
    ]);
    expect((await it.server.get(MAPS, { user: "root" })).status).to.equal(200);
    expect(it.specs()).to.have.length(1);
    expect(
      (await it.server.get("/clusters/root/readyz", { user: "bob" })).status,
      "paths come later in this order",
    ).to.equal(403);
  });

  it("decides about /healthz where it comes first, but not about /livez and /readyz, which orchestrators read", async () => {
    await using it = await start(FIRST);
    it.decide(() => ({ allowed: false, denied: true }));
    const statuses: Record<string, number> = {};
    for (const path of ["/livez", "/readyz", "/healthz"] as const)
      statuses[path] = (await it.server.get(path, { user: "alice" })).status;
    expect(statuses).to.deep.equal({ "/livez": 200, "/readyz": 200, "/healthz": 403 });
  });

  it("decides reviews of access too", async () => {
    await using it = await start(LAST);
    it.decide(({ resourceAttributes }) => ({ allowed: resourceAttributes?.verb === "delete" }));
    const can = async (verb: string) => {
      const spec = { resourceAttributes: { namespace: "default", verb, resource: "configmaps", version: "v1" } };
      const review = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec };
      return (await it.server.send(`POST ${REVIEWS}`, review, { user: "alice" })).body.status.allowed;
    };
    expect([await can("delete"), await can("create")]).to.deep.equal([true, false]);
  });

  it("gets reviews of v1beta1, whose groups are another field", async () => {
    await using it = await start(LAST, { version: "v1beta1" });
    it.decide(({ group }) => ({ allowed: group.includes("system:authenticated") }));
    expect((await it.server.get(MAPS, { user: "alice" })).status).to.equal(200);
    const [{ sent }] = it.hooks.calls("/authorize");
    expect(sent).to.deep.include({ apiVersion: "authorization.k8s.io/v1beta1", kind: "SubjectAccessReview" });
    expect(sent.spec).to.have.all.keys("user", "group", "resourceAttributes");
  });

  it("is called once for equal requests within the time of its caches", async () => {
    await using it = await start(LAST);
    it.decide(({ user }) => ({ allowed: user === "alice" }));
    for (const user of ["alice", "alice", "bob", "bob"]) await it.server.get(MAPS, { user });
    expect(it.specs()).to.have.length(2);
    await using other = await start(LAST, { allowCache: 0, denyCache: 0 });
    for (const user of ["alice", "alice", "bob", "bob"]) await other.server.get(MAPS, { user });
    expect(other.specs()).to.have.length(4);
  });

  it("leaves the decision to others when it fails, and the request is 503 or 500 if none allows it", async () => {
    await using it = await start(FIRST, { timeout: 500 });
    it.decide(() => ({ allowed: "yes" }));
    expect((await it.server.get(MAPS, { user: "admin" })).status).to.equal(200);
    expect((await it.server.get(MAPS, { user: "bob" })).status).to.equal(500);
    expectFault(/allowed is not a boolean/);
    it.hooks.at("/authorize", () => ({ whole: { code: 503 } }));
    const { status, body } = await it.server.get(`${MAPS}/one`, { user: "bob" });
    expect([status, body.message]).to.deep.equal([
      503,
      "the server that authorizes this request is unavailable: try again",
    ]);
    expect(it.errors.at(-1)).to.match(/authorize.*the server answered 503|no answer within 500 ms/);
  });

  it("denies when it fails with the failure policy Deny, whatever RBAC says", async () => {
    await using it = await start(FIRST, { failurePolicy: "Deny", timeout: 500 });
    it.hooks.at("/authorize", () => ({ whole: { code: 404 } }));
    const { status, body } = await it.server.get(MAPS, { user: "admin" });
    expect([status, body.reason]).to.deep.equal([403, "Forbidden"]);
    expect(it.errors).to.have.length(1);
  });

  it("is not called for requests that do not meet its conditions; a condition that fails counts as a failure", async () => {
    const webhook = {
      ...{ timeout: "1s", subjectAccessReviewVersion: "v1", matchConditionSubjectAccessReviewVersion: "v1" },
      ...{ failurePolicy: "NoOpinion", connectionInfo: { type: "KubeConfigFile", kubeConfigFile: "/unused" } },
      matchConditions: [{ expression: "request.resourceAttributes.verb == 'delete'" }],
    };
    const text = JSON.stringify({
      ...{ apiVersion: "apiserver.config.k8s.io/v1", kind: "AuthorizationConfiguration" },
      authorizers: [{ type: "Webhook", name: "hook", webhook }],
    });
    const [configured] = authorizationConfiguration(text).authorizers;
    if (configured?.type !== "Webhook") throw new Error("no webhook was read");
    const conditions = configured.webhook.matchConditions;
    for (const [failurePolicy, code] of [
      ["NoOpinion", 200],
      ["Deny", 403],
    ] as const) {
      await using it = await start(FIRST, { conditions, failurePolicy });
      expect((await it.server.get(MAPS, { user: "admin" })).status).to.equal(200);
      expect(it.specs()).to.have.length(0);
      await it.server.send(`DELETE ${MAPS}/none`, undefined, { user: "admin" });
      expect(it.specs()).to.have.length(1);
      expect((await it.server.get("/clusters/root/version", { user: "admin" })).status).to.equal(code);
      expect(it.errors).to.deep.equal([
        "Error: cannot evaluate match conditions: expression 'request.resourceAttributes.verb == 'delete'' resulted in error: no such key",
      ]);
    }
  });
});
