// The storage contract (packages/framework/src/storage.ts), one storage for each property: the calls it gets, and the use of
// its results.
import { request } from "node:http";
import { gunzipSync, gzipSync } from "node:zlib";
import { ApiError } from "@virtual-workspaces/apimachinery";
import {
  authenticated,
  defineResource,
  defineVirtualWorkspace,
  type ObjectOf,
  type VirtualWorkspace,
} from "@virtual-workspaces/framework";
import {
  type CacheLease,
  type Encoded,
  encodeObject,
  type ListRequest,
  type Scope,
  type Storage,
} from "@virtual-workspaces/framework/storage";
import { FakeSource } from "@virtual-workspaces/testing";
import { expect } from "chai";
import { expectFault } from "../_setup/faults.ts";
import { startPlain } from "../_support/plain.ts";

const Thing = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Thing",
  scope: "Namespaced",
  spec: { type: "object", properties: { size: { type: "integer" } } },
  selectableFields: [".spec.size"],
});
type ThingObject = ObjectOf<{ spec: { readonly size?: number } }>;

const PATH = "/services/things/clusters/root/apis/example.dev/v1";
const ALL = `${PATH}/things`;
const TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1";

function viewOf(storage: Storage<ThingObject>): VirtualWorkspace {
  return defineVirtualWorkspace({
    name: "things",
    path: "/clusters/:cluster",
    authorize: authenticated(),
    resources: [Thing.serve(storage)],
  });
}

function thing(name: string, size = 1): ThingObject {
  const metadata = {
    name,
    namespace: "here",
    uid: `uid-${name}`,
    resourceVersion: String(1000 + size),
    labels: { name },
  };
  return { apiVersion: "example.dev/v1", kind: "Thing", metadata, spec: { size } };
}

/** Encodes an object as no serializer of ours would, to show if bytes pass through unchanged. */
function oddly(object: ThingObject): Encoded {
  const bytes = Buffer.from(JSON.stringify(object).replaceAll(":", " :  "));
  return { ...encodeObject(object, "root", Thing.selectableFields), bytes };
}

const text = (encoded: Encoded): string => encoded.bytes.toString("utf8");

/** Returns the bytes on the wire, not decoded. */
function rawGet(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<{ encoding: string | undefined; bytes: Buffer }> {
  return new Promise((resolve, reject) => {
    const req = request(url, { agent: false, headers: { authorization: "Bearer alice", ...headers } }, async (res) => {
      const pieces: Buffer[] = [];
      for await (const piece of res as AsyncIterable<Buffer>) pieces.push(piece);
      resolve({ encoding: res.headers["content-encoding"], bytes: Buffer.concat(pieces) });
    });
    req.once("error", reject).end();
  });
}

describe("a storage is called", () => {
  interface Asked {
    readonly scope: Scope;
    readonly options: ListRequest;
  }

  async function askedFor(query: string, narrows: boolean): Promise<Asked> {
    const asked: Asked[] = [];
    const list = (scope: Scope, options: ListRequest): { items: ThingObject[] } => {
      expect(options.signal.aborted).to.equal(false);
      asked.push({ scope, options });
      return { items: [] };
    };
    await using server = await startPlain([viewOf({ list, appliesSelectors: narrows })]);
    const { status } = await server.get(`${PATH}/namespaces/here/things${query}`);
    expect(status).to.equal(200);
    return asked[0] as Asked;
  }

  it("with a limit, a version and its match, when it applies selectors", async () => {
    const { options } = await askedFor("?limit=7&continue=theirs", true);
    expect(options).to.include({ limit: 7, continue: "theirs" });
    const exact = await askedFor("?resourceVersion=12&resourceVersionMatch=Exact", true);
    expect(exact.options).to.include({ resourceVersion: "12", resourceVersionMatch: "Exact" });
  });

  it("with the namespace and selectors, when it applies selectors", async () => {
    const { scope } = await askedFor("?labelSelector=a=b&fieldSelector=status.any=c", true);
    expect([scope.namespace, String(scope.labels), String(scope.fields)]).to.deep.equal([
      "here",
      "a=b",
      "status.any=c",
    ]);
  });

  it("for the whole list, when it does not: selection must come before paging", async () => {
    const { options } = await askedFor("?limit=7&resourceVersion=12", false);
    expect(options).to.not.have.property("limit");
    expect(options.resourceVersion).to.equal("12");
  });

  it("with the caller and the parameters of the path", async () => {
    const { scope, options } = await askedFor("", true);
    expect([scope.cluster, scope.params, scope.identity.name]).to.deep.equal(["root", { cluster: "root" }, "alice"]);
    expect([options.user.name, options.requestId.length]).to.deep.equal(["alice", 36]);
  });

  it("never with a continue token that it cannot have issued", async () => {
    await using server = await startPlain([viewOf({ list: () => ({ items: [] }) })]);
    expect((await server.get(`${ALL}?continue=made-up`)).status).to.equal(400);
  });
});

describe("the result of a storage", () => {
  it("is filtered by the framework, unless the storage applies selectors", async () => {
    const items = [
      thing("a", 1),
      thing("b", 2),
      { ...thing("c"), metadata: { ...thing("c").metadata, namespace: "there" } },
    ];
    for (const [narrows, names] of [
      [false, ["b"]],
      [true, ["a", "b", "c"]],
    ] as const) {
      await using server = await startPlain([viewOf({ list: () => ({ items }), appliesSelectors: narrows })]);
      const { body } = await server.get(
        `${PATH}/namespaces/here/things?labelSelector=name!=a&fieldSelector=spec.size!=7`,
      );
      expect(body.items.map((item: ThingObject) => item.metadata.name)).to.deep.equal(names);
    }
  });

  it("keeps a page's continue and remainingItemCount", async () => {
    const list = (): object => ({
      items: [thing("a")],
      resourceVersion: "5",
      continue: "theirs",
      remainingItemCount: 3,
    });
    await using server = await startPlain([
      viewOf({ list: list as NonNullable<Storage<ThingObject>["list"]>, appliesSelectors: true }),
    ]);
    const { body } = await server.get(`${ALL}?limit=1`);
    expect(body.metadata).to.deep.equal({ resourceVersion: "5", continue: "theirs", remainingItemCount: 3 });
  });

  it("carries warnings as headers", async () => {
    const warned: Storage<ThingObject> = {
      get: (_scope, _key, { warn }) => {
        warn('use "Thang" instead');
        warn("sonst gibt es Ärger");
        return thing("a");
      },
    };
    await using server = await startPlain([viewOf(warned)]);
    const { headers } = await server.get(`${PATH}/namespaces/here/things/a`);
    const warnings = Buffer.from(String(headers["warning"]), "latin1").toString("utf8");
    expect(warnings).to.equal('299 - "use \\"Thang\\" instead", 299 - "sonst gibt es Ärger"');
  });

  it("as bytes is sent unchanged in GET, LIST and events", async () => {
    const a = oddly(thing("a", 1));
    const b = oddly(thing("b", 2));
    const { promise: forever } = Promise.withResolvers<void>();
    const storage: Storage<ThingObject> = {
      get: () => a,
      list: () => ({ items: [a], resourceVersion: "1001" }),
      async *changes(_scope, _after, { signal }) {
        yield { type: "set", object: b };
        await Promise.race([
          forever,
          new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve())),
        ]);
      },
    };
    await using server = await startPlain([viewOf(storage)]);
    expect((await server.get(`${PATH}/namespaces/here/things/a`)).text).to.equal(text(a));
    expect((await server.get(`${ALL}?resourceVersion=0`)).text).to.include(`"items":[${text(a)}`);
    const watched = await server.get(`${ALL}?watch=true&resourceVersion=1001&timeoutSeconds=1`);
    expect(watched.text).to.equal(`{"type":"ADDED","object":${text(b)}}\n`);
  });

  it("is 404 for undefined, an ApiError is answered unchanged, and anything else is 500 without its message", async () => {
    const storage: Storage<ThingObject> = {
      get: (_scope, { name }) => {
        if (name === "busy") throw ApiError.tooManyRequests("later", 7);
        if (name === "broken") throw new Error("password of the database");
        return undefined;
      },
    };
    await using server = await startPlain([viewOf(storage)]);
    const at = `${PATH}/namespaces/here/things`;
    expect((await server.get(`${at}/gone`)).body.message).to.equal('things.example.dev "gone" not found');
    const busy = await server.get(`${at}/busy`);
    expect([busy.status, busy.headers["retry-after"], busy.body.message]).to.deep.equal([429, "7", "later"]);
    const broken = await server.get(`${at}/broken`);
    expect(broken.status).to.equal(500);
    expect(broken.text).to.not.include("password");
    expectFault(/password of the database/);
  });
});

describe("a list as bytes", () => {
  const body = Buffer.from(
    JSON.stringify({
      kind: "ThingList",
      apiVersion: "example.dev/v1",
      metadata: { resourceVersion: "9", continue: "theirs" },
      items: [thing("a")],
    }).replaceAll(":", ": "),
  );
  async function* inPieces(bytes: Buffer): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += 100) yield bytes.subarray(at, at + 100);
  }
  const gzipped = { accept: "application/json", "accept-encoding": "gzip" };

  for (const [how, given] of [
    ["at once", () => body],
    ["piece by piece", () => inPieces(body)],
  ] as const) {
    it(`passes through ${how}, without being parsed`, async () => {
      await using server = await startPlain([viewOf({ list: () => ({ body: given() }), appliesSelectors: true })]);
      expect((await server.get(ALL)).text).to.equal(body.toString("utf8"));
    });

    it(`becomes a Table ${how} on request`, async () => {
      await using server = await startPlain([viewOf({ list: () => ({ body: given() }), appliesSelectors: true })]);
      const { body: table } = await server.get(ALL, { headers: { accept: TABLE } });
      expect([table.kind, table.metadata, table.rows[0].cells[0]]).to.deep.equal([
        "Table",
        { resourceVersion: "9", continue: "theirs" },
        "a",
      ]);
    });
  }

  it("passes through in its encoding, for clients that accept it", async () => {
    const encoded = gzipSync(body);
    const list = (): { body: Buffer; contentEncoding: string } => ({ body: encoded, contentEncoding: "gzip" });
    await using server = await startPlain([viewOf({ list, appliesSelectors: true })]);
    const { encoding, bytes } = await rawGet(server.url + ALL, gzipped);
    expect(encoding).to.equal("gzip");
    expect(bytes.equals(encoded)).to.equal(true);
    expect(gunzipSync(bytes).equals(body)).to.equal(true);
  });

  it("is decoded for clients that do not accept its encoding, and for other forms", async () => {
    const list = (): { body: AsyncIterable<Uint8Array>; contentEncoding: string } => ({
      body: inPieces(gzipSync(body)),
      contentEncoding: "gzip",
    });
    await using server = await startPlain([viewOf({ list, appliesSelectors: true })]);
    const plain = await server.get(ALL);
    expect(plain.headers).to.not.have.property("content-encoding");
    expect(plain.text).to.equal(body.toString("utf8"));
    const table = await server.get(ALL, { headers: { ...gzipped, accept: TABLE } });
    expect(table.body.rows[0].cells[0]).to.equal("a");
  });
});

describe("a storage that keeps its own history", () => {
  it("gets back every lease of its cache, also from rejected requests", async () => {
    const things = Thing.collection();
    things.in("root", "here").set("a", { size: 1 });
    let held = 0;
    const storage: Storage<ThingObject> = {
      cache: async () => {
        held += 1;
        const release = (): void => {
          held -= 1;
        };
        return { ...things.cache(), [Symbol.dispose]: release } satisfies CacheLease;
      },
    };
    await using server = await startPlain([viewOf(storage)]);
    for (const [path, status] of [
      [`${PATH}/namespaces/here/things/a`, 200],
      [`${PATH}/namespaces/here/things/a?resourceVersion=1`, 410],
      [`${PATH}/namespaces/here/things/gone`, 404],
      [`${ALL}?resourceVersion=1`, 410],
      [
        `${ALL}?watch=true&timeoutSeconds=1&resourceVersion=0&sendInitialEvents=true&resourceVersionMatch=NotOlderThan`,
        200,
      ],
    ] as const) {
      expect((await server.get(path)).status, path).to.equal(status);
    }
    expect(held).to.equal(0);
  });
});

describe("a storage of plain functions", () => {
  it("is not called for a version that does not exist yet", async () => {
    const source = new FakeSource(Thing);
    source.set({ namespace: "here", name: "a" });
    await using server = await startPlain([viewOf(source.storage)]);
    const path = `${PATH}/namespaces/here/things/a?resourceVersion=`;
    expect((await server.get(`${path}${source.version}`)).status).to.equal(200);
    const { status, body } = await server.get(`${path}99999`);
    expect([status, body.details.causes[0].reason]).to.deep.equal([504, "ResourceVersionTooLarge"]);
    expect(source.counts.get).to.equal(0);
  });
});
