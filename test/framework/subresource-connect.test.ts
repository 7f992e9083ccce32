// Subresources that write their own responses: input of their handlers, authorization, and upgraded connections.
import { once } from "node:events";
import { ApiError } from "@virtual-workspaces/apimachinery";
import { type AuthorizeRequest, allow, type Decision, defineResource, deny } from "@virtual-workspaces/framework";
import type { ServeOptions } from "@virtual-workspaces/framework/resource";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { type PlainServer, startPlain } from "../_support/plain.ts";
import { Wire } from "../_support/wire.ts";
import { MACHINES, Machine, machinesView, outcome } from "./machine-fixtures.ts";

type Named = NonNullable<
  ServeOptions<{
    apiVersion: string;
    kind: string;
    metadata: { name: string };
    spec: { image?: string };
  }>["subresources"]
>;

interface Starting {
  readonly authorize?: (request: AuthorizeRequest) => Decision;
  readonly requestTimeout?: number;
  readonly upgrade?: boolean;
}

async function start(subresources: Named, { authorize, requestTimeout, upgrade }: Starting = {}): Promise<PlainServer> {
  const machines = Machine.collection();
  machines.in("root", "ns").set("m", { image: "x" });
  const view = machinesView([Machine.serve(machines, { subresources } as object)], authorize);
  const whole =
    upgrade === true
      ? { ...view, upgrade: (_req: unknown, socket: { end(text: string): void }) => socket.end(ELSEWHERE) }
      : view;
  return startPlain([whole as typeof view], requestTimeout === undefined ? {} : { requestTimeout });
}

const SWITCHED = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\n";
const ELSEWHERE = SWITCHED.replace("test", "elsewhere");

async function upgrading(server: PlainServer, path: string, method = "GET"): Promise<Wire> {
  const wire = await Wire.open(Number(new URL(server.url).port));
  const lines = ["Host: x", "Authorization: Bearer alice", "Connection: Upgrade", "Upgrade: test"];
  wire.request(`${method} ${path} HTTP/1.1`, ...lines);
  return wire;
}

describe("a subresource that connects", () => {
  it("receives its object, the rest of the path byte for byte, and the query", async () => {
    const seen: unknown[] = [];
    await using server = await start({
      proxy: {
        connect: (req, res, { key, object, tail, search, query, params, user, requestId, warn }) => {
          const id = requestId === res.getHeader("audit-id");
          seen.push([key, object.spec, tail, search, query.get("q"), params, user.name, id, req.headers.authorization]);
          warn("look out");
          res.end("done");
        },
      },
    });
    const key = { cluster: "root", namespace: "ns", name: "m" };
    for (const [tail, search, q] of [
      ["", "", null],
      ["/", "", null],
      ["/a%20b/%C3%A9;x=y,z/", "?q=%20+&&q", "  "],
    ] as const) {
      const { text, headers } = await server.get(`${MACHINES}/m/proxy${tail}${search}`);
      expect([text, headers["warning"]]).to.deep.equal(["done", '299 - "look out"']);
      expect(seen.pop()).to.deep.equal([
        key,
        { image: "x" },
        tail,
        search,
        q,
        { cluster: "root" },
        "alice",
        true,
        undefined,
      ]);
    }
  });

  it("is not called for paths that an upstream might read differently", async () => {
    await using server = await start({ proxy: { connect: () => expect.fail("asked") } });
    for (const tail of ["/a%2Fb", "/a//b", "/%252e", "/%00"])
      expect((await server.get(`${MACHINES}/m/proxy${tail}`)).status, tail).to.equal(400);
  });

  it("of kinds without a namespace, and of the core group, receives the same tail", async () => {
    for (const [group, path] of [
      ["", "/api/v1/nodes/n/proxy/x/y"],
      ["g.dev", "/apis/g.dev/v1/nodes/n/proxy/x/y"],
    ] as const) {
      const Node = defineResource({ group, version: "v1", kind: "Node", scope: "Cluster", spec: { type: "object" } });
      const nodes = Node.collection();
      nodes.in("root").set("n", {});
      const proxy = {
        connect: (_req: unknown, res: { end(text: string): void }, { tail }: { tail: string }) => res.end(tail),
      };
      await using server = await startPlain([machinesView([Node.serve(nodes, { subresources: { proxy } })])]);
      expect((await server.get(`/services/machines/clusters/root${path}`)).text).to.equal("/x/y");
    }
  });

  it("accepts GET, or the methods that it names, each a verb of its own; anything else is 405", async () => {
    const asked: string[] = [];
    await using server = await start(
      {
        log: { connect: (req, res) => void res.end(req.method) },
        proxy: {
          methods: ["POST", "DELETE"],
          connect: async (req, res) => {
            let body = "";
            for await (const piece of req) body += piece;
            res.end(`${req.method} ${body}`);
          },
        },
      },
      {
        authorize: ({ verb, resource, subresource, name, namespace }) => {
          asked.push([verb, `${resource}/${subresource}`, namespace, name].join(" "));
          return allow();
        },
      },
    );
    expect((await server.get(`${MACHINES}/m/log`)).text).to.equal("GET");
    expect((await server.send(`HEAD ${MACHINES}/m/log`)).status).to.equal(200);
    expect((await server.send(`POST ${MACHINES}/m/proxy`, "body")).text).to.equal("POST body");
    expect((await server.send(`DELETE ${MACHINES}/m/proxy`)).text).to.equal("DELETE ");
    expect(asked).to.deep.equal([
      "get machines/log ns m",
      "get machines/log ns m",
      "create machines/proxy ns m",
      "delete machines/proxy ns m",
    ]);
    for (const [call, verb] of [
      [`POST ${MACHINES}/m/log`, "create"],
      [`GET ${MACHINES}/m/proxy`, "get"],
      [`PUT ${MACHINES}/m/proxy`, "update"],
      [`OPTIONS ${MACHINES}/m/log`, "OPTIONS"],
      [`GET ${MACHINES.replace("/namespaces", "/watch/namespaces")}/m/log`, "watch"],
    ] as const) {
      const message = `${verb} is not supported on resources of kind "machines.example.dev"`;
      expect(outcome(await server.send(call as "GET /")), call).to.deep.equal([405, "MethodNotAllowed", message]);
    }
  });

  it("is not called when the caller may not use it, though it may read the object", async () => {
    await using server = await start(
      { log: { connect: () => expect.fail("asked"), upgrade: () => expect.fail("asked") } },
      {
        authorize: ({ subresource, user }) =>
          subresource === "log" && user.name !== "admin" ? deny("not you") : allow(),
      },
    );
    const denied = await server.get(`${MACHINES}/m/log`);
    expect(outcome(denied)).to.deep.equal([
      403,
      "Forbidden",
      'machines.example.dev "m" is forbidden: User "alice" cannot get resource "machines/log" in API group "example.dev" in the namespace "ns": not you',
    ]);
    using wire = await upgrading(server, `${MACHINES}/m/log`);
    expect((await wire.answer())?.status).to.equal(403);
    expect((await server.get(`${MACHINES}/m`)).status).to.equal(200);
  });

  it("of a missing object is 404, unless it checks itself", async () => {
    await using server = await start({
      log: { connect: () => expect.fail("asked"), upgrade: () => expect.fail("asked") },
      probe: { object: "unread", connect: (_req, res, { object, key }) => void res.end(`${key.name} ${object}`) },
    });
    const missing = [404, "NotFound", 'machines.example.dev "n" not found'];
    expect(outcome(await server.get(`${MACHINES}/n/log`))).to.deep.equal(missing);
    using wire = await upgrading(server, `${MACHINES}/n/log`);
    expect((await wire.answer())?.status).to.equal(404);
    expect((await server.get(`${MACHINES}/n/probe`)).text).to.equal("n undefined");
    const unknown = [404, "NotFound", "the server could not find the requested resource"];
    expect(outcome(await server.get(`${MACHINES}/m/other`))).to.deep.equal(unknown);
  });

  it("over all logical clusters is 405", async () => {
    await using server = await start({ log: { object: "unread", connect: () => expect.fail("asked") } });
    expect((await server.get(MACHINES.replace("root", "*").concat("/m/log"))).status).to.equal(405);
  });

  it("receives its own copy of the object", async () => {
    await using server = await start({
      log: {
        connect: (_req, res, { object }) => {
          res.end(object.spec.image);
          object.spec.image = "spoilt";
        },
      },
    });
    await server.get(`${MACHINES}/m/log`);
    expect((await server.get(`${MACHINES}/m`)).body.spec.image).to.equal("x");
  });

  it("has the server's deadline unless it is long-running", async () => {
    const late = Promise.withResolvers<void>();
    await using server = await start(
      {
        slow: { connect: ({ socket }) => once(socket, "close").then(() => undefined) },
        follow: {
          longRunning: true,
          connect: async (_req, res) => {
            res.flushHeaders();
            await late.promise;
            res.end("at last");
          },
        },
      },
      { requestTimeout: 50 },
    );
    const followed = server.get(`${MACHINES}/m/follow`);
    expect(outcome(await server.get(`${MACHINES}/m/slow`)).slice(0, 2)).to.deep.equal([504, "Timeout"]);
    late.resolve();
    expect((await followed).text).to.equal("at last");
  });

  it("is answered with a Status when it throws: an ApiError unchanged, anything else as 500 without its message", async () => {
    await using server = await start({
      log: {
        connect: (_req, _res, { tail }) => {
          throw tail === "" ? new Error("secret text") : ApiError.serviceUnavailable("no log yet", 3);
        },
      },
    });
    const known = await server.get(`${MACHINES}/m/log/x`);
    expect([known.status, known.headers["retry-after"], known.body.message]).to.deep.equal([503, "3", "no log yet"]);
    expect((await server.get(`${MACHINES}/m/log`)).text).not.to.include("secret");
    expectFault(/request failed .*secret text/);
  });
});

describe("a subresource that takes upgrades", () => {
  const echo: Named = {
    exec: {
      methods: ["GET", "POST"],
      upgrade: (req, socket, { object, head, tail }) => {
        socket.write(SWITCHED);
        socket.write(`${req.method} ${object.spec.image} ${tail} ${req.headers.authorization} `);
        socket.write(head);
        socket.pipe(socket);
      },
    },
    log: { connect: (_req, res) => void res.end() },
  };

  for (const method of ["GET", "POST"])
    it(`receives them by ${method}, before the virtual workspace`, async () => {
      await using server = await start(echo, { upgrade: true });
      using wire = await upgrading(server, `${MACHINES}/m/exec/sh`, method);
      wire.send("more");
      const text = `${SWITCHED}${method} x /sh undefined more`;
      expect((await wire.read(text.length)).toString()).to.equal(text);
      wire.socket.end();
      expect(await wire.end()).to.equal("end");
    });

  it("leaves all others to the virtual workspace", async () => {
    await using server = await start(echo, { upgrade: true });
    for (const path of [
      `${MACHINES}/m/log`,
      `${MACHINES}/m`,
      `${MACHINES}/m/other`,
      "/services/machines/clusters/root/x",
    ]) {
      using wire = await upgrading(server, path);
      expect(await wire.rest(), path).to.equal(ELSEWHERE);
    }
    await using without = await start(echo);
    using wire = await upgrading(without, `${MACHINES}/m/log`);
    expect((await wire.answer())?.body).to.include("does not take upgrades");
  });

  it("answers requests without an upgrade that it needs one", async () => {
    await using server = await start(echo);
    expect(outcome(await server.get(`${MACHINES}/m/exec`))).to.deep.equal([
      400,
      "BadRequest",
      "Upgrade request required: machines/exec only takes requests with Connection: Upgrade",
    ]);
  });

  it("rejects other methods in HTTP", async () => {
    await using server = await start(echo);
    using wire = await upgrading(server, `${MACHINES}/m/exec`, "PUT");
    expect((await wire.answer("PUT"))?.status).to.equal(405);
  });

  it("is answered with a Status when it throws before it writes", async () => {
    await using server = await start({
      exec: {
        upgrade: () => {
          throw ApiError.serviceUnavailable("the machine is off", 3);
        },
      },
    });
    using wire = await upgrading(server, `${MACHINES}/m/exec`);
    expect((await wire.answer())?.body).to.include("the machine is off");
  });
});

describe("invalid subresources", () => {
  const machines = Machine.collection();
  const connect = (): void => undefined;
  const refused: Readonly<Record<string, readonly [object, string]>> = {
    status: [
      { connect },
      "subresource machines/status: the framework serves this one: set `subresources` of defineResource",
    ],
    scale: [{ connect }, "subresource machines/scale: the framework serves this one"],
    "Log.s": [{ connect }, "subresource machines/Log.s: its name cannot stand in a path: "],
    "": [{ connect }, "subresource machines/: its name cannot stand in a path: "],
    log: [
      {},
      "subresource machines/log: it does nothing: give it `connect`, `upgrade`, or a `kind` and what to do with it",
    ],
    exec: [{ connect, methods: [] }, "subresource machines/exec: it takes no method: leave `methods` out for GET"],
    seat: [{ kind: Machine }, "subresource machines/seat: it does nothing: give it `get`, `create` or `update`"],
    both: [{ kind: Machine, get: connect, connect }, "it has a kind, so it cannot have `connect` or `upgrade`"],
  };
  for (const [name, [subresource, message]] of Object.entries(refused))
    it(`are rejected at definition: ${JSON.stringify(name)}`, () => {
      expect(() => Machine.serve(machines, { subresources: { [name]: subresource } } as object)).to.throw(message);
    });

  it("are rejected for a storage that cannot read objects, unless they are unread", () => {
    const storage = { create: (_scope: unknown, object: object) => object } as never;
    const serve = (object: object) => () =>
      Machine.serve(storage, { subresources: { log: { connect, ...object } } } as object);
    expect(serve({})).to.throw(
      'the storage cannot tell whether there is such an object: give it `get`, or say `object: "unread"`',
    );
    expect(serve({ object: "unread" })).not.to.throw();
  });

  it("are rejected for namespaces, whose paths lead into them, except finalize", () => {
    const Namespace = defineResource({
      group: "",
      version: "v1",
      kind: "Namespace",
      scope: "Cluster",
      spec: { type: "object" },
    });
    const serve = (name: string) => () =>
      Namespace.serve(Namespace.collection(), { subresources: { [name]: { connect } } } as object);
    expect(serve("log")).to.throw("its path addresses objects in the namespace: only `finalize` can be served");
    expect(serve("finalize")).not.to.throw();
  });
});
