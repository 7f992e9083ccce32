// Authorization in an export's view: by the binding of the workspace, by the content permission in the export's workspace, and by
// the policy of other exports whose resources are claimed.
import { expect } from "chai";
import { MERGE } from "../../_support/patches.ts";
import { outcome } from "../../_support/plain.ts";
import { untilAnswer } from "../../_support/until.ts";
import { APIS, bindingOf, exportOf } from "../../workspace-server/bindings/support/shard.ts";
import { bind, makeAdmin, makeWorkspace } from "../../workspace-server/support/logical-clusters.ts";
import type { Workspaces } from "../../workspace-server/support/workspaces.ts";
import { ALL, letContent, namesOf, Provider, startViewed, WIDGETS, widget, widgetSchema } from "./support/provider.ts";

const root = { user: "root" };
const bob = { user: "bob" };
const NO = [403, "Forbidden"];
const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const GADGETS = "/apis/example.dev/v1/gadgets";

describe("access through the view of an export", function () {
  this.timeout(60_000);
  let server: Workspaces;
  let provider: Provider;
  let consumer: string;

  before(async () => {
    server = await startViewed({ users: ["carol", "erin"], view: { allowCache: 500 } });
    provider = await Provider.make(server);
    consumer = await provider.consumer("consumer");
    await provider.post(consumer, WIDGETS, widget("a"));
  });

  after(() => server[Symbol.asyncDispose]());

  /** Grants a user a role in a workspace. */
  async function allowed(cluster: string, user: string, rule: object): Promise<void> {
    const name = `may-${user.replaceAll(":", "-")}-${Object.values(rule)
      .flat()
      .join("-")
      .replaceAll(/[/.:*]/g, "")}`.toLowerCase();
    const role = { apiVersion: "rbac.authorization.k8s.io/v1", kind: "ClusterRole", metadata: { name }, rules: [rule] };
    await provider.post(cluster, `${RBAC}/clusterroles`, role);
    await bind(server, cluster, {
      name,
      role: name,
      subject: { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: user },
    });
  }

  const content = (verbs: readonly string[]): object => ({
    apiGroups: ["apis.kcp.io"],
    resources: ["apiexports/content"],
    verbs,
  });

  it("requires permission for the content of the export, for the request's verb", async () => {
    for (const cluster of ["*", consumer])
      for (const path of [WIDGETS, "/apis", "/openapi/v3", "/version"]) {
        const { status, body } = await provider.in(cluster).get(path, bob);
        expect([status, body.reason, body.message.split(": ").at(-1)], path).to.deep.equal([...NO, "access denied"]);
      }
    await allowed(provider.cluster, "bob", content(["list"]));
    await bind(server, provider.cluster, {
      name: "bob-access",
      role: "system:kcp:workspace:access",
      subject: { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "bob" },
    });
    await untilAnswer(
      () => provider.get(WIDGETS, bob),
      ({ status }) => status === 200,
    );
    expect((await provider.in(consumer).get(WIDGETS, bob)).status).to.equal(200);
    for (const path of ["/apis", `${WIDGETS}/a`, `${WIDGETS}?watch=true`])
      expect((await provider.in(consumer).get(path, bob)).status, path).to.equal(403);
    expect((await provider.in(consumer).send(`DELETE ${WIDGETS}/a`, undefined, bob)).status).to.equal(403);
    expect((await provider.get(WIDGETS, { headers: { authorization: "" } })).status).to.be.oneOf([401, 403]);
  });

  it("requires create for an apply or update that creates", async () => {
    await allowed(provider.cluster, "carol", content(["get", "patch", "update"]));
    await bind(server, provider.cluster, {
      name: "carol-access",
      role: "system:kcp:workspace:access",
      subject: { apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "carol" },
    });
    const carol = { user: "carol" };
    const apply = (name: string) =>
      provider.in(consumer).send(`PATCH ${WIDGETS}/${name}?fieldManager=carol`, widget(name, 5), {
        ...carol,
        headers: { "content-type": "application/apply-patch+yaml" },
      });
    await untilAnswer(
      () => provider.in(consumer).get(`${WIDGETS}/a`, carol),
      ({ status }) => status === 200,
    );
    expect(outcome(await apply("new")).slice(0, 2)).to.deep.equal(NO);
    expect((await provider.in(consumer).get(`${WIDGETS}/new`, carol)).status).to.equal(404);
    const alice = await provider.in(consumer).send(`PATCH ${WIDGETS}/new?fieldManager=alice`, widget("new"), {
      headers: { "content-type": "application/apply-patch+yaml" },
    });
    expect(alice.status, alice.text).to.equal(201);
    expect(outcome(await apply("new"))[0]).to.equal(409);
    expect(
      (await provider.in(consumer).send(`PATCH ${WIDGETS}/new`, { spec: { size: 7 } }, { ...carol, ...MERGE })).status,
    ).to.equal(200);
  });

  it("is granted to a service account of the provider, which the workspace itself rejects", async () => {
    const accounts = "/api/v1/namespaces/default/serviceaccounts";
    const about = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "robot" } };
    await provider.post(provider.cluster, accounts, about);
    const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
    const { status } = await provider.post(provider.cluster, `${accounts}/robot/token`, request);
    const robot = { user: status.token };
    await letContent(provider, { kind: "ServiceAccount", name: "robot", namespace: "default", apiGroup: "" });
    expect((await server.get(`/clusters/${consumer}${WIDGETS}`, robot)).status).to.equal(403);
    await untilAnswer(
      () => provider.get(WIDGETS, robot),
      ({ status: code }) => code === 200,
    );
    const there = provider.in(consumer);
    await using watch = await there.watch(
      `${WIDGETS}?watch=true&resourceVersion=0&fieldSelector=metadata.name%3Drobots`,
      robot,
    );
    const made = await there.send(`POST ${WIDGETS}`, widget("robots"), robot);
    expect(made.status, made.text).to.equal(201);
    expect(await watch.take(1)).to.deep.equal(["ADDED robots"]);
    expect(
      (await there.send(`PATCH ${WIDGETS}/robots/status`, { status: { phase: "Up" } }, { ...robot, ...MERGE })).status,
    ).to.equal(200);
    expect((await there.send(`DELETE ${WIDGETS}/robots`, undefined, robot)).status).to.equal(200);
    expect((await server.get(`/clusters/${consumer}${WIDGETS}`, robot)).status).to.equal(403);
  });

  it("ends when permission is withdrawn, also for open watches", async () => {
    const name = "brief";
    const brief = await Provider.make(server, name);
    await brief.consumer("brief-consumer");
    await using watch = await brief.watch(`${WIDGETS}?watch=true&resourceVersion=0`);
    expect(watch.status).to.equal(200);
    const binding = `/clusters/${brief.cluster}${RBAC}/clusterrolebindings/content-widgets-alice` as const;
    expect((await server.send(`DELETE ${binding}`, undefined, root)).status).to.equal(200);
    await watch.rest();
    expect((await brief.get(WIDGETS)).status).to.equal(403);
  });

  it("to a claimed resource requires its export's policy, on whichever workspace", async () => {
    const owner = await makeWorkspace(server, "owner");
    const schema = widgetSchema("v1", {
      plural: "gadgets",
      kind: "Gadget",
      names: { plural: "gadgets", kind: "Gadget", singular: "gadget", listKind: "GadgetList" },
    });
    await provider.post(owner, "/apis/apis.kcp.io/v1alpha1/apiresourceschemas", schema);
    const policy = { maximalPermissionPolicy: { local: {} } };
    await provider.post(owner, `${APIS}/apiexports`, exportOf("gadgets", ["v1.gadgets.example.dev"], policy));
    const exported = await provider.until(
      `/clusters/${owner}${APIS}/apiexports/gadgets`,
      ({ body }) => body.status?.identityHash,
    );
    const { identityHash } = exported.body.status;
    const claim = { group: "example.dev", resource: "gadgets", identityHash, verbs: ["*"] };
    const claiming = await Provider.make(server, "claiming", { permissionClaims: [claim] });
    const cluster = await makeWorkspace(server, "both");
    await provider.post(cluster, `${APIS}/apibindings`, bindingOf("gadgets", `${owner}:gadgets`));
    await provider.until(
      `/clusters/${cluster}${APIS}/apibindings/gadgets`,
      ({ body }) => body.status?.phase === "Bound",
    );
    await claiming.bind(cluster, [{ ...claim, selector: ALL, state: "Accepted" }]);
    await provider.post(cluster, GADGETS, { ...widget("g"), kind: "Gadget" });
    const refused = [403, "Forbidden"];
    for (const place of ["*", cluster])
      expect(outcome(await claiming.in(place).get(GADGETS)).slice(0, 2)).to.deep.equal(refused);
    const rule = { apiGroups: ["example.dev"], resources: ["gadgets"], verbs: ["get", "list", "watch"] };
    await allowed(owner, "alice", rule);
    expect((await claiming.get(GADGETS)).status, "a user of the same name is nobody").to.equal(403);
    await allowed(owner, "apis.kcp.io:binding:alice", rule);
    const seen = await untilAnswer(
      () => claiming.get(GADGETS),
      ({ status }) => status === 200,
    );
    expect(namesOf(seen)).to.deep.equal([`${cluster}/g`]);
    expect((await claiming.in(cluster).send(`DELETE ${GADGETS}/g`)).status).to.equal(403);
    // The policy does not cover the export's own resources.
    expect((await claiming.get(WIDGETS)).status).to.equal(200);
  });

  it("is denied for a claim with an unknown identity", async () => {
    const claim = { group: "example.dev", resource: "gadgets", identityHash: "f00", verbs: ["*"] };
    const lost = await Provider.make(server, "lost", { permissionClaims: [claim] });
    expect((await lost.get(GADGETS)).status).to.equal(403);
  });

  it("to a missing export fails with 500 in a workspace, like kcp, and is denied for all workspaces", async () => {
    const path = (cluster: string): string =>
      `/services/apiexport/${provider.cluster}/none/clusters/${cluster}${WIDGETS}`;
    const failed = await server.get(path(consumer));
    expect(outcome(failed).slice(0, 2)).to.deep.equal([500, "InternalError"]);
    expect((await server.get(path("*"), { user: "carol" })).status).to.equal(403);
    expect((await server.get(path("*"), root)).status).to.equal(404);
  });

  it("is not gained by impersonating the provider in a workspace where the user may impersonate", async () => {
    await makeAdmin(server, consumer, "erin");
    const warrant = JSON.stringify({ user: "alice", groups: ["system:authenticated"] });
    const masters = JSON.stringify({ user: "x", groups: ["system:masters"] });
    for (const more of [
      {},
      { "impersonate-extra-authorization.kcp.io%2fwarrant": warrant },
      { "impersonate-extra-authorization.kcp.io%2fwarrant": masters },
      { "impersonate-extra-authentication.kcp.io%2fscopes": `cluster:${provider.cluster}` },
      { "impersonate-group": "system:masters" },
      { "impersonate-group": "system:kcp:admin" },
    ]) {
      const headers = { authorization: "Bearer erin", "impersonate-user": "alice", ...more };
      for (const cluster of [consumer, "*"])
        for (const path of [WIDGETS, `${WIDGETS}/a`]) {
          const { status, text } = await provider.in(cluster).get(path, { headers });
          expect(status, `${JSON.stringify(more)} ${cluster} ${text}`).to.equal(403);
        }
    }
    // She may still impersonate in her workspace.
    const headers = { authorization: "Bearer erin", "impersonate-user": "alice" };
    expect((await server.get(`/clusters/${consumer}/apis`, { headers })).status).to.be.oneOf([200, 403]);
  });

  it("ignores identity headers of clients", async () => {
    const forged = {
      "impersonate-user": "alice",
      "x-remote-user": "alice",
      "impersonate-extra-authorization.kcp.io%2fwarrant": JSON.stringify({ user: "alice" }),
    };
    for (const headers of [forged, { ...forged, "x-remote-group": "system:masters" }])
      expect(
        (
          await provider
            .in(consumer)
            .get(`${WIDGETS}/a`, { ...bob, headers: { authorization: "Bearer bob", ...headers } })
        ).status,
      ).to.equal(403);
  });
});
