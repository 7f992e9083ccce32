// Features of a server, composed as by the command `start`: their contributions, and the order in which they run and stop.
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@virtual-workspaces/client";
import { authenticated, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import type { Listening } from "@virtual-workspaces/framework/server";
import { crdManifest } from "@virtual-workspaces/kcp";
import { memoryStore } from "@virtual-workspaces/store";
import {
  composeFeatures,
  FeatureError,
  type FeatureShard,
  loopback,
  type NamedFeature,
} from "@virtual-workspaces/workspace-server";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";
import { until } from "../_support/until.ts";
import { root, Stores, shardAt, startSharded } from "./shards/support.ts";
import type { Workspaces } from "./support/workspaces.ts";

const DIRECTORY = join(tmpdir(), "features-of-no-server");

const Widget = defineResource({
  ...{ group: "example.dev", version: "v1", kind: "Widget", scope: "Cluster" },
  spec: { type: "object", properties: { size: { type: "integer" } } },
});

/** Returns a view that answers with a text. */
const saying = (name: string, text: string) =>
  defineVirtualWorkspace({
    ...{ name, path: "/", authorize: authenticated() },
    handle: (_, res) => void res.setHeader("content-type", "application/json").end(JSON.stringify({ text })),
  });

/** Returns a feature that records when it starts and stops. */
const running = (name: string, events: string[], end?: () => Promise<void>): NamedFeature => ({
  name,
  run: ({ shard }) => {
    events.push(`${name} begins in ${shard}`);
    return {
      [Symbol.asyncDispose]: async () => {
        await end?.();
        events.push(`${name} ends in ${shard}`);
      },
    };
  },
});

const compose = (features: readonly NamedFeature[], listening = new Promise<Listening>(() => undefined)) => {
  const own = new AsyncDisposableStack();
  return composeFeatures(features, {
    ...{ own, listening, ca: "the CA", directory: DIRECTORY, log: testLog().log, loopback: loopback() },
    address: (shard, { url }) => ({ baseURL: `${url}/${shard}`, processURL: url }),
    openStore: async (_, until) => until.use(memoryStore()),
  });
};

/** Starts a server with `root` and `shard-1`. */
async function served(stores: Stores, features: readonly NamedFeature[]) {
  const { promise: listening, resolve } = Promise.withResolvers<Listening>();
  const composed = await compose(features, listening);
  const server = await startSharded(stores, { ...composed.options, shards: { virtualWorkspaces: composed.ofShard } });
  resolve({ url: server.url, port: Number(new URL(server.url).port) } as Listening);
  return { composed, server };
}

const textAt = async ({ get }: Pick<Workspaces, "get">, path: string): Promise<unknown> => (await get(path, root)).body;

describe("features of a workspace server", function () {
  this.timeout(30_000);

  it("start in order and phase, and stop in reverse order while the server still answers", async () => {
    const events: string[] = [];
    let client: Client | undefined;
    const asking = async (): Promise<void> => void (await client?.discovery().all());
    const features: readonly NamedFeature[] = [
      running("first", events, asking),
      { ...running("late", events), begins: "after-ready" },
      running("second", events, asking),
    ];
    await using stores = new Stores();
    const { composed, server } = await served(stores, features);
    await using _server = server;
    client = new Client({ upstream: composed.options.loopback.upstream, cluster: "root" });
    const inRoot = () => events.filter((event) => event.endsWith("root"));
    const before = await composed.begin("before-ready");
    expect(inRoot()).to.deep.equal(["first begins in root", "second begins in root"]);
    const after = await composed.begin("after-ready");
    expect(inRoot().at(-1)).to.equal("late begins in root");
    await after[Symbol.asyncDispose]();
    await before[Symbol.asyncDispose]();
    expect(inRoot().slice(3)).to.deep.equal(["late ends in root", "second ends in root", "first ends in root"]);
  });

  it("run in each further shard, and stop before its listener", async () => {
    const events: string[] = [];
    await using stores = new Stores();
    const { server } = await served(stores, [running("first", events), running("second", events)]);
    expect(events).to.deep.equal(["first begins in shard-1", "second begins in shard-1"]);
    await server[Symbol.asyncDispose]();
    expect(events.slice(2)).to.deep.equal(["second ends in shard-1", "first ends in shard-1"]);
  });

  it("stop the started ones when one fails, and name the failed one", async () => {
    const events: string[] = [];
    const failing: NamedFeature = { name: "failing", run: () => Promise.reject(new Error("not today")) };
    const composed = await compose([running("first", events), running("second", events), failing]);
    const error = await composed.begin("before-ready").then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(error).to.be.instanceOf(FeatureError).and.include({ feature: "failing", message: "not today" });
    expect(events.slice(2)).to.deep.equal(["second ends in root", "first ends in root"]);
  });

  it("apply manifests in root before they run: a kind is established, then its objects follow", async () => {
    const found: unknown[] = [];
    const widgets: NamedFeature = {
      name: "widgets",
      manifests: () => [
        crdManifest(Widget),
        { apiVersion: "example.dev/v1", kind: "Widget", metadata: { name: "one" }, spec: { size: 1 } } as never,
      ],
      run: async ({ upstream, isRoot }) => {
        if (!isRoot) return undefined;
        await using client = new Client({ upstream, cluster: "root" });
        const { items } = await client.resource(Widget).list();
        found.push(...items.map(({ metadata: { name }, spec }) => [name, spec.size]));
        return undefined;
      },
    };
    await using stores = new Stores();
    const { composed, server } = await served(stores, [widgets]);
    await using _server = server;
    await using _first = await composed.begin("before-ready");
    await using _again = await composed.begin("before-ready");
    expect(found).to.deep.equal([
      ["one", 1],
      ["one", 1],
    ]);
  });

  it("name the missing kind of a manifest", async () => {
    const object = { apiVersion: "example.dev/v1", kind: "Gadget", metadata: { name: "one" } };
    await using stores = new Stores();
    const { composed, server } = await served(stores, [{ name: "gadgets", manifests: () => [object] }]);
    await using _server = server;
    const why = await composed.begin("before-ready").then(
      () => "nothing",
      ({ message }: Error) => message,
    );
    expect(why).to.match(
      /cannot apply Gadget of example\.dev\/v1: workspace root does not serve it: apply its CustomResourceDefinition first/,
    );
  });

  it("add views to each shard, where a later view replaces an earlier one of its name", async () => {
    const views = (name: string): NamedFeature => ({
      name,
      views: ({ shard }) => [saying("both", `${name} in ${shard}`), saying(name, `${name} in ${shard}`)],
    });
    await using stores = new Stores();
    const { composed, server } = await served(stores, [views("one"), { ...views("two"), listed: false }]);
    await using _server = server;
    const shard = await until(() => shardAt(server, "shard-1").catch(() => undefined));
    expect(await textAt(server, "/services/both/")).to.deep.equal({ text: "two in root" });
    expect(await textAt(server, "/services/one/")).to.deep.equal({ text: "one in root" });
    expect(await textAt(shard, "/services/both/")).to.deep.equal({ text: "two in shard-1" });
    expect(composed.listed.map(({ name }) => name)).to.deep.equal(["one"]);
  });

  it("receive their shard, with addresses, a directory of their own, and one store for all views of a shard", async () => {
    const seen: FeatureShard[] = [];
    const seeing = (name: string): NamedFeature => ({
      name,
      views: (shard) => {
        seen.push(shard);
        return [];
      },
    });
    await using stores = new Stores();
    const { server } = await served(stores, [seeing("one"), seeing("two")]);
    await using _server = server;
    const [one, two, further] = seen;
    expect([one?.shard, one?.isRoot, one?.ca, one?.directory]).to.deep.equal([
      ...["root", true, "the CA"],
      join(DIRECTORY, "one"),
    ]);
    expect([further?.shard, further?.isRoot, two?.directory]).to.deep.equal(["shard-1", false, join(DIRECTORY, "two")]);
    expect(await one?.address).to.deep.equal({ baseURL: `${server.url}/root`, processURL: server.url });
    expect((await further?.address)?.processURL).to.equal((await shardAt(server, "shard-1")).url);
    expect(await one?.openStore()).to.equal(await two?.openStore());
    expect(await one?.openStore()).to.not.equal(await further?.openStore());
    expect(further?.everywhere).to.equal(one?.upstream);
  });

  const clashes: readonly (readonly [readonly NamedFeature[], RegExp])[] = [
    [[{ name: "one" }, { name: "one" }], /duplicate feature "one": remove one of the two/],
    [
      [
        { name: "one", options: () => ({ mounts: false }) },
        { name: "two", options: () => ({ mounts: {} }) },
      ],
      /features "one" and "two" both set the option "mounts": remove one of them/,
    ],
    [[{ name: "one", views: () => Promise.reject(new Error("no views today")) }], /no views today/],
  ];
  for (const [features, why] of clashes)
    it(`cannot be composed: ${why.source}`, async () => {
      const message = await compose(features).then(
        () => "composed",
        ({ message }: Error) => message,
      );
      expect(message).to.match(why);
    });
});
