// Requests that one server dispatches to another one of its process, after it has authorized them.
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { ApiError } from "@virtual-workspaces/apimachinery";
import {
  allow,
  createServer,
  defineResource,
  defineVirtualWorkspace,
  deny,
  type RawRequest,
  type Server,
  type ServerOptions,
  User,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import { audit } from "@virtual-workspaces/framework/audit";
import type { DispatchedRequest } from "@virtual-workspaces/framework/request";
import { expect } from "chai";
import { testLog } from "../_setup/log.ts";
import { policy } from "../_support/audited.ts";
import { type PlainServer, startPlain } from "../_support/plain.ts";
import { until } from "../_support/until.ts";

const SELF = new User({ name: "system:apiserver", groups: ["system:masters"] });
const Note = defineResource({ group: "test.dev", version: "v1", kind: "Note", scope: "Cluster" });
const NOTES = "/apis/test.dev/v1/notes";
const noteOf = (name: string) => ({ apiVersion: "test.dev/v1", kind: "Note", metadata: { name } });

type Raw = RawRequest<unknown>;
interface AuditEvent {
  readonly auditID: string;
  readonly requestURI: string;
  readonly user: { readonly username: string };
  readonly impersonatedUser?: { readonly username: string };
  readonly sourceIPs?: readonly string[];
}

function dispatched(request: Raw, target: string, signal: AbortSignal): DispatchedRequest {
  const { requestId, user, hops, token, takeTime } = request;
  return {
    ...{ target, requestId, user, hops: hops + 1, token, takeTime, signal, impersonator: SELF },
    impersonation: ["Impersonate-User", user.name],
    get via() {
      return request.via;
    },
    get ending() {
      return request.ending;
    },
  };
}

class Pair implements AsyncDisposable {
  readonly outer: PlainServer;
  readonly inner: Server;
  readonly events: AuditEvent[];
  /** Aborts what is dispatched now, as when its target is gone. */
  gone = new AbortController();

  private constructor({ outer, inner, events }: Pick<Pair, "outer" | "inner" | "events">) {
    this.outer = outer;
    this.inner = inner;
    this.events = events;
  }

  /** Starts a server whose view dispatches `/services/pass/<path>` to `/services/<path>` of another one. */
  static async start(views: readonly VirtualWorkspace[], options: Partial<ServerOptions> = {}): Promise<Pair> {
    const events: AuditEvent[] = [];
    const dispatch = async (req: IncomingMessage, res: ServerResponse, request: Raw): Promise<void> => {
      const signal = AbortSignal.any([request.signal, pair.gone.signal]);
      await pair.inner.dispatch(req, res, dispatched(request, `/services${request.tail}${request.search}`, signal));
    };
    const pass = defineVirtualWorkspace({
      name: "pass",
      path: "/",
      takesToken: true,
      authorize: () => allow(),
      resources: [],
      handleWhen: () => true,
      handle: dispatch,
    });
    const outer = await startPlain([pass], {
      audit: audit({ policy: policy({ level: "Metadata" }), to: (line) => void events.push(JSON.parse(line)) }),
    });
    const inner = createServer({
      ...{ virtualWorkspaces: views, authentication: [], log: testLog().log, within: outer.server, closeTimeout: 0 },
      ...options,
    });
    await inner.start();
    const pair = new Pair({ outer, inner, events });
    return pair;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.outer[Symbol.asyncDispose]();
  }
}

const notes = () =>
  defineVirtualWorkspace({
    name: "notes",
    path: "/",
    authorize: ({ user }) => (user.name === "bob" ? deny("bob has no notes") : allow()),
    resources: [Note.serve(Note.collection())],
  });

describe("a dispatched request", () => {
  it("is authorized as the caller, answered by the other server, and audited by both with one ID", async () => {
    await using pair = await Pair.start([notes()]);
    const { outer, events } = pair;
    expect((await outer.send(`POST /services/pass/notes${NOTES}`, noteOf("a"))).status).to.equal(201);
    const { status, body, headers } = await outer.get(`/services/pass/notes${NOTES}/a`);
    expect([status, body.metadata.name]).to.deep.equal([200, "a"]);
    const mine = await until(() => {
      const found = events.filter(({ auditID }) => auditID === headers["audit-id"]);
      return found.length === 4 && found;
    });
    expect(new Set(mine.map(({ requestURI }) => requestURI))).to.deep.equal(
      new Set([`/services/pass/notes${NOTES}/a`, `/services/notes${NOTES}/a`]),
    );
    const inner = mine.findLast(({ requestURI }) => requestURI === `/services/notes${NOTES}/a`);
    expect([inner?.user.username, inner?.impersonatedUser?.username]).to.deep.equal([SELF.name, "alice"]);
    expect(inner?.sourceIPs ?? []).to.deep.equal([]);

    const denied = await outer.get(`/services/pass/notes${NOTES}`, { user: "bob" });
    expect([denied.status, denied.body.message]).to.deep.equal([
      403,
      'notes.test.dev is forbidden: User "bob" cannot list resource "notes" in API group "test.dev" at the cluster scope: bob has no notes',
    ]);
    expect((await outer.get("/services/pass/none")).status).to.equal(404);
    expect((await outer.get(`/services/pass/notes${NOTES}?limit=x`)).status).to.equal(400);
  });

  it("has no header that names a caller or an address", async () => {
    const heard: string[] = [];
    const echo = defineVirtualWorkspace({
      ...{ name: "echo", path: "/", authorize: () => allow() },
      handle: (req, res, { user, hops, via, token, impersonation }) => {
        heard.push(...req.rawHeaders, ...Object.keys(req.headers), ...Object.keys(req.headersDistinct));
        res.end(JSON.stringify([user.name, hops, via, token, impersonation, req.headers["x-own"]]));
      },
    });
    await using pair = await Pair.start([echo]);
    const headers = {
      "x-forwarded-for": "10.9.8.7",
      forwarded: "for=10.9.8.7",
      "x-remote-user": "mallory",
      x_remote_user: "mallory",
      via: "1.1 other",
      "x-own": "yes",
    };
    const { text } = await pair.outer.get("/services/pass/echo", { headers });
    expect(JSON.parse(text)).to.deep.equal(["alice", 1, "1.1 other, 1.1 pass, 1.1 echo", null, null, "yes"]);
    expect(heard.join("\n")).to.not.match(/mallory|10\.9\.8\.7|bearer|authorization|forwarded|remote/i);
  });

  it("has the caller's token or impersonation for views that take those", async () => {
    const view = (more: Pick<VirtualWorkspace, "name" | "takesToken" | "passesImpersonation">) =>
      defineVirtualWorkspace({
        ...{ path: "/", authorize: () => allow(), ...more },
        handle: (_, res, { user, token, impersonation }) => {
          res.end(JSON.stringify([user.name, token, impersonation]));
        },
      });
    await using pair = await Pair.start([
      view({ name: "takes", takesToken: true }),
      view({ name: "passes", passesImpersonation: true }),
    ]);
    const told = async (name: string) => JSON.parse((await pair.outer.get(`/services/pass/${name}`)).text);
    expect(await told("takes")).to.deep.equal(["alice", "alice", null]);
    expect(await told("passes")).to.deep.equal([SELF.name, null, ["Impersonate-User", "alice"]]);
  });

  it("is rejected when servers dispatch it in a circle", async () => {
    const circle = defineVirtualWorkspace({
      ...{ name: "circle", path: "/", authorize: () => allow() },
      handle: (req, res, request) =>
        pair.inner.dispatch(req, res, dispatched(request, "/services/circle", request.signal)),
    });
    await using pair: Pair = await Pair.start([circle]);
    const { status, body } = await pair.outer.get("/services/pass/circle");
    expect(status).to.equal(500);
    expect(body.message).to.match(/circle/);
  });

  it("reads a body of any size at the pace of its handler", async () => {
    const size = defineVirtualWorkspace({
      ...{ name: "size", path: "/", authorize: () => allow() },
      handle: async (req, res) => {
        let length = 0;
        for await (const piece of req) length += piece.length;
        res.end(String(length));
      },
    });
    await using pair = await Pair.start([size]);
    const { text } = await pair.outer.send("POST /services/pass/size", "x".repeat(5_000_000));
    expect(text).to.equal("5000000");
  });

  it("is a watch that ends for its client, with its target, and with the server that dispatched it", async () => {
    const pair = await Pair.start([notes()]);
    const { outer, inner } = pair;
    const path = `/services/pass/notes${NOTES}`;
    await outer.send(`POST ${path}`, noteOf("a"));
    const one = await outer.watch(`${path}?watch=true`);
    expect(await one.take(1)).to.deep.equal(["ADDED a"]);
    expect([outer.server.stats.longRunning, inner.stats.longRunning]).to.deep.equal([1, 1]);
    await one[Symbol.asyncDispose]();
    await until(() => outer.server.stats.longRunning + inner.stats.longRunning === 0);

    const two = await outer.watch(`${path}?watch=true`);
    await two.take(1);
    pair.gone.abort(ApiError.serviceUnavailable("the target is gone"));
    expect(await two.rest()).to.deep.equal([]); // ends after a whole line

    pair.gone = new AbortController();
    const three = await outer.watch(`${path}?watch=true`);
    await three.take(1);
    const closed = outer.server.close();
    expect((await three.rest()).every(({ type }) => type === "BOOKMARK")).to.equal(true);
    await closed;
  });

  it("ends with the reason of its signal: before the response as a Status, within it by a cut", async () => {
    const reached: { begun?: () => void; signal?: AbortSignal }[] = [];
    const slow = defineVirtualWorkspace({
      ...{ name: "slow", path: "/", authorize: () => allow() },
      handle: async (_, res, { search, signal }) => {
        if (search !== "") res.write("begun");
        reached.push({ signal });
        await once(signal, "abort");
      },
    });
    await using pair = await Pair.start([slow]);
    const before = pair.outer.get("/services/pass/slow");
    await until(() => reached.length === 1);
    pair.gone.abort(ApiError.serviceUnavailable("the target is gone"));
    const { status, body } = await before;
    expect([status, body.message]).to.deep.equal([503, "the target is gone"]);
    expect(reached[0]?.signal?.aborted).to.equal(true);

    pair.gone = new AbortController();
    const within = pair.outer.get("/services/pass/slow?begun").then(
      () => "whole",
      ({ code }: NodeJS.ErrnoException) => code,
    );
    await until(() => reached.length === 2);
    pair.gone.abort(ApiError.serviceUnavailable("the target is gone"));
    expect(await within).to.equal("ECONNRESET");
  });

  it("ends at the deadline of the other server", async () => {
    const signals: AbortSignal[] = [];
    const get = async (_: unknown, __: unknown, { signal }: { readonly signal: AbortSignal }) => {
      signals.push(signal);
      await once(signal, "abort");
      return undefined;
    };
    const slow = defineVirtualWorkspace({
      ...{ name: "slow", path: "/", authorize: () => allow(), resources: [Note.serve({ get })] },
    });
    await using pair = await Pair.start([slow], { requestTimeout: 50 });
    expect((await pair.outer.get(`/services/pass/slow${NOTES}/a`)).status).to.equal(504);
    expect(signals[0]?.aborted).to.equal(true);
  });

  it("is 503 while the other server drains", async () => {
    await using pair = await Pair.start([notes()]);
    await pair.inner.close();
    expect((await pair.outer.get(`/services/pass/notes${NOTES}`)).status).to.equal(503);
  });
});
