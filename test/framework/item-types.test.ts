// Kind and apiVersion of list items, for each form in which a storage returns objects of Kubernetes' own kinds.
import { gzipSync } from "node:zlib";
import { authenticated, defineResource, defineVirtualWorkspace } from "@virtual-workspaces/framework";
import { type Encoded, type EncodedList, encodeObject, type ListResult } from "@virtual-workspaces/framework/storage";
import { expect } from "chai";
import { type Answer, startPlain } from "../_support/plain.ts";

const ConfigMap = defineResource({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  scope: "Namespaced",
  schema: { type: "object", properties: { data: { type: "object", additionalProperties: { type: "string" } } } },
});
const MAPS = "/services/maps/clusters/root/api/v1/namespaces/default/configmaps";
const TYPE = { apiVersion: "v1", kind: "ConfigMap" };

const map = (name: string) => ({
  metadata: { name, namespace: "default", uid: name, resourceVersion: "7" },
  data: { kind: `{"kind":"${name}"}` },
});

/** Orders and layouts of members in a storage's bytes. */
const LAYOUTS: Readonly<Record<string, string>> = {
  ours: JSON.stringify({ ...TYPE, ...map("a") }),
  gos: JSON.stringify({ kind: TYPE.kind, apiVersion: TYPE.apiVersion, ...map("b") }),
  sorted: JSON.stringify({ apiVersion: "v1", data: map("c").data, kind: "ConfigMap", metadata: map("c").metadata }),
  indented: JSON.stringify({ ...TYPE, ...map("d") }, null, 2),
  last: JSON.stringify({ ...map("e"), ...TYPE }),
};

function encoded(text: string): Encoded {
  return { ...encodeObject(JSON.parse(text), "root"), bytes: Buffer.from(text) };
}

async function listed(list: ListResult, typedItems?: boolean, headers?: Record<string, string>): Promise<Answer> {
  const storage = { list: () => list, get: () => encoded(LAYOUTS["last"] ?? ""), appliesSelectors: true };
  await using server = await startPlain([
    defineVirtualWorkspace({
      name: "maps",
      path: "/clusters/:cluster",
      authorize: authenticated(),
      resources: [ConfigMap.serve(storage, typedItems === undefined ? {} : { typedItems })],
    }),
  ]);
  expect((await server.get(`${MAPS}/e`)).text).to.equal(LAYOUTS["last"]);
  return await server.get(MAPS, headers && { headers });
}

/** Returns a list as another server sends it, in small pieces. */
function asBytes(items: readonly object[], encode = (bytes: Buffer) => bytes): EncodedList["body"] {
  const bytes = encode(Buffer.from(JSON.stringify({ kind: "ConfigMapList", metadata: {}, items, apiVersion: "v1" })));
  return (async function* () {
    for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7);
  })();
}

const NAMES = ["a", "b", "c", "d", "e"];
const PLAIN = NAMES.map(map);
const TYPED = PLAIN.map((item) => ({ ...TYPE, ...item }));

describe("items of lists of Kubernetes' own kinds", () => {
  it("have no type, whatever the layout of a storage's bytes", async () => {
    const { body } = await listed({ items: Object.values(LAYOUTS).map(encoded) });
    expect(body.items).to.deep.equal(PLAIN);
  });

  it("have no type in lists of parsed objects", async () => {
    expect((await listed({ items: TYPED })).body.items).to.deep.equal(PLAIN);
    expect((await listed({ items: [] })).body.items).to.deep.equal([]);
    const untyped = PLAIN as readonly object[] as typeof TYPED;
    expect((await listed({ items: untyped })).body.items).to.deep.equal(PLAIN);
  });

  it("have their type where the view says so", async () => {
    expect((await listed({ items: Object.values(LAYOUTS).map(encoded) }, true)).body.items).to.deep.equal(TYPED);
  });

  it("have their type where the client requests it, which the content type states", async () => {
    const headers = { accept: "application/json;items=typed" };
    const whole = await listed({ items: Object.values(LAYOUTS).map(encoded) }, undefined, headers);
    expect(whole.headers["content-type"]).to.equal("application/json;items=typed");
    expect(whole.body.items).to.deep.equal(TYPED);
    const bytes = await listed({ body: asBytes(PLAIN) }, undefined, headers);
    expect(bytes.headers["content-type"]).to.equal("application/json;items=typed");
    expect(bytes.body.items).to.deep.equal(TYPED);
    const other = await listed({ items: [] }, undefined, { accept: "application/json;items=bare" });
    expect(other.headers["content-type"]).to.equal("application/json");
  });

  it("stay as a storage states that they are", async () => {
    // The claim is wrong here, to show that the bytes are not read.
    const { body } = await listed({ body: asBytes(PLAIN), typedItems: true }, true);
    expect(body.items).to.deep.equal(PLAIN);
  });

  it("are as they come in lists as bytes", async () => {
    expect((await listed({ body: asBytes(PLAIN) })).body.items).to.deep.equal(PLAIN);
    expect((await listed({ body: asBytes(TYPED) })).body.items).to.deep.equal(TYPED);
  });

  it("get or lose their type in lists as bytes where the view says so", async () => {
    const mixed = [...PLAIN.slice(0, 2), ...TYPED.slice(2)];
    expect((await listed({ body: asBytes(mixed) }, true)).body).to.deep.equal({
      ...{ kind: "ConfigMapList", apiVersion: "v1", metadata: {} },
      items: TYPED,
    });
    const gzipped = { body: asBytes(mixed, gzipSync), contentEncoding: "gzip", length: 1 };
    expect((await listed(gzipped, true)).body.items).to.deep.equal(TYPED);
    expect((await listed({ body: asBytes(mixed) }, false)).body.items).to.deep.equal(PLAIN);
    expect((await listed({ body: asBytes([]) }, true)).body.items).to.deep.equal([]);
  });
});
