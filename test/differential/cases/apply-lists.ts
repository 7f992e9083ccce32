import { type Topic, topic } from "../step.ts";
import { listed } from "./kinds.ts";

export const APPLY_LISTS: Topic = topic("apply-lists", {
  "sets are shared": [
    listed.apply("a", { spec: { set: ["a", "b"] } }),
    listed.apply("a", { spec: { set: ["b", "c"] } }, { by: "two" }),
    listed.apply("a", { spec: { set: ["c", "a"] } }),
    listed.apply("a", { spec: { set: [] } }, { by: "two" }),
    listed.apply("a", { spec: {} }),
    listed.get("a"),
  ],
  "sets with duplicates": [
    listed.apply("a", { spec: { set: ["a", "a"] } }),
    listed.make("b", { spec: { set: ["a", "a"] } }),
    listed.make("c", { spec: { numbers: [1, 1] } }),
  ],
  "order of sets": [
    listed.apply("a", { spec: { set: ["c", "a", "b"] } }),
    listed.apply("a", { spec: { set: ["x", "a", "y"] } }, { by: "two" }),
    listed.apply("a", { spec: { set: ["b", "a", "c"] } }),
    listed.apply("a", { spec: { set: ["z", "b"] } }, { by: "three" }),
  ],
  "numbers in sets": [
    listed.apply("a", { spec: { numbers: [3, 1, 2] } }),
    listed.apply("a", { spec: { numbers: [2, 4] } }, { by: "two" }),
    listed.apply("a", { spec: { numbers: [1] } }),
  ],
  "maps are merged by key": [
    listed.apply("a", { spec: { people: [{ name: "ann", age: 1 }, { name: "bob" }] } }),
    listed.apply("a", { spec: { people: [{ name: "bob", age: 2 }, { name: "cid" }] } }, { by: "two" }),
    listed.apply("a", { spec: { people: [{ name: "ann", age: 3 }] } }, { by: "two" }),
    listed.apply("a", { spec: { people: [{ name: "ann", age: 3 }] } }, { by: "two", query: "force=true" }),
    listed.apply("a", { spec: { people: [{ name: "bob" }] } }),
    listed.apply("a", { spec: {} }, { by: "two" }),
  ],
  "order of maps": [
    listed.apply("a", { spec: { people: [{ name: "c" }, { name: "a" }, { name: "b" }] } }),
    listed.apply("a", { spec: { people: [{ name: "x" }, { name: "a" }, { name: "y" }] } }, { by: "two" }),
    listed.apply("a", { spec: { people: [{ name: "b" }, { name: "c" }, { name: "d" }] } }),
  ],
  "keys with defaults": [
    listed.apply("a", { spec: { ports: [{ port: 80 }, { port: 80, protocol: "UDP" }] } }),
    listed.apply("a", { spec: { ports: [{ port: 80, protocol: "TCP", name: "web" }] } }, { by: "two" }),
    listed.apply("a", { spec: { ports: [{ port: 80, name: "www" }] } }),
    listed.apply("a", { spec: { ports: [{ port: 80 }] } }),
  ],
  "without a key": [
    listed.apply("a", { spec: { people: [{ age: 1 }] } }),
    listed.make("b", { spec: { people: [{ age: 1 }] } }),
    listed.apply("c", { spec: { ports: [{ name: "x" }] } }),
    listed.apply("d", { spec: { people: [{ name: null }] } }),
  ],
  "duplicates of keys": [
    listed.make("a", { spec: { people: [{ name: "x" }, { name: "x" }] } }),
    listed.make("b", { spec: { ports: [{ port: 1 }, { port: 1, protocol: "TCP" }] } }),
  ],
  "a nested set": [
    listed.apply("a", { spec: { people: [{ name: "ann", skills: ["go", "ts"] }] } }),
    listed.apply("a", { spec: { people: [{ name: "ann", skills: ["ts", "c"] }] } }, { by: "two" }),
    listed.apply("a", { spec: { people: [{ name: "ann" }] } }),
  ],
  "a nested map": [
    listed.apply("a", { spec: { ports: [{ port: 1, options: { a: "1" } }] } }),
    listed.apply("a", { spec: { ports: [{ port: 1, options: { b: "2" } }] } }, { by: "two" }),
    listed.apply("a", { spec: { ports: [{ port: 1 }] } }),
  ],
  "atomic lists and maps": [
    listed.apply("a", { spec: { atoms: ["a"], atomicMap: { a: "1" }, atomicStruct: { a: "1" } } }),
    listed.apply("a", { spec: { atomicMap: { b: "2" } } }, { by: "two" }),
    listed.apply("a", { spec: { atomicStruct: { b: "2" } } }, { by: "two" }),
    listed.apply(
      "a",
      { spec: { atomicMap: { b: "2" }, atomicStruct: { b: "2" } } },
      { by: "two", query: "force=true" },
    ),
    listed.apply("a", { spec: { atoms: ["a"], atomicMap: { b: "2" } } }),
  ],
  "granular maps": [
    listed.apply("a", { spec: { granularMap: { a: "1" }, struct: { a: "1" } } }),
    listed.apply("a", { spec: { granularMap: { b: "2" }, struct: { b: "2" } } }, { by: "two" }),
    listed.apply("a", { spec: { granularMap: {}, struct: {} } }),
  ],
  "updates of lists with keys": [
    listed.apply(
      "a",
      {
        spec: {
          people: [
            { name: "ann", age: 1 },
            { name: "bob", age: 2 },
          ],
          set: ["x", "y"],
        },
      },
      { as: "made" },
    ),
    listed.change(
      "made",
      { spec: { people: [{ name: "bob", age: 3 }], set: ["y", "z"] } },
      { query: "fieldManager=up" },
    ),
    listed.apply("a", {
      spec: {
        people: [
          { name: "ann", age: 1 },
          { name: "bob", age: 2 },
        ],
        set: ["x"],
      },
    }),
    listed.merge("a", { spec: { people: [{ name: "cid" }] } }, { query: "fieldManager=merge" }),
    listed.json("a", [{ op: "add", path: "/spec/people/0/age", value: 9 }], { query: "fieldManager=json" }),
  ],
  "from an object to nothing and back": [
    listed.apply("a", { spec: { struct: { a: "1" } } }),
    listed.merge("a", { spec: { struct: null } }, { query: "fieldManager=up" }),
    listed.apply("a", { spec: { struct: { a: "1" } } }),
    listed.apply("a", {}),
  ],
});
