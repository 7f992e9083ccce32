// After any sequence of events of objects, network and informer, the store equals the server's state, and the delivered
// events lead there step by step.

import { compareResourceVersions } from "@virtual-workspaces/apimachinery/requests";
import type { InformerEvent } from "@virtual-workspaces/client";
import { expect } from "chai";
import fc from "fast-check";
import { startRelay } from "../../_support/relay.ts";
import type { NoteObject } from "./support.ts";
import { Notes, versionsOf, Watched } from "./support.ts";

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("set" as const), name: fc.nat(5), cluster: fc.nat(1) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("delete" as const), name: fc.nat(5), cluster: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("cut" as const) }) },
  // More than the history holds: a disconnected informer must list again.
  { weight: 1, arbitrary: fc.record({ do: fc.constant("flood" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("restart" as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("turn" as const), turns: fc.nat(5) }) },
);

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** State that a subscriber derives from events; it fails if an event does not fit the previous one. */
class Listener {
  readonly known = new Map<string, NoteObject>();

  hear(event: InformerEvent<NoteObject>): void {
    const { type, key, object } = event;
    const at = `${key.cluster}/${key.name}`;
    const before = this.known.get(at);
    expect(before !== undefined, `${type} ${at}`).to.equal(type !== "added");
    const newer = compareResourceVersions(
      object.metadata.resourceVersion ?? "",
      before?.metadata.resourceVersion ?? "",
    );
    if (type === "updated") {
      expect(event.old).to.equal(before);
      expect(newer).to.be.above(0);
    }
    if (type === "deleted") {
      expect(newer).to.be.at.least(0);
      this.known.delete(at);
    } else this.known.set(at, object);
  }

  get versions(): Map<string, string> {
    return versionsOf([...this.known.values()].map(qualified));
  }
}

/** Includes the cluster in the name. */
function qualified(object: NoteObject): NoteObject {
  const cluster = object.metadata.annotations?.["kcp.io/cluster"];
  return { ...object, metadata: { ...object.metadata, name: `${cluster}/${object.metadata.name}` } };
}

async function apply(
  step: Step,
  server: Notes,
  { watched, cut }: { watched: Watched; cut: () => void },
): Promise<void> {
  if (step.do === "set") server.set(`n${step.name}`, String(Math.random()), `c${step.cluster}`);
  else if (step.do === "delete") server.delete(`n${step.name}`, `c${step.cluster}`);
  else if (step.do === "cut") cut();
  else if (step.do === "flood") for (let n = 0; n < 12; n++) server.set("flood", String(Math.random()), "c0");
  else if (step.do === "restart") {
    await watched.informer.stop();
    watched.informer.start();
  } else for (let n = 0; n < step.turns; n++) await new Promise((resolve) => setImmediate(resolve));
}

describe("an informer and its model", () => {
  it("agree after random histories", async () => {
    const reached = { relists: 0, resumed: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        await using server = await Notes.start({ history: { events: 8 } });
        await using relay = await startRelay(server.port);
        const cut = (): void => relay.cut();
        const problems: Error[] = [];
        await using watched = new Watched(relay.port, {
          cluster: "*",
          backoff: { first: 1, most: 4 },
          onProblem: (error) => void problems.push(error),
        });
        const listener = new Listener();
        const hear = (...told: unknown[]): void => listener.hear(told.at(-1) as InformerEvent<NoteObject>);
        watched.informer.on({
          added: hear,
          updated: hear,
          deleted: hear,
        });
        watched.informer.start();
        for (const step of steps) await apply(step, server, { watched, cut });
        server.set("last", "1", "c0");
        const there = (): Map<string, string> =>
          versionsOf(["c0", "c1"].flatMap((c) => (server.notes.in(c).list() as NoteObject[]).map(qualified)));
        const is = (): string => JSON.stringify([...versionsOf(watched.informer.store.list().map(qualified))]);
        await watched.until(() => is() === JSON.stringify([...there()]));
        expect(problems).to.deep.equal([]);
        expect(listener.versions).to.deep.equal(there());
        const { relists, watches } = watched.informer.metrics;
        reached.relists += relists;
        reached.resumed += watches - relists - 1;
      }),
      { numRuns: 150, seed: 5 },
    );
    // The histories must have caused relists.
    expect(reached.relists).to.be.above(5);
    expect(reached.resumed).to.be.above(50);
  }).timeout(60_000);
});
