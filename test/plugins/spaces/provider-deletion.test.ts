// The deletion of a SpaceProviderDesc: it ends, or its condition and those of its Spaces say what it waits for.
import { namespaceOf, Space, SpaceProviderDesc } from "@virtual-workspaces/spaces";
import { expect } from "chai";
import { KeptManagement } from "./support/kept-management.ts";
import type { KeptSpaces } from "./support/kept-spaces.ts";
import { conditionOf, isReady, Management, messageOf } from "./support/management.ts";

const HERE = namespaceOf("here");

describe("deletion of a SpaceProviderDesc", function () {
  this.timeout(30_000);
  let management: Management;
  let running: KeptManagement;
  let kept: KeptSpaces;

  before(async () => {
    management = await Management.start();
  });
  after(() => management?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    running = await KeptManagement.start(management);
    kept = running.kept;
  });
  afterEach(() => running[Symbol.asyncDispose]());

  const spaces = (namespace: string) => management.client.resource(Space).in(namespace);
  const providers = () => management.client.resource(SpaceProviderDesc);

  it("does not wait for a discovered Space that was taken over, which is ready again with a new SpaceProviderDesc", async () => {
    kept.set("edge");
    await management.until(HERE, "edge", isReady);
    await spaces(HERE).mergePatch("edge", { spec: { Type: "managed" } });
    await management.until(HERE, "edge", (space) => space?.metadata.finalizers?.length === 1);
    await management.removeProvider("here");
    const left = await management.until(
      HERE,
      "edge",
      (space) => conditionOf(space, "Provided") === "False ProviderNotFound",
    );
    expect(messageOf(left, "Provided")).to.equal(
      'spec.SpaceProviderDescName: the SpaceProviderDesc "here" does not exist: create it, or delete this Space',
    );
    await spaces(HERE).delete("edge");
    const leaving = await management.until(HERE, "edge", (space) =>
      messageOf(space, "Provided").includes("SpaceFinalizer"),
    );
    expect(messageOf(leaving, "Provided")).to.equal(
      'spec.SpaceProviderDescName: the SpaceProviderDesc "here" does not exist: create it to delete the physical space, or remove the finalizer SpaceFinalizer to abandon the physical space',
    );
    expect(kept.spaces.has("edge")).to.equal(true);
    await management.provide("here", { type: "kept" });
    await management.until(HERE, "edge", (space) => space === undefined);
    expect(kept.spaces.has("edge")).to.equal(false);
  });

  it("names the Spaces whose deletion it waits for, and what prevents it", async () => {
    for (const name of ["last", "stays"]) await management.make("default", name, { SpaceProviderDescName: "here" });
    for (const name of ["last", "stays"]) await management.until("default", name, isReady);
    running.on("delete", () => {
      throw new Error("not now");
    });
    await spaces("default").delete("last");
    await providers().delete("here");
    const waiting = await management.untilProvider("here", (one) => conditionOf(one, "Ready") === "False Deleting");
    expect(messageOf(waiting, "Ready")).to.equal(
      "the deletion waits for that of the Spaces default/last: see their condition Provided",
    );
    const failed = await management.until(
      "default",
      "last",
      (space) => conditionOf(space, "Provided") === "False DeleteFailed",
    );
    expect(messageOf(failed, "Provided")).to.equal("not now");
    const stays = await management.until(
      "default",
      "stays",
      (space) => conditionOf(space, "Provided") === "False ProviderDeleting",
    );
    expect(messageOf(stays, "Provided")).to.equal(
      'spec.SpaceProviderDescName: the SpaceProviderDesc "here" is being deleted: create it again afterwards, or delete this Space',
    );
    // A manager that cannot open the provider says that too.
    await running.restart({ types: { kept: { open: () => Promise.reject(new Error("no door")) } } });
    const closed = await management.untilProvider("here", (one) => /no door/.test(messageOf(one, "Ready")));
    expect(messageOf(closed, "Ready")).to.equal(
      "the deletion waits for that of the Spaces default/last: see their condition Provided; the provider is not available: OpenFailed: no door",
    );
    kept.before = () => undefined;
    await running.restart();
    await management.until("default", "last", (space) => space === undefined);
    await management.untilProvider("here", (one) => one === undefined);
    await management.provide("here", { type: "kept" });
    await management.until("default", "stays", isReady);
  });

  it("names the finalizers that others have set on its discovered Spaces", async () => {
    kept.set("edge");
    await management.until(HERE, "edge", isReady);
    const finalizers = ["example.com/backup"];
    await spaces(HERE).mergePatch("edge", { metadata: { finalizers } });
    await providers().delete("here");
    const waiting = await management.untilProvider("here", (one) => conditionOf(one, "Ready") === "False Deleting");
    expect(messageOf(waiting, "Ready")).to.equal(
      "the deletion waits for that of the Spaces spaceprovider-here/edge: see their condition Provided; remove their finalizers example.com/backup if no controller does",
    );
    await spaces(HERE).mergePatch("edge", { metadata: { finalizers: [] } });
    await management.untilProvider("here", (one) => one === undefined);
    expect(kept.spaces.has("edge")).to.equal(true);
  });
});
