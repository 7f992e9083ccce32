// Several SpaceProviderDescs over one place: only the oldest has its spaces, and no provider has what another has made.
import { Workspace } from "@virtual-workspaces/kcp";
import {
  commandProvider,
  kubeconfigsProvider,
  namespaceOf,
  restProvider,
  Space,
  SpaceProviderDesc,
} from "@virtual-workspaces/spaces";
import { expect } from "chai";
import { makeWorkspace } from "../../workspace-server/support/logical-clusters.ts";
import { kubeconfigOf } from "./support/kept-spaces.ts";
import { type AnyProvider, conditionOf, isReady, Management, messageOf } from "./support/management.ts";

const isTaken = (provider: AnyProvider | undefined): boolean => conditionOf(provider, "Ready") === "False SpacesTaken";
const isOpen = (provider: AnyProvider | undefined): boolean => conditionOf(provider, "Ready") === "True";

describe("SpaceProviderDescs over one place", function () {
  this.timeout(30_000);
  let management: Management;

  before(async () => {
    management = await Management.start();
  });
  after(() => management?.[Symbol.asyncDispose]());

  const inNamespace = async (namespace: string): Promise<readonly (string | undefined)[]> => {
    const { items } = await management.client.resource(Space).in(namespace).list();
    return items.map(({ metadata }) => metadata.name).sort();
  };

  it("of workspaces: the oldest has them, and the next one gets those that it has not made", async () => {
    await using manager = management.manager();
    await manager.started;
    await management.provide("a");
    await management.untilProvider("a", isOpen);
    await management.make("default", "made", { SpaceProviderDescName: "a" });
    await management.until("default", "made", isReady);
    await management.below.resource(Workspace).create({ metadata: { name: "lab" } });
    await management.until(namespaceOf("a"), "lab", isReady);
    await management.provide("b");
    const taken = await management.untilProvider("b", isTaken);
    expect(messageOf(taken, "Ready")).to.equal(
      'the SpaceProviderDesc "a" is older and has the same spaces: use that one, or let spec.secretRef lead to another place',
    );
    await management.make("default", "late", { SpaceProviderDescName: "b" });
    await management.removeProvider("a");
    await management.until(namespaceOf("b"), "lab", isReady);
    await management.until("default", "late", isReady);
    expect(await inNamespace(namespaceOf("b"))).to.deep.equal(["lab"]);
    // A name of the former provider stays taken, and its workspace stays.
    await management.make(namespaceOf("b"), "made", { SpaceProviderDescName: "b" });
    const refused = await management.until(
      namespaceOf("b"),
      "made",
      (space) => conditionOf(space, "Provided") === "False CreateFailed",
    );
    expect(messageOf(refused, "Provided")).to.equal(
      'metadata.name: the workspace with this name belongs to the provider "a": use another name',
    );
    await management.removeSpace(namespaceOf("b"), "made");
    expect((await management.below.resource(Workspace).get("made")).metadata.deletionTimestamp).to.equal(undefined);
    await management.removeProvider("b");
    await management.provide("a");
    await management.until("default", "made", isReady);
    await management.removeSpace("default", "made");
    await management.below.resource(Workspace).delete("lab");
    await management.removeProvider("a");
    await management.provide("b");
    await management.removeSpace("default", "late");
    await management.removeProvider("b");
  });

  it("of workspaces: one does not discover what another has made below its parent", async () => {
    await makeWorkspace(management.server, "other");
    await using manager = management.manager();
    await manager.started;
    await management.provide("a");
    await management.provide("c", { secret: { kubeconfig: management.kubeconfig("root:other") } });
    const metadata = { annotations: { "kubestellar.io/space-path": "root:other" } };
    await management.make("default", "away", { SpaceProviderDescName: "a", metadata });
    await management.until("default", "away", isReady);
    await management.client
      .cluster("root:other")
      .resource(Workspace)
      .create({ metadata: { name: "found" } });
    await management.until(namespaceOf("c"), "found", isReady);
    expect(await inNamespace(namespaceOf("c"))).to.deep.equal(["found"]);
    await management.removeSpace("default", "away");
    for (const name of ["a", "c"]) await management.removeProvider(name);
  });

  const none = "http://127.0.0.1:1";
  const tool = { name: "tool", command: "/there/is/none", list: ["list"], kubeconfig: () => [] };
  const clusters = { one: kubeconfigOf("one", "token") };
  for (const { type, first, same, another } of [
    {
      type: "rest",
      first: { url: `${none}/a/`, token: "x" },
      same: { url: `${none}/a`, token: "y" },
      another: { url: `${none}/b`, token: "x" },
    },
    { type: "tool", first: {}, same: {}, another: undefined },
    { type: "list", first: clusters, same: clusters, another: { two: kubeconfigOf("two", "token") } },
  ])
    it(`of the type ${type}: the oldest has them until it is deleted`, async () => {
      const types = { rest: restProvider(), list: kubeconfigsProvider(), tool: commandProvider(tool) };
      await using manager = management.manager({ types });
      await manager.started;
      await management.provide("a", { type, secret: first });
      await management.untilProvider("a", (one) => conditionOf(one, "Ready") !== "");
      await management.provide("b", { type, secret: same });
      await management.untilProvider("b", isTaken);
      if (another !== undefined) {
        await management.keep("provider-b", another);
        await management.untilProvider("b", (one) => !isTaken(one));
        await management.keep("provider-b", same);
        await management.untilProvider("b", isTaken);
      }
      expect(isTaken(await management.client.resource(SpaceProviderDesc).get("a"))).to.equal(false);
      await management.removeProvider("a");
      await management.untilProvider("b", (one) => !isTaken(one));
      await management.removeProvider("b");
    });
});
