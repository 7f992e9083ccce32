// A view over workspaces from its clients' side. They cannot tell whether it runs in the workspace server, in a separate
// process to which that forwards requests, or there at the published URL.
import type { OutgoingHttpHeaders } from "node:http";
import { runConformance } from "@virtual-workspaces/testing";
import { expect } from "chai";
import type { KeyPair } from "../_support/certificates.ts";
import { createAuthority } from "../_support/server.ts";
import { until } from "../_support/until.ts";
import { Start } from "./support/start.ts";
import { type Answer, Apart, ask, MIRROR, type Place, USERS } from "./support/views-of-workspaces.ts";

describe("a view over workspaces", function () {
  this.timeout(120_000);
  let together: Start;
  let apart: Apart;
  let places: Readonly<Record<string, Place>>;

  before(async () => {
    together = await Start.ready({ files: USERS, flags: ["--view", MIRROR] });
    apart = await Apart.ready();
    places = {
      "in process": { url: `${together.url}/services`, ca: together.text("apiserver.crt") },
      "out of process": apart.throughShard,
      "at the published URL": await apart.published(),
    };
  });

  after(async () => {
    await Promise.all([together?.[Symbol.asyncDispose](), apart?.[Symbol.asyncDispose]()]);
  });

  for (const way of ["in process", "out of process", "at the published URL"])
    it(`passes the conformance suite ${way}`, async () => {
      const { url, ca } = places[way] as Place;
      const report = await runConformance({
        url: `${url}/mirror/clusters/root`,
        credentials: { token: "root-token", ca },
        others: [{ token: "alice-token" }, { token: "bob-token" }],
        writes: {},
        deadlines: { prompt: 5_000 },
      });
      const failed = report.results.filter(({ outcome }) => outcome === "failed");
      expect(failed.map(({ id, failure }) => `${id}: ${JSON.stringify(failure)}`).join("\n")).to.equal("");
      expect(report.passed).to.be.above(100);
      expect(report.left).to.deep.equal([]);
    });

  /** Returns the caller that the view sees. */
  async function whoami(way: string, headers: OutgoingHttpHeaders): Promise<Answer> {
    const { url, ca } = places[way] as Place;
    return ask(`${url}/whoami/a%20b/c?d=%2F`, { ca, headers });
  }

  const ALICE = {
    name: "alice",
    uid: "uid-of-alice",
    groups: ["dev", "staff", "system:authenticated"],
    extra: {},
  };
  const bearer = (name: string): OutgoingHttpHeaders => ({ authorization: `Bearer ${name}-token` });

  for (const way of ["in process", "out of process", "at the published URL"]) {
    it(`sees the whole caller ${way}, and only the requested scopes`, async () => {
      const { code, body } = await whoami(way, bearer("alice"));
      expect(code, body).to.equal(200);
      const { user, tail, search, headers } = JSON.parse(body);
      expect({ user, tail, search }).to.deep.equal({ user: ALICE, tail: "/a%20b/c", search: "?d=%2F" });
      expect(headers.join("\n")).to.not.match(/alice/);
      const masters = JSON.parse((await whoami(way, bearer("root"))).body).user;
      expect(masters).to.deep.equal({
        name: "shard-root",
        uid: "1",
        groups: ["system:masters", "system:authenticated"],
        extra: {},
      });
      const nobody = JSON.parse((await whoami(way, {})).body).user;
      expect(nobody).to.deep.equal({
        name: "system:anonymous",
        uid: "",
        groups: ["system:unauthenticated"],
        extra: {},
      });
    });

    it(`ignores identity headers of clients ${way}`, async () => {
      const forged = {
        "x-remote-user": "mallory",
        "x-remote-group": "system:masters",
        "x-remote-extra-scopes": "all",
        x_remote_user: "mallory",
        "x-forwarded-for": "10.9.8.7",
        forwarded: "for=10.9.8.7",
      };
      const { user, headers } = JSON.parse((await whoami(way, { ...forged, ...bearer("alice") })).body);
      expect(user).to.deep.equal(ALICE);
      if (way === "out of process") expect(headers.join("\n")).to.not.match(/mallory|10\.9\.8\.7|remote/i);
      expect(JSON.parse((await whoami(way, forged)).body).user.name).to.equal("system:anonymous");
      const impersonating = { "impersonate-user": "shard-root", "impersonate-group": "system:masters" };
      expect((await whoami(way, { ...impersonating, ...bearer("alice") })).code).to.equal(403);
      const listing = { connection: "close, impersonate-user, x-remote-user" };
      expect((await whoami(way, { ...listing, ...bearer("alice") })).code).to.equal(400);
    });

    it(`shows no user ${way} what the workspace denies`, async () => {
      const { url, ca } = places[way] as Place;
      const path = `${url}/mirror/clusters/root/api/v1/configmaps`;
      expect((await ask(path, { ca, headers: bearer("root") })).code).to.equal(200);
      expect((await ask(path, { ca, headers: bearer("alice") })).code).to.equal(403);
      expect((await ask(path, { ca, headers: {} })).code).to.equal(403);
      expect((await ask(path, { ca, headers: bearer("mallory") })).code).to.be.oneOf([401, 403]);
    });

    it(`receives answers ${way} about missing objects of its server`, async () => {
      const { url, ca } = places[way] as Place;
      expect((await ask(`${url}/nothing/clusters/root/api`, { ca, headers: bearer("root") })).code).to.equal(404);
    });
  }

  it("is reachable at the URLs of endpoint slices", async () => {
    for (const [server, ca] of [
      [together, together.text("apiserver.crt")],
      [apart.shard, apart.authority.ca],
    ] as const) {
      const apis = "/clusters/root/apis/apis.kcp.io/v1alpha2";
      const of = { apiVersion: "apis.kcp.io/v1alpha2", metadata: { name: "widgets" } };
      await server.create(`${apis}/apiexports`, { ...of, kind: "APIExport", spec: {} });
      const spec = { reference: { export: { name: "widgets", path: "root" } } };
      expect((await server.create(`${apis}/apibindings`, { ...of, kind: "APIBinding", spec })).code).to.equal(201);
      const url = await publishedBy(server);
      const { code, body } = await ask(`${url}/clusters/a`, { ca, headers: bearer("root") });
      expect([code, body && JSON.parse(body)]).to.deep.equal([200, { owner: "root", export: "widgets", cluster: "a" }]);
    }
  });

  it("is reached by users that the workspace lets impersonate others; through the shard only by masters, as in kcp", async () => {
    const path = "mirror/clusters/root/api/v1/configmaps";
    const said = await Promise.all(
      Object.entries(places).map(async ([way, { url, ca }]) => {
        const token = (way === "in process" ? together : apart.shard).token("kcp-admin");
        const headers = { authorization: `Bearer ${token}`, "impersonate-user": "alice" };
        const { code, body } = await ask(`${url}/${path}`, { ca, headers });
        return `${code} ${JSON.parse(body).message}`;
      }),
    );
    const asAlice = '403 configmaps is forbidden: User "alice" cannot list resource "configmaps"';
    expect(said[0]).to.include(asAlice);
    expect(said[1]).to.include("403 forbidden: impersonation is not allowed for the requestor");
    expect(said[2]).to.include(asAlice);
  });

  it("sees service accounts of workspaces, scopes and warrants alike", async () => {
    const seen = await Promise.all(
      Object.entries(places).map(async ([way]) => {
        const server = way === "in process" ? together : apart.shard;
        const account = await server.create("/clusters/root/api/v1/namespaces/default/serviceaccounts/default/token", {
          apiVersion: "authentication.k8s.io/v1",
          kind: "TokenRequest",
        });
        const { token } = JSON.parse(account.body).status;
        const extra = {
          "impersonate-extra-authentication.kcp.io%2fscopes": ["cluster:root", "cluster:a,cluster:b"],
          "impersonate-extra-authorization.kcp.io%2fwarrant": '{"user":"bob","groups":["dev"]}',
        };
        const answers = [
          await whoami(way, { authorization: `Bearer ${token}` }),
          await whoami(way, { ...bearer("root"), "impersonate-user": "alice", "impersonate-uid": "7", ...extra }),
        ];
        return answers.map(({ body }) => withoutIds(JSON.parse(body).user));
      }),
    );
    expect(seen[1]).to.deep.equal(seen[0]);
    expect(seen[2]).to.deep.equal(seen[0]);
    const [account, alice] = seen[0] ?? [];
    expect(account?.name).to.equal("system:serviceaccount:default:default");
    expect(account?.extra["authentication.kcp.io/cluster-name"]).to.deep.equal(["root"]);
    expect(alice).to.deep.equal({
      name: "alice",
      uid: "7",
      groups: ["system:authenticated"],
      extra: {
        "authentication.kcp.io/scopes": ["cluster:root", "cluster:a,cluster:b"],
        "authorization.kcp.io/warrant": ['{"user":"bob","groups":["dev"]}'],
      },
    });
  });

  it("accepts only certificates of its own authority at the published URL, and impersonation only with the right", async () => {
    const { url, ca } = await apart.published();
    const headers = { "impersonate-user": "alice" };
    const asked = async (pair: KeyPair): Promise<unknown> => {
      const { code, body } = await ask(`${url}/whoami`, { ca, headers, ...pair });
      return code === 200 ? JSON.parse(body).user.name : code;
    };
    expect(await asked(apart.authority.client("shard", ["system:masters"]))).to.equal("alice");
    expect(await asked(apart.authority.client("somebody", ["staff"]))).to.equal(403);
    expect(await asked(createAuthority().client("shard", ["system:masters"]))).to.equal(401);
  });

  it("accepts identity headers at the published URL only from a front proxy", async () => {
    const { url, ca } = await apart.published();
    const headers = { "x-remote-user": "carol", "x-remote-group": "crew", "x-remote-extra-scopes": "a" };
    const asked = async (pair: Partial<KeyPair>): Promise<unknown> => {
      const { code, body } = await ask(`${url}/whoami`, { ca, headers, ...pair });
      return code === 200 ? JSON.parse(body).user : code;
    };
    expect(await asked(apart.proxies.client("front-proxy", []))).to.deep.equal({
      name: "carol",
      uid: "",
      groups: ["crew", "system:authenticated"],
      extra: { scopes: ["a"] },
    });
    expect(await asked(apart.authority.client("front-proxy", [])), "a downgrade would be silent").to.equal(400);
    expect(await asked({})).to.include({ name: "system:anonymous" });
  });

  it("answers many concurrent requests in process, though each of them sends requests to the server itself", async () => {
    const { url, ca } = places["in process"] as Place;
    const path = `${url}/mirror/clusters/root/api/v1/configmaps?limit=1`;
    const answers = await Promise.all(Array.from({ length: 100 }, () => ask(path, { ca, headers: bearer("root") })));
    expect(answers.filter(({ code }) => code !== 200)).to.deep.equal([]);
  });

  it("is 503 for clients of the shard while it is down, and works again without a restart of the shard", async () => {
    apart.views.signal("SIGKILL");
    await apart.views.ended;
    const down = await whoami("out of process", bearer("alice"));
    expect(down.code).to.equal(503);
    expect(JSON.parse(down.body)).to.include({ kind: "Status", reason: "ServiceUnavailable" });
    expect(JSON.parse(down.body).message).to.match(/^the server of virtual workspaces /);
    expect(down.body, "where it is").to.not.match(/127\.0\.0\.1/);
    await apart.serveAgain();
    expect((await whoami("out of process", bearer("alice"))).code).to.equal(200);
  });

  it("starts no further shard without a URL for its views, and names the remedy", async () => {
    const metadata = { name: "amber", annotations: { "virtual-workspaces.io/in-process": "true" } };
    const object = { apiVersion: "core.kcp.io/v1alpha1", kind: "Shard", metadata };
    const shards = "/clusters/root/apis/core.kcp.io/v1alpha1/shards";
    expect((await apart.shard.create(shards, object)).code).to.equal(201);
    const condition = await until(
      async () => {
        const { body } = await apart.shard.get(`${shards}/amber`, { token: "root-token" });
        return JSON.parse(body).status?.conditions?.[0] as { readonly status: string; readonly message: string };
      },
      { what: "condition" },
    );
    expect(condition).to.include({ type: "Ready", status: "False", reason: "NotStarted" });
    expect(condition.message).to.match(
      /^invalid value for --shard-virtual-workspace-url: .* put \{shard\} into its host/,
    );
  });
});

/** Returns the first URL of the slice `widgets`, once it has one. */
async function publishedBy(server: Start): Promise<string> {
  const path = "/clusters/root/apis/apis.kcp.io/v1alpha1/apiexportendpointslices/widgets";
  for (const last = performance.now() + 10_000; performance.now() < last; ) {
    const { body } = await server.get(path, { token: "root-token" });
    const url = JSON.parse(body).status?.endpoints?.[0]?.url;
    if (url !== undefined) return url;
  }
  throw new Error("no URL was published within 10 s");
}

/** Removes the parts that differ between two tokens. */
function withoutIds(user: { readonly uid: string; readonly extra: Readonly<Record<string, readonly string[]>> }) {
  const { "authentication.kubernetes.io/credential-id": _, ...extra } = user.extra;
  const isAccount = Object.keys(extra).length !== Object.keys(user.extra).length;
  return { ...user, ...(isAccount && { uid: "" }), extra } as typeof user & { readonly name: string };
}
