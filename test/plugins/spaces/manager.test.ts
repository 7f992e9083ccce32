// Reactions of the manager to the behavior of providers and to changes of Spaces.
import {
  namespaceOf,
  type ProviderContext,
  Space,
  type SpaceProvider,
  SpaceProviderDesc,
} from "@virtual-workspaces/spaces";
import { expect } from "chai";
import { until } from "../../_support/until.ts";
import { KeptManagement } from "./support/kept-management.ts";
import { KeptSpaces, kubeconfigOf } from "./support/kept-spaces.ts";
import { conditionOf, isReady, Management, messageOf, NAMESPACE, SECRET } from "./support/management.ts";

const HERE = namespaceOf("here");

describe("SpaceManager", function () {
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

  /** A call that was given up is not completed later. */
  const never = (_: number, signal: AbortSignal): Promise<void> =>
    new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));

  describe("calls a provider", () => {
    it("again after a failed creation, and shows the reason meanwhile", async () => {
      running.on("create", (times) => {
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

    it("up to the time limit if it hangs, and others meanwhile", async () => {
      const others = new KeptSpaces();
      await running.restart({ callTimeout: 300, types: { others: others.type } });
      running.on("create", never);
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
      expect(messageOf(late, "Ready")).to.equal("the provider did not answer create within 0.3 s");
      kept.before = () => undefined;
      for (let n = 0; n < 40; n++) await management.until(HERE, `hangs-${n}`, isReady);
    });

    it("to open it until the time limit, and closes one that opens too late", async () => {
      const [late, closed] = [Promise.withResolvers<SpaceProvider & AsyncDisposable>(), Promise.withResolvers<void>()];
      const signals: AbortSignal[] = [];
      const open = ({ signal }: ProviderContext): Promise<SpaceProvider & AsyncDisposable> => {
        signals.push(signal);
        return signals.length === 1 ? late.promise : new Promise(() => undefined);
      };
      await running.restart({ callTimeout: 300, types: { slow: { open } } });
      await management.provide("opening", { type: "slow" });
      const provider = await management.untilProvider(
        "opening",
        (one) => conditionOf(one, "Ready") === "False OpenFailed",
      );
      expect(messageOf(provider, "Ready")).to.equal("the provider did not answer open within 0.3 s");
      expect(signals[0]?.aborted).to.equal(true);
      late.resolve({
        list: async () => [],
        get: async () => undefined,
        access: () => Promise.reject(new Error("there is none")),
        [Symbol.asyncDispose]: async () => closed.resolve(),
      });
      await closed.promise;
      // The shutdown of a manager also aborts an opening.
      const before = signals.length;
      await running.restart({ callTimeout: 60_000, types: { slow: { open } } });
      await until(() => signals.length !== before);
      await running.restart();
      expect(signals.at(-1)?.aborted).to.equal(true);
      await management.removeProvider("opening");
    });

    it("to delete a space until it is gone, and keeps the finalizer until then", async () => {
      await management.make(HERE, "held");
      await management.until(HERE, "held", isReady);
      running.on("delete", (times) => {
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

    it("to delete the space of the object, and not one that was created in its place", async () => {
      await management.make(HERE, "twice");
      await management.until(HERE, "twice", isReady);
      running.on("get", (times) => {
        // Happens between the deletion of the object and the reaction of the manager.
        if (times === 1) kept.spaces.set("twice", { name: "twice", id: "another", phase: "Ready" });
      });
      await running.delete(HERE, "twice");
      expect(kept.spaces.get("twice")?.id).to.equal("another");
      expect(kept.calls).not.to.include("delete twice");
    });

    it("without creation, and shows that in a condition", async () => {
      await management.provide("list", { type: "listed", secret: {} });
      const provider = await management.untilProvider(
        "list",
        (one) => conditionOf(one, "Ready") === "False UnknownType",
      );
      expect(messageOf(provider, "Ready")).to.match(/"listed": use one of kept, workspaces$/);
    });
  });

  describe("accepts from a provider", () => {
    it("the deletion of a space if list and get agree, and never because the provider is unreachable", async () => {
      await management.make(HERE, "one");
      kept.set("found");
      await management.until(HERE, "one", isReady);
      await management.until(HERE, "found", isReady);
      // A list that is too short: managed spaces stay, since the provider returns them by name.
      kept.said = [];
      kept.before = (call) => {
        if (call === "get one") kept.said = undefined;
      };
      kept.nudge();
      kept.set("next");
      await management.until(HERE, "next", isReady);
      expect(kept.said).to.equal(undefined);
      expect(isReady(await running.space(HERE, "one"))).to.equal(true);
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
      expect(messageOf(away, "Provided")).to.equal('the provider "here" is unreachable: away');
      const provider = await management.untilProvider(
        "here",
        (one) => conditionOf(one, "Ready") === "False ProviderUnreachable",
      );
      expect(provider?.status?.Phase).to.equal("Ready");
      for (const name of ["one", "found"]) expect(isReady(await running.space(HERE, name)), name).to.equal(true);
      kept.before = () => undefined;
      await management.until(HERE, "one", (space) => conditionOf(space, "Provided") === "True");
    });

    it("no invalid results", async () => {
      const lies: readonly (readonly [unknown, RegExp])[] = [
        [{}, /did not return a list of spaces/],
        [[{ phase: "Ready" }], /without a valid name: use 1 to 253 characters/],
        [[{ name: "a", phase: "Odd" }], /the space "a" with an invalid phase: use "Initializing" or "Ready"/],
        [[{ name: "a", phase: "Ready", id: "i".repeat(254) }], /an invalid id: use 1 to 253 characters/],
        [
          [
            { name: "a", phase: "Ready" },
            { name: "a", phase: "Ready" },
          ],
          /two spaces with the name "a"/,
        ],
      ];
      for (const [said, message] of lies) {
        kept.said = said as never;
        kept.nudge();
        await management.untilProvider("here", (one) => message.test(messageOf(one, "Ready")));
      }
    });

    it("no name of its own that is invalid for a namespace", async () => {
      for (const name of ["with.dots", "l".repeat(50)]) {
        await management.provide(name, { type: "kept" });
        const provider = await management.untilProvider(
          name,
          (one) => conditionOf(one, "Ready") === "False NameInvalid",
        );
        expect(messageOf(provider, "Ready")).to.match(
          /^metadata\.name: cannot create the namespace .*, .*: use a name of at most 49/,
        );
        await management.client.resource(SpaceProviderDesc).delete(name);
        await management.untilProvider(name, (one) => one === undefined);
      }
    });

    it("no names that are invalid for a Space, and shows them in a condition", async () => {
      kept.set("No_Name");
      const provider = await management.untilProvider(
        "here",
        (one) => conditionOf(one, "Discovered") === "False NamesTaken",
      );
      expect(messageOf(provider, "Discovered")).to.match(/No_Name$/);
      expect(provider?.status?.spaces).to.equal(1);
    });
  });

  describe("shows that a Space", () => {
    it("is being created, no longer responds, and responds again", async () => {
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
      expect(await running.secrets(HERE)).to.include("external-turns");
      kept.set("turns", { phase: "Ready" });
      await management.until(HERE, "turns", isReady);
    });

    it("has lost its physical space, creates no other one, and deletes nothing twice", async () => {
      await management.make(HERE, "gone");
      await management.until(HERE, "gone", isReady);
      kept.remove("gone");
      const gone = await management.until(HERE, "gone", (space) => conditionOf(space, "Provided") === "False Vanished");
      expect(gone?.status?.Phase).to.equal("NotReady");
      expect(gone?.status).not.to.have.property("externalSecretRef");
      expect(await running.secrets(HERE)).not.to.include("external-gone");
      expect(kept.calls.filter((call) => call === "create gone")).to.have.length(1);
      // A space that is created again outside the manager is another one.
      kept.set("gone");
      const back = await management.until(HERE, "gone", isReady);
      expect(back?.status?.spaceID).to.equal("gone-2");
      await running.delete(HERE, "gone");
      expect(kept.spaces.has("gone")).to.equal(false);
    });

    it("has an identifier that the provider reports late, and deletes it all the same", async () => {
      // A space appears that has no identifier yet.
      running.on("create late", () => void kept.spaces.set("late", { name: "late", phase: "Initializing" }));
      await management.make(HERE, "late");
      await management.until(HERE, "late", (space) => space?.status?.spaceID === "late");
      kept.spaces.set("late", { name: "late", id: "late-1", phase: "Ready" });
      await running.delete(HERE, "late");
      expect(kept.spaces.has("late")).to.equal(false);
    });

    it("has access, with current Secrets for the requested networks, and reverts other changes of them", async () => {
      await management.make(HERE, "keys", { accessscopetype: "External" });
      await management.until(HERE, "keys", isReady);
      expect(await running.secrets(HERE)).to.deep.equal(["external-keys"]);
      const secrets = management.client.resource(SECRET).in(HERE);
      const untilKubeconfig = (text: string): Promise<true> =>
        until(async () => {
          const { data } = await secrets.get("external-keys").catch(() => ({ data: undefined }));
          return Buffer.from(data?.["kubeconfig"] ?? "", "base64").toString() === text;
        });
      await untilKubeconfig(kubeconfigOf("keys", "first"));
      kept.token = "second";
      kept.set("keys", { accessVersion: "2" });
      await untilKubeconfig(kubeconfigOf("keys", "second"));
      await secrets.mergePatch("external-keys", { data: { kubeconfig: "Zm9yZ2Vk" } });
      await untilKubeconfig(kubeconfigOf("keys", "second"));
      await secrets.delete("external-keys");
      await untilKubeconfig(kubeconfigOf("keys", "second"));
      const before = kept.calls.length;
      await management.client
        .resource(Space)
        .in(HERE)
        .mergePatch("keys", { spec: { accessscopetype: "InCluster" } });
      await management.until(HERE, "keys", (space) => space?.status?.inClusterSecretRef !== undefined);
      expect(kept.calls.slice(before)).to.include("access keys");
      const after = await management.until(HERE, "keys", isReady);
      expect(after?.status).not.to.have.property("externalSecretRef");
      expect(await running.secrets(HERE)).to.deep.equal(["incluster-keys"]);
    });

    it("is Ready while its access cannot be renewed, with the previous access", async () => {
      await management.make(HERE, "stale");
      await management.until(HERE, "stale", isReady);
      running.on("access", () => {
        throw new Error("no tokens today");
      });
      kept.set("stale", { accessVersion: "2" });
      const stale = await management.until(
        HERE,
        "stale",
        (space) => conditionOf(space, "AccessReady") === "Unknown AccessStale",
      );
      expect(messageOf(stale, "AccessReady")).to.equal("no tokens today");
      expect([stale?.status?.Phase, conditionOf(stale, "Ready")]).to.deep.equal(["Ready", "True"]);
      expect(await running.secrets(HERE)).to.include("external-stale");
      kept.before = () => undefined;
      await management.until(HERE, "stale", (space) => conditionOf(space, "AccessReady") === "True");
      // A Space without access yet is not Ready.
      running.on("access", () => {
        throw new Error("no tokens today");
      });
      await management.make(HERE, "bare");
      const bare = await management.until(
        HERE,
        "bare",
        (space) => conditionOf(space, "AccessReady") === "False AccessFailed",
      );
      expect(bare?.status?.Phase).to.equal("NotReady");
    });

    it("conflicts with another Secret, which stays unchanged", async () => {
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
      await running.delete(HERE, "mine");
      expect(await running.secrets(HERE)).to.include("external-mine");
      await management.client.resource(SECRET).in(HERE).delete("external-mine");
    });
  });

  it("writes no secrets to its log", async () => {
    running.on("create", () => {
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
