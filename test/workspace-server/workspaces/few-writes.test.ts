// Why: a workspace is written in few, whole steps, so the order and content of these writes is all that holds it together: when
// the server is killed between any two, the next one completes the workspace.
import { isDeepStrictEqual } from "node:util";
import { APIBinding, LogicalCluster } from "@virtual-workspaces/kcp";
import { RESOURCE_BINDINGS_ANNOTATION } from "@virtual-workspaces/kcp/names";
import { initializingWorkspacesView } from "@virtual-workspaces/lifecycle";
import { type Batch, memoryStore, type Store } from "@virtual-workspaces/store";
import { loopback } from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { until } from "../../_support/until.ts";
import { startWorkspaces, type Workspaces } from "../support/workspaces.ts";
import { DyingStore } from "./support/dying-store.ts";

const WORKSPACES = "/clusters/root/apis/tenancy.kcp.io/v1alpha1/workspaces";
const BINDINGS = `/apis/apis.kcp.io/${APIBinding.version}/apibindings`;
const CLUSTER = `/apis/core.kcp.io/${LogicalCluster.version}/logicalclusters/cluster`;
const root = { user: "root" };
const admin = { user: "admin" };

/** Starts a server with the view of initializing workspaces in its process, as `virtual-workspaces start` has it. */
async function start(store: Store, log?: () => void): Promise<Workspaces> {
  const own = loopback();
  const onError = (): void => undefined;
  const virtualWorkspaces = [initializingWorkspacesView({ upstream: own.upstream, onError })];
  return startWorkspaces(store, { loopback: own, virtualWorkspaces, ...(log && { log }) });
}

function make(server: Workspaces, name: string) {
  const spec = { type: { name: "universal", path: "root" } };
  const object = { apiVersion: "tenancy.kcp.io/v1alpha1", kind: "Workspace", metadata: { name }, spec };
  return server.send(`POST ${WORKSPACES}`, object, admin);
}

async function ready(server: Workspaces, name: string): Promise<string> {
  await using watch = await server.watch(`${WORKSPACES}?watch=true&fieldSelector=metadata.name=${name}`, root);
  const seen = await watch.until(({ object }) => shown(object).status?.phase === "Ready");
  return shown(seen.at(-1)?.object).spec?.cluster ?? "";
}

/** Creates a workspace unless it exists. @returns its logical cluster once it is Ready */
async function made(server: Workspaces, name: string): Promise<string> {
  const { status } = await make(server, name);
  expect(status).to.be.oneOf([201, 409]);
  return ready(server, name);
}

interface Shown {
  readonly spec?: { readonly cluster?: string };
  readonly status?: { readonly phase?: string; readonly initializers?: readonly string[] };
}

function shown(object: object | undefined): Shown {
  return object ?? {};
}

/** Checks that a Ready workspace has everything, and that nothing of it is left to do. */
async function expectWhole(server: Workspaces, cluster: string): Promise<void> {
  const { body: bindings } = await server.get(`/clusters/${cluster}${BINDINGS}`, root);
  const names: Record<string, string> = {};
  for (const { metadata, spec, status } of bindings.items) {
    names[spec.reference.export.name] = metadata.name;
    expect(status.phase).to.equal("Bound");
    for (const { type, status: is } of status.conditions) expect(is, type).to.equal("True");
  }
  expect(Object.keys(names).sort()).to.deep.equal(["tenancy.kcp.io", "topology.kcp.io"]);
  const { body: logical } = await server.get(`/clusters/${cluster}${CLUSTER}`, root);
  expect(logical.status.phase).to.equal("Ready");
  expect(logical.status.initializers).to.equal(undefined);
  const locks = JSON.parse(logical.metadata.annotations[RESOURCE_BINDINGS_ANNOTATION]);
  expect(new Set(Object.values<{ n: string }>(locks).map(({ n }) => n))).to.deep.equal(new Set(Object.values(names)));
  for (const namespace of ["default", "kube-system"])
    await until(async () => {
      const path = `/clusters/${cluster}/api/v1/namespaces/${namespace}/configmaps/kube-root-ca.crt`;
      return (await server.get(path, root)).status === 200;
    });
}

const isChanged = (state: unknown, at: number, all: readonly unknown[]): boolean =>
  at === 0 || !isDeepStrictEqual(state, all[at - 1]);

/** Writes as `<plural> <phase>`, in their order. */
class Written implements AsyncDisposable {
  readonly texts: string[] = [];
  readonly #stop = new AbortController();
  readonly #reading: Promise<void>;

  constructor(store: Store, after: number) {
    const watch = store.watch({ from: "", to: "\u{10FFFF}" }, { after, signal: this.#stop.signal });
    this.#reading = this.#read(watch);
  }

  /** Returns the phases of a kind's objects. */
  of(plural: string): string[] {
    return this.texts.filter((text) => text.startsWith(`${plural} `)).map((text) => text.slice(plural.length + 1));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#reading;
  }

  async #read(watch: AsyncIterable<Batch>): Promise<void> {
    for await (const { events } of watch)
      for (const { key, entry } of events) {
        const text = entry?.value.toString("utf8") ?? "";
        const [, phase = ""] = /"phase":"(\w+)"/.exec(text) ?? [];
        this.texts.push(`${key.split("/")[1]} ${phase}`.trim());
      }
  }
}

describe("the writes of a new workspace", function () {
  this.timeout(240_000);

  it("are whole steps: one for each phase, and bindings that are created bound", async () => {
    await using store = memoryStore();
    await using server = await start(store);
    await expectWhole(server, await made(server, "first"));
    await using written = new Written(store, await store.head());
    await expectWhole(server, await made(server, "second"));
    await until(() => written.of("workspaces").at(-1) === "Ready");
    const phases = ["Scheduling", "Initializing", "Ready"];
    expect(written.of("workspaces").filter(isChanged)).to.deep.equal(phases);
    expect(written.of("logicalclusters").filter(isChanged)).to.deep.equal(phases);
    expect(written.of("apibindings")).to.deep.equal(["Bound", "Bound"]);
    const bound = written.texts.lastIndexOf("apibindings Bound");
    expect(written.texts.indexOf("logicalclusters Ready")).to.be.greaterThan(bound);
    expect(written.texts.indexOf("workspaces Ready")).to.be.greaterThan(bound);
  });

  it("show a watch each phase with both initializers", async () => {
    await using server = await start(memoryStore());
    await using watch = await server.watch(`${WORKSPACES}?watch=true`, root);
    await make(server, "one");
    const seen = await watch.until(({ object }) => shown(object).status?.phase === "Ready");
    const states = seen.map(({ object }) => {
      const { phase = "", initializers = [] } = shown(object).status ?? {};
      return [phase, ...initializers];
    });
    expect(states.filter(isChanged)).to.deep.equal([
      ["Scheduling"],
      ["Initializing", "root:universal", "system:apibindings"],
      ["Ready"],
    ]);
  });

  it("are completed by the next server when one is killed between any two", async () => {
    await using store = memoryStore();
    let killed = true;
    let rounds = 0;
    for (let writes = 0; killed; writes++) {
      const dying = new DyingStore(store);
      await using server = await start(dying.store, () => undefined);
      // The one whose server was killed; the first time a new one.
      await expectWhole(server, await made(server, `one-${writes}`));
      const next = `one-${writes + 1}`;
      dying.allow(writes);
      await make(server, next);
      await until(async () => dying.isDead || (await isSettled(server, store, next)), { within: 60_000 });
      killed = dying.isDead;
      dying.die();
      rounds++;
    }
    expect(rounds).to.be.greaterThan(14);
  });
});

/** Whether the workspace is Ready, with the last of the content that follows. */
async function isSettled(server: Workspaces, store: Store, name: string): Promise<boolean> {
  const { body } = await server.get(`${WORKSPACES}/${name}`, root);
  if (body?.status?.phase !== "Ready") return false;
  const { entries } = await store.range({ from: "/configmaps/", to: "/configmaps0" });
  return entries.filter(({ key }) => key.startsWith(`/configmaps/${body.spec.cluster}/`)).length === 2;
}
