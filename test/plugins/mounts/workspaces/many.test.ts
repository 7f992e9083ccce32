// Many mounted workspaces: their cost for the shard, no Ready one without a URL for any reader, and a controller that was away.
import { staticTokens } from "@virtual-workspaces/framework";
import { Upstream } from "@virtual-workspaces/transport";
import { expect } from "chai";
import { untilAt } from "../../../workspace-server/shards/support.ts";
import { type Body, Mounted, mountKind, root, saidBy, WORKSPACES } from "./support/mounted.ts";

const ref = { kind: "KubeCluster", name: "shared" };
const MANY = 200;
const MASTERS = { groups: ["system:masters"] };

describe("many mounted workspaces", function () {
  this.timeout(120_000);
  /** Requests of the controller. */
  const asked: string[] = [];
  const count = (what: RegExp): number => asked.filter((one) => what.test(one)).length;
  let held: Mounted;
  let upstream: Upstream | undefined;

  before(async () => {
    held = await Mounted.start({
      authentication: [staticTokens({ root: { name: "root", ...MASTERS }, mounts: { name: "mounts", ...MASTERS } })],
      onRequest: ({ user, verb, path, stage }) => {
        if (user === "mounts" && (stage === "ResponseStarted" || verb !== "watch")) asked.push(`${verb} ${path}`);
      },
      upstreamOf: ({ url }) => {
        const credentials = { get: () => ({ headers: ["Authorization", "Bearer mounts"] }) };
        upstream = new Upstream({ url, credentials });
        return upstream;
      },
    });
    await held.define(mountKind("KubeCluster"));
    await held.object(ref, { phase: "Ready", URL: "https://first.example" });
  });

  after(async () => {
    await held?.[Symbol.asyncDispose]();
    await upstream?.[Symbol.asyncDispose]();
  });

  const names = Array.from({ length: MANY }, (_, number) => `ws-${number}`);
  const all = (is: (said: ReturnType<typeof saidBy>) => boolean): Promise<unknown> =>
    untilAt(held.server, `/clusters/root${WORKSPACES}`, ({ body }) =>
      body.items.every((one: Body) => isOther(one) || is(saidBy(one))),
    );
  const isOther = ({ metadata }: Body): boolean => !names.includes(metadata.name);

  it("with one object cost one watch and few requests, and are never Ready without a URL", async () => {
    await using watch = await held.server.watch(`/clusters/root${WORKSPACES}?watch=true&resourceVersion=0`, root);
    for (const name of names) await held.mount(name, ref);
    await all(({ phase }) => phase === "Ready");
    await held.says(ref, { phase: "Connecting", URL: "https://second.example" });
    await all(({ phase, url }) => phase === "Unavailable" && url === "https://second.example");
    await held.says(ref, { phase: "Ready", URL: "https://third.example" });
    await all(({ phase, url }) => phase === "Ready" && url === "https://third.example");
    expect(count(/^get .*kubeclusters\/shared$/)).to.be.within(3, 20);
    expect(count(/^get .*\/apis\/example.dev\/v1$/)).to.be.within(1, 20);
    expect(count(/^list .*kubeclusters/)).to.equal(0);
    const watched = new Set(asked.filter((one) => /^watch .*kubeclusters/.test(one)));
    expect([...watched]).to.deep.equal(["watch /clusters/*/apis/example.dev/v1/kubeclusters"]);
    // One write to become Ready, two for each change: nothing is written twice.
    expect(count(/^patch .*workspaces\/ws-0$/)).to.be.within(3, 6);

    const last = (await held.workspace(names.at(-1) ?? "")).body.metadata.resourceVersion;
    const seen = await watch.until(({ object }) => object.metadata.resourceVersion === last);
    const wrong = seen.map(({ object }) => saidBy(object)).filter(({ phase, url }) => phase === "Ready" && !url);
    expect(wrong).to.deep.equal([]);
    expect(seen.filter(({ object }) => saidBy(object).phase === "Ready").length).to.be.at.least(MANY);
  });

  it("stay unchanged after a restart of the controller, without further writes", async () => {
    await held.stop();
    const before = await held.server.get(`/clusters/root${WORKSPACES}`, root);
    asked.length = 0;
    held.restart();
    await held.object({ ...ref, name: "new" }, { phase: "Ready", URL: "https://new.example" });
    await held.mount("new", { ...ref, name: "new" });
    await held.until("new", ({ phase }) => phase === "Ready");
    await held.stop();
    // The existing workspaces come first, so they have been reconciled.
    expect(count(/^get .*kubeclusters\/shared$/)).to.be.within(1, 20);
    expect(asked.filter((one) => /^patch .*workspaces\/ws-/.test(one))).to.deep.equal([]);
    const after = await held.server.get(`/clusters/root${WORKSPACES}`, root);
    const versions = ({ body }: typeof before): unknown[] =>
      body.items.flatMap((one: Body) => (isOther(one) ? [] : [one.metadata.resourceVersion]));
    expect(versions(after)).to.deep.equal(versions(before));

    await held.says(ref, { phase: "Ready", URL: "https://fourth.example" });
    held.restart();
    await all(({ phase, url }) => phase === "Ready" && url === "https://fourth.example");
    await held.stop();
    await held.remove(ref);
    held.restart();
    await all(({ phase, condition }) => phase === "Unavailable" && condition?.[1] === "MountObjectNotFound");
  });
});
