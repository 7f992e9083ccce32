// Random changes of Spaces, their provider and their manager: the final state is that of the objects and the provider.
import { namespaceOf, Space, SpaceProviderDesc } from "@virtual-workspaces/spaces";
import { expect } from "chai";
import { Random } from "../../_support/random.ts";
import { KeptSpaces } from "./support/kept-spaces.ts";
import { type AnySpace, Management, SECRET } from "./support/management.ts";

const ROUNDS = 25;
const STEPS = 60;
const NAMES = ["a", "b", "c"] as const;
const HERE = namespaceOf("here");

/** Desired final state of a Space; `undefined` if it does not exist. */
interface Wanted {
  readonly type: "managed" | "unmanaged";
  /** Whether the physical space was deleted behind the manager. */
  readonly vanished: boolean;
}

describe("random changes of Spaces", function () {
  this.timeout(180_000);
  let stack: AsyncDisposableStack;
  let management: Management;
  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    management = stack.use(await Management.start());
  });
  afterEach(() => stack.disposeAsync());

  for (let round = 0; round < ROUNDS; round++) {
    it(`lead to the desired state (seed ${round})`, async () => {
      const pick = new Random(round);
      const kept = new KeptSpaces();
      const started = () => stack.use(management.manager({ types: { kept: kept.type }, longestWait: 100 }));
      let manager = started();
      const spaces = management.client.resource(Space).in(HERE);
      const model = new Map<string, Wanted>();
      await management.provide("here", { type: "kept" });
      await management.untilProvider("here", (one) => one?.status?.Phase === "Ready");
      let failing = false;

      const steps: readonly (() => Promise<void>)[] = [
        async () => {
          const name = pick.pick(NAMES);
          if (model.has(name) || kept.spaces.has(name)) return;
          model.set(name, { type: "managed", vanished: false });
          await management.make(HERE, name);
        },
        async () => {
          const name = pick.pick(NAMES);
          const wanted = model.get(name);
          if (wanted === undefined || failing) return;
          // An unmanaged Space comes back while its physical space exists.
          if (wanted.type === "managed") model.delete(name);
          const there = await management.until(HERE, name, (space) => space !== undefined);
          await spaces.delete(name);
          await management.until(HERE, name, (space) => space?.metadata.uid !== there?.metadata.uid);
        },
        async () => {
          const name = pick.pick(NAMES);
          if (model.has(name) || kept.spaces.has(name)) return;
          kept.set(name);
          model.set(name, { type: "unmanaged", vanished: false });
          if (!failing) await management.until(HERE, name, (space) => space !== undefined);
        },
        async () => {
          const name = pick.pick(NAMES);
          const wanted = model.get(name);
          if (wanted === undefined || wanted.vanished || failing) return;
          await management.until(HERE, name, (space) => space?.status?.Phase === "Ready");
          kept.remove(name);
          if (wanted.type === "managed") model.set(name, { type: "managed", vanished: true });
          else model.delete(name);
          // Before the manager has seen it, a new one could replace it unnoticed.
          await management.until(HERE, name, (space) => space === undefined || space.status?.Phase === "NotReady");
        },
        async () => {
          const name = pick.pick(NAMES);
          const wanted = model.get(name);
          if (wanted === undefined || wanted.vanished || failing) return;
          await management.until(HERE, name, (space) => space?.status?.Phase === "Ready");
          const type = wanted.type === "managed" ? "unmanaged" : "managed";
          await spaces.mergePatch(name, { spec: { Type: type } });
          await management.until(
            HERE,
            name,
            (space) => (space?.metadata.finalizers?.length === 1) === (type === "managed"),
          );
          // A Space that a user created stays when it becomes unmanaged.
          const { metadata } = await spaces.get(name);
          const discovered = metadata.labels?.["space.kubestellar.io/discovered"] === "true";
          if (type === "unmanaged" && !discovered) {
            await spaces.mergePatch(name, { spec: { Type: "managed" } });
            await management.until(HERE, name, (space) => space?.metadata.finalizers?.length === 1);
          } else model.set(name, { ...wanted, type });
        },
        async () => {
          failing = pick.below(2) === 0;
          kept.before = () => {
            if (failing && pick.below(2) === 0) throw new Error("not now");
          };
        },
        async () => {
          await manager[Symbol.asyncDispose]();
          manager = started();
        },
        async () => {
          const name = pick.pick(NAMES);
          if (kept.spaces.has(name)) kept.set(name, { accessVersion: String(pick.below(1000)) });
        },
      ];
      for (let step = 0; step < STEPS; step++) await pick.pick(steps)();
      failing = false;
      kept.before = () => undefined;
      await expectEnd(model, kept);
      await manager[Symbol.asyncDispose]();
      await end(kept);
    });
  }

  async function expectEnd(model: ReadonlyMap<string, Wanted>, kept: KeptSpaces): Promise<void> {
    for (const [name, { type, vanished }] of model) {
      const is = (space: AnySpace | undefined): boolean =>
        space?.spec.Type === type && space.status?.Phase === (vanished ? "NotReady" : "Ready");
      await management.until(HERE, name, is);
      expect(kept.spaces.has(name), name).to.equal(!vanished);
    }
    for (const name of NAMES) {
      if (model.has(name)) continue;
      await management.until(HERE, name, (space) => space === undefined);
      expect(kept.spaces.has(name), name).to.equal(false);
    }
    const there = [...model].filter(([, { vanished }]) => !vanished).map(([name]) => name);
    const wanted = there.flatMap((name) => [`external-${name}`, `incluster-${name}`]).sort();
    const secrets = management.client.resource(SECRET).in(HERE);
    for (;;) {
      const names = (await secrets.list()).items.map(({ metadata }) => metadata.name ?? "").sort();
      if (JSON.stringify(names) === JSON.stringify(wanted)) break;
    }
  }

  /** Deletes everything and checks that nothing is left. */
  async function end(kept: KeptSpaces): Promise<void> {
    await using _ = management.manager({ types: { kept: kept.type }, longestWait: 100 });
    const spaces = management.client.resource(Space).in(HERE);
    for (const { metadata, spec } of (await spaces.list()).items)
      if (spec.Type === "managed") await spaces.delete(metadata.name ?? "");
    for (const name of NAMES)
      await management.until(HERE, name, (space) => space === undefined || space.spec.Type === "unmanaged");
    await management.client.resource(SpaceProviderDesc).delete("here");
    await management.untilProvider("here", (one) => one === undefined);
    expect((await spaces.list()).items).to.deep.equal([]);
  }
});
