// The server's own initializer, `system:apibindings`, where the view of initializing workspaces runs in the same process.
import { rm } from "node:fs/promises";
import { allow, createServer, staticTokens } from "@virtual-workspaces/framework";
import { type AuditPolicy, audit } from "@virtual-workspaces/framework/audit";
import { lmdbStore, memoryStore, type Store } from "@virtual-workspaces/store";
import { forwardedServices, loopback } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { testLog } from "../../_setup/log.ts";
import { memoryFolder } from "../../_support/memory-folder.ts";
import { untilAnswer } from "../../_support/until.ts";
import { grant, makeAdmin, makeWorkspace } from "../../workspace-server/support/logical-clusters.ts";
import { startWorkspaces, type Workspaces } from "../../workspace-server/support/workspaces.ts";
import { LC, lifecycleViews, root, startViewed } from "./support/owner.ts";

const TENANCY = "/apis/tenancy.kcp.io/v1alpha1";
const APIS = "/apis/apis.kcp.io/v1alpha2";
const VIEW = "/services/initializingworkspaces/system:apibindings/clusters";
const UNIVERSAL = { name: "universal", path: "root" };
const POLICY: AuditPolicy = {
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  rules: [{ level: "Metadata" }],
  omitStages: ["RequestReceived"],
};

interface Audited {
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string };
  readonly impersonatedUser?: { readonly username: string };
}

describe("default bindings beside the view of initializing workspaces", function () {
  this.timeout(60_000);
  let server: Workspaces;
  let team: string;
  const audited: Audited[] = [];

  before(async () => {
    const log = audit({ policy: POLICY, to: (line) => void audited.push(JSON.parse(line)) });
    server = await startViewed({ audit: log });
    team = await makeWorkspace(server, "team");
    await makeAdmin(server, team, "bob");
  });

  after(async () => server?.[Symbol.asyncDispose]());

  const post = async (path: `/${string}`, object: object, as: Parameters<Workspaces["send"]>[2] = root) => {
    const made = await server.send(`POST ${path}`, object, as);
    expect(made.status, made.text).to.equal(201);
    return made.body;
  };

  /** Creates a workspace in `root:team`. @default as `bob` */
  const make = (name: string, type: object = UNIVERSAL, as: Parameters<Workspaces["send"]>[2] = { user: "bob" }) => {
    const about = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name } };
    return post(`/clusters/${team}${TENANCY}/workspaces`, { ...about, spec: { type } }, as);
  };

  const until = async (name: string, is: (answer: Awaited<ReturnType<Workspaces["get"]>>) => boolean) =>
    (await untilAnswer(() => server.get(`/clusters/${team}${TENANCY}/workspaces/${name}`, root), is)).body;

  const ready = async (name: string): Promise<string> =>
    (await until(name, ({ body }) => body.status?.phase === "Ready")).spec.cluster;

  const bound = async (cluster: string): Promise<string[]> =>
    (await server.get(`/clusters/${cluster}${APIS}/apibindings`, root)).body.items.map(
      ({ spec }: { spec: { reference: { export: { name: string } } } }) => spec.reference.export.name,
    );

  /** Returns the users and paths of POST and PUT requests for a logical cluster. */
  const written = (cluster: string): string[] =>
    audited
      .filter(({ verb, requestURI }) => ["create", "update"].includes(verb) && requestURI.includes(`/${cluster}/`))
      .map(
        ({ requestURI, user, impersonatedUser }) =>
          `${(impersonatedUser ?? user).username} ${requestURI.split("?")[0]}`,
      );

  it("are created by requests of the workspace's creator, which the audit log shows", async () => {
    await make("bobs");
    const cluster = await ready("bobs");
    const names = await bound(cluster);
    expect(names).to.include("tenancy.kcp.io");
    const call = `bob /clusters/${cluster}${APIS}/apibindings`;
    const calls = (): string[] => written(cluster).filter((each) => each === call);
    // The audit log is written with a delay.
    await until("bobs", () => calls().length === names.length);
    expect(written(cluster)).to.deep.equal(calls());
  });

  it("are created for creators without a record as well", async () => {
    await make("masters", UNIVERSAL, root);
    const cluster = await ready("masters");
    expect((await server.get(`/clusters/${cluster}${LC}/cluster`, root)).body.spec).not.to.include.keys("createdBy");
    expect(await bound(cluster)).to.include("tenancy.kcp.io");
  });

  it("are created for service accounts of other workspaces", async () => {
    const accounts = `/clusters/${team}/api/v1/namespaces/default/serviceaccounts` as const;
    await post(accounts, { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "maker" } });
    const user = "system:serviceaccount:default:maker";
    await grant(server, team, { user, verbs: ["create"] });
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: {} };
    const { token } = (await post(`${accounts}/maker/token`, review)).status;
    await make("of-an-account", UNIVERSAL, { user: token });
    expect(await bound(await ready("of-an-account"))).to.include("tenancy.kcp.io");
  });

  it("are not created for a creator who may not bind, and the workspace reports it", async () => {
    const provider = await makeWorkspace(server, "provider");
    const about = { apiVersion: "apis.kcp.io/v1alpha2", kind: "APIExport" };
    await post(`/clusters/${provider}${APIS}/apiexports`, { ...about, metadata: { name: "closed" }, spec: {} });
    const spec = { defaultAPIBindings: [{ path: "root:provider", export: "closed" }] };
    const type = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "WorkspaceType", metadata: { name: "closed" }, spec };
    await post(`/clusters/${provider}${TENANCY}/workspacetypes`, type);
    await grant(server, provider, { user: "bob", verbs: ["use"] });
    await make("kept-out", { name: "closed", path: "root:provider" });
    const { cluster } = (await until("kept-out", ({ body }) => body.status?.phase === "Initializing")).spec;
    const said = ({ body }: Awaited<ReturnType<Workspaces["get"]>>): string =>
      body.status.conditions?.find(({ type }: { type: string }) => type === "APIBindingsInitialized")?.message ?? "";
    const { body } = await untilAnswer(
      () => server.get(`/clusters/${cluster}${LC}/cluster`, root),
      (answer) => said(answer) !== "",
    );
    expect(said({ body } as never)).to.match(
      /^encountered errors: apibindings.apis.kcp.io "closed-\w+" is forbidden: unable to create APIBinding: no permission to bind to export root:provider:closed$/,
    );
    expect(await bound(cluster)).to.deep.equal([]);
  });

  it("need system:masters for the view of that initializer, as in kcp", async () => {
    for (const [user, code] of [
      ["root", 200],
      ["admin", 403],
      ["bob", 403],
    ] as const)
      expect((await server.get(`${VIEW}/*${LC}`, { user })).status, user).to.equal(code);
  });
});

describe("default bindings where another server has the view of initializing workspaces", function () {
  this.timeout(60_000);

  it("are created through it as the workspace's creator, and the initializer is removed through it, too", async () => {
    const requests: string[] = [];
    const own = loopback();
    // Both servers start and end at different times.
    const onError = (): void => undefined;
    await using views = createServer({
      virtualWorkspaces: lifecycleViews({ upstream: own.upstream, onError }),
      authentication: [staticTokens({ shard: { name: "shard", groups: ["system:masters"] } })],
      impersonation: () => allow(),
      log: testLog().log,
      tls: false,
      onRequest: ({ method, path }) => void requests.push(`${method} ${path}`),
    });
    const { url } = await views.listen({ port: 0 });
    const credential = { headers: ["Authorization", "Bearer shard"] };
    const there = forwardedServices({ upstream: { url, credentials: { get: () => credential } }, onError });
    await using server = await startWorkspaces(memoryStore(), { loopback: own, virtualWorkspaces: [there] });
    const team = await makeWorkspace(server, "team");
    await makeAdmin(server, team, "bob");
    const manifest = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name: "bobs" } };
    const path = `/clusters/${team}${TENANCY}/workspaces` as const;
    const made = await server.send(`POST ${path}`, { ...manifest, spec: { type: UNIVERSAL } }, { user: "bob" });
    expect(made.status, made.text).to.equal(201);
    const { body } = await untilAnswer(
      () => server.get(`${path}/bobs`, root),
      (answer) => answer.body.status?.phase === "Ready",
    );
    const within = `${VIEW}/${body.spec.cluster}`;
    const bindings = (await server.get(`/clusters/${body.spec.cluster}${APIS}/apibindings`, root)).body.items;
    expect(bindings).to.have.length.above(0);
    expect(requests.filter((each) => each === `POST ${within}${APIS}/apibindings`)).to.have.length(bindings.length);
    expect(requests).to.include(`PUT ${within}${LC}/cluster/status`);
  });
});

describe("new workspaces", function () {
  this.timeout(60_000);

  /** Starts a server with the views of initializing and terminating workspaces. */
  async function start(store: Store = memoryStore()) {
    const own = loopback();
    const virtualWorkspaces = lifecycleViews({ upstream: own.upstream });
    const server = await startWorkspaces(store, { loopback: own, virtualWorkspaces });
    const path = `/clusters/root${TENANCY}/workspaces` as const;
    const make = async (name: string): Promise<string> => {
      const manifest = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name } };
      const made = await server.send(`POST ${path}`, { ...manifest, spec: { type: UNIVERSAL } }, { user: "admin" });
      expect(made.status, made.text).to.equal(201);
      const { body } = await untilAnswer(
        () => server.get(`${path}/${name}`, root),
        (answer) => answer.body.status?.phase === "Ready",
      );
      return body.spec.cluster;
    };
    return { store, server, make, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
  }

  it("are Ready after at most 16 writes each, with their namespaces and default bindings", async () => {
    await using system = await start();
    const { store, server, make } = system;
    const writes = async (name: string): Promise<number> => {
      const before = await store.head();
      const cluster = await make(name);
      for (const namespace of ["default", "kube-system"])
        await untilAnswer(
          () => server.get(`/clusters/${cluster}/api/v1/namespaces/${namespace}/configmaps/kube-root-ca.crt`, root),
          ({ status }) => status === 200,
        );
      return (await store.head()) - before;
    };
    await make("first");
    let fewest = await writes("second");
    // A step that takes more than five seconds on a busy machine reports what it waits for.
    for (const name of ["third", "fourth", "fifth"]) if (fewest > 16) fewest = Math.min(fewest, await writes(name));
    expect(fewest).to.be.within(13, 16);
  });

  it("get the locks of all default bindings in one write, although fifty are created at once", async () => {
    const dir = await memoryFolder("new-workspaces-");
    await using stack = new AsyncDisposableStack();
    stack.defer(() => rm(dir, { recursive: true }));
    const system = stack.use(await start(stack.use(await lmdbStore({ dir }))));
    const { store, make } = system;
    await make("first");
    const after = await store.head();
    const clusters = await Promise.all(Array.from({ length: 50 }, (_, at) => make(`one-of-many-${at}`)));
    const [stop, upTo, locks] = [new AbortController(), await store.head(), new Map<string, string[]>()];
    const range = { from: "core.kcp.io/logicalclusters/", to: "core.kcp.io/logicalclusters0" };
    // Something to end with.
    await make("last");
    for await (const { revision, events } of store.watch(range, { after, signal: stop.signal })) {
      if (revision > upTo) stop.abort();
      for (const { key, entry } of events) {
        const text =
          entry?.value.toString("utf8").match(/"internal\.apis\.kcp\.io\/resource-bindings":"(.*?)",?"/)?.[1] ?? "";
        const known = locks.get(key) ?? [];
        if (known.at(-1) !== text) locks.set(key, [...known, text]);
      }
    }
    const changes = clusters.map((cluster) => locks.get(`${range.from}${cluster}//cluster`)?.length ?? 0);
    // None, then all. A binding that is created late has a write of its own.
    const sum = changes.reduce((one, other) => one + other, 0);
    expect(sum / clusters.length).to.be.within(2, 2.3);
  });
});
