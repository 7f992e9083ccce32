// Sources outside that are read again and again: when they are read, what is served meanwhile, and what is reported.
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { allow, defineVirtualWorkspace, polled, view } from "@virtual-workspaces/framework";
import type { LogRecord } from "@virtual-workspaces/framework/server";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { testLog } from "../_setup/log.ts";
import { ManualClock } from "../_support/manual-clock.ts";
import { startPlain } from "../_support/plain.ts";
import { until, untilAnswer } from "../_support/until.ts";
import { BOOKS, Book, book, Outside, sent, serving } from "./polled-outside.ts";

/** Resolves when the loop sleeps until its next read. */
const asleep = (clock: ManualClock): Promise<true> => until(() => clock.timers === 1 || undefined).then(() => true);

describe("polled sources", () => {
  it("are read at once, then every so often, and watches get the differences", async () => {
    const clock = new ManualClock();
    const outside = new Outside(book("a"), book("b"));
    const { read } = outside;
    const backoff = { random: () => 0 };
    const books = polled({ collection: Book.collection(), cluster: "root", every: 1000, read, clock, backoff });
    await using server = await startPlain([serving(books)]);
    await asleep(clock);
    const { body } = await untilAnswer(
      () => server.get(BOOKS),
      ({ status }) => status === 200,
    );
    await using watch = await server.watch(`${BOOKS}?watch=true&resourceVersion=${body.metadata.resourceVersion}`);
    outside.books.delete("a");
    outside.books.set("c", book("c"));
    clock.advance(899);
    expect(outside.calls).to.deep.equal(["read"]);
    clock.advance(1);
    expect(await watch.take(2)).to.deep.equal(["DELETED a", "ADDED c"]);
    await asleep(clock);
    clock.advance(900);
    await asleep(clock);
    expect(outside.calls).to.deep.equal(["read", "read", "read"]);
    expect((await server.get(`${BOOKS}/b`)).body.metadata.resourceVersion).to.equal(
      body.items[1].metadata.resourceVersion,
    );
  });

  it("advertise no verbs that write without write and remove", async () => {
    const { read } = new Outside();
    const books = polled({ collection: Book.collection(), cluster: "root", every: 60_000, read });
    await using server = await startPlain([serving(books)]);
    const { body } = await untilAnswer(
      () => server.get(BOOKS.slice(0, -"/books".length)),
      ({ status }) => status === 200,
    );
    expect(body.resources[0].verbs).to.deep.equal(["get", "list", "watch"]);
    expect((await server.send(`POST ${BOOKS}`, sent("a"))).status).to.equal(405);
  });

  it("are not read twice at a time, and concurrent scans share one that begins after them", async () => {
    const outside = new Outside(book("a"));
    const { read } = outside;
    const collection = Book.collection();
    const books = polled({ collection, cluster: "root", every: 60_000, read });
    const gate = outside.gate("read");
    const first = books.scan();
    await gate.entered;
    outside.books.set("b", book("b"));
    const others = [books.scan(), books.scan(), books.scan()];
    gate.open();
    await first;
    expect(collection.in("root").list()).to.have.length(1);
    await Promise.all(others);
    expect(collection.in("root").list()).to.have.length(2);
    expect([outside.calls.length, outside.most]).to.deep.equal([2, 1]);
  });

  it("are not ready before the first read: /readyz fails, and lists are 503 even without the ready hook", async () => {
    const outside = new Outside(book("a"));
    const { read } = outside;
    const books = polled({ collection: Book.collection(), cluster: "root", every: 60_000, read });
    const gate = outside.gate("read");
    const { ready: _, ...eager } = serving(books);
    await using server = await startPlain([serving(books), { ...eager, name: "eager" }]);
    await gate.entered;
    expect(await fetch(`${server.url}/readyz/books`).then(({ status }) => status)).to.equal(503);
    expect((await server.get(BOOKS)).status).to.equal(503);
    for (const query of ["", "/a", "?watch=true"]) {
      const { status, body } = await server.get(`${BOOKS.replace("books", "eager")}${query}`);
      expect([status, body.message]).to.deep.equal([503, "books.test.dev have not been read yet; try again"]);
    }
    gate.open();
    await untilAnswer(
      () => server.get(BOOKS),
      ({ status }) => status === 200,
    );
    expect(await fetch(`${server.url}/readyz/books`).then(({ status }) => status)).to.equal(200);
  });

  it("keep the last good objects when a read fails, warn clients, and report each message once", async () => {
    const clock = new ManualClock();
    const outside = new Outside(book("a"));
    const { read } = outside;
    const backoff = { random: () => 0 };
    const books = polled({ collection: Book.collection(), cluster: "root", every: 1000, read, clock, backoff });
    const { log, records } = testLog();
    await using server = await startPlain([serving(books)], { log });
    await untilAnswer(
      () => server.get(BOOKS),
      ({ status }) => status === 200,
    );
    await asleep(clock);
    const attempt = async (ms: number): Promise<void> => {
      const { length } = outside.calls;
      clock.advance(ms - 1);
      expect(outside.calls).to.have.length(length);
      clock.advance(1);
      await until(() => outside.calls.length > length || undefined);
      await asleep(clock);
    };
    outside.failure = new Error("disk on fire");
    await attempt(900);
    await attempt(500); // half of one second, then twice as long each time, up to 30 s
    await attempt(1000);
    const { status, body, headers } = await server.get(BOOKS);
    expect([status, body.items.length]).to.deep.equal([200, 1]);
    expect(headers["warning"]).to.match(
      /^299 - "the source of books.test.dev could not be read since \S+Z: its objects are as of then"$/,
    );
    outside.failure = undefined;
    outside.books.set("b", { ...book("b"), spec: { title: "A title that is too long" } });
    await attempt(2000);
    outside.books.delete("b");
    await attempt(4000);
    await attempt(900);
    expect((await server.get(BOOKS)).headers).not.to.have.property("warning");
    const resource = "books.test.dev";
    const bad = 'Book.test.dev "b" is invalid: spec.title: Too long: may not be more than 20 bytes';
    expect(records).to.deep.equal([
      { level: "warn", message: "source cannot be read", resource, error: "disk on fire" },
      { level: "warn", message: "source cannot be read", resource, error: bad },
      { level: "info", message: "source can be read again", resource },
    ]);
    expectFault(/disk on fire/);
    expectFault(/Too long/);
  });

  it("give failures to onError, whose exceptions are ignored, in place of the log", async () => {
    const outside = new Outside();
    outside.failure = new Error("disk on fire");
    const errors: unknown[] = [];
    const onError = (error: unknown): never => {
      errors.push(error);
      throw new Error("ignored");
    };
    const { read } = outside;
    const books = polled({ collection: Book.collection(), cluster: "root", every: 60_000, read, onError });
    for (const _ of [1, 2]) expect(await books.scan().catch((error: unknown) => error)).to.equal(outside.failure);
    expect(errors).to.deep.equal([outside.failure]);
  });

  it("say why they are not ready after a failed first read, and when setup does not start them", async () => {
    const outside = new Outside();
    outside.failure = new Error("disk on fire");
    const { read } = outside;
    const onError = (): void => undefined;
    const books = polled({ collection: Book.collection(), cluster: "root", every: 60_000, read, onError });
    const { signal } = new AbortController();
    const failure = async (): Promise<unknown> => books.ready({ signal }).catch(({ message }: Error) => message);
    expect(await failure()).to.equal("polled books.test.dev is not started: return the result of start from setup");
    await using _running = books.start();
    expect(await failure()).to.equal("books.test.dev have not been read yet: its source cannot be read; try again");
    outside.failure = undefined;
    await books.scan();
    expect(await failure()).to.equal(undefined);
  });

  it("give up a read after its time limit, and ignore its result", async () => {
    const clock = new ManualClock();
    const outside = new Outside(book("a"));
    const collection = Book.collection();
    const errors: string[] = [];
    const signals: AbortSignal[] = [];
    const books = polled({
      collection,
      cluster: "root",
      every: 1000,
      timeout: 5000,
      clock,
      read: ({ signal }) => {
        signals.push(signal);
        return outside.read();
      },
      onError: (error) => errors.push(String(error)),
    });
    const gate = outside.gate("read");
    const scan = books.scan().catch((error: unknown) => error);
    await gate.entered;
    clock.advance(5000);
    await scan;
    expect(signals[0]?.aborted).to.equal(true);
    gate.open();
    outside.books.clear();
    await books.scan();
    expect([errors, collection.in("root").list()]).to.deep.equal([["Error: no result within 5000 ms"], []]);
  });

  it("abort a read and end when the server closes, report nothing, and start again with another server", async () => {
    const outside = new Outside(book("a"));
    const signals: AbortSignal[] = [];
    const stuck = new Outside().gate("never");
    let isStuck = true;
    const books = polled({
      collection: Book.collection(),
      cluster: "root",
      every: 60_000,
      read: async ({ signal }) => {
        signals.push(signal);
        if (isStuck) await Promise.race([stuck.entered, once(signal, "abort").then(() => signal.throwIfAborted())]);
        return outside.read();
      },
    });
    const { log, records } = testLog();
    const first = await startPlain([serving(books)], { log });
    await until(() => signals.length === 1 || undefined);
    await first.server.close();
    expect([signals[0]?.aborted, records]).to.deep.equal([true, []]);
    isStuck = false;
    await using second = await startPlain([serving(books)]);
    await untilAnswer(
      () => second.get(BOOKS),
      ({ status }) => status === 200,
    );
  });

  it("hold the objects of all logical clusters with cluster *, each named by its annotation", async () => {
    const of = (cluster: string) => ({
      metadata: { name: "a", annotations: { "kcp.io/cluster": cluster } },
      spec: { title: cluster },
    });
    let objects: ReturnType<typeof of>[] = [of("one"), of("two")];
    const collection = Book.collection();
    const books = polled({ collection, cluster: "*", every: 60_000, read: () => objects, onError: () => undefined });
    await books.scan();
    expect(collection.in("one").get("a")?.spec.title).to.equal("one");
    objects = [of("two")];
    await books.scan();
    expect([collection.in("one").list().length, collection.in("two").list().length]).to.deep.equal([0, 1]);
    objects = [of("no/cluster")];
    const { message } = (await books.scan().catch((error: Error) => error)) as Error;
    expect(message).to.equal(
      'Book.test.dev "a" is invalid: metadata.annotations[kcp.io/cluster]: Invalid value: "no/cluster": ' +
        "must be the name of the object's logical cluster",
    );
  });

  it("are sources of views", async () => {
    const outside = new Outside(book("a"), book("b", "Emma"));
    const { read } = outside;
    const books = polled({ collection: Book.collection(), cluster: "root", every: 60_000, read });
    const dunes = view({ from: books, select: ({ spec }) => spec.title === "Dune" });
    const path = "/clusters/:cluster";
    await using server = await startPlain([
      defineVirtualWorkspace({
        ...{ name: "books", path, authorize: () => allow(), ready: books.ready },
        resources: [Book.serve(dunes)],
        setup: (context) => books.start(context),
      }),
    ]);
    const { body } = await untilAnswer(
      () => server.get(BOOKS),
      ({ status }) => status === 200,
    );
    expect(body.items).to.have.length(1);
  });

  it("log the causes of a failed read once, with each address of a host", async () => {
    const unused = createServer().listen(0, "127.0.0.1");
    await once(unused, "listening");
    const { port } = unused.address() as AddressInfo;
    await new Promise((resolve) => unused.close(resolve));
    for (const [host, cause] of [
      ["127.0.0.1", "connect ECONNREFUSED 127.0.0.1"],
      ["localhost", "connect ECONNREFUSED "],
    ] as const) {
      const records: LogRecord[] = [];
      const read = async (): Promise<never> => {
        throw new Error("the library is closed", { cause: await fetch(`http://${host}:${port}`).catch((why) => why) });
      };
      const books = polled({ collection: Book.collection(), cluster: "root", every: 60_000, read });
      await using _running = books.start({ log: (record) => void records.push(record) });
      const [{ error }] = await until(() => (records.length > 0 ? (records as [LogRecord]) : undefined));
      expect(error).to.include(`the library is closed: fetch failed: ${cause}`);
    }
  });

  it("reject invalid options", () => {
    const options = { collection: Book.collection(), cluster: "root", every: 1000, read: () => [] };
    for (const [wrong, message] of [
      [{ every: 0 }, "invalid every of polled books.test.dev: use a number of milliseconds above 0"],
      [{ timeout: Number.NaN }, "invalid timeout of polled books.test.dev: use a number of milliseconds above 0"],
      [
        { write: () => undefined },
        "polled books has only one of write and remove: set both, and limit the verbs in serve",
      ],
    ] as const)
      expect(() => polled({ ...options, ...wrong } as never)).to.throw(message);
  });
});

describe("a result of setup", () => {
  it("keeps the server from starting when it cannot be disposed of", async () => {
    const wrong = { ...serving(polled({ collection: Book.collection(), cluster: "", every: 1, read: () => [] })) };
    for (const setup of [() => ({}), () => 1, async () => () => undefined]) {
      const started = startPlain([{ ...wrong, setup: setup as never }]);
      const { message } = (await started.catch((error: unknown) => error)) as Error;
      expect(message).to.equal(
        "invalid result of setup of virtual workspace books: " +
          "return an object with Symbol.asyncDispose or Symbol.dispose, or nothing",
      );
    }
  });
});
