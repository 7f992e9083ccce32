import type { KubeObject } from "@virtual-workspaces/apimachinery";
import { stringifyJson } from "@virtual-workspaces/apimachinery/json";
import { AGE_COLUMN, compileTable, type TableColumn } from "@virtual-workspaces/apimachinery/tables";
import { expect } from "chai";

const now = new Date("2026-11-21T12:00:00Z");

function cell(type: TableColumn["type"], value: unknown): unknown {
  const quote: KubeObject = { apiVersion: "example.dev/v1", kind: "Quote", metadata: { name: "x" } };
  if (value !== undefined) quote["spec"] = { value };
  return compileTable([{ name: "V", type, jsonPath: ".spec.value" }]).cells(quote, now)[1];
}

/** Values in each type of column, with the recorded results of Kubernetes' tableconvertor. */
const cells: Record<TableColumn["type"], readonly (readonly [unknown, unknown])[]> = {
  string: [
    [undefined, null],
    [null, "<no value>"],
    ["text", "text"],
    ["", ""],
    [5, "5"],
    [1_000_000, "1000000"],
    [1.5, "1.5"],
    [999999.5, "999999.5"],
    [1234567.5, "1.2345675e+06"],
    [0.0001, "0.0001"],
    [0.00009, "9e-05"],
    [1e21, "1e+21"],
    [2 ** 60, "1.152921504606847e+18"],
    [9007199254740993n, "9007199254740993"],
    [[-9007199254740993n], "[-9007199254740993]"],
    [true, "true"],
    [["b", 1], '["b",1]'],
    [[], "[]"],
    [{}, "{}"],
    [{ 9: null, 10: true }, '{"10":true,"9":null}'],
    [{ "\u{10000}": 1, "\uffff": 2, "\b\f": undefined }, '{"\uffff":2,"\u{10000}":1}'],
    [{ z: 1, a: { d: "<&>", c: [] } }, '{"a":{"c":[],"d":"\\u003c\\u0026\\u003e"},"z":1}'],
  ],
  integer: [
    [undefined, null],
    [null, null],
    [5, 5],
    [1.9, 1],
    [-1.9, -1],
    [9007199254740993n, 9007199254740993n],
    ["5", null],
    [true, null],
  ],
  number: [
    [undefined, null],
    [5, 5],
    [1.5, 1.5],
    [9007199254740993n, 9007199254740993n],
    ["5", null],
  ],
  boolean: [
    [undefined, null],
    [true, true],
    [false, false],
    ["true", null],
    [1, null],
  ],
  date: [
    [undefined, null],
    [null, null],
    ["", "<unknown>"],
    ["null", "<unknown>"],
    ["2026-11-21T11:55:30Z", "4m30s"],
    ["2026-11-21T13:55:30+02:00", "4m30s"],
    ["2026-11-21T11:59:59.5Z", "0s"],
    ["2026-11-21T12:00:10Z", "<invalid>"],
    ["2026-11-21", "<invalid>"],
    ["2024-02-30T00:00:00Z", "<invalid>"],
    ["2026-13-01T00:00:00Z", "<invalid>"],
    ["yesterday", "<invalid>"],
    [5, null],
  ],
};

describe("compileTable", () => {
  for (const [type, values] of Object.entries(cells)) {
    for (const [value, expected] of values) {
      it(`shows ${stringifyJson(value) ?? "nothing"} in a column of type ${type} as ${stringifyJson(expected)}`, () => {
        expect(cell(type as TableColumn["type"], value)).to.deep.equal(expected);
      });
    }
  }

  it("begins with the name, and describes the columns", () => {
    const table = compileTable([
      { name: "Text", type: "string", jsonPath: ".spec.text" },
      { name: "Size", type: "integer", jsonPath: ".spec.size", format: "int32", description: "How big", priority: 1 },
    ]);
    const [name, ...others] = table.definitions;
    expect(name).to.include({ name: "Name", type: "string", format: "name", priority: 0 });
    expect(name?.description).to.match(/^Name must be unique within a namespace\./);
    expect(others).to.deep.equal([
      {
        name: "Text",
        type: "string",
        format: "",
        description: "Custom resource definition column (in JSONPath format): .spec.text",
        priority: 0,
      },
      { name: "Size", type: "integer", format: "int32", description: "How big", priority: 1 },
    ]);
  });

  it("creates a row", () => {
    const table = compileTable([{ name: "First", type: "string", jsonPath: ".spec.list[*]" }, AGE_COLUMN]);
    const object = {
      apiVersion: "example.dev/v1",
      kind: "Quote",
      metadata: { name: "x", creationTimestamp: "2026-11-20T12:00:00Z" },
      spec: { list: ["a", "b"] },
    };
    expect(table.cells(object, now)).to.deep.equal(["x", "a", "24h"]);
    expect(table.cells({ ...object, metadata: {}, spec: {} }, now)).to.deep.equal(["", null, null]);
  });

  it("names the column whose path is malformed", () => {
    expect(() => compileTable([{ name: "Bad", type: "string", jsonPath: ".spec[" }])).to.throw(
      'column "Bad": JSONPath ".spec[": expected an index',
    );
  });
});
