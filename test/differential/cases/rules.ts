import { type Topic, topic } from "../step.ts";
import { ruled } from "./kinds.ts";

const r = (spec: Record<string, unknown>) => ruled.make("r", { spec }, { query: "dryRun=All" });

export const RULES: Topic = topic("rules", {
  "of the whole object": [ruled.make("a", { spec: {} }), ruled.make("r", { spec: {} }), ruled.make("a")],
  "over two fields": [r({ min: 1, max: 2 }), r({ min: 2, max: 1 }), r({ min: 1 }), r({ min: 1, max: 1 })],
  "with a message expression": [r({ size: 9 }), r({ size: 10 }), r({ size: 10, code: "abc" })],
  "with a reason and a path": [r({ code: "abc" }), r({ code: "ab" })],
  "of transition": [
    ruled.make("r", { spec: { pin: "1" } }, { as: "made" }),
    ruled.change("made", { spec: { min: 1 } }, { as: "second" }),
    ruled.change("second", { spec: { pin: "2" } }),
    ruled.change("second", { spec: { pin: null } }),
    ruled.merge("r", { spec: { pin: "3" } }),
    ruled.json("r", [{ op: "remove", path: "/spec/pin" }]),
    ruled.apply("r", { spec: { pin: "4" } }, { query: "force=true" }),
    ruled.change("second", { spec: null }),
  ],
  "of transition with an optional old value": [
    ruled.make("r", { spec: { grow: 1 } }),
    ruled.merge("r", { spec: { grow: 2 } }),
    ruled.merge("r", { spec: { grow: 1 } }),
    ruled.merge("r", { spec: { grow: null } }),
    ruled.merge("r", { spec: { grow: 0 } }),
  ],
  "of transition in a list with keys": [
    ruled.make("r", {
      spec: {
        people: [
          { name: "ann", age: 5 },
          { name: "bob", age: 7 },
        ],
      },
    }),
    ruled.merge("r", {
      spec: {
        people: [
          { name: "bob", age: 6 },
          { name: "ann", age: 9 },
        ],
      },
    }),
    ruled.merge("r", {
      spec: {
        people: [
          { name: "bob", age: 8 },
          { name: "cid", age: 1 },
        ],
      },
    }),
    ruled.merge("r", { spec: { people: [{ name: "ann", age: 1 }] } }),
  ],
  "over lists": [
    r({ names: ["a", "b"] }),
    r({ names: ["b", "a"] }),
    r({ names: ["A"] }),
    r({ names: ["B", "A"] }),
    r({ names: [] }),
  ],
  "with one of two": [r({ choice: {} }), r({ choice: { a: "x" } }), r({ choice: { a: "x", b: "y" } })],
  "that fail to run": [r({ divided: 0 }), r({ divided: 2 }), r({ divided: 10 })],
  "of URLs": [r({ url: "https://example.dev" }), r({ url: "http://example.dev" }), r({ url: "x" })],
  "of quantities": [r({ quantity: "1Mi" }), r({ quantity: "2Gi" }), r({ quantity: "x" })],
  "of addresses": [r({ ip: "1.2.3.4" }), r({ ip: "::1" }), r({ ip: "x" })],
  "of times": [r({ when: "2020-01-01T00:00:00Z" }), r({ when: "1999-12-31T23:59:59Z" }), r({ when: "x" })],
  "of numbers or texts": [r({ percent: 50 }), r({ percent: 101 }), r({ percent: "7%" }), r({ percent: "7" })],
  "several at once": [r({ min: 2, max: 1, size: 11, code: "x", url: "x", names: ["B", "A"] })],
  "are not run where types are wrong": [
    r({ min: "2", max: 1 }),
    r({ names: "x", size: 11 }),
    r({ people: [{ age: 1 }], size: 11 }),
  ],
  "are not run where lists are too long": [
    r({ names: Array.from({ length: 11 }, (_, at) => `${"abcdefghijk"[at]}`), size: 11 }),
  ],
  "are not run where texts are too long": [r({ code: "x".repeat(11), size: 11 })],
  ratcheting: [
    ruled.make("r", { spec: { min: 1, max: 2 } }),
    ruled.merge("r", { metadata: { labels: { a: "b" } } }),
    ruled.merge("r", { spec: { names: ["b", "a"] } }),
  ],
});
