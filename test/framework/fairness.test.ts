// Concurrency limits, queueing, and the order of queued requests.
import { expect } from "chai";
import { Gated, NOTES } from "../_support/gated.ts";
import { until } from "../_support/until.ts";
import type { Wire, WireAnswer } from "../_support/wire.ts";

/** One request at a time, of any user. */
const ONE = { inFlight: 1, perVirtualWorkspace: 1 } as const;
const TOO_MANY = "too many requests, please try again later";
const CREATE = `POST /services/one${NOTES}`;
const body = JSON.stringify({ apiVersion: "test.dev/v1", kind: "Note", metadata: { name: "new" }, spec: {} });

async function create(gated: Gated, user: string): Promise<Wire> {
  const length = `Content-Length: ${body.length}`;
  const wire = await gated.ask(user, CREATE, "Content-Type: application/json", length);
  wire.send(body);
  return wire;
}

function expectRefused(
  answer: WireAnswer | undefined,
  { code = 429, reason = "TooManyRequests", message = TOO_MANY } = {},
) {
  expect(answer).to.have.property("status", code);
  expect(answer?.headers).to.have.property("retry-after", "1");
  expect(JSON.parse(answer?.body ?? "")).to.deep.include({ kind: "Status", reason, message, code });
}

/**
 * Sends requests, each when the previous one is queued, and releases them one by one.
 * @returns the users in order of service
 */
async function order(
  gated: Gated,
  requests: readonly (readonly [user: string, workspace: string])[],
): Promise<string[]> {
  using first = await gated.get("z", "0");
  await gated.has(1);
  const wires: Wire[] = [];
  for (const [at, [user, workspace]] of requests.entries()) {
    wires.push(await gated.get(user, workspace, workspace));
    await gated.counts({ queued: at + 1 });
  }
  for (let at = 0; at < requests.length; at++) {
    gated.entered[at]?.go();
    await gated.has(at + 2);
  }
  gated.open();
  for (const wire of [first, ...wires]) {
    expect(await wire.answer()).to.have.property("status", 200);
    wire.socket.destroy();
  }
  return gated.entered.slice(1).map(({ what }) => what);
}

describe("requests under way", () => {
  it("are limited, and further requests queue", async () => {
    await using gated = await Gated.start({ limits: { inFlight: 4, perUser: 1, perVirtualWorkspace: 1 } });
    const wires = await Promise.all(Array.from({ length: 10 }, (_, at) => gated.get("a", String(at))));
    await gated.counts({ inFlight: 4, queued: 6 });
    expect(await gated.has(4)).to.have.length(4);
    gated.entered[0]?.go();
    await gated.has(5);
    await gated.counts({ inFlight: 4, queued: 5 });
    gated.open();
    for (const wire of wires) {
      expect(await wire.answer()).to.have.property("status", 200);
      wire.socket.destroy();
    }
    await gated.counts({ inFlight: 0, queued: 0 });
  });

  it("of one user, and of one virtual workspace, are limited to a share", async () => {
    await using gated = await Gated.start({ limits: { inFlight: 8, perUser: 0.25, perVirtualWorkspace: 0.5 } });
    const wires = await Promise.all(
      ["a", "b", "c"].flatMap((user) => [1, 2, 3].map((name) => gated.get(user, String(name)))),
    );
    await gated.counts({ inFlight: 4, queued: 5 });
    wires.push(await gated.get("a", "4", "two"));
    await gated.counts({ inFlight: 5, queued: 5 });
    for (const wire of wires) wire.socket.destroy();
  });

  it("have a separate limit when they are mutating, and do not block reads", async () => {
    await using gated = await Gated.start({ limits: { inFlight: 8, mutating: 1, perUser: 1, perVirtualWorkspace: 1 } });
    using first = await create(gated, "a");
    await gated.has(1);
    using second = await create(gated, "a");
    await gated.counts({ queued: 1 });
    using read = await gated.get("a", "x");
    expect(await gated.has(2)).to.deep.equal(["a/create", "a/x"]);
    gated.open();
    for (const wire of [first, second, read]) expect((await wire.answer())?.status).to.be.oneOf([200, 201]);
  });

  it("include raw requests until their response is complete", async () => {
    await using gated = await Gated.start({ limits: ONE });
    using stream = await gated.ask("a", "GET /services/raw/stream");
    await stream.begun();
    using behind = await gated.ask("b", "GET /services/raw/other");
    await gated.counts({ inFlight: 1, queued: 1 });
    gated.open();
    for (const wire of [stream, behind]) expect(await wire.answer()).to.have.property("status", 200);
  });

  it("stop counting after requestTimeout, whatever a handler does", async () => {
    await using gated = await Gated.start({ limits: ONE, requestTimeout: 100 });
    using stuck = await gated.get("a", "stuck");
    expect(await stuck.answer()).to.have.property("status", 504);
    // A raw request has no deadline once it has begun: from then on it counts as long-running.
    using raw = await gated.ask("a", "GET /services/raw/stuck");
    await gated.has(2);
    await gated.counts({ inFlight: 0, longRunning: 1 });
    gated.open();
    expect(await raw.answer()).to.include({ status: 200, body: "done" });
    await gated.counts({ longRunning: 0 });
  });

  it("are cut at requestTimeout when their user has too many long-running ones, which frees their seats", async () => {
    const limits = { longRunning: 3, longRunningPerUser: 2 };
    await using gated = await Gated.start({ limits, requestTimeout: 100 });
    const stuck = await Promise.all(
      ["stream", "stuck", "stream", "stuck", "stream", "stuck"].map((path) =>
        gated.ask("a", `GET /services/raw/${path}`),
      ),
    );
    await gated.has(6);
    await gated.counts({ inFlight: 0, longRunning: 2 });
    const cut = (): Wire[] => stuck.filter(({ ended }) => ended !== undefined);
    await until(() => cut().length >= 4);
    using watch = await gated.ask("b", `GET /services/watched${NOTES}?watch=true`);
    await watch.begun();
    expect((await watch.read(12)).toString()).to.equal("HTTP/1.1 200");
    gated.open();
    for (const wire of stuck.filter(({ ended }) => ended === undefined)) {
      await wire.begun();
      expect((await wire.answer())?.body).to.match(/^(begun)?done$/);
    }
    for (const wire of stuck) wire.socket.destroy();
    await gated.counts({ longRunning: 1 });
  });

  it("need no second seat for internal retries of applies", async () => {
    await using gated = await Gated.start({ limits: ONE });
    const apply = async (user: string, at: number): Promise<Wire> => {
      const text = JSON.stringify({
        apiVersion: "test.dev/v1",
        kind: "Note",
        metadata: { name: "first", labels: { [`l${at}`]: "x" } },
      });
      const line = `PATCH /services/watched${NOTES}/first?fieldManager=m${at}`;
      const wire = await gated.ask(
        user,
        line,
        "Content-Type: application/apply-patch+yaml",
        `Content-Length: ${text.length}`,
      );
      wire.send(text);
      return wire;
    };
    const wires = await Promise.all(Array.from({ length: 20 }, (_, at) => apply(at % 2 === 0 ? "a" : "b", at)));
    for (const wire of wires) {
      expect(await wire.answer()).to.have.property("status", 200);
      wire.socket.destroy();
    }
    await gated.counts({ inFlight: 0, queued: 0 });
  });

  it("end at the deadline when their body trickles, and do not block other users", async () => {
    await using gated = await Gated.start({ limits: { inFlight: 8, mutating: 2 }, requestTimeout: 200 });
    const slow = await Promise.all(
      ["1", "2"].map(() => gated.ask("a", CREATE, "Content-Type: application/json", `Content-Length: ${body.length}`)),
    );
    for (const wire of slow) wire.send(body.slice(0, 10));
    await gated.counts({ inFlight: 1, queued: 1 });
    gated.open();
    using other = await create(gated, "b");
    expect(await other.answer()).to.have.property("status", 201);
    for (const wire of slow) {
      const answer = await wire.answer();
      expect([answer?.status, answer?.headers["connection"]]).to.deep.equal([504, "close"]);
      expect(await wire.end()).to.equal("end");
      wire.socket.destroy();
    }
    await gated.counts({ inFlight: 0, queued: 0 });
  });

  it("keep their seat after the client has left, until the handler is done", async () => {
    await using gated = await Gated.start({ limits: ONE });
    const left = await gated.get("a", "left");
    await gated.has(1);
    left.socket.destroy();
    using next = await gated.get("b", "next");
    await gated.counts({ inFlight: 1, queued: 1 });
    gated.open();
    expect(await next.answer()).to.have.property("status", 200);
  });
});

describe("the queue", () => {
  it("alternates between users, however many requests one of them has", async () => {
    await using gated = await Gated.start({ limits: ONE });
    const flood = Array.from({ length: 6 }, () => ["a", "one"] as const);
    expect(await order(gated, [...flood, ["b", "one"], ["c", "one"]])).to.deep.equal(
      ["a", "b", "c", "a", "a", "a", "a", "a"].map((user) => `${user}/one`),
    );
  });

  it("alternates between virtual workspaces, however many users one of them has", async () => {
    await using gated = await Gated.start({ limits: ONE });
    const flood = [..."abcdef"].map((user) => [user, "one"] as const);
    const served = await order(gated, [...flood, ["x", "two"], ["y", "two"]]);
    expect(served.indexOf("x/two")).to.be.at.most(2);
    expect(served.indexOf("y/two")).to.be.at.most(4);
  });

  it("is limited per user: 429 with Retry-After, while other users are still queued", async () => {
    await using gated = await Gated.start({ limits: { ...ONE, queuePerUser: 2 } });
    const wires = [await gated.get("a", "1")];
    await gated.has(1);
    for (const name of ["2", "3"]) wires.push(await gated.get("a", name));
    await gated.counts({ queued: 2 });
    using refused = await gated.get("a", "4");
    expectRefused(await refused.answer());
    wires.push(await gated.get("b", "1"));
    await gated.counts({ queued: 3 });
    gated.open();
    for (const wire of wires) {
      expect(await wire.answer()).to.have.property("status", 200);
      wire.socket.destroy();
    }
  });

  it("is limited in all: the user with most queued requests makes room", async () => {
    await using gated = await Gated.start({ limits: { ...ONE, queue: 3 } });
    using first = await gated.get("a", "0");
    await gated.has(1);
    const flood: Wire[] = [];
    for (const name of ["1", "2", "3"]) {
      flood.push(await gated.get("a", name));
      await gated.counts({ queued: flood.length });
    }
    using own = await gated.get("a", "4");
    expectRefused(await own.answer());
    using other = await gated.get("x", "5", "two");
    expectRefused(await flood[2]?.answer());
    gated.open();
    for (const wire of [first, flood[0], flood[1], other]) expect(await wire?.answer()).to.have.property("status", 200);
    for (const wire of flood) wire.socket.destroy();
  });

  it("can be disabled", async () => {
    await using gated = await Gated.start({ limits: { ...ONE, queue: 0 } });
    using first = await gated.get("a", "0");
    await gated.has(1);
    using second = await gated.get("b", "1");
    expectRefused(await second.answer());
    gated.open();
    expect(await first.answer()).to.have.property("status", 200);
  });

  it("times out", async () => {
    await using gated = await Gated.start({ limits: { ...ONE, queueFor: 30 } });
    using _first = await gated.get("a", "0");
    await gated.has(1);
    using second = await gated.get("b", "1");
    expectRefused(await second.answer());
    await gated.counts({ queued: 0, inFlight: 1 });
  });

  it("ends with 504 when the deadline passes", async () => {
    await using gated = await Gated.start({ limits: ONE });
    using _first = await gated.get("a", "0");
    await gated.has(1);
    using second = await gated.ask("b", `GET /services/one${NOTES}/1?timeout=30ms`);
    expect(await second.answer()).to.have.property("status", 504);
    await gated.counts({ queued: 0 });
    gated.open();
    expect(gated.entered).to.have.length(1);
  });

  it("drops a request whose client leaves", async () => {
    await using gated = await Gated.start({ limits: { ...ONE, queuePerUser: 1 } });
    using first = await gated.get("a", "0");
    await gated.has(1);
    const left = await gated.get("b", "left");
    await gated.counts({ queued: 1 });
    left.socket.destroy();
    await gated.counts({ queued: 0 });
    using next = await gated.get("b", "next");
    await gated.counts({ queued: 1 });
    gated.open();
    for (const wire of [first, next]) expect(await wire.answer()).to.have.property("status", 200);
    expect(gated.entered.map(({ what }) => what)).to.deep.equal(["a/0", "b/next"]);
  });

  it("is emptied with 503 when the server stops", async () => {
    await using gated = await Gated.start({ limits: ONE });
    using first = await gated.get("a", "0");
    await gated.has(1);
    using second = await gated.get("b", "1");
    await gated.counts({ queued: 1 });
    const closing = gated.server.close();
    const refused = await second.answer();
    expectRefused(refused, {
      code: 503,
      reason: "ServiceUnavailable",
      message: "the server is shutting down; try again",
    });
    expect(refused?.headers).to.have.property("connection", "close");
    gated.open();
    expect(await first.answer()).to.have.property("status", 200);
    await closing;
  });

  it("is skipped by probes and by requests that are rejected anyway", async () => {
    await using gated = await Gated.start({ limits: ONE });
    using _first = await gated.get("a", "0");
    await gated.has(1);
    for (const [user, path, status] of [
      ["a", "/livez", 200],
      ["a", "/readyz", 200],
      ["nobody", "/services/one/apis", 401],
      ["a", "/services/unknown", 404],
      ["a", "/services/one/../one", 400],
    ] as const) {
      using wire = await gated.ask(user, `GET ${path}`);
      expect(await wire.answer(), path).to.have.property("status", status);
    }
  });

  it("separates pipelined requests, and keeps their responses in order", async () => {
    await using gated = await Gated.start({ limits: ONE });
    using wire = await gated.get("a", "0");
    for (const name of ["1", "2", "3"])
      wire.request(`GET /services/one${NOTES}/${name} HTTP/1.1`, "Host: x", "Authorization: Bearer a");
    await gated.counts({ inFlight: 1, queued: 3 });
    gated.open();
    for (const name of ["0", "1", "2", "3"])
      expect(JSON.parse((await wire.answer())?.body ?? "").metadata.name).to.equal(name);
  });
});
