// Watches of a served provider: changes for as long as a client reads, at its pace.
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import type { ProviderCall, SpaceProvider } from "@virtual-workspaces/spaces";
import { expect } from "chai";
import { KeptSpaces } from "../support/kept-spaces.ts";
import { type Served, serve, TOKEN } from "./support/served.ts";

/** An open watch whose lines are read one at a time. */
class Watch implements Disposable {
  readonly answer: IncomingMessage;
  readonly #lines: AsyncIterator<string>;

  private constructor(answer: IncomingMessage) {
    this.answer = answer;
    this.#lines = createInterface({ input: answer })[Symbol.asyncIterator]();
  }

  static async open({ url }: Served): Promise<Watch> {
    return new Watch(await answerTo(url));
  }

  /** Returns the next line, or "" at the end. */
  async next(): Promise<string> {
    const step = await this.#lines.next();
    return step.done === true ? "" : step.value;
  }

  [Symbol.dispose](): void {
    this.answer.destroy();
  }
}

async function answerTo(url: string): Promise<IncomingMessage> {
  const sent = request(`${url}/v1/spaces?watch=1`, { headers: { authorization: `Bearer ${TOKEN}` } }).end();
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  return answer;
}

const BOOKMARK = '{"type":"BOOKMARK"}';

/** Returns a provider with a given watch. */
function watching(watch: Required<SpaceProvider>["watch"]): SpaceProvider {
  return { list: async () => [], get: async () => undefined, access: async () => ({}), watch };
}

describe("watch of spaceProviderView", function () {
  this.timeout(20_000);

  it("sends a bookmark at once, then changes, and heartbeats", async () => {
    const kept = new KeptSpaces();
    await using served = await serve(kept, { heartbeat: 100 });
    using watch = await Watch.open(served);
    expect(watch.answer.headers["content-type"]).to.equal("application/x-ndjson");
    expect(await watch.next()).to.equal(BOOKMARK);
    kept.set("a");
    const heard = new Set([await watch.next()]);
    while (!heard.has('{"type":"CHANGED","name":"a"}')) heard.add(await watch.next());
    expect(await watch.next()).to.equal(BOOKMARK);
    kept.nudge();
    while (!heard.has('{"type":"CHANGED"}')) heard.add(await watch.next());
    expect(await watch.next()).to.equal(BOOKMARK);
  });

  it("ends cleanly when the server closes, and with its client", async () => {
    const ended: string[] = [];
    const left = Promise.withResolvers<void>();
    async function* watch({ signal }: ProviderCall): AsyncGenerator<{ name: string }> {
      try {
        yield { name: "a" };
        if (!signal.aborted) await once(signal, "abort");
      } finally {
        ended.push("provider");
        left.resolve();
      }
    }
    const served = await serve(watching(watch), { heartbeat: 30_000 });
    using first = await Watch.open(served);
    expect([await first.next(), await first.next()]).to.deep.equal([BOOKMARK, '{"type":"CHANGED","name":"a"}']);
    first.answer.destroy();
    await left.promise;
    using second = await Watch.open(served);
    expect(await second.next()).to.equal(BOOKMARK);
    await second.next();
    const closing = served.close();
    expect(await second.next()).to.equal("");
    expect(second.answer.complete, "the end of the stream has come").to.equal(true);
    await closing;
    expect(ended).to.deep.equal(["provider", "provider"]);
  });

  it("merges repeated changes, and sends an unnamed one if there are too many", async () => {
    async function* watch({ signal }: ProviderCall): AsyncGenerator<{ name: string }> {
      for (let n = 0; n < 5_000; n++) yield { name: `a-${n % 10}` };
      for (let n = 0; n < 5_000; n++) yield { name: `space-${n}` };
      if (!signal.aborted) await once(signal, "abort");
    }
    await using served = await serve(watching(watch), { heartbeat: 30_000 });
    using watched = await Watch.open(served);
    expect(await watched.next()).to.equal(BOOKMARK);
    let lines = 0;
    for (let line = ""; line !== '{"type":"CHANGED"}'; lines++) line = await watched.next();
    expect(lines).to.be.at.most(3_000);
  });

  it("waits for a client that does not read, with bounded memory", async () => {
    const ROUNDS = 150;
    const said = Promise.withResolvers<void>();
    async function* watch({ signal }: ProviderCall): AsyncGenerator<{ name: string }> {
      for (let round = 0; round < ROUNDS; round++) {
        for (let n = 0; n < 900; n++) yield { name: `${n}`.padEnd(250, "a") };
        await new Promise((resolve) => setImmediate(resolve));
      }
      said.resolve();
      if (!signal.aborted) await once(signal, "abort");
    }
    const served = await serve(watching(watch), { heartbeat: 30_000 });
    const answer = await answerTo(served.url);
    answer.pause();
    await said.promise;
    const closing = served.close();
    const read = await text(answer);
    await closing;
    // Without merging there would be 900 lines for each round.
    expect(read.split("\n").length).to.be.within(900, 900 * (ROUNDS / 2));
  });

  it("sends the provider's reason for an end, and replaces invalid names by an unnamed change", async () => {
    async function* watch(): AsyncGenerator<{ name: string }> {
      yield { name: "a/b" };
      throw new Error("it has lost what it hears by");
    }
    const told: string[] = [];
    await using served = await serve(watching(watch), { onError: (error) => void told.push(String(error)) });
    using watched = await Watch.open(served);
    expect([await watched.next(), await watched.next()]).to.deep.equal([BOOKMARK, '{"type":"CHANGED"}']);
    const { type, status } = JSON.parse(await watched.next());
    expect({ type, message: status.message, code: status.code }).to.deep.equal({
      type: "ERROR",
      code: 500,
      message: "Internal error occurred: it has lost what it hears by",
    });
    expect(await watched.next()).to.equal("");
    expect(told).to.deep.equal(["Error: it has lost what it hears by"]);
  });

  it("counts against the server's limit, however long it stays open", async () => {
    const kept = new KeptSpaces();
    await using served = await serve(kept, { server: { limits: { longRunning: 1 } } });
    using watch = await Watch.open(served);
    expect(await watch.next()).to.equal(BOOKMARK);
    using another = await Watch.open(served);
    expect(another.answer.statusCode).to.equal(429);
  });
});
