// Conversion of numbers, times, bytes and JSON from Kubernetes' protobuf to JSON, and its limits.

import type { ProtobufMessage } from "@virtual-workspaces/framework/resource";
import { expect } from "chai";
import { readProtobuf } from "../../packages/framework/src/body/protobuf/protobuf-reader.ts";
import { encodeMessage, type Message } from "../../packages/framework/src/discovery/openapi/v2-protobuf.ts";

const inner = (message: Message): { message: Message } => ({ message });
const envelope = (raw: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from("k8s\0"),
    encodeMessage({ 1: inner({ 1: "v1", 2: "Kind" }) }),
    Buffer.from([18, ...length(raw.length)]),
    raw,
  ]);
const length = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) + 128, ...length(Math.floor(value / 128))];

const SHAPE: ProtobufMessage = {
  1: { name: "integer", of: "integer" },
  2: { name: "pointer", of: "integer", empty: "kept" },
  3: { name: "flag", of: "boolean", empty: "kept" },
  4: { name: "double", of: "double" },
  5: { name: "bytes", of: "bytes" },
  6: { name: "time", of: "time" },
  7: { name: "microTime", of: "microTime" },
  8: { name: "quantity", of: "quantity" },
  9: { name: "either", of: "intOrString" },
  10: { name: "json", of: "json" },
  11: { name: "map", of: "quantity", form: "map" },
  12: { name: "self", of: () => SHAPE },
  13: { name: "list", of: { 1: { name: "items", form: "list" } }, form: "map", to: ({ items = [] }) => items },
  14: { name: "empties", of: {}, form: "list" },
  15: { name: "texts", form: "map" },
};
const read = (raw: Buffer): Record<string, unknown> => {
  const { apiVersion: _version, kind: _kind, ...content } = readProtobuf(envelope(raw), SHAPE);
  return content;
};
const time = (seconds: number, nanos = 0): { message: Message } =>
  inner({ 1: { int64: seconds }, 2: { int64: nanos } });

describe("a value in protobuf", () => {
  const table: [string, Message, object][] = [
    ["an integer", { 1: { int64: 150 } }, { integer: 150 }],
    ["a negative integer", { 1: { int64: -7 } }, { integer: -7 }],
    ["a double", { 4: { double: 1.5 } }, { double: 1.5 }],
    ["bytes", { 5: "\u0001a" }, { bytes: "AWE=" }],
    ["a time", { 6: time(1_767_323_045, 678_901_234) }, { time: "2026-01-02T03:04:05Z" }],
    ["a time before 1970", { 6: time(-1) }, { time: "1969-12-31T23:59:59Z" }],
    ["a time with microseconds", { 7: time(1_767_323_045, 678_901_234) }, { microTime: "2026-01-02T03:04:05.678901Z" }],
    ["no time", { 6: inner({}) }, {}],
    ["a quantity", { 8: inner({ 1: "500m" }) }, { quantity: "500m" }],
    ["an empty quantity", { 8: inner({}) }, { quantity: "0" }],
    ["an int-or-string with a number", { 9: inner({ 2: { int64: 80 } }) }, { either: 80 }],
    ["an int-or-string with a string", { 9: inner({ 1: { int64: 1 }, 3: "http" }) }, { either: "http" }],
    ["JSON", { 10: inner({ 1: '{"f:a":{}}' }) }, { json: { "f:a": {} } }],
    ["a message within itself", { 12: inner({ 12: inner({ 1: { int64: 1 } }) }) }, { self: { self: { integer: 1 } } }],
  ];
  for (const [what, message, expected] of table)
    it(`is decoded: ${what}`, () => {
      expect(read(encodeMessage(message))).to.deep.equal(expected);
    });

  it("appears when empty only where JSON has it", () => {
    expect(read(Buffer.from([8, 0, 16, 0, 24, 0]))).to.deep.equal({ pointer: 0, flag: false });
  });

  it("beyond 2^53 keeps its exact value", () => {
    const { integer } = read(Buffer.from([8, ...Array(8).fill(255), 127]));
    expect(integer).to.equal(2n ** 63n - 1n);
  });

  it("of a map comes from its entry, or is empty", () => {
    const entries = Buffer.concat([
      encodeMessage({ 11: inner({ 1: "a", 2: inner({ 1: "1" }) }) }),
      encodeMessage({ 11: inner({ 1: "b" }) }),
      encodeMessage({ 13: inner({ 1: "c", 2: inner({ 1: ["x", "y"] }) }) }),
      encodeMessage({ 13: inner({ 1: "d" }) }),
    ]);
    const { map, list } = read(entries) as Record<string, object>;
    expect({ ...map }).to.deep.equal({ a: "1", b: "0" });
    expect({ ...list }).to.deep.equal({ c: ["x", "y"], d: [] });
  });

  const faults: [string, Message | Buffer, string][] = [
    ["a number in a string field", Buffer.from([0x40, 1]), "quantity has the wrong wire type"],
    ["a string in a number field", { 1: "1" }, "integer has the wrong wire type"],
    ["a year outside of the range", { 6: time(1e12) }, "time is outside the years 0 to 9999"],
    ["malformed JSON", { 10: inner({ 1: "{" }) }, "json is not valid JSON: "],
    ["a number outside JSON", Buffer.from([33, 0, 0, 0, 0, 0, 0, 240, 127]), "double is not a finite number"],
  ];
  for (const [what, message, fault] of faults)
    it(`is rejected: ${what}`, () => {
      const raw = Buffer.isBuffer(message) ? message : encodeMessage(message);
      expect(() => read(raw))
        .to.throw(Error, fault)
        .with.property("name", "ProtobufFault");
    });

  it("has a limited nesting depth", () => {
    let nested: Buffer = Buffer.alloc(0);
    for (let depth = 0; depth < 501; depth++)
      nested = Buffer.concat([Buffer.from([98, ...length(nested.length)]), nested]);
    expect(() => read(nested)).to.throw("messages are nested deeper than 500 levels");
  });

  it("has a limited number of entries", () => {
    expect(() => read(Buffer.alloc(2 * 262_144, Buffer.from([114, 0])))).to.throw(RangeError, "more than 262144");
    expect(() => read(Buffer.alloc(2 * 65_537, Buffer.from([122, 0])))).to.throw(
      RangeError,
      "more than 65536 map entries",
    );
    const brackets = Buffer.from("[".repeat(9) + "]".repeat(9));
    const one = Buffer.from([82, 20, 10, 18, ...brackets]);
    expect(() => read(Buffer.alloc(30_000 * one.length, one))).to.throw(RangeError, "more than 262144");
  });
});
