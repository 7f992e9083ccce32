// The faults of the test upstream are real: a client that reads bytes sees them.
import { allow, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { startTestServer } from "@virtual-workspaces/testing";
import { expect } from "chai";
import { type FaultyUpstream, faults, startFaulty } from "../_support/faulty.ts";
import { Note } from "../_support/note.ts";
import { Wire } from "../_support/wire.ts";

const NOTES = "/services/notes/apis/test.dev/v1/notes";

describe("a faulty upstream", () => {
  async function start(): Promise<
    AsyncDisposable & { faulty: FaultyUpstream; add(name: string): void; head: string[] }
  > {
    const notes = Note.collection();
    notes.in("").set("a", { text: "1" });
    const server = await startTestServer([
      defineVirtualWorkspace({
        name: "notes",
        path: "/",
        authorize: () => allow(),
        resources: [Note.serve(notes, { verbs: ["get", "list", "watch"] })],
      }),
    ]);
    const faulty = await startFaulty(server.url);
    return {
      faulty,
      add: (name) => void notes.in("").set(name, { text: name }),
      head: ["Host: x", `Authorization: Bearer ${server.credentials.token}`],
      [Symbol.asyncDispose]: async () => {
        await faulty[Symbol.asyncDispose]();
        await server[Symbol.asyncDispose]();
      },
    };
  }

  it("lets all requests through, and counts them", async () => {
    await using up = await start();
    using wire = await Wire.open(up.faulty.port);
    wire.request(`GET ${NOTES}/a HTTP/1.1`, ...up.head);
    expect((await wire.answer())?.status).to.equal(200);
    wire.request(`POST ${NOTES} HTTP/1.1`, ...up.head, "Transfer-Encoding: chunked");
    wire.send("3\r\n{}");
    wire.send("\n\r\n0\r\n\r\n");
    expect((await wire.answer())?.status).to.equal(405);
    wire.request(`PUT ${NOTES}/a HTTP/1.1`, ...up.head, "Content-Length: 2");
    wire.send("{}");
    expect((await wire.answer())?.status).to.equal(405);
    wire.request(`GET ${NOTES}/a HTTP/1.1`, ...up.head);
    expect((await wire.answer())?.status).to.equal(200);
    expect(up.faulty.requests.map(({ method }) => method)).to.deep.equal(["GET", "POST", "PUT", "GET"]);
    expect(up.faulty.count(/^GET .*\/notes\/a$/)).to.equal(2);
    expect([up.faulty.connections, up.faulty.opened]).to.deep.equal([1, 1]);
    expect(up.faulty.bytes.sent).to.be.greaterThan(500);
    wire.socket.destroy();
    await up.faulty.until(({ connections }) => connections === 0);
  });

  it("answers by rules, with their limits and filters, the last rule first", async () => {
    await using up = await start();
    using wire = await Wire.open(up.faulty.port);
    const ask = async (path = `${NOTES}/a`): Promise<unknown[]> => {
      wire.request(`GET ${path} HTTP/1.1`, ...up.head);
      const answer = await wire.answer();
      return [answer?.status, answer?.headers["retry-after"] ?? answer?.headers["content-type"]];
    };
    up.faulty.fail(faults.html(), { on: /healthz/ });
    up.faulty.fail(faults.gone(), { times: 1 });
    const rule = up.faulty.fail(faults.tooManyRequests(3), { times: 2 });
    expect(await ask()).to.deep.equal([429, "3"]);
    expect(await ask()).to.deep.equal([429, "3"]);
    expect(await ask()).to.deep.equal([410, "application/json"]);
    expect(await ask()).to.deep.equal([200, "application/json"]);
    expect(await ask("/healthz")).to.deep.equal([500, "text/html"]);
    expect(rule.met).to.equal(2);
    {
      using _ = up.faulty.fail(faults.unavailable());
      expect(await ask()).to.deep.equal([503, "application/json"]);
    }
    up.faulty.heal();
    expect(await ask("/livez")).to.deep.equal([200, "text/plain; charset=utf-8"]);
  });

  it("cuts a response after a number of bytes, and in the middle of an event", async () => {
    await using up = await start();
    up.faulty.fail(faults.cut({ bytes: 20 }), { times: 1 });
    using first = await Wire.open(up.faulty.port);
    first.request(`GET ${NOTES}/a HTTP/1.1`, ...up.head);
    expect(await first.end()).to.equal("ECONNRESET");
    expect((await first.rest()).length).to.equal(20);

    up.faulty.fail(faults.cut({ lines: 2, how: "close" }), { on: /watch=/ });
    using second = await Wire.open(up.faulty.port);
    second.request(`GET ${NOTES}?watch=true HTTP/1.1`, ...up.head);
    await second.read(15);
    up.add("b");
    up.add("c");
    const [line1, line2, ...rest] = (await second.rest()).split("\n").filter((line) => line.startsWith("{"));
    expect(JSON.parse(line1 ?? "").object.metadata.name).to.equal("a");
    expect(JSON.parse(line2 ?? "").object.metadata.name).to.equal("b");
    expect(rest).to.deep.equal(["{"]);
    expect(second.ended).to.equal("end");
  });

  it("is a black hole until it heals: connections open, no byte passes", async () => {
    await using up = await start();
    using old = await Wire.open(up.faulty.port);
    old.request(`GET ${NOTES}?watch=true&resourceVersion=0 HTTP/1.1`, ...up.head);
    await old.begun();
    up.faulty.blackHole();
    const sent = up.faulty.bytes.sent;
    up.add("b");
    using fresh = await Wire.open(up.faulty.port);
    const received = up.faulty.bytes.received;
    fresh.request("GET /livez HTTP/1.1", "Host: x");
    await up.faulty.until(({ bytes }) => bytes.received > received);
    expect(up.faulty.count(/livez/)).to.equal(0);
    expect(up.faulty.connections).to.equal(2);
    expect(up.faulty.bytes.sent).to.equal(sent);
    up.faulty.heal();
    expect((await fresh.answer())?.status).to.equal(200);
    await up.faulty.until(({ bytes }) => bytes.sent > sent + 400);
  });

  it("hangs, drops, delays and swallows single requests", async () => {
    await using up = await start();
    using hanging = await Wire.open(up.faulty.port);
    up.faulty.fail(faults.hang(), { times: 1 });
    hanging.request("GET /livez HTTP/1.1", "Host: x");
    await up.faulty.until(({ requests }) => requests.length === 1);
    expect(hanging.ended).to.equal(undefined);

    using dropped = await Wire.open(up.faulty.port);
    up.faulty.fail(faults.drop(), { times: 1 });
    dropped.request("GET /livez HTTP/1.1", "Host: x");
    expect(await dropped.end()).to.equal("ECONNRESET");

    using delayed = await Wire.open(up.faulty.port);
    const gate = Promise.withResolvers<void>();
    up.faulty.fail(faults.delay(gate.promise), { times: 1 });
    delayed.request("GET /livez HTTP/1.1", "Host: x");
    await up.faulty.until(({ requests }) => requests.length === 3);
    gate.resolve();
    expect((await delayed.answer())?.body).to.equal("ok");

    using swallowed = await Wire.open(up.faulty.port);
    const sent = up.faulty.bytes.sent;
    up.faulty.fail(faults.swallow(), { times: 1 });
    swallowed.request("GET /livez HTTP/1.1", "Host: x");
    await up.faulty.until(({ requests }) => requests.length === 4);
    expect([swallowed.ended, up.faulty.bytes.sent]).to.deep.equal([undefined, sent]);
  });

  it("refuses connections, then listens again on the same port", async () => {
    await using up = await start();
    using open = await Wire.open(up.faulty.port);
    const { port } = up.faulty;
    await up.faulty.stop();
    expect(await open.end()).to.equal("ECONNRESET");
    const refused = await Wire.open(port).catch((error: NodeJS.ErrnoException) => error.code);
    expect(refused).to.equal("ECONNREFUSED");
    await up.faulty.start();
    using again = await Wire.open(port);
    again.request("GET /livez HTTP/1.1", "Host: x");
    expect((await again.answer())?.status).to.equal(200);
  });

  it("sends endless bodies, wrong lengths, invalid gzip and invalid HTTP", async () => {
    await using up = await start();
    up.faulty.fail(faults.endless(), { times: 1 });
    using endless = await Wire.open(up.faulty.port);
    endless.request("GET /livez HTTP/1.1", "Host: x");
    await endless.read(3 * 1024 * 1024);
    endless.socket.destroy();

    up.faulty.fail(faults.wrongLength(50, "{}"), { times: 1 });
    using short = await Wire.open(up.faulty.port);
    short.request("GET /livez HTTP/1.1", "Host: x");
    expect((await short.answer().catch((error: Error) => error.message)) ?? "").to.contain("ended after 2 of 50");

    up.faulty.fail(faults.badGzip(), { times: 1 });
    using gzip = await Wire.open(up.faulty.port);
    gzip.request("GET /livez HTTP/1.1", "Host: x");
    const answer = await gzip.answer();
    expect([answer?.headers["content-encoding"], answer?.body.slice(0, 3)]).to.deep.equal(["gzip", "ZZZ"]);

    up.faulty.fail(faults.raw("SSH-2.0-x\r\n"), { times: 1 });
    using other = await Wire.open(up.faulty.port);
    other.request("GET /livez HTTP/1.1", "Host: x");
    expect(await other.rest()).to.equal("SSH-2.0-x\r\n");
  });
});
