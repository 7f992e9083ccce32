import { expect } from "chai";
import * as fc from "fast-check";
import { swaggerDocument } from "../../packages/framework/src/discovery/openapi/v2.ts";
import {
  encodeMessage,
  encodeSwagger,
  type Message,
} from "../../packages/framework/src/discovery/openapi/v2-protobuf.ts";
import { EVERYTHING, Quote, served } from "./openapi-fixtures.ts";
import { decodeFields, decodeSwagger } from "./openapi-gnostic.ts";

describe("protobuf", () => {
  const table: readonly [string, Message, string][] = [
    ["a number", { 1: { int64: 150 } }, "089601"],
    ["a negative number", { 1: { int64: -1 } }, "08ffffffffffffffffff01"],
    ["a text", { 2: "testing" }, "120774657374696e67"],
    ["a text beyond ASCII", { 2: "ü" }, "1202c3bc"],
    ["a double", { 3: { double: 1 } }, "19000000000000f03f"],
    ["a flag", { 4: true }, "2001"],
    ["a message", { 3: { message: { 1: { int64: 150 } } } }, "1a03089601"],
    ["an empty message", { 3: { message: {} } }, "1a00"],
    ["a list, empty texts included", { 1: ["a", "", "b"] }, "0a01610a000a0162"],
    ["fields in the order of their numbers", { 16: "b", 1: "a" }, "0a01618201" + "0162"],
    ["nothing for defaults", { 1: "", 2: false, 3: undefined, 4: [] }, ""],
    ["false in a list, as a oneof has it", { 2: [false] }, "1000"],
  ];
  for (const [name, message, bytes] of table)
    it(`writes ${name}`, () => {
      expect(encodeMessage(message).toString("hex")).to.equal(bytes);
    });

  it("writes strings of any length", () => {
    void fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 1, maxLength: 400 }), (text) => {
        expect(
          decodeFields(encodeMessage({ 7: text }))
            .get(7)
            ?.map(String),
        ).to.deep.equal([text]);
      }),
    );
  });
});

describe("OpenAPI v2 in protobuf", () => {
  it("equals the JSON document", () => {
    const document = swaggerDocument(EVERYTHING);
    expect(decodeSwagger(encodeSwagger(document))).to.deep.equal(JSON.parse(JSON.stringify(document)));
  });

  it("has vendor extensions as YAML, in the form that kubectl expects", () => {
    const { definitions } = decodeSwagger(encodeSwagger(swaggerDocument([served(Quote)])));
    const quote = (definitions as Record<string, Record<string, unknown>>)["dev.example.v1.Quote"];
    expect(quote?.["x-kubernetes-group-version-kind"]).to.deep.equal([
      { group: "example.dev", kind: "Quote", version: "v1" },
    ]);
  });
});
