// What the manager makes of what providers do and say, and of what Spaces say.
import { namespaceOf, Space, SpaceProviderDesc } from "@virtual-workspaces/spaces";
import { expect } from "chai";
import { KeptSpaces, kubeconfigOf } from "./support/kept-spaces.ts";
import { type AnySpace, conditionOf, isReady, Management, messageOf, NAMESPACE, SECRET } from "./support/management.ts";

const HERE = namespaceOf("here");

describe("a manager of spaces", function () {
  this.timeout(30_000);
  let management: Management;
  let kept: KeptSpaces;
  let stack: AsyncDisposableStack;

  before(async () => {
    management = await Management.start();
  });
  after(() => management?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    kept = new KeptSpaces();
    stack = new AsyncDisposableStack();
    await start();
    await management.provide("here", { type: "kept" });
    await management.untilProvider("here", (one) => one?.status?.Phase === "Ready");
  });
  afterEach(async () => {
    kept.before = () => undefined;
    kept.said = undefined;
    const spaces = management.client.resource(Space);
    for (const { metadata } of (await spaces.list()).items)
      await spaces
        .in(metadata.namespace ?? "")
        .delete(metadata.name ?? "")
        .catch(() => undefined);
    await management.client.resource(SpaceProviderDesc).deleteCollection();
    kept.spaces.clear();
    for (const { metadata } of (await spaces.list()).items)
      await management.until(metadata.namespace ?? "", metadata.name ?? "", (space) => space === undefined);
    await management.untilProvider("here", (one) => one === undefined);
    await stack.disposeAsync();
  });

  async function start(options: Parameters<Management["manager"]>[0] = {}): Promise<void> {
    const manager = stack.use(management.manager({ types: { kept: kept.type }, ...options }));
    await manager.started;
  }
  const secretsIn = async (namespace: string): Promise<readonly (string | undefined)[]> =>
    (await management.client.resource(SECRET).in(namespace).list()).items.map(({ metadata }) => metadata.name);
  const spaceIn = (namespace: string, name: string): Promise<AnySpace> =>
    management.client.resource(Space).in(namespace).get(name);
  const deleted = async (namespace: string, name: string): Promise<void> => {
    await management.client.resource(Space).in(namespace).delete(name);
    await management.until(namespace, name, (space) => space === undefined);
  };
  /** What a provider does with each call of a name; others are answered. */
  const on = (call: string, what: (times: number, signal: AbortSignal) => Promise<void> | void): void => {
    let times = 0;
    kept.before = (asked, signal) => (asked.startsWith(call) ? what(++times, signal) : undefined);
  };
  const never = (_: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

  describe("asks a provider", () => {
    it("again that fails to make a space, and says why meanwhile", async () => {
      on("create", (times) => {
        if (times <= 2) throw new Error(`no room, for the ${times}. time`);
      });
      await management.make(HERE, "slow");
      const failed = await management.until(
        HERE,
        "slow",
        (space) => conditionOf(space, "Provided") === "False CreateFailed",
      );
      expect(messageOf(failed, "Ready")).to.match(/^no room, for the \d\. time$/);
      expect(failed?.status?.Phase).to.equal("Initializing");
      await management.until(HERE, "slow", isReady);
      expect(kept.calls.filter((call) => call === "create slow")).to.have.length(3);
    });

    it("that hangs for as long as a call may take, and others meanwhile", async () => {
      await stack.disposeAsync();
      stack = new AsyncDisposableStack();
      const others = new KeptSpaces();
      await start({ callTimeout: 300, types: { kept: kept.type, others: others.type } });
      on("create", never);
      await management.provide("busy", { type: "others" });
      await management.untilProvider("busy", (one) => one?.status?.Phase === "Ready");
      for (let n = 0; n < 40; n++) await management.make(HERE, `hangs-${n}`);
      await management.make(namespaceOf("busy"), "quick");
      await management.until(namespaceOf("busy"), "quick", isReady);
      const late = await management.until(
        HERE,
        "hangs-0",
        (space) => conditionOf(space, "Provided") === "False CreateFailed",
      );
      expect(messageOf(late, "Ready")).to.equal("its provider has not answered create within 0.3 s");
      kept.before = () => undefined;
      for (let n = 0; n < 40; n++) await management.until(HERE, `hangs-${n}`, isReady);
    });

    it("to delete until it is gone, and holds the object as long", async () => {
      await management.make(HERE, "held");
      await management.until(HERE, "held", isReady);
      on("delete", (times) => {
        if (times === 1) throw new Error("not now");
      });
      await management.client.resource(Space).in(HERE).delete("held");
      const failed = await management.until(
        HERE,
        "held",
        (space) => conditionOf(space, "Provided") === "False DeleteFailed",
      );
      expect(messageOf(failed, "Ready")).to.equal("not now");
      await management.until(HERE, "held", (space) => space === undefined);
      expect(kept.spaces.has("held")).to.equal(false);
    });

    it("that makes none in vain, and says so", async () => {
      await management.provide("list", { type: "listed", secret: {} });
      const provider = await management.untilProvider(
        "list",
        (one) => conditionOf(one, "Ready") === "False UnknownType",
      );
      expect(messageOf(provider, "Ready")).to.match(/"listed", but kept, workspaces$/);
    });
  });

  describe("believes of a provider", () => {
    it("that a space has gone when it says so twice, and never because it cannot be asked", async () => {
      await management.make(HERE, "one");
      kept.set("found");
      await management.until(HERE, "one", isReady);
      await management.until(HERE, "found", isReady);
      // A list that is too short: what is managed stays as it is, since the provider has it when it is asked.
      kept.said = [];
      kept.before = (call) => {
        if (call === "get one") kept.said = undefined;
      };
      kept.nudge();
      kept.set("next");
      await management.until(HERE, "next", isReady);
      expect(kept.said).to.equal(undefined);
      expect(isReady(await spaceIn(HERE, "one"))).to.equal(true);
      kept.before = () => {
        throw new Error("away");
      };
      kept.nudge();
      const away = await management.until(
        HERE,
        "one",
        (space) => conditionOf(space, "Provided") === "Unknown ProviderUnreachable",
      );
      expect(away?.status?.Phase).to.equal("Ready");
      expect(messageOf(away, "Provided")).to.equal('its provider "here" cannot be asked: away');
      const provider = await management.untilProvider(
        "here",
        (one) => conditionOf(one, "Ready") === "False ProviderUnreachable",
      );
      expect(provider?.status?.Phase).to.equal("Ready");
      for (const name of ["one", "found"]) expect(isReady(await spaceIn(HERE, name)), name).to.equal(true);
      kept.before = () => undefined;
      await management.until(HERE, "one", (space) => conditionOf(space, "Provided") === "True");
    });

    it("nothing that no provider can mean", async () => {
      const lies: readonly (readonly [unknown, RegExp])[] = [
        [{}, /without a list of spaces/],
        [[{ phase: "Ready" }], /no name of 1 to 253 characters/],
        [[{ name: "a", phase: "Odd" }], /of the space "a" it says no phase: Initializing or Ready/],
        [[{ name: "a", phase: "Ready", id: "i".repeat(254) }], /an id that is not 1 to 253 characters/],
        [
          [
            { name: "a", phase: "Ready" },
            { name: "a", phase: "Ready" },
          ],
          /two spaces of the name "a"/,
        ],
      ];
      for (const [said, message] of lies) {
        kept.said = said as never;
        kept.nudge();
        await management.untilProvider("here", (one) => message.test(messageOf(one, "Ready")));
      }
    });

    it("names that no Space can have, and says so", async () => {
      kept.set("No_Name");
      const provider = await management.untilProvider(
        "here",
        (one) => conditionOf(one, "Discovered") === "False NamesTaken",
      );
      expect(messageOf(provider, "Discovered")).to.match(/No_Name$/);
      expect(provider?.status?.spaces).to.equal(1);
    });
  });

  describe("says of a space", () => {
    it("that it is being made, does not answer any more, and does again", async () => {
      kept.readyAtOnce = false;
      await management.make(HERE, "turns");
      const begun = await management.until(
        HERE,
        "turns",
        (space) => conditionOf(space, "Provided") === "False Initializing",
      );
      expect(begun?.status?.Phase).to.equal("Initializing");
      kept.set("turns", { message: "no leader yet" });
      const still = await management.until(HERE, "turns", (space) => messageOf(space, "Ready") === "no leader yet");
      expect(still?.status?.Phase).to.equal("Initializing");
      kept.set("turns", { phase: "Ready" });
      await management.until(HERE, "turns", isReady);
      kept.set("turns", { phase: "Initializing", message: "no leader" });
      const lost = await management.until(HERE, "turns", (space) => space?.status?.Phase === "NotReady");
      expect(messageOf(lost, "Ready")).to.equal("no leader");
      expect(await secretsIn(HERE)).to.include("external-turns");
      kept.set("turns", { phase: "Ready" });
      await management.until(HERE, "turns", isReady);
    });

    it("that it has vanished, makes no other in its place, and deletes nothing twice", async () => {
      await management.make(HERE, "gone");
      await management.until(HERE, "gone", isReady);
      kept.remove("gone");
      const gone = await management.until(HERE, "gone", (space) => conditionOf(space, "Provided") === "False Vanished");
      expect(gone?.status?.Phase).to.equal("NotReady");
      expect(gone?.status).not.to.have.property("externalSecretRef");
      expect(await secretsIn(HERE)).not.to.include("external-gone");
      expect(kept.calls.filter((call) => call === "create gone")).to.have.length(1);
      // Made again by somebody it is another one.
      kept.set("gone");
      const back = await management.until(HERE, "gone", isReady);
      expect(back?.status?.spaceID).to.equal("gone-2");
      await deleted(HERE, "gone");
      expect(kept.spaces.has("gone")).to.equal(false);
    });

    it("how it is reached, anew when that changes, from where it is wanted, and puts right what others write", async () => {
      await management.make(HERE, "keys", { accessscopetype: "External" });
      await management.until(HERE, "keys", isReady);
      expect(await secretsIn(HERE)).to.deep.equal(["external-keys"]);
      const secrets = management.client.resource(SECRET).in(HERE);
      const until = async (text: string): Promise<void> => {
        for (;;) {
          const { data } = await secrets.get("external-keys").catch(() => ({ data: undefined }));
          if (Buffer.from(data?.["kubeconfig"] ?? "", "base64").toString() === text) return;
        }
      };
      await until(kubeconfigOf("keys", "first"));
      kept.token = "second";
      kept.set("keys", { accessVersion: "2" });
      await until(kubeconfigOf("keys", "second"));
      await secrets.mergePatch("external-keys", { data: { kubeconfig: "Zm9yZ2Vk" } });
      await until(kubeconfigOf("keys", "second"));
      await secrets.delete("external-keys");
      await until(kubeconfigOf("keys", "second"));
      const before = kept.calls.length;
      await management.client
        .resource(Space)
        .in(HERE)
        .mergePatch("keys", { spec: { accessscopetype: "InCluster" } });
      await management.until(HERE, "keys", (space) => space?.status?.inClusterSecretRef !== undefined);
      expect(kept.calls.slice(before)).to.include("access keys");
      const after = await management.until(HERE, "keys", isReady);
      expect(after?.status).not.to.have.property("externalSecretRef");
      expect(await secretsIn(HERE)).to.deep.equal(["incluster-keys"]);
    });

    it("that somebody's Secret is in the way, and leaves that as it is", async () => {
      await management.keep("external-mine", { kubeconfig: "mine" }, HERE);
      await management.make(HERE, "mine");
      const taken = await management.until(
        HERE,
        "mine",
        (space) => conditionOf(space, "AccessReady") === "False SecretTaken",
      );
      expect(taken?.status?.Phase).to.equal("NotReady");
      const secret = await management.client.resource(SECRET).in(HERE).get("external-mine");
      expect(secret.data).to.deep.equal({ kubeconfig: Buffer.from("mine").toString("base64") });
      await deleted(HERE, "mine");
      expect(await secretsIn(HERE)).to.include("external-mine");
      await management.client.resource(SECRET).in(HERE).delete("external-mine");
    });
  });

  describe("has a space", () => {
    it("of the default provider where it names none: that says so, or is called so", async () => {
      await management.make("default", "any");
      const none = await management.until(
        "default",
        "any",
        (space) => conditionOf(space, "Provided") === "False NoProvider",
      );
      expect(messageOf(none, "Ready")).to.match(
        /^spec\.SpaceProviderDescName: there is no default provider: name one, or annotate/,
      );
      const annotations = { "space.kubestellar.io/is-default-provider": "true" };
      await management.client.resource(SpaceProviderDesc).mergePatch("here", { metadata: { annotations } });
      const any = await management.until("default", "any", isReady);
      expect(any?.spec.SpaceProviderDescName).to.equal("here");
      expect(any?.status?.externalSecretRef).to.deep.equal({ name: "external-any", namespace: "default" });
      // In the namespace of a provider it is that.
      await management.make(HERE, "own");
      expect((await management.until(HERE, "own", isReady))?.spec.SpaceProviderDescName).to.equal("here");
      await deleted("default", "any");
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
      expect(messageOf(taken, "Ready")).to.match(
        /which is that of the Space spaceprovider-here\/theirs: take another name$/,
      );
      expect(await secretsIn("default")).not.to.include("external-theirs");
      await deleted("default", "theirs");
      expect(kept.spaces.has("theirs")).to.equal(true);
      // Not discovered, and nobody's: for Spaces at the provider alone.
      await management.client
        .resource(SpaceProviderDesc)
        .mergePatch("here", { spec: { SpacePrefixForDiscovery: "f-" } });
      await management.until(HERE, "theirs", (space) => space === undefined);
      await management.make("default", "theirs", spec);
      const refused = await management.until(
        "default",
        "theirs",
        (space) => conditionOf(space, "Ready") === "False NameTaken",
      );
      expect(messageOf(refused, "Ready")).to.match(
        /was not made for this Space: take another name, or take it over by a Space in spaceprovider-here$/,
      );
      await deleted("default", "theirs");
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
        'the Secret "default/external-far" (spec.externalSecretName) is not there, or has no kubeconfig',
      );
      await management.keep("external-far", { kubeconfig: "}" });
      await management.until("default", "far", (space) =>
        /it is none, which begins with kind: Config/.test(messageOf(space, "Ready")),
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
      await deleted("default", "far");
      expect(await secretsIn("default")).to.include.members(["external-far", "far-too"]);
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
        /^422 .*SpaceProviderDescName is immutable: make another Space/,
      );
      expect(await refused({ SpaceProviderDescName: null })).to.match(/^422 .*SpaceProviderDescName is immutable/);
      expect(await refused({ Type: "imported" })).to.match(
        /^422 .*Type is immutable where it is, or would be, imported/,
      );
      expect(await refused({ Type: "odd" })).to.match(/^422 .*spec\.Type: Unsupported value: "odd"/);
      expect(await refused({ Type: "unmanaged" })).to.equal("taken");
      await spaces.mergePatch("fixed", { spec: { Type: "managed" }, status: { Phase: "Ready" } });
      const imported = management.make(HERE, "both", { Type: "imported", SpaceProviderDescName: "here" });
      expect(await imported.catch(({ message }) => message)).to.match(
        /an imported Space has no provider, leave it out/,
      );
      const type = management.client
        .resource(SpaceProviderDesc)
        .mergePatch("here", { spec: { ProviderType: "workspaces" } });
      expect(await type.catch(({ message }) => message)).to.match(/ProviderType is immutable/);
    });
  });

  it("says nothing of what is secret in its log", async () => {
    on("create", () => {
      throw new Error("refused");
    });
    await management.make(HERE, "quiet");
    await management.until(HERE, "quiet", (space) => conditionOf(space, "Provided") === "False CreateFailed");
    expect(management.logged.join("\n")).not.to.match(/token|first|Bearer/);
    expect((await management.client.resource(NAMESPACE).get(HERE)).metadata.labels).to.include({
      "space.kubestellar.io/provider": "here",
    });
  });
});
