// Providers and owners of Spaces: default provider, other owners, imported Spaces; and immutable fields.
import { namespaceOf, Space, SpaceProviderDesc } from "@virtual-workspaces/spaces";
import { expect } from "chai";
import { KeptManagement } from "./support/kept-management.ts";
import type { KeptSpaces } from "./support/kept-spaces.ts";
import { conditionOf, isReady, Management, messageOf } from "./support/management.ts";

const HERE = namespaceOf("here");

describe("SpaceManager, for a Space", function () {
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

  it("without a provider, uses the annotated default provider or the one named default", async () => {
    await management.make("default", "any");
    const none = await management.until(
      "default",
      "any",
      (space) => conditionOf(space, "Provided") === "False NoProvider",
    );
    expect(messageOf(none, "Ready")).to.match(
      /^spec\.SpaceProviderDescName: no default provider: name one, or annotate/,
    );
    const annotations = { "space.kubestellar.io/is-default-provider": "true" };
    await management.client.resource(SpaceProviderDesc).mergePatch("here", { metadata: { annotations } });
    const any = await management.until("default", "any", isReady);
    expect(any?.spec.SpaceProviderDescName).to.equal("here");
    expect(any?.status?.externalSecretRef).to.deep.equal({ name: "external-any", namespace: "default" });
    // In the namespace of a provider, that one applies.
    await management.make(HERE, "own");
    expect((await management.until(HERE, "own", isReady))?.spec.SpaceProviderDescName).to.equal("here");
    await running.delete("default", "any");
    expect(kept.spaces.has("any")).to.equal(false);
  });

  it("with a claimed name, keeps the first owner, and rejects a takeover by name", async () => {
    kept.set("theirs");
    await management.until(HERE, "theirs", isReady);
    const spec = { SpaceProviderDescName: "here" };
    await management.make("default", "theirs", spec);
    const taken = await management.until(
      "default",
      "theirs",
      (space) => conditionOf(space, "Ready") === "False NameTaken",
    );
    expect(messageOf(taken, "Ready")).to.match(/belongs to the Space spaceprovider-here\/theirs: use another name$/);
    expect(await running.secrets("default")).not.to.include("external-theirs");
    await running.delete("default", "theirs");
    expect(kept.spaces.has("theirs")).to.equal(true);
    // Not discovered and without an owner: only for Spaces in the provider's namespace.
    await management.client.resource(SpaceProviderDesc).mergePatch("here", { spec: { SpacePrefixForDiscovery: "f-" } });
    await management.until(HERE, "theirs", (space) => space === undefined);
    await management.make("default", "theirs", spec);
    const refused = await management.until(
      "default",
      "theirs",
      (space) => conditionOf(space, "Ready") === "False NameTaken",
    );
    expect(messageOf(refused, "Ready")).to.match(
      /already has a space with this name: use another name, or adopt the space with a Space in spaceprovider-here$/,
    );
    await running.delete("default", "theirs");
    await management.make("default", "found", { ...spec, Type: "unmanaged" });
    await management.until("default", "found", (space) => conditionOf(space, "Ready") === "False WrongNamespace");
    expect(kept.spaces.has("theirs")).to.equal(true);
    expect(kept.calls).not.to.include("access found");
  });

  it("imported from Secrets of its namespace, changes nothing in the space", async () => {
    await management.make("default", "far", { Type: "imported", accessscopetype: "External" });
    const missing = await management.until(
      "default",
      "far",
      (space) => conditionOf(space, "Ready") === "False AccessMissing",
    );
    expect(messageOf(missing, "Ready")).to.equal(
      'the Secret "default/external-far" (spec.externalSecretName) does not exist or has no kubeconfig',
    );
    await management.keep("external-far", { kubeconfig: "}" });
    await management.until("default", "far", (space) =>
      /kubeconfig: it is neither YAML nor JSON/.test(messageOf(space, "Ready")),
    );
    const text = management.kubeconfig("root:below");
    // Plain, and with a second base64 encoding as KubeStellar writes it.
    for (const kubeconfig of [text, Buffer.from(text).toString("base64")]) {
      await management.keep("external-far", { kubeconfig });
      await management.until("default", "far", isReady);
      await management.keep("external-far", { kubeconfig: "}" });
      await management.until("default", "far", (space) => space?.status?.Phase === "NotReady");
    }
    await management.keep("far-too", { kubeconfig: text });
    await management.client
      .resource(Space)
      .in("default")
      .mergePatch("far", { spec: { externalSecretName: "far-too" } });
    const far = await management.until("default", "far", isReady);
    expect(far?.status?.externalSecretRef).to.deep.equal({ name: "far-too", namespace: "default" });
    await running.delete("default", "far");
    expect(await running.secrets("default")).to.include.members(["external-far", "far-too"]);
  });

  it("deleted together with its provider, deletes the space first", async () => {
    await management.make(HERE, "last");
    await management.until(HERE, "last", isReady);
    running.on("delete", (times) => {
      if (times <= 2) throw new Error("not now");
    });
    await management.client.resource(Space).in(HERE).delete("last");
    await management.client.resource(SpaceProviderDesc).delete("here");
    // Another manager finds both in that state.
    await running.restart();
    await management.until(HERE, "last", (space) => space === undefined);
    expect(kept.spaces.has("last")).to.equal(false);
    await management.untilProvider("here", (one) => one === undefined);
  });

  it("rejects changes of immutable fields", async () => {
    const spaces = management.client.resource(Space).in(HERE);
    await management.make(HERE, "fixed", { SpaceProviderDescName: "here" });
    const refused = async (patch: object): Promise<string> =>
      spaces.mergePatch("fixed", { spec: patch } as never).then(
        () => "taken",
        (error) => `${error.code} ${error.message}`,
      );
    expect(await refused({ SpaceProviderDescName: "other" })).to.match(
      /^422 .*SpaceProviderDescName is immutable: create another Space/,
    );
    expect(await refused({ SpaceProviderDescName: null })).to.match(/^422 .*SpaceProviderDescName is immutable/);
    expect(await refused({ Type: "imported" })).to.match(/^422 .*Type cannot change from or to imported/);
    expect(await refused({ Type: "odd" })).to.match(/^422 .*spec\.Type: Unsupported value: "odd"/);
    expect(await refused({ Type: "unmanaged" })).to.equal("taken");
    await spaces.mergePatch("fixed", { spec: { Type: "managed" }, status: { Phase: "Ready" } });
    const imported = management.make(HERE, "both", { Type: "imported", SpaceProviderDescName: "here" });
    expect(await imported.catch(({ message }) => message)).to.match(/an imported Space has no provider, leave it out/);
    const type = management.client
      .resource(SpaceProviderDesc)
      .mergePatch("here", { spec: { ProviderType: "workspaces" } });
    expect(await type.catch(({ message }) => message)).to.match(/ProviderType is immutable/);
  });
});
