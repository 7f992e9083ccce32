// A client of a forwarding server. Both network connections are cut at random a thousand times while objects change, and it
// sees every change once and in order.
import { forward } from "@virtual-workspaces/forwarding";
import { view } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { type PlainServer, startPlain, WatchStream } from "../_support/plain.ts";
import { Random } from "../_support/random.ts";
import { type Relay, startRelay } from "../_support/relay.ts";
import { Thing, type ThingContent, things } from "./histories/kinds.ts";
import { credentialed } from "./upstream.ts";

const RECONNECTS = 1000;
const ALL = "/services/things/clusters/c1/apis/test.dev/v1/things";
const portOf = ({ url }: PlainServer): number => Number(new URL(url).port);

describe("a watch of a forwarding server whose connections are both cut at random a thousand times", function () {
  this.timeout(120_000);
  for (const how of ["forwarded", "in a view"] as const) {
    it(`(${how}) sees every change exactly once`, async () => {
      const objects = Thing.collection({ history: { events: 20_000 } });
      await using upstream = await startPlain(things(Thing.serve(objects)));
      await using there = await startRelay(portOf(upstream));
      await using source = forward<ThingContent>({
        resource: Thing,
        upstream: credentialed(`http://127.0.0.1:${there.port}/services/things`),
        identity: "none",
        history: { events: 20_000 },
        onError: () => undefined,
      });
      const shown = view({ from: source, select: ({ spec }) => spec.team === "red", history: { events: 20_000 } });
      const served = how === "forwarded" ? Thing.serve(source) : Thing.serve(shown);
      await using server = await startPlain(things(served));
      await using here = await startRelay(portOf(server));
      const random = new Random(how.length);
      const client = new Cut(here, (await server.get(ALL)).body.metadata.resourceVersion);
      const part = objects.in("c1", "ns1");
      /** Expected changes: an object is created, changed with each number, and deleted. */
      const due: string[] = [];
      let n = 0;
      const change = (): void => {
        n += 1;
        const name = random.pick(["a", "b", "c"]);
        const before = part.get(name);
        const [was, is] = [before !== undefined && isSeen(before), random.chance(0.8)];
        const goes = how === "forwarded" && !is;
        if (goes) part.delete(name);
        else part.set(name, { n, team: is ? "red" : "blue" });
        if (was || is) due.push(`${was ? (is ? "MODIFIED" : "DELETED") : "ADDED"} ${name} ${is ? n : before?.spec.n}`);
      };
      for (let round = 0; round < RECONNECTS; round++) {
        for (let left = random.below(4); left > 0; left--) change();
        // Which events are in flight when the connections are cut is random; some of them have arrived.
        await client.see(client.seen.length + random.below(due.length - client.seen.length + 1));
        await client.connect();
        if (random.chance(0.2)) there.cut();
        here.cut();
        await client.close();
      }
      await client.see(due.length);
      await client.close();
      expect(due.length).to.be.above(RECONNECTS);
      expect(client.seen).to.deep.equal(due);
      expect(client.opened).to.be.at.least(RECONNECTS);
    });
  }
});

function isSeen({ spec }: ThingContent): boolean {
  return spec.team === "red";
}

/** Client that disconnects, and resumes at its last event. */
class Cut {
  readonly seen: string[] = [];
  opened = 0;
  readonly #relay: Relay;
  #version: string;
  #stream: WatchStream | undefined;

  constructor(relay: Relay, version: string) {
    this.#relay = relay;
    this.#version = version;
  }

  /** Resolves after a number of events. */
  async see(count: number): Promise<void> {
    while (this.seen.length < count) await this.#next().catch(() => this.close());
  }

  async connect(): Promise<void> {
    while (this.#stream === undefined) this.#stream = await this.#open().catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.#stream?.[Symbol.asyncDispose]();
    this.#stream = undefined;
  }

  async #next(): Promise<void> {
    await this.connect();
    const { type, object } = await (this.#stream as WatchStream).next();
    this.#version = object.metadata.resourceVersion ?? "";
    this.seen.push(
      `${type} ${object.metadata.name ?? object.message} ${(object["spec"] as { n: number } | undefined)?.n}`,
    );
  }

  async #open(): Promise<WatchStream> {
    const path = `${ALL}?watch=true&resourceVersion=${this.#version}`;
    const stream = await WatchStream.open(`http://127.0.0.1:${this.#relay.port}${path}`);
    this.opened += 1;
    return stream;
  }
}
