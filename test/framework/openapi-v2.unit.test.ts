import { expect } from "chai";
import type { Schema } from "../../packages/framework/src/discovery/openapi/schema.ts";
import { swaggerDocument, v2Kind, v2Schema } from "../../packages/framework/src/discovery/openapi/v2.ts";
import { v3Documents } from "../../packages/framework/src/discovery/openapi/v3.ts";
import { Author, ConfigMap, EVERYTHING, Quote, READ, served } from "./openapi-fixtures.ts";

describe("OpenAPI v2", () => {
  const document = swaggerDocument(EVERYTHING);
  const text = JSON.stringify(document);

  it("has a definition for each reference, and no unused one", () => {
    const references = Array.from(text.matchAll(/"\$ref":"([^"]+)"/g), ([, reference = ""]) => reference);
    const names = references.map((reference) => /^#\/definitions\/(.+)$/.exec(reference)?.[1]);
    expect([...new Set(names)].sort()).to.deep.equal(Object.keys(document.definitions));
  });

  it("has the paths of all v3 documents", () => {
    const paths = Object.values(v3Documents(EVERYTHING)).flatMap(({ make }) => Object.keys(make().paths));
    expect(Object.keys(document.paths)).to.deep.equal(paths.sort());
  });

  it("has no keyword of v3", () => {
    expect(text).not.to.match(/"(nullable|anyOf|oneOf|allOf|not|requestBody|content)":/);
  });

  it("has operations in v2 form", () => {
    const { paths } = swaggerDocument([served(Author, ["list", "patch"])]);
    const { get } = paths["/apis/example.dev/v1/namespaces/{namespace}/authors"] ?? {};
    expect(get?.responses[200]?.schema).to.deep.equal({ $ref: "#/definitions/dev.example.v1.AuthorList" });
    expect(get?.produces).to.deep.equal(["application/json", "application/yaml"]);
    expect(get?.parameters?.find(({ name }) => name === "limit")).to.include({ in: "query", type: "integer" });
    const { patch, parameters } = paths["/apis/example.dev/v1/namespaces/{namespace}/authors/{name}"] ?? {};
    expect(parameters?.map(({ name }) => name)).to.deep.equal(["name", "namespace"]);
    expect(patch?.consumes).to.include("application/merge-patch+json");
    expect(patch?.parameters?.at(-1)).to.deep.equal({
      name: "body",
      in: "body",
      required: true,
      schema: { $ref: "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.Patch" },
    });
  });

  it("has a description beside a reference", () => {
    const { properties } = swaggerDocument([served(Quote)]).definitions["dev.example.v1.Quote"] ?? {};
    expect(properties?.["metadata"]).to.have.all.keys("$ref", "description");
  });

  it("is small for a small view", () => {
    const size = JSON.stringify(swaggerDocument([served(Quote, READ), served(ConfigMap, READ)])).length;
    expect(size).to.be.below(40_000);
  });
});

/** As apiextensions' ToStructuralOpenAPIV2 does; checked against it when this was written. */
describe("OpenAPI v2, unsupported features", () => {
  const table: Record<string, readonly [Schema, Schema]> = {
    "alternatives go": [
      { type: "integer", anyOf: [{ minimum: 1 }], oneOf: [{}], allOf: [{}], not: { enum: [7] }, minimum: 0 },
      { type: "integer", minimum: 0 },
    ],
    "what may be null is anything": [
      { type: "object", nullable: true, description: "d", properties: { a: { type: "string" } } },
      { description: "d" },
    ],
    "a required field that may be null is not required": [
      { type: "object", required: ["a", "b"], properties: { a: { nullable: true }, b: { type: "string" } } },
      { type: "object", required: ["b"], properties: { a: {}, b: { type: "string" } } },
    ],
    "nor is any where all values may be null": [
      { type: "object", required: ["a"], additionalProperties: { type: "string", nullable: true } },
      { type: "object", additionalProperties: {} },
    ],
    "an object with unknown fields is anything": [
      { type: "object", properties: { a: {} }, "x-kubernetes-preserve-unknown-fields": true },
      { "x-kubernetes-preserve-unknown-fields": true },
    ],
    "and so is a list of them": [
      { type: "array", items: { type: "object" }, "x-kubernetes-preserve-unknown-fields": true },
      { "x-kubernetes-preserve-unknown-fields": true },
    ],
    "integers that may be text have no type": [
      { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] },
      { "x-kubernetes-int-or-string": true },
    ],
    "nullable false says nothing": [{ type: "string", nullable: false }, { type: "string" }],
    "all the way down": [
      { type: "array", items: { type: "object", additionalProperties: { type: "string", nullable: true } } },
      { type: "array", items: { type: "object", additionalProperties: {} } },
    ],
  };
  for (const [name, [from, to]] of Object.entries(table))
    it(name, () => {
      expect(v2Schema(from)).to.deep.equal(to);
    });

  it("a kind with unknown fields keeps its name and no property", () => {
    const kinds = [{ group: "g", version: "v1", kind: "K" }];
    const schema: Schema = {
      type: "object",
      description: "d",
      properties: { apiVersion: { type: "string" } },
      "x-kubernetes-preserve-unknown-fields": true,
      "x-kubernetes-group-version-kind": kinds,
    };
    expect(v2Kind(schema)).to.deep.equal({
      type: "object",
      description: "d",
      "x-kubernetes-group-version-kind": kinds,
    });
  });

  it("does not change the schema it was given", () => {
    const schema = Object.freeze({
      type: "object",
      properties: Object.freeze({ a: Object.freeze({ nullable: true }) }),
    });
    v2Schema(schema as Schema);
    expect(schema.properties.a.nullable).to.equal(true);
  });
});
