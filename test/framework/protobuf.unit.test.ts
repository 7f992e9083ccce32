// Protobuf from typed Go clients: decodes the known fields, and rejects malformed bytes of any kind.

import { request } from "node:http";
import { defineResource, defineVirtualWorkspace, deny } from "@virtual-workspaces/framework";
import { expect } from "chai";
import { readProtobuf } from "../../packages/framework/src/body/protobuf/protobuf-reader.ts";
import { startPlain } from "../_support/plain.ts";
import { Random } from "../_support/random.ts";

const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
const field = (number: number, value: string | Buffer): Buffer => {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes]);
};
const message = (...fields: readonly Buffer[]): Buffer => Buffer.concat(fields);
const envelope = (apiVersion: string, kind: string, raw: Buffer): Buffer =>
  message(
    Buffer.from("k8s\0"),
    field(1, message(field(1, apiVersion), field(2, kind))),
    field(2, raw),
    field(3, ""),
    field(4, ""),
  );

/** Returns a review as client-go sends it: metadata with an empty time, empty strings, and an empty status. */
const review = (attributes: Buffer): Buffer =>
  envelope(
    "authorization.k8s.io/v1",
    "SelfSubjectAccessReview",
    message(
      field(1, message(field(1, ""), field(8, ""), Buffer.from([7 * 8, 0]))),
      field(2, field(1, attributes)),
      field(3, ""),
    ),
  );

const SHAPE = {
  1: { name: "text" },
  2: { name: "list", form: "list" },
  3: { name: "map", form: "map" },
  4: { name: "inner", of: { 1: { name: "a" } } },
} as const;
const read = (raw: Buffer): object => readProtobuf(envelope("v1", "Kind", raw), SHAPE);

describe("protobuf", () => {
  it("is decoded by field number, and unknown fields are skipped", () => {
    const others = Buffer.from([
      ...varint(9 * 8),
      ...varint(2 ** 40),
      ...varint(10 * 8 + 1),
      1,
      2,
      3,
      4,
      5,
      6,
      7,
      8,
      ...varint(11 * 8 + 5),
      1,
      2,
      3,
      4,
    ]);
    const raw = message(
      field(1, "größe"),
      others,
      field(2, "a"),
      field(2, ""),
      field(3, message(field(1, "__proto__"), field(2, "x"))),
      field(3, message(field(1, "k"))),
      field(4, field(1, "b")),
    );
    const { map, ...object } = read(raw) as { map: Record<string, string> };
    expect(object).to.deep.equal({ apiVersion: "v1", kind: "Kind", text: "größe", list: ["a", ""], inner: { a: "b" } });
    expect(Object.entries(map)).to.deep.equal([
      ["__proto__", "x"],
      ["k", ""],
    ]);
    expect(Object.getPrototypeOf({})).to.equal(Object.prototype);
  });

  const faults: Record<string, Buffer> = {
    "without its four bytes": Buffer.from("{}"),
    "that ends within a field": review(field(2, "get")).subarray(0, -3),
    "with a length beyond its message": message(Buffer.from("k8s\0"), Buffer.from([10, 127])),
    "with a length beyond any number": message(Buffer.from("k8s\0"), Buffer.from([10, ...Array(9).fill(255), 1])),
    "with an endless number": message(Buffer.from("k8s\0"), Buffer.from(Array(12).fill(255))),
    "with a field 0": message(Buffer.from("k8s\0"), Buffer.from([2, 0])),
    "with a group": message(Buffer.from("k8s\0"), Buffer.from([11])),
    "with a number in a string field": envelope("v1", "Kind", Buffer.from([8, 1])),
    "with a string that is not UTF-8": envelope("v1", "Kind", field(1, Buffer.from([255]))),
    "whose content is encoded": message(Buffer.from("k8s\0"), field(3, "gzip")),
  };
  for (const [what, body] of Object.entries(faults))
    it(`is rejected ${what}`, () => {
      expect(() => readProtobuf(body, SHAPE))
        .to.throw(Error)
        .with.property("name", "ProtobufFault");
    });

  it("is decoded or rejected without other errors, for any bytes", () => {
    const random = new Random(7);
    const whole = review(message(field(2, "get"), field(5, "quotes")));
    for (let round = 0; round < 20_000; round++) {
      const body = Buffer.from(whole);
      for (let hit = 0; hit <= random.below(4); hit++) body[4 + random.below(body.length - 4)] = random.below(256);
      try {
        readProtobuf(body, SHAPE);
      } catch (error) {
        expect((error as Error).name).to.equal("ProtobufFault");
      }
    }
  });
});

describe("a body in protobuf", () => {
  const Quote = defineResource({
    group: "test.dev",
    version: "v1",
    kind: "Quote",
    scope: "Cluster",
    spec: { type: "object" },
  });
  const view = defineVirtualWorkspace({
    name: "view",
    path: "/",
    authorize: ({ resource }) => (resource === "quotes" ? { allowed: true } : deny("other")),
    resources: [Quote.serve(Quote.collection())],
  });
  const post = (url: string, body: Buffer): Promise<{ status: number; body: { message?: string; status?: object } }> =>
    new Promise((resolve, reject) => {
      const headers = {
        authorization: "Bearer alice",
        "content-type": "application/vnd.kubernetes.protobuf",
        accept: "application/vnd.kubernetes.protobuf,application/json",
      };
      const req = request(url, { method: "POST", headers }, async (res) => {
        let text = "";
        for await (const piece of res.setEncoding("utf8")) text += piece;
        resolve({ status: res.statusCode ?? 0, body: JSON.parse(text) });
      });
      req.on("error", reject).end(body);
    });
  const REVIEWS = "/services/view/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

  it("is accepted for reviews, and answered in JSON", async () => {
    await using server = await startPlain([view]);
    const ask = (...fields: readonly Buffer[]) => post(server.url + REVIEWS, review(message(...fields)));
    const group = field(3, "test.dev");
    expect((await ask(field(1, ""), field(2, "get"), group, field(5, "quotes"))).body.status).to.deep.equal({
      allowed: true,
    });
    const no = await ask(field(2, "get"), group, field(5, "notes"));
    expect([no.status, no.body.status]).to.deep.equal([201, { allowed: false, denied: true, reason: "other" }]);
  });

  it("gets 400 when it is malformed, and 415 for kinds without protobuf", async () => {
    await using server = await startPlain([view]);
    const broken = await post(server.url + REVIEWS, Buffer.from("k8s\0\xff", "latin1"));
    expect([broken.status, broken.body.message]).to.deep.equal([
      400,
      "the object provided is unrecognized (must be of type SelfSubjectAccessReview): protobuf: a varint does not end (6b387300ff)",
    ]);
    const other = await post(server.url + REVIEWS, envelope("v1", "Pod", Buffer.alloc(0)));
    expect(other.status).to.equal(400);
    const quote = await post(
      `${server.url}/services/view/apis/test.dev/v1/quotes`,
      envelope("test.dev/v1", "Quote", Buffer.alloc(0)),
    );
    expect(quote.status).to.equal(415);
  });

  it("of a kind of Kubernetes is decoded without its encoding in the definition, and unknown fields are dropped", async () => {
    const Namespace = defineResource({
      group: "",
      version: "v1",
      kind: "Namespace",
      scope: "Cluster",
      schema: { type: "object" },
    });
    const own = defineVirtualWorkspace({
      name: "view",
      path: "/",
      authorize: () => ({ allowed: true }),
      resources: [Namespace.serve(Namespace.collection())],
    });
    await using server = await startPlain([own]);
    const sent = message(field(1, field(1, "shop")), field(2, field(1, "kubernetes")), field(3, ""));
    const url = `${server.url}/services/view/api/v1/namespaces?fieldValidation=Strict`;
    const created = await post(url, envelope("v1", "Namespace", sent));
    expect(created.status).to.equal(201);
    expect(created.body).to.deep.include({ apiVersion: "v1", kind: "Namespace" });
    expect(Object.keys(created.body)).to.deep.equal(["apiVersion", "kind", "metadata"]);
  });
});
