// Authorization for bound schemas: users who may get the bindings of the workspace may read, and no user may write.
import { expect } from "chai";
import { outcome } from "../../../_support/plain.ts";
import { untilAnswer } from "../../../_support/until.ts";
import { schemaOf } from "../../../workspace-server/bindings/support/shard.ts";
import { makeAdmin } from "../../../workspace-server/support/logical-clusters.ts";
import type { Workspaces } from "../../../workspace-server/support/workspaces.ts";
import { Consumer, SCHEMAS, schemasIn } from "../support/consumer.ts";
import { Provider, startViewed } from "../support/provider.ts";

const root = { user: "root" };
const bob = { user: "bob" };
const NO = [403, "Forbidden", "access denied"];
const WIDGETS = "v1.widgets.example.dev";
const OBJECT = `${SCHEMAS}/${WIDGETS}`;

describe("access to bound schemas", function () {
  this.timeout(60_000);
  let server: Workspaces;
  let provider: Provider;
  let consumer: Consumer;

  before(async () => {
    server = await startViewed({ users: ["carol", "dave", "erin"], view: { allowCache: 500 } });
    provider = await Provider.make(server);
    consumer = await Consumer.make(server, "consumer");
    await consumer.bind("widgets", `${provider.cluster}:widgets`);
  });

  after(() => server[Symbol.asyncDispose]());

  /** Returns code, reason and the text after the last colon, since the cause is hidden. */
  async function answered(path: string, user: string, of = consumer): Promise<unknown[]> {
    const [code, reason, message] = outcome(await of.get(path, { user }));
    return [code, reason, String(message).split(": ").at(-1)];
  }

  it("requires permission to get the workspace's bindings, for every request", async () => {
    for (const path of [SCHEMAS, OBJECT, `${SCHEMAS}?watch=true`, "/apis", "/openapi/v3", "/version"]) {
      expect(await answered(path, "bob"), path).to.deep.equal(NO);
      for (const suffix of ["/clusters/*", `/clusters/${consumer.cluster}`])
        expect((await consumer.view(suffix).get(path, bob)).status, path).to.equal(403);
    }
    for (const headers of [
      { authorization: "" },
      { authorization: "Bearer bob", "x-remote-user": "alice", "x-remote-group": "system:masters" },
      { authorization: "Bearer bob", "impersonate-user": "alice" },
    ])
      expect((await consumer.get(SCHEMAS, { headers })).status).to.be.oneOf([401, 403]);
    expect(schemasIn(await consumer.get(SCHEMAS))).to.deep.equal([WIDGETS]);
    expect(schemasIn(await consumer.get(SCHEMAS, root))).to.deep.equal([WIDGETS]);
  });

  it("is granted to a service account of the workspace, and not to one of another workspace", async () => {
    const accounts = "/api/v1/namespaces/default/serviceaccounts";
    const request = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
    const tokenIn = async (cluster: string): Promise<string> => {
      await provider.post(cluster, accounts, { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "robot" } });
      return (await provider.post(cluster, `${accounts}/robot/token`, request)).status.token;
    };
    const [own, foreign] = [await tokenIn(consumer.cluster), await tokenIn(provider.cluster)];
    expect(await answered(SCHEMAS, own)).to.deep.equal(NO);
    await consumer.let("robot", { verbs: ["get"] }, { apiGroup: "", kind: "ServiceAccount", namespace: "default" });
    const seen = await untilAnswer(
      () => consumer.get(SCHEMAS, { user: own }),
      ({ status }) => status === 200,
    );
    expect(schemasIn(seen)).to.deep.equal([WIDGETS]);
    expect(await answered(SCHEMAS, foreign)).to.deep.equal(NO);
  });

  it("requires the verb get on all bindings: neither another verb, one binding nor another kind suffices", async () => {
    await consumer.let("carol", { verbs: ["list", "watch", "create", "update"] });
    await consumer.let("dave", { verbs: ["get"], resourceNames: ["widgets"] });
    await consumer.let("erin", { verbs: ["*"], resources: ["apiexports", "apiresourceschemas"] });
    for (const user of ["carol", "dave", "erin"]) {
      const bindings = `/clusters/${consumer.cluster}/apis/apis.kcp.io/v1alpha2/apibindings`;
      const allowed = { carol: bindings, dave: `${bindings}/widgets`, erin: `/clusters/${consumer.cluster}${SCHEMAS}` }[
        user
      ];
      await untilAnswer(
        () => server.get(allowed ?? "", { user }),
        ({ status }) => status === 200,
      );
      for (const path of [SCHEMAS, OBJECT, "/apis"]) expect(await answered(path, user), user).to.deep.equal(NO);
    }
  });

  it("in one workspace gives none in another, and none in the workspace of a provider", async () => {
    const other = await Consumer.make(server, "other");
    await other.bind("widgets", `${provider.cluster}:widgets`);
    await other.dismiss("alice");
    await untilAnswer(
      () => other.get(SCHEMAS),
      ({ status }) => status === 403,
    );
    expect(await answered(OBJECT, "alice", other)).to.deep.equal(NO);
    expect((await server.get(`/services/apiresourceschema/${provider.cluster}${SCHEMAS}`)).status).to.equal(403);
    expect((await server.get(`/clusters/${provider.cluster}${OBJECT}`)).status).to.equal(403);
  });

  it("ends when permission is withdrawn, also for open watches", async () => {
    const brief = await Consumer.make(server, "brief");
    await using watch = await brief.view().watch(`${SCHEMAS}?watch=true`);
    expect(watch.status).to.equal(200);
    await brief.dismiss("alice");
    expect((await watch.rest()).at(-1)?.object.code).to.equal(410);
    expect(await answered(SCHEMAS, "alice", brief)).to.deep.equal(NO);
  });

  it("is read-only: other requests get 403, and 405 for system:masters", async () => {
    const schema = schemaOf("v9");
    const calls = [
      `POST ${SCHEMAS}`,
      `DELETE ${SCHEMAS}`,
      `PUT ${OBJECT}`,
      `PATCH ${OBJECT}`,
      `DELETE ${OBJECT}`,
    ] as const;
    for (const suffix of ["", "/clusters/*"])
      for (const call of calls) {
        const view = consumer.view(suffix);
        expect(outcome(await view.send(call, schema)).slice(0, 2), call).to.deep.equal([403, "Forbidden"]);
        expect(outcome(await view.send(call, schema, root)).slice(0, 2), call).to.deep.equal([405, "MethodNotAllowed"]);
      }
    expect((await consumer.get("/apis/apis.kcp.io/v1alpha2/apibindings")).status).to.equal(404);
    expect((await server.get(`/clusters/${provider.cluster}${OBJECT}`, root)).status).to.equal(200);
  });

  it("is for one workspace by name: neither for all, by a path, nor for another one after it", async () => {
    const at = (place: string): `/${string}` => `/services/apiresourceschema/${place}${SCHEMAS}`;
    for (const place of ["*", "*/clusters/*", `*/clusters/${consumer.cluster}`]) {
      for (const user of ["alice", "root"])
        expect(outcome(await server.get(at(place), { user })).slice(0, 2), place).to.deep.equal([400, "BadRequest"]);
    }
    for (const place of ["root:consumer", "root:consumer/clusters/root:consumer", "root:consumer/clusters/*"]) {
      expect(outcome(await server.get(at(place))).slice(0, 2), place).to.deep.equal([403, "Forbidden"]);
      expect((await server.get(at(place), root)).status, place).to.equal(404);
    }
    for (const other of [provider.cluster, "root", "root:consumer", "nowhere"])
      for (const [user, status] of [
        ["alice", 403],
        ["root", 404],
      ] as const)
        expect((await server.get(at(`${consumer.cluster}/clusters/${other}`), { user })).status, other).to.equal(
          status,
        );
    expect((await server.get(at("nowhere"))).status).to.equal(403);
    expect((await server.get(at("nowhere"), root)).status).to.equal(404);
    for (const path of ["", "/", `/${consumer.cluster}/clusters`, `/${consumer.cluster}/clusters/`])
      expect((await server.get(`/services/apiresourceschema${path}`, root)).status, path).to.equal(404);
  });

  it("is not gained by impersonation in a workspace where the user may impersonate", async () => {
    const own = await Consumer.make(server, "own");
    await own.bind("widgets", `${provider.cluster}:widgets`);
    await makeAdmin(server, own.cluster, "erin");
    const headers = { authorization: "Bearer erin", "impersonate-user": "alice" };
    await untilAnswer(
      () => own.get(SCHEMAS, { headers }),
      ({ status }) => status === 200,
    );
    for (const more of [
      {},
      { "impersonate-group": "system:masters" },
      { "impersonate-extra-authentication.kcp.io%2fscopes": `cluster:${consumer.cluster}` },
      { "impersonate-extra-authorization.kcp.io%2fwarrant": JSON.stringify({ user: "x", groups: ["system:masters"] }) },
    ])
      for (const suffix of ["", "/clusters/*"]) {
        const { status, text } = await consumer.view(suffix).get(SCHEMAS, { headers: { ...headers, ...more } });
        expect(status, text).to.equal(403);
      }
  });
});
