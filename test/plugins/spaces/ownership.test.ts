// Whose a Space is: the default provider's, nobody's, somebody else's, an importer's; and what stays as it is.
import { namespaceOf, Space, SpaceProviderDesc } from "@virtual-workspaces/spaces";
import { expect } from "chai";
import { KeptManagement } from "./support/kept-management.ts";
import { type KeptSpaces, kubeconfigOf } from "./support/kept-spaces.ts";
import { conditionOf, isReady, Management, messageOf } from "./support/management.ts";

const HERE = namespaceOf("here");

describe("a manager of spaces has a space", function () {
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

  it("of the default provider where it names none: that says so, or is called so", async () => {
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
    // In the namespace of a provider it is that.
    await management.make(HERE, "own");
    expect((await management.until(HERE, "own", isReady))?.spec.SpaceProviderDescName).to.equal("here");
    await running.delete("default", "any");
    expect(kept.spaces.has("any")).to.equal(false);
  });

  it("for whoever was there first, and nobody has what others have by naming it", async () => {
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
    // Not discovered, and nobody's: for Spaces at the provider alone.
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

  it("that is imported, by the Secrets of its namespace, and touches nothing of it", async () => {
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
    const text = kubeconfigOf("far", "token");
    // Plain, and as the reference has it, in base64 once more.
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

  it("deleted before its provider goes, if both are deleted at once", async () => {
    await management.make(HERE, "last");
    await management.until(HERE, "last", isReady);
    running.on("delete", (times) => {
      if (times <= 2) throw new Error("not now");
    });
    await management.client.resource(Space).in(HERE).delete("last");
    await management.client.resource(SpaceProviderDesc).delete("here");
    // Another manager finds both so.
    await running.restart();
    await management.until(HERE, "last", (space) => space === undefined);
    expect(kept.spaces.has("last")).to.equal(false);
    await management.untilProvider("here", (one) => one === undefined);
  });

  it("whose fields stay as they are", async () => {
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
