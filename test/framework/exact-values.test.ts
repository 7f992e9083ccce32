// Values that JavaScript would change: 64-bit integers, members named __proto__, strings that YAML 1.1 interprets
// differently, keys above U+FFFF.
import { allow, defineResource, defineVirtualWorkspace, view } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { MERGE } from "../_support/patches.ts";
import { type PlainServer, startPlain } from "../_support/plain.ts";

const Thing = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Thing",
  scope: "Cluster",
  spec: {
    type: "object",
    properties: {
      count: { type: "integer", format: "int64" },
      free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    },
  },
  columns: { Count: ".spec.count", Free: ".spec.free" },
  selectableFields: [".spec.count"],
});
const things = Thing.collection();
const Other = defineResource({
  ...Thing,
  schema: Thing.schema,
  columns: {},
  selectableFields: [],
  kind: "Other",
  plural: "others",
});
const others = view({ from: things, to: Other, map: ({ spec }) => ({ spec }) });
const BASE = "/services/things/clusters/root/apis/example.dev/v1";
const BIG = "9007199254740993";
const SPEC = `{"count":${BIG},"free":{"__proto__":{"a":1},"constructor":[${BIG}],"yes":"on","\u{10000}":"x","\uffff":"012","f":1.5}}`;

async function start(): Promise<PlainServer> {
  const resources = [Thing.serve(things), Other.serve(others)];
  return startPlain([
    defineVirtualWorkspace({ name: "things", path: "/clusters/:cluster", authorize: () => allow(), resources }),
  ]);
}

describe("exact values", () => {
  it("survive creates and patches, and are returned exactly in every format", async () => {
    await using server = await start();
    const body = `{"apiVersion":"example.dev/v1","kind":"Thing","metadata":{"name":"a"},"spec":${SPEC}}`;
    const created = await server.send(`POST ${BASE}/things`, body);
    expect(created.text, created.text).to.contain(`"spec":${SPEC}`);
    expect((await server.get(`${BASE}/things/a`)).text).to.contain(`"spec":${SPEC}`);
    expect((await server.get(`${BASE}/things`)).text).to.contain(`"spec":${SPEC}`);
    expect((await server.get(`${BASE}/others/a`)).text).to.contain(`"spec":${SPEC}`);
    const yaml = (await server.get(`${BASE}/things/a`, { headers: { accept: "application/yaml" } })).text;
    for (const text of [`count: ${BIG}`, `- ${BIG}`, '"yes": "on"', '"012"', "__proto__:"])
      expect(yaml).to.contain(text);
    const table = { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" };
    expect((await server.get(`${BASE}/things`, { headers: table })).text).to.contain(`"cells":["a",${BIG},`);
    const patched = await server.send(`PATCH ${BASE}/things/a`, '{"metadata":{"labels":{"x":"y"}}}', MERGE);
    expect(patched.text).to.contain(`"spec":${SPEC}`);
    const selected = await server.get(`${BASE}/things?fieldSelector=spec.count=${BIG}`);
    expect(selected.body.items).to.have.length(1);
    await using watch = await server.watch(`${BASE}/things?watch=true`);
    expect(await watch.take(1)).to.deep.equal(["ADDED a"]);
    expect((await server.get(`${BASE}/things/a`)).body.polluted).to.equal(undefined);
  });
});
